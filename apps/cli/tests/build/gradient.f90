! Value and gradient from Fortran: arrays are column-major, so x(d, n) has the points as its columns.
program gradient
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    type(c_ptr) function model_open() bind(c)
      import :: c_ptr
    end function
    subroutine model_close(context) bind(c)
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine
    integer(c_int) function model_loss_grad(context, n, d, w, b, x, y, value, w_ct, b_ct) bind(c)
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
  type(c_ptr) :: context
  real(c_double) :: w(2), x(2, 3), y(3), value, w_ct(2), b_ct
  w = [1d0, 2d0]
  x = reshape([1d0, 2d0, 3d0, 4d0, 5d0, 6d0], [2, 3])
  y = [1d0, 2d0, 3d0]
  context = model_open()
  if (model_loss_grad(context, 3_c_int64_t, 2_c_int64_t, w, 0.5d0, x, y, value, w_ct, b_ct) /= 0) stop 2
  if (abs(b_ct - 19d0) > 1d-12) stop 3
  if (abs(w_ct(1) - 2d0 * 105.5d0 / 3d0) > 1d-9) stop 4
  call model_close(context)
end program
