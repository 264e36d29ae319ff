/*
 * The array syntax of before Stan 2.26.
 */
functions {
  real[] scaled(real[] x, real s) {
    real out[size(x)];
    for (i in 1:size(x)) out[i] = s * x[i];
    return out;
  }
}
data {
  int N;
  real x[N];
  int g[N];
  real y[N, 2];
}
parameters {
  real b[N];
  real<lower=0> s;
}
model {
  real m[N];
  m = scaled(x, s);
  b ~ student_t(4, 0, s);
  for (n in 1:N) {
    int at;
    at = g[n];
    y[n, 1] ~ normal(b[at] + m[n], s);
    y[n, 2] ~ normal(b[g[n]], s);
  }
}
