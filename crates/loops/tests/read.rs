//! The reader of loops: the print of the read function is the text, and errors are located.

use lambada_loops::{check, print, read};

#[test]
fn lanes_folds_and_cells_read_back() {
    let text = "\
dot[n](xs : []real, ys : []real)
  cell s : real x 4 = 0.0
  m = n // 4
  end = m * 4
  for i in 0 .. end by 4, reduction
    a : real x 4 = xs[i ..+ 4]
    b : real x 4 = ys[i ..+ 4]
    p : real x 4 = a * b
    old : real x 4 = s
    new : real x 4 = old + p
    s := new
  all : real x 4 = s
  t = fold add all
  lane : int x 4 = iota
  first = fold min lane
  rest = constant real {1.5, -0.0, inf, -inf}
  part = rest[first ..]
  z = alloc real[4]
  copy z[0 ..+ 4] := rest
  fill z[0 ..+ 2] := 0.5
  z[3] := t
  ok = first <= n
  check ok else \"{0} is \\\"large\\\"\", first
  return t, z[4]
";
    let function = read(text).unwrap();
    check(&function).unwrap();
    assert_eq!(print(&function), text);
}

#[test]
fn control_flow_reads_back() {
    let text = "\
f[n](x : real)
  cell k = 0
  a = alloc real[n]
  b = alloc real[n]
  while
    now = k
    go = now < n
  go do
    a[now] := x
    swap a, b
    after = now + 1
    k := after
  parallel part < n
    own = part + 1
  in order
    last = own + part
    a[part] := x
  parallel other < 2
    b[other] := x
  c = x < 1.0
  if c
    scope
      t = alloc int[3]
      t[0] := 1
  else
    k := 2
  return a[n]
";
    let function = read(text).unwrap();
    check(&function).unwrap();
    assert_eq!(print(&function), text);
}

#[test]
fn what_cannot_be_read_is_located() {
    let rejects = |text: &str, message: &str| {
        let error = read(text).expect_err(text);
        assert!(error.contains(message), "{error}");
    };
    rejects("f(x : real)\n  y = sine(x)\n  return y\n", "line 2: `sine` is no primitive");
    rejects("f(x : real)\n  y = z + x\n  return y\n", "line 2: `z` is not in scope");
    rejects("f(x : real)\n  y = x + 1\n  return y\n", "line 2: no operator `+`");
    rejects("f(x : []real)\n  y = x[0 ..+ 4]\n  return y\n", "line 2: 4 lanes are loaded for 1");
    rejects("f(x : real)\n  x := 1.0\n  return x\n", "line 2: `x` is no cell");
    rejects("f(x : real)\n  y = -x\n", "line 2");
    rejects("f(x : real)\n", "expected `return`");
}
