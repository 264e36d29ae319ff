//! Derivatives at the boundary to the program: tangents and cotangents of nodes are nodes of the
//! same type. Also the cost of calls and nodes.

use lambada_anf::{
    Atom, Block, Builder, Derivatives, FnId, Function, Lambda, Library, NodeId, Op, Param, Random,
    Renaming, Stm, Subject, Ty, Var,
};
use lambada_differentiate::Request;
use lambada_prim::{Scalar, Tensor};

use crate::laws::{CLOSELY, Outcome, laws, like, same};
use crate::program::{Point, Program, elements, reals};
use crate::recursion::{LISTS, point};

/// Writes the elements of a list to an accumulator.
const ELEMENTS: &str = "def elements (xs : ref list) (k : int) into (acc : [5]real) {
  t : int = tag xs
  is_cons : bool = eq_int t, 1
  if is_cons {
    x : real = field xs Cons.head
    accumulate acc[k] += x
    rest : ref list = field xs Cons.tail
    k1 : int = add_int k, 1
    call elements (rest, k1) into acc
    =>
  } else {
    =>
  }
  =>
}
";

const FROM: FnId = FnId(0);
const SQUARE: FnId = FnId(2);
const ELEMENTS_OF: FnId = FnId(3);
const LIST: NodeId = NodeId(0);

/// An entry that calls the derivatives of `square`, whose parameters are a list and a real.
struct Writer<'a> {
    b: Builder<'a>,
    params: Vec<Param>,
    results: Vec<Atom>,
    types: Vec<Ty>,
}

impl Writer<'_> {
    fn subject<'a>(&'a mut self, library: &'a mut Library, f: &'a Lambda) -> Subject<'a> {
        Subject { library, names: self.b.names, f, captured: &[] }
    }

    fn array(&mut self, hint: &str) -> Atom {
        let var = self.b.names.fresh(hint);
        self.params.push(Param { var, ty: reals(&[Atom::int(5)]) });
        var.into()
    }

    fn list(&mut self, xs: Atom, bind: Var) {
        let call = Op::Call { function: FROM, args: vec![xs, Atom::int(0)], accumulators: vec![] };
        self.b.stms.push(Stm::new(vec![Param { var: bind, ty: Ty::handle(LIST) }], call));
    }

    fn give(&mut self, value: Atom, ty: Ty) {
        self.results.push(value);
        self.types.push(ty);
    }

    fn give_list(&mut self, list: Atom) {
        let ty = reals(&[Atom::int(5)]);
        let zeros = self.b.zero(&ty);
        let acc = self.b.bind("acc", ty.clone(), Op::Accumulator(zeros)).as_var().expect("bound");
        let (function, args) = (ELEMENTS_OF, vec![list, Atom::int(0)]);
        self.b.effect(Op::Call { function, args, accumulators: vec![acc] });
        let all = self.b.bind("all", ty.clone(), Op::Freeze(acc));
        self.give(all, ty);
    }

    fn place(&mut self, block: &Block, actuals: &[(Var, Atom)]) -> Vec<Atom> {
        let mut renaming = Renaming::new();
        actuals.iter().for_each(|(var, atom)| renaming.insert(*var, *atom));
        let block = renaming.copy(block, self.b.names);
        self.b.stms.extend(block.stms);
        block.results
    }
}

/// The program that takes the derivative of `square` alone.
fn alone(build: impl FnOnce(&mut Writer, &Lambda, &mut Library)) -> Program {
    let whole = Program::read(&format!("{LISTS}{ELEMENTS}main (x : real) {{\n  => x : real\n}}\n"));
    let mut library = whole.library;
    let Function { params, results, body, mut names, .. } =
        library.function(SQUARE).expect("square").clone();
    let f = Lambda { params, results, body };
    let b = Builder::new(&mut names);
    let mut w = Writer { b, params: vec![], results: vec![], types: vec![] };
    build(&mut w, &f, &mut library);
    let Writer { b, params, results, types } = w;
    let body = b.finish(results);
    let f = Function {
        name: "f".into(),
        params,
        results: types,
        body,
        names,
        library,
        ..Function::default()
    };
    let program = Program::of(&f);
    program.check("the derivative alone");
    program
}

const COMPOSED: &str = "main (xs : [5]real) (x : real) {
  l : ref list = call from (xs, 0)
  m : ref list = call square (l, x)
  zeros : [5]real = fill 0.0
  acc : [5]real = accumulator zeros
  call elements (m, 0) into acc
  ys : [5]real = freeze acc
  => ys : [5]real
}
";

fn composed() -> (Program, Point, Vec<Tensor>, Random) {
    let program = Program::read(&format!("{LISTS}{ELEMENTS}{COMPOSED}"));
    let mut random = Random(5);
    let at = point(&program, &mut random);
    let (primal, _) = program.run(&at).expect("it runs");
    let extra = like(&mut random, &primal);
    (program, at, extra, random)
}

#[test]
fn cotangents_of_lists_are_lists() {
    let (program, at, seeds, mut random) = composed();
    let program = program.reverse();
    let other = like(&mut random, &seeds);
    // One map runs on the cells of the forward sweep, the other on its own.
    let alone = alone(|w, f, library| {
        let [xs, ys, zs] = ["xs", "ys", "zs"].map(|hint| w.array(hint));
        w.params.push(f.params[1].clone());
        w.list(xs, f.params[0].var);
        let derivative = Request::default().reverse(w.subject(library, f)).expect("no rules");
        w.b.stms.extend(derivative.forward.body.stms);
        let again = derivative.again.expect("the forward sweep makes cells");
        for (seeds, map) in [(ys, derivative.pullback), (zs, again)] {
            let cotangent = w.b.names.fresh("ct");
            w.list(seeds, cotangent);
            let given = w.place(&map.body, &[(map.params[0].var, cotangent.into())]);
            w.give_list(given[0]);
            w.give(given[1], Ty::real());
        }
    });
    let [xs, x] = &at.params[..] else { panic!() };
    let args = [xs, &seeds[0], &other[0], x].map(Tensor::clone).to_vec();
    let point = Point { constants: vec![], params: args };
    let (found, _) = alone.run(&point).expect("it runs");
    // Derivatives of that program, including shadows made of constants.
    match laws(&alone, &point, &mut random, CLOSELY) {
        Ok(Outcome::Holds(_)) => {}
        Ok(other) => panic!("{other:?}"),
        Err(message) => panic!("{message}"),
    }
    for (seeds, found) in [(seeds, &found[..2]), (other, &found[2..])] {
        let params = [at.params.clone(), seeds].concat();
        let (expected, _) = program.run(&Point { constants: vec![], params }).expect("it runs");
        same(found, &expected[1..], 1e-12).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn tangents_of_lists_are_lists() {
    let (program, at, _, mut random) = composed();
    let rates = like(&mut random, &at.params);
    let alone = alone(|w, f, library| {
        let [xs, rates] = ["xs", "rates"].map(|hint| w.array(hint));
        w.params.push(f.params[1].clone());
        w.list(xs, f.params[0].var);
        let derivative = Request::default().forward(w.subject(library, f)).expect("no rules");
        w.list(rates, derivative.params[2].var);
        w.params.push(derivative.params[3].clone());
        w.b.stms.extend(derivative.body.stms);
        derivative.body.results.iter().for_each(|list| w.give_list(*list));
    });
    let args = [&at.params[0], &rates[0], &at.params[1], &rates[1]].map(Tensor::clone).to_vec();
    let (found, _) = alone.run(&Point { constants: vec![], params: args }).expect("it runs");
    let params = [at.params.clone(), rates].concat();
    let (expected, _) =
        program.forward().run(&Point { constants: vec![], params }).expect("it runs");
    same(&found, &expected, 1e-12).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn a_cotangent_of_another_shape_is_refused() {
    let alone = alone(|w, f, library| {
        let xs = w.array("xs");
        w.params.push(f.params[1].clone());
        w.list(xs, f.params[0].var);
        let derivative = Request::default().reverse(w.subject(library, f)).expect("no rules");
        w.b.stms.extend(derivative.forward.body.stms);
        let nil = Op::Node { node: LIST, tag: 0, fields: vec![], cells: false };
        let nil = w.b.bind("nil", Ty::handle(LIST), nil);
        let actual = (derivative.pullback.params[0].var, nil);
        let given = w.place(&derivative.pullback.body, &[actual]);
        w.give(given[1], Ty::real());
    });
    let params = vec![Tensor::reals(vec![5], vec![1.0; 5]), Tensor::scalar(Scalar::Real(0.5))];
    let message = alone.run(&Point { constants: vec![], params }).expect_err("a nil for a cons");
    assert!(message.contains("not built by the same constructors"), "{message}");
}

/// Ratios of gradient to value: operations on reals, and all other operations.
fn ratio(library: &str, main: &str, n: i64) -> (f64, f64) {
    let n = n.to_string();
    let program = Program::read(&format!("{library}{}", main.replace("SIZE", &n)));
    let at = point(&program, &mut Random(3));
    let (results, value) = program.run(&at).expect("the program runs");
    let ones = results.iter().map(|t| Tensor::reals(t.dims.clone(), vec![1.0; elements(t).len()]));
    let params = at.params.iter().cloned().chain(ones).collect();
    let (_, gradient) = program.reverse().run(&Point { params, ..at }).expect("it runs");
    let all = |counts: &lambada_anf::Counts| {
        (counts.reals + counts.ints + counts.loads + counts.stores) as f64
    };
    (gradient.reals as f64 / value.reals as f64, all(&gradient) / all(&value))
}

fn cheap(library: &str, main: &str, most: f64) {
    let ratios: Vec<(f64, f64)> = [10, 100, 1000].map(|n| ratio(library, main, n)).to_vec();
    eprintln!("{ratios:.2?}");
    assert!(ratios.iter().all(|(reals, all)| *reals <= 6.0 && *all <= most), "{ratios:.2?}");
    assert!(ratios[2].0 <= 1.2 * ratios[1].0 && ratios[2].1 <= 1.2 * ratios[1].1, "{ratios:.2?}");
}

#[test]
fn a_call_that_reads_one_element_costs_as_much_in_reverse() {
    let library = "def fold (n : int) (xs : [n]real) (k : int) {
  more : bool = lt_int k, n
  y : real = if more {
    x : real = xs[k]
    k1 : int = add_int k, 1
    rest : real = call fold (n, xs, k1)
    p : real = mul x, rest
    s : real = sin p
    => s
  } else {
    => 1.5
  }
  => y : real
}
";
    let main = "main (xs : [SIZE]real) {
  y : real = call fold (SIZE, xs, 0)
  => y : real
}
";
    cheap(library, main, 8.0);
}

#[test]
fn lists_cost_in_proportion_to_their_length() {
    let library = "type list {
  Nil
  Cons (head : real, tail : ref list)
}
def build (x : real) (n : int) {
  more : bool = lt_int 0, n
  l : ref list = if more {
    y : real = sin x
    n1 : int = sub_int n, 1
    rest : ref list = call build (y, n1)
    c : ref list = node list.Cons (y, rest)
    => c
  } else {
    => 0
  }
  => l : ref list
}
def sum (l : ref list) {
  t : int = tag l
  is : bool = eq_int t, 1
  y : real = if is {
    x : real = field l Cons.head
    rest : ref list = field l Cons.tail
    s : real = call sum (rest)
    p : real = mul x, s
    q : real = add p, x
    => q
  } else {
    => 1.0
  }
  => y : real
}
";
    let main = "main (x : real) {
  l : ref list = call build (x, SIZE)
  y : real = call sum (l)
  => y : real
}
";
    cheap(library, main, 8.0);
}

#[test]
fn a_while_of_calls_runs_once() {
    let library = "def step (x : real) (k : int) {
  more : bool = lt_int 0, k
  y : real = if more {
    k1 : int = sub_int k, 1
    z : real = call step (x, k1)
    w : real = sin z
    => w
  } else {
    => x
  }
  => y : real
}
";
    let main = "main (x : real) {
  y : real, k : int = loop (s : real = x, i : int = 0) while {
    more : bool = lt_int i, SIZE
    => more
  } do {
    t : real = call step (s, 5)
    j : int = add_int i, 1
    => t, j
  }
  => y : real
}
";
    cheap(library, main, 8.0);
}
