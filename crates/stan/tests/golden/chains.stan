functions {
  vector decay(real t, vector y, real rate) {
    return -rate * y;
  }
}
data {
  int T;
  int K;
  vector[T] y;
  real t0;
  array[T] real ts;
}
parameters {
  array[K] simplex[K] A;
  ordered[K] mu;
  real<lower=0> rate;
  vector<lower=0>[1] start;
}
transformed parameters {
  array[T] vector[1] mass = ode_rk45(decay, start, t0, ts, rate);
}
model {
  // Forwards through the hidden states.
  array[T, K] real g;
  for (k in 1:K) g[1, k] = normal_lpdf(y[1] | mu[k], 1);
  for (t in 2:T) {
    for (k in 1:K) {
      vector[K] acc;
      for (j in 1:K) acc[j] = g[t - 1, j] + log(A[j, k]) + normal_lpdf(y[t] | mu[k], 1);
      g[t, k] = log_sum_exp(acc);
    }
  }
  target += log_sum_exp(g[T]);
  rate ~ lognormal(0, 1);
  for (t in 1:T) y[t] ~ normal(mass[t, 1], 1);
}
