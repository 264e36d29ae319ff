//! The laws on random programs that update arrays in nested loops: elements, rows, exchanges, in
//! branches, with reads of earlier versions.

use lambada_anf::Random;
use lambada_prim::{ScalarTy, Tensor};
use lambada_testkit::parallel;

use crate::laws::{CLOSELY, Outcome, laws, like};
use crate::program::{Point, Program};
use crate::shrink::shrink;

const MATRIX: &str = "[n][n]real";
const VECTOR: &str = "[n]real";

/// Names that the code may mention. The arrays in `matrices` are all versions so far; the last one
/// is current.
#[derive(Clone)]
struct Scope {
    ints: Vec<String>,
    reals: Vec<String>,
    rows: Vec<String>,
    matrices: Vec<String>,
    vector: String,
}

impl Scope {
    fn matrix(&self) -> String {
        self.matrices[self.matrices.len() - 1].clone()
    }
}

/// Draws programs over an n×n matrix and a vector of length n, and writes them.
struct Draw {
    random: Random,
    text: String,
    names: usize,
}

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }

    fn name(&mut self, hint: &str) -> String {
        self.names += 1;
        format!("{hint}{}", self.names)
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A statement, and the name that it binds.
    fn bind(&mut self, hint: &str, ty: &str, exp: &str) -> String {
        let name = self.name(hint);
        self.line(&format!("{name} : {ty} = {exp}"));
        name
    }

    fn int(&mut self, exp: &str) -> String {
        self.bind("t", "int", exp)
    }

    fn real(&mut self, exp: &str) -> String {
        self.bind("t", "real", exp)
    }

    fn update(&mut self, array: &str, ty: &str, index: &str, value: &str) -> String {
        self.bind("x", ty, &format!("{array} with [{index}] = {value}"))
    }

    /// An index in range: arithmetic on variables in scope, modulo n.
    fn index(&mut self, scope: &Scope) -> String {
        let (i, j) = (self.random.recent(&scope.ints), self.random.recent(&scope.ints));
        let k = match self.below(4) {
            0 => i,
            1 => self.int(&format!("add_int {i}, {j}")),
            2 => self.int(&format!("sub_int {i}, {j}")),
            _ => self.int(&format!("mul_int {i}, 2")),
        };
        self.int(&format!("rem_int {k}, n"))
    }

    fn extent(&mut self, scope: &Scope) -> String {
        let i = self.random.recent(&scope.ints);
        match self.below(5) {
            0 => "2".into(),
            1 => "n".into(),
            2 => self.int(&format!("add_int {i}, 1")),
            3 => self.int(&format!("sub_int n, {i}")),
            _ => self.int(&format!("sub_int {i}, 1")),
        }
    }

    /// A sum or an element, between -1 and 1.
    fn value(&mut self, scope: &Scope) -> String {
        let (i, j) = (self.index(scope), self.index(scope));
        let matrix = self.random.recent(&scope.matrices);
        let x = match self.below(5) {
            0 => self.real(&format!("{matrix}[{i}, {j}]")),
            1 => self.real(&format!("{}[{i}]", scope.vector)),
            2 => {
                let extent = self.extent(scope);
                self.real(&format!(
                    "for k < {extent} (reduce add) {{
                    m : int = rem_int k, n
                    p : real = {matrix}[{i}, m]
                    q : real = {matrix}[{j}, m]
                    s : real = mul p, q
                    => s
                    }}"
                ))
            }
            3 if !scope.rows.is_empty() => {
                let row = self.random.recent(&scope.rows);
                self.real(&format!("{row}[{i}]"))
            }
            _ => {
                let bound = self.int(&format!("max_int {i}, 1"));
                let first = self.random.recent(&scope.reals);
                self.real(&format!(
                    "loop (s : real = {first}) for k < {bound} {{
                    m : int = rem_int k, n
                    e : real = {matrix}[m, {j}]
                    p : real = mul s, e
                    q : real = sin p
                    => q
                    }}"
                ))
            }
        };
        let y = self.random.recent(&scope.reals);
        let op = self.random.pick(&["add", "mul"]);
        let both = self.real(&format!("{op} {x}, {y}"));
        let op = self.random.pick(&["sin", "tanh"]);
        self.real(&format!("{op} {both}"))
    }

    fn steps(&mut self, scope: &mut Scope, depth: usize) {
        for _ in 0..1 + self.below(3) {
            self.step(scope, depth);
        }
    }

    fn step(&mut self, scope: &mut Scope, depth: usize) {
        let (i, j) = (self.index(scope), self.index(scope));
        match self.below(if depth > 0 { 13 } else { 8 }) {
            0 | 1 => {
                let v = self.value(scope);
                let next = self.update(&scope.matrix(), MATRIX, &format!("{i}, {j}"), &v);
                scope.matrices.push(next);
            }
            2 => {
                let (matrix, y) = (scope.matrix(), self.random.recent(&scope.reals));
                let row = format!(
                    "for k < n (collect) {{
                    e : real = {matrix}[{j}, k]
                    p : real = mul e, {y}
                    q : real = sin p
                    => q
                    }}"
                );
                let row = self.bind("ys", VECTOR, &row);
                let next = self.update(&matrix, MATRIX, &i, &row);
                scope.matrices.push(next);
            }
            3 => {
                let v = self.value(scope);
                scope.vector = self.update(&scope.vector, VECTOR, &i, &v);
            }
            4 => {
                let p = self.real(&format!("{}[{i}]", scope.vector));
                let q = self.real(&format!("{}[{j}]", scope.vector));
                let half = self.update(&scope.vector, VECTOR, &i, &q);
                scope.vector = self.update(&half, VECTOR, &j, &p);
            }
            5 => {
                let matrix = scope.matrix();
                let p = self.bind("row", VECTOR, &format!("{matrix}[{i}]"));
                let q = self.bind("row", VECTOR, &format!("{matrix}[{j}]"));
                let half = self.update(&matrix, MATRIX, &i, &q);
                let whole = self.update(&half, MATRIX, &j, &p);
                scope.matrices.extend([half, whole]);
            }
            6 => {
                let v = self.value(scope);
                scope.reals.push(v);
            }
            7 => {
                let row = self.bind("row", VECTOR, &format!("{}[{i}]", scope.matrix()));
                scope.rows.push(row);
            }
            8 | 9 => {
                let parity = self.int(&format!("add_int {i}, {j}"));
                let parity = self.int(&format!("rem_int {parity}, 2"));
                let cond = self.bind("t", "bool", &format!("lt_int {parity}, 1"));
                let [y, z] = ["y", "y"].map(|hint| self.name(hint));
                self.line(&format!("{y} : {MATRIX}, {z} : {VECTOR} = if {cond} {{"));
                self.branch(scope, depth);
                self.line("} else {");
                self.branch(scope, depth);
                self.line("}");
                scope.matrices.push(y);
                scope.vector = z;
            }
            _ => {
                let extent = self.extent(scope);
                let x = self.random.recent(&scope.reals);
                let counted = self.below(3) > 0;
                let state = [scope.matrix(), scope.vector.clone(), x];
                let [m, v, x] = self.repeated(counted, &extent, state, |d, k, [m, v, x]| {
                    let mut inner = scope.clone();
                    inner.matrices = if d.below(4) == 0 { scope.matrices.clone() } else { vec![] };
                    inner.matrices.push(m);
                    inner.vector = v;
                    inner.reals.push(x);
                    inner.ints.push(k);
                    d.steps(&mut inner, depth - 1);
                    let x = d.value(&inner);
                    [inner.matrix(), inner.vector, x]
                });
                scope.matrices.push(m);
                scope.vector = v;
                scope.reals.push(x);
            }
        }
    }

    fn branch(&mut self, scope: &Scope, depth: usize) {
        let mut inner = scope.clone();
        if self.below(3) > 0 {
            self.steps(&mut inner, depth - 1);
        }
        self.line(&format!("=> {}, {}", inner.matrix(), inner.vector));
    }

    /// A loop with a state of a matrix, a vector and perhaps a real: counted, or a `while` that
    /// counts.
    fn repeated<const N: usize>(
        &mut self,
        counted: bool,
        extent: &str,
        inits: [String; N],
        body: impl FnOnce(&mut Draw, String, [String; N]) -> [String; N],
    ) -> [String; N] {
        const TYPES: [&str; 3] = [MATRIX, VECTOR, "real"];
        let (results, states) =
            (inits.each_ref().map(|_| self.name("z")), inits.each_ref().map(|_| self.name("s")));
        let typed = |k: usize, name: &String| format!("{name} : {}", TYPES[k]);
        let binds: Vec<String> = results.iter().enumerate().map(|(k, z)| typed(k, z)).collect();
        let state = states.iter().zip(inits).enumerate();
        let state: Vec<String> = state.map(|(k, (s, x))| typed(k, s) + " = " + &x).collect();
        let (binds, state, k) = (binds.join(", "), state.join(", "), self.name("k"));
        if counted {
            self.line(&format!("{binds} = loop ({state}) for {k} < {extent} {{"));
            let next = body(self, k, states);
            self.line(&format!("=> {}\n}}", next.join(", ")));
        } else {
            self.line(&format!(
                "count : int, {binds} = loop ({k} : int = 0, {state}) while {{
                more : bool = lt_int {k}, {extent}
                => more
                }} do {{"
            ));
            let count = self.int(&format!("add_int {k}, 1"));
            let next = body(self, k, states);
            self.line(&format!("=> {count}, {}\n}}", next.join(", ")));
        }
        results
    }
}

fn program(seed: u64) -> Program {
    let text = format!("f [n] (m : {MATRIX}) (v : {VECTOR}) (x : real) {{\n");
    let mut draw = Draw { random: Random(seed), text, names: 0 };
    let state = ["m".into(), "v".into()];
    let [m, v] = draw.repeated(!seed.is_multiple_of(4), "n", state, |d, k, [m, v]| {
        let mut scope = Scope {
            ints: vec!["1".into(), k],
            reals: vec!["x".into()],
            rows: vec![],
            matrices: vec![m],
            vector: v,
        };
        d.steps(&mut scope, 2);
        d.step(&mut scope, 2);
        [scope.matrix(), scope.vector]
    });
    draw.line(&format!("=> {m} : {MATRIX}, {v} : {VECTOR}\n}}"));
    Program::read(&draw.text)
}

fn point(program: &Program, n: usize, random: &mut Random) -> Point {
    let shapes: Vec<Tensor> = program
        .f
        .params
        .iter()
        .map(|p| {
            let dims = vec![n; p.ty.dims.len()];
            Tensor::reals(dims.clone(), vec![0.0; dims.iter().product()])
        })
        .collect();
    Point { constants: vec![], params: like(random, &shapes) }
}

fn verdict(program: &Program, at: &Point, closely: f64) -> Result<Outcome, String> {
    let tested = std::panic::catch_unwind(|| laws(program, at, &mut Random(11), closely));
    tested.unwrap_or_else(|_| Err("panic".into()))
}

fn seeds(few: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(few),
    }
}

fn test(program: &Program, at: &Point, closely: f64, what: &str) {
    match verdict(program, at, closely) {
        Ok(Outcome::Holds(_)) => {}
        Ok(outcome @ (Outcome::Fails | Outcome::Nan)) => panic!("{what}: {outcome:?}"),
        Err(message) => {
            let first = message.lines().next().unwrap_or_default();
            let small = shrink(program, &|p| verdict(p, at, closely).is_err());
            let shown = verdict(&small, at, closely).err().unwrap_or_default();
            panic!("{what}: {first}\n{}\n{shown}", small.show());
        }
    }
}

#[test]
fn first_order() {
    let all: Vec<u64> = seeds(200).collect();
    let found = parallel(&all, |&seed| {
        let program = program(seed);
        let derivative = program.reverse().show();
        for n in [1, 3, 4] {
            let at = point(&program, n, &mut Random(seed));
            test(&program, &at, CLOSELY, &format!("seed {seed}"));
        }
        (derivative.contains("_old_tape"), derivative.contains("_starts"))
    });
    let (logs, flat) = (found.iter().filter(|f| f.0).count(), found.iter().filter(|f| f.1).count());
    let count = all.len();
    // The log is there, also of inner loops of different lengths.
    assert!(count < 100 || 2 * logs > count && 10 * flat > count, "{logs} {flat} of {count}");
}

#[test]
fn second_order() {
    parallel(&seeds(40).collect::<Vec<_>>(), |&seed| {
        let (program, mut random) = (program(seed), Random(seed));
        let at = point(&program, 3, &mut random);
        let mut primal = program.run(&at).expect("the program runs").0;
        primal.retain(|t| t.elem() == ScalarTy::Real);
        for (what, derivative, extra) in [
            ("forward", program.forward(), like(&mut random, &at.params)),
            ("reverse", program.reverse(), like(&mut random, &primal)),
        ] {
            let at = Point { params: [at.params.clone(), extra].concat(), ..at.clone() };
            test(
                &derivative,
                &at,
                10.0 * CLOSELY,
                &format!("seed {seed}, of the {what} derivative"),
            );
        }
    });
}
