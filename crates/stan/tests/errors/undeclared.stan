parameters { real x; }
model {
  x ~ normal(0, sigma);
}
