//! Generated programs: moving values at their last mention and updating arrays in place changes no
//! result.

use super::super::machine::Machine;
use super::super::{Types, apply, finish};
use super::*;
use crate::{if_, lit};
use lambada_prim::Scalar;
use lambada_testkit::Random;

/// Draws terms.
struct Generator {
    random: Random,
    program: Program,
    /// The variables in scope.
    scope: Vec<Var>,
}

fn ints() -> Ty {
    Ty::array(Ty::INT)
}

fn pair() -> Ty {
    Ty::tuple([ints(), Ty::tuple([Ty::INT, ints()])])
}

impl Generator {
    /// A number below `n`.
    fn draw(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn ty(&mut self) -> Ty {
        [Ty::INT, ints(), pair(), Ty::array(ints())][self.draw(4)].clone()
    }

    /// A term inside of the scope of a new variable.
    fn under(&mut self, ty: Ty, depth: usize, result: &Ty) -> (Var, Term) {
        let x = self.program.fresh("x", ty);
        self.scope.push(x.clone());
        let term = self.term(result, depth);
        self.scope.pop();
        (x, term)
    }

    /// A term of a type. Arrays have two elements.
    fn term(&mut self, ty: &Ty, depth: usize) -> Term {
        if depth == 0 {
            return self.leaf(ty);
        }
        match self.draw(8) {
            0 => self.binding(ty, depth),
            1 => {
                let condition = prim(
                    Prim::LtInt,
                    vec![self.term(&Ty::INT, depth - 1), self.term(&Ty::INT, depth - 1)],
                );
                if_(condition, self.term(ty, depth - 1), self.term(ty, depth - 1))
            }
            2 => {
                let init = self.term(ty, depth - 1);
                let i = self.program.fresh("i", Ty::INT);
                self.scope.push(i.clone());
                let (state, body) = self.under(ty.clone(), depth - 1, ty);
                self.scope.pop();
                loop_(state, init, LoopKind::For(i, int(2), Checkpoint::All), body)
            }
            3 => {
                let from = self.ty();
                let (x, body) = self.under(from.clone(), depth - 1, ty);
                app(lam(x, body), self.term(&from, depth - 1))
            }
            4 => self.counted(ty, depth),
            _ => self.specific(ty, depth),
        }
    }

    fn binding(&mut self, ty: &Ty, depth: usize) -> Term {
        let bound = self.ty();
        let value = self.term(&bound, depth - 1);
        let (x, body) = self.under(bound, depth - 1, ty);
        let_(x, value, body)
    }

    /// `loop s = (k, value) while s.0 < 2 do (s.0 + 1, body)`, its second component.
    fn counted(&mut self, ty: &Ty, depth: usize) -> Term {
        let init = tuple(vec![int(0), self.term(ty, depth - 1)]);
        let (state, body) = self.under(Ty::tuple([Ty::INT, ty.clone()]), depth - 1, ty);
        let count = || proj(var(&state), 0);
        let more = prim(Prim::LtInt, vec![count(), int(2)]);
        let next = tuple(vec![prim(Prim::AddInt, vec![count(), int(1)]), body]);
        proj(loop_(state.clone(), init, LoopKind::While(more), next), 1)
    }

    /// A variable of the type or a component of one, if possible.
    fn leaf(&mut self, ty: &Ty) -> Term {
        let mut found: Vec<Term> = Vec::new();
        for x in &self.scope {
            let components = if let Ty::Tuple(items) = &x.ty { items.len() } else { 0 };
            found.extend((x.ty == *ty).then(|| var(x)));
            found.extend((0..components).map(|k| proj(var(x), k)).filter(|part| part.ty() == ty));
        }
        if !found.is_empty() {
            return found[self.draw(found.len())].clone();
        }
        match ty {
            Ty::Array(elem) => {
                let items = vec![self.leaf(elem), self.leaf(elem)];
                Term::new(TermKind::Array(items), ty.clone(), NOWHERE)
            }
            Ty::Tuple(items) => tuple(items.iter().map(|ty| self.leaf(ty)).collect()),
            _ => lit(Scalar::Int(self.draw(5) as i64)),
        }
    }

    /// A construct that makes values of this type.
    fn specific(&mut self, ty: &Ty, depth: usize) -> Term {
        let place = |g: &mut Generator| int(g.draw(2) as i64);
        match ty {
            Ty::Array(elem) if self.draw(3) == 0 => {
                let (i, body) = self.under(Ty::INT, depth - 1, elem);
                for_(i, int(2), body)
            }
            Ty::Array(elem) => {
                let (xs, at, value) =
                    (self.term(ty, depth - 1), place(self), self.term(elem, depth - 1));
                update(xs, vec![at], value, NOWHERE)
            }
            Ty::Tuple(items) => tuple(items.iter().map(|ty| self.term(ty, depth - 1)).collect()),
            _ => {
                let (xs, at) = (self.term(&ints(), depth - 1), place(self));
                prim(
                    Prim::AddInt,
                    vec![index(xs, vec![at], NOWHERE), self.term(&Ty::INT, depth - 1)],
                )
            }
        }
    }
}

/// The result of the definition `main`.
fn result(program: &Program, moves: bool) -> Result<Data, String> {
    let mut machine = Machine::new(program);
    machine.moves = moves;
    let body = &program.defs[0].body;
    let value = machine.global(0).and_then(|value| {
        apply(program, &mut machine, value, Types { ty: body.ty(), sized: &[] }, &[], NOWHERE)
    });
    finish(value).map_err(|failure| failure.message)
}

#[test]
fn moving_values_changes_nothing() {
    for seed in 0..3000 {
        let mut generator =
            Generator { random: Random(seed), program: Program::default(), scope: Vec::new() };
        let ty = generator.ty();
        let body = generator.term(&ty, 2 + seed as usize % 5);
        let program = main(generator.program, body);
        crate::check(&program).unwrap();
        assert_eq!(
            result(&program, true),
            result(&program, false),
            "{}",
            crate::print_program(&program)
        );
    }
}
