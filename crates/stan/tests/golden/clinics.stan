// Recovery in clinics, with a common trend.
data {
  int<lower=1> N; // patients
  int<lower=1> C; // clinics
  array[N] int<lower=1, upper=C> clinic;
  vector[N] dose; // in mg
  array[N] int<lower=0, upper=1> recovered;
}
transformed data {
  vector[N] z = (dose - mean(dose)) / sd(dose);
}
parameters {
  real mu; // mean log odds
  real<lower=0> tau;
  vector[C] offset_raw;
  real<lower=-2, upper=2> slope;
}
transformed parameters {
  vector[C] a = mu + tau * offset_raw;
}
model {
  mu ~ normal(0, 2);
  tau ~ normal(0, 1); // half-normal
  offset_raw ~ std_normal();
  recovered ~ bernoulli_logit(a[clinic] + slope * z);
}
generated quantities {
  array[N] int replicated = bernoulli_logit_rng(a[clinic] + slope * z);
  vector[N] log_lik;
  for (n in 1:N) {
    log_lik[n] = bernoulli_logit_lpmf(recovered[n] | a[clinic[n]] + slope * z[n]);
  }
}
