data {
  int N;
  vector[N] low;
  vector[N] y;
  real scale;
}
parameters {
  vector<lower=low>[N] x;
  real<upper=3> top;
  real<lower=1, upper=top> middle;
  vector<offset=2, multiplier=scale>[N] shifted;
  matrix<lower=0, upper=5>[N, 2] grid;
  simplex[3] share;
  array[2] ordered[3] cuts;
  cov_matrix[2] S;
}
model {
  x ~ normal(y, 1);
  top ~ normal(0, 1) T[ , 3];
  middle ~ normal(0, 1) T[1, ];
  y ~ normal(middle, scale) T[-10, 10];
  shifted ~ normal(2, scale);
  to_vector(grid) ~ normal(1, 1);
  share ~ dirichlet([1, 2, 3]');
  for (k in 1:2) cuts[k] ~ normal(0, 3);
  S ~ inv_wishart(4, identity_matrix(2));
}
