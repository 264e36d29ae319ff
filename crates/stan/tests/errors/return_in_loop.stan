functions {
  real f(real x) {
    for (i in 1:3) {
      if (x > i) return i;
    }
    return 0;
  }
}
parameters { real x; }
model { target += f(x); }
