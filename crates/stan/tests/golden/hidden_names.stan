data {
  int N;
  vector[N] dist; // the names of modules and functions of the library
  vector[N] space;
}
parameters {
  real<lower=0> sum;
  real mean;
}
model {
  space ~ normal(mean * dist, sum);
  mean ~ normal(sum(dist), 1);
}
