parameters { real x; }
model { x ~ normal(0, 1); }
generated quantities {
  real y = x;
  while (y < 3) y = y + normal_rng(0, 1);
}
