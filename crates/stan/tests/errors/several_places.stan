parameters { vector[3] x; }
model {
  x[{1, 2}] = x[{2, 3}];
}
