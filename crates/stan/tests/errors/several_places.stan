parameters { vector[3] x; }
transformed parameters {
  array[3, 3] real y;
  y[{1, 2}, {2, 3}] = {{x[1], 1}, {2, 3}};
}
model {
  x ~ normal(0, 1);
}
