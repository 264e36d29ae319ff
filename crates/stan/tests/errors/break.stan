parameters { real x; }
model {
  for (i in 1:3) {
    if (i == 2) break;
    x ~ normal(0, i);
  }
}
