parameters { real x; }
model {
  x ~ skew_double_exponential(0, 1, 0.5);
}
