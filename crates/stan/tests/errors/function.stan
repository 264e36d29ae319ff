parameters { real x; }
model {
  target += hypergeometric_2F1(x, 1, 1, 0.5);
}
