data {
  int N;
  int M;
  array[M] int<lower=1, upper=N> seen;
  array[N - M] int<lower=1, upper=N> hidden;
  vector[M] y;
}
parameters {
  vector[N - M] missing;
  real<lower=0> s;
}
transformed parameters {
  vector[N] z;
  z[seen] = y;
  z[hidden] = missing;
}
model {
  z ~ double_exponential(0, s);
  for (h in hidden) target += -z[h] ^ 2;
}
