! Fits a line by gradient descent. The interfaces are those that the header shows.
!
!   lambada build ../c/line.lam loss --grad w,b -o out
!   gfortran line.f90 out/libline.a -lm -o line && ./line
program line
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    type(c_ptr) function line_open() bind(c)
      import :: c_ptr
    end function
    subroutine line_close(context) bind(c)
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine
    integer(c_int) function line_loss_grad(context, n, d, w, b, x, y, value, w_ct, b_ct) bind(c)
      import :: c_ptr, c_int, c_int64_t, c_double
      type(c_ptr), value :: context
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: d
      real(c_double), intent(in) :: w(d)
      real(c_double), value :: b
      real(c_double), intent(in) :: x(d, n)
      real(c_double), intent(in) :: y(n)
      real(c_double), intent(out) :: value
      real(c_double), intent(out) :: w_ct(d)
      real(c_double), intent(out) :: b_ct
    end function
  end interface
  integer(c_int64_t), parameter :: n = 4, d = 2
  type(c_ptr) :: context
  real(c_double) :: x(d, n), y(n), w(d), b, value, w_ct(d), b_ct
  integer :: step
  x = reshape([0d0, 0d0, 1d0, 0d0, 0d0, 1d0, 1d0, 1d0], [2, 4])
  y = [1d0, 3d0, 4d0, 6d0]
  w = 0
  b = 0
  context = line_open()
  do step = 1, 2000
    if (line_loss_grad(context, n, d, w, b, x, y, value, w_ct, b_ct) /= 0) stop 1
    w = w - 0.5d0 * w_ct
    b = b - 0.5d0 * b_ct
  end do
  call line_close(context)
  print '(a, 2f7.4, a, f7.4, a, f7.4)', 'w =', w, ', b =', b, ', loss =', value
end program
