data {
  int<lower=2> K;
  int<lower=0> N;
  int<lower=1> D;
  array[N] int<lower=1, upper=K> y;
  matrix[N, D] X;
  array[N] row_vector[D] rows_of_x;
  array[N] int<lower=1, upper=K> grade;
}
parameters {
  matrix[D, K] beta;
  ordered[K - 1] c;
  vector[D] gamma;
  array[N] vector[2] pair;
  cholesky_factor_corr[2] L;
  vector<lower=0>[2] sd_pair;
}
model {
  matrix[N, K] eta = X * beta;
  to_vector(beta) ~ normal(0, 2);
  for (n in 1:N) y[n] ~ categorical_logit(eta[n]');
  for (n in 1:N) grade[n] ~ ordered_logistic(rows_of_x[n] * gamma, c);
  gamma ~ normal(0, 1);
  L ~ lkj_corr_cholesky(2);
  pair ~ multi_normal_cholesky(rep_vector(0, 2), diag_pre_multiply(sd_pair, L));
}
generated quantities {
  array[N] int guess;
  for (n in 1:N) guess[n] = categorical_logit_rng((X[n] * beta)');
}
