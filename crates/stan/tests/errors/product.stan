parameters { vector[3] x; }
model {
  target += sum(x * x);
}
