functions {
  // The size of a step.
  real step_size(real x, int kind) {
    if (kind == 1) {
      return x / 2;
    } else if (kind == 2) {
      real y = x ^ 2;
      return y - 1;
    }
    return 0;
  }
  vector doubled(vector v) {
    vector[rows(v)] out;
    for (i in 1:rows(v)) out[i] = 2 * v[i];
    return out;
  }
  void penalty_lp(vector v, real s) {
    v ~ normal(0, s);
    target += -log(s);
  }
  real noisy_rng(real m) {
    return normal_rng(m, 1) + normal_rng(0, 0.1);
  }
}
data {
  int N;
  array[N] int<lower=0> k;
  array[N] real t;
  int kind;
}
transformed data {
  int positive = 0;
  array[N] int order;
  real longest = max(t);
  for (n in 1:N) {
    if (k[n] > 0) positive += 1;
    order[n] = n * 2 % 3;
  }
  if (positive == 0) reject("nothing is positive");
}
parameters {
  vector[N] w;
  real<lower=0> s;
}
transformed parameters {
  vector[N] level;
  level[1] = w[1];
  for (n in 2:N) level[n] = 0.5 * level[n - 1] + w[n];
}
model {
  real total = 0;
  int i = 1;
  penalty_lp(w, s);
  s ~ exponential(1);
  while (i <= N && k[i] > 0) {
    total += step_size(level[i], kind);
    i += 1;
  }
  target += total / positive;
  for (x in t) target += x > longest - 1 ? log1m(inv_logit(x * s)) : 0;
  {
    vector[N] d = doubled(level);
    k[1:2] ~ poisson_log(d[1:2]);
    if (N > 2) k[3:] ~ poisson(exp(d[3:]));
  }
}
generated quantities {
  real first = noisy_rng(level[1]);
  array[2] real both;
  for (j in 1:2) both[j] = normal_rng(first, s);
}
