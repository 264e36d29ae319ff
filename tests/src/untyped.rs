//! Definitions without types, drawn at random: matrix products, `transpose`, arithmetic, `for`,
//! folds and maps. Many have no types; the compiler says so or makes all of them run.

use std::collections::HashMap;

use lambada::{Data, Tensor};
use lambada_core::{Size, SizedTy};
use lambada_testkit::Random;

/// Depth of the expressions.
const DEPTH: usize = 3;

/// A definition `f` of one to three parameters, all of which it mentions. A seed always gives the
/// same text.
pub fn untyped(seed: u64) -> String {
    let mut random = Random(Random(seed).bits());
    let params: Vec<String> =
        ["a", "b", "c"][..1 + random.below(3)].iter().map(ToString::to_string).collect();
    loop {
        let mut draw = Draw { random: &mut random, scope: params.clone(), fresh: 0 };
        let depth = 1 + draw.random.below(DEPTH);
        let body = draw.expression(depth);
        let words: Vec<&str> = body.split(|c: char| !c.is_alphanumeric()).collect();
        if params.iter().all(|param| words.contains(&param.as_str())) {
            return format!("def f {} = {body}\n", params.join(" "));
        }
    }
}

struct Draw<'r> {
    random: &'r mut Random,
    /// The variables in scope; `i` is an index, `xs` and so on are whatever they are.
    scope: Vec<String>,
    fresh: usize,
}

impl Draw<'_> {
    fn variable(&mut self) -> String {
        self.random.pick(&self.scope)
    }

    /// An expression, in parentheses where it needs them as an operand.
    fn operand(&mut self, depth: usize) -> String {
        let text = self.expression(depth);
        if text.chars().all(char::is_alphanumeric) { text } else { format!("({text})") }
    }

    /// Runs with one more variable in scope.
    fn with(&mut self, name: &str, inside: impl FnOnce(&mut Self, &str) -> String) -> String {
        self.fresh += 1;
        let name = format!("{name}{}", self.fresh);
        self.scope.push(name.clone());
        let text = inside(self, &name);
        self.scope.pop();
        text
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return if self.random.once_in(8) { "0.5".into() } else { self.variable() };
        }
        let d = depth - 1;
        match self.random.below(18) {
            0 | 1 => format!("{} + {}", self.operand(d), self.operand(d)),
            2 => format!("{} - {}", self.operand(d), self.operand(d)),
            3 | 4 => format!("{} * {}", self.operand(d), self.operand(d)),
            5..=8 => format!("{} @ {}", self.operand(d), self.operand(d)),
            9 => format!("transpose {}", self.operand(d)),
            10 => format!("sum {}", self.operand(d)),
            11 => {
                let function = self.random.pick(&["tanh", "sin", "exp"]);
                format!("{function} {}", self.operand(d))
            }
            12 => {
                let body = self.with("x", |this, x| format!("\\{x} -> {}", this.expression(d)));
                format!("map ({body}) {}", self.operand(d))
            }
            13 => {
                let xs = self.operand(d);
                self.with("r", |this, r| format!("for {r} in {xs} => {}", this.expression(d)))
            }
            14 => {
                let xs = self.variable();
                format!("for i < length {xs} => {xs}[i] * {}", self.operand(d))
            }
            15 => {
                let body = self.with("s", |this, s| {
                    this.with("y", |this, y| format!("\\{s} {y} -> {s} + {}", this.operand(d)))
                });
                format!("fold ({body}) {} {}", self.operand(d), self.operand(d))
            }
            16 => {
                let value = self.expression(d);
                self.with("v", |this, v| format!("let {v} = {value} in {}", this.expression(d)))
            }
            _ => {
                let function = self.random.pick(&["dot", "outer"]);
                format!("{function} {} {}", self.operand(d), self.operand(d))
            }
        }
    }
}

/// Arguments of types without variants, of sizes from 1 to 3.
pub fn arguments(params: &[SizedTy], random: &mut Random) -> Option<Vec<Data>> {
    let mut sizes = HashMap::new();
    params.iter().map(|ty| argument(ty, &mut sizes, random)).collect()
}

fn argument(ty: &SizedTy, sizes: &mut HashMap<String, usize>, random: &mut Random) -> Option<Data> {
    let (mut dims, mut at) = (Vec::new(), ty);
    while let SizedTy::Array(size, elem) = at {
        dims.push(match size {
            Size::Const(n) => *n as usize,
            Size::Var(name) | Size::Expr(name) => {
                *sizes.entry(name.to_string()).or_insert_with(|| 1 + random.below(3))
            }
            Size::Any => 2,
        });
        at = elem;
    }
    match at {
        SizedTy::Scalar(scalar) => {
            let count = dims.iter().product();
            let mut real = || random.between(-1.0, 1.0);
            let mut reals = || (0..count).map(|_| real()).collect();
            Some(Data::Tensor(match scalar {
                lambada_prim::ScalarTy::Real => Tensor::reals(dims.clone(), reals()),
                lambada_prim::ScalarTy::Int | lambada_prim::ScalarTy::Bool => {
                    Tensor::zeros(*scalar, dims.clone())
                }
            }))
        }
        SizedTy::Tuple(items) if dims.is_empty() => {
            let items = items.iter().map(|item| argument(item, sizes, random));
            items.collect::<Option<_>>().map(Data::Tuple)
        }
        SizedTy::Tuple(_)
        | SizedTy::Record(_)
        | SizedTy::Variant(_)
        | SizedTy::Fun(..)
        | SizedTy::Array(..) => None,
    }
}

/// A square array of this rank in JSON.
pub fn square(rank: usize, random: &mut Random) -> serde_json::Value {
    match rank {
        0 => serde_json::json!(random.between(-1.0, 1.0)),
        _ => (0..2).map(|_| square(rank - 1, random)).collect(),
    }
}
