//! A definition and its derivatives up to the second order, compiled once, run on any number of
//! arguments.

use std::collections::BTreeMap;

use lambada::operators::{self, Operator};
use lambada::{Data, Executable, Unit};
use lambada_core::{DefId, Program, SizedTy};
use lambada_loops as loops;
use lambada_prim::ScalarTy;
use lambada_testkit::Random;

use crate::natives::{Native, What};
use crate::nests;
use lambada::vectors::{reals, with_reals};

/// One function of the ladder.
struct Compiled {
    what: What,
    function: loops::Function,
    executable: Executable,
}

/// A definition, and if it can be differentiated, its derivatives.
pub struct Orders {
    name: String,
    value: Compiled,
    wrt: Vec<usize>,
    /// Whether the result is one real. Then cotangents are known where the value fails.
    gives_real: bool,
    /// jvp, vjp, jvp of vjp, vjp of vjp.
    derivatives: Vec<Compiled>,
}

/// The definitions of a file, each compiled once for all points.
pub struct Definitions<'a> {
    unit: &'a Unit,
    compiled: BTreeMap<String, Result<Orders, String>>,
}

impl Definitions<'_> {
    /// Nothing is compiled yet.
    pub fn of(unit: &Unit) -> Definitions<'_> {
        Definitions { unit, compiled: BTreeMap::new() }
    }

    /// The expected results of native code for a definition and its derivatives at these arguments.
    pub fn natives(&mut self, entry: &str, args: &[Data]) -> Result<Vec<Native>, String> {
        let new = || Orders::new(self.unit, entry);
        let orders = self.compiled.entry(entry.to_string()).or_insert_with(new);
        orders.as_ref().map_err(Clone::clone)?.natives(args)
    }
}

impl Compiled {
    fn new(what: What, program: &Program, entry: DefId) -> Result<Compiled, String> {
        let arrays = lambada::arrays(program, entry).map_err(|p| format!("{what}: {p:?}"))?;
        let function = nests::everywhere(&arrays);
        let [_, _, executable] = Executable::stages(&arrays);
        Ok(Compiled { what, function, executable })
    }

    /// Adds the expected results of native code, and gives the value.
    fn native(
        &self,
        name: &str,
        args: &[Data],
        natives: &mut Vec<Native>,
    ) -> Result<Option<Data>, String> {
        let name = format!("{name}: {}", self.what);
        let tensors =
            self.executable.tensors(args).map_err(|f| format!("{name}: {}", f.message))?;
        let expected = loops::eval(&self.function, &tensors);
        let (what, function) = (self.what, self.function.clone());
        natives.push(Native { name, what, function, args: tensors, expected });
        Ok(self.executable.run(args).ok())
    }
}

impl Orders {
    /// Compiles a definition and its derivatives by all parameters that hold reals.
    pub fn new(unit: &Unit, entry: &str) -> Result<Orders, String> {
        let (program, id) = unit.definition(entry).map_err(|p| format!("{entry}: {p:?}"))?;
        let told = |e: String| format!("{entry}, {e}");
        let value = Compiled::new(What::Value, &program, id).map_err(told)?;
        let wrt = crate::oracle::differentiable(&program, id)?;
        let derive = |program: &Program, of: DefId, operator: Operator| {
            let mut program = program.clone();
            operators::derive(&mut program, of, operator, &wrt)
                .map(|derived| (program, derived))
                .map_err(|p| format!("{entry}: {p:?}"))
        };
        let (mut derivatives, mut gives_real) = (Vec::new(), false);
        if !wrt.is_empty() {
            let (jvp_program, jvp) = derive(&program, id, Operator::Jvp)?;
            derivatives.push(Compiled::new(What::Jvp, &jvp_program, jvp).map_err(told)?);
            let (vjp_program, vjp) = derive(&program, id, Operator::Vjp)?;
            derivatives.push(Compiled::new(What::Vjp, &vjp_program, vjp).map_err(told)?);
            for (what, operator) in
                [(What::JvpOfVjp, Operator::Jvp), (What::VjpOfVjp, Operator::Vjp)]
            {
                let (program, derived) = derive(&vjp_program, vjp, operator)?;
                derivatives.push(Compiled::new(what, &program, derived).map_err(told)?);
            }
            let cotangent = vjp_program.def(vjp).signature.params.last();
            gives_real = cotangent.is_some_and(|(_, ty)| *ty == SizedTy::Scalar(ScalarTy::Real));
        }
        Ok(Orders { name: entry.to_string(), value, wrt, gives_real, derivatives })
    }

    /// The expected results of native code for the value and all derivatives at these arguments. If
    /// the value fails, the derivatives have to fail as well.
    pub fn natives(&self, args: &[Data]) -> Result<Vec<Native>, String> {
        let mut natives = Vec::new();
        let value = self.value.native(&self.name, args, &mut natives)?;
        let [jvp, vjp, forward, reverse] = &self.derivatives[..] else { return Ok(natives) };
        let mut random = Random(7);
        let mut draw = |data: &Data| with_reals(data, &mut || random.between(-1.0, 1.0));
        let point = match &self.wrt[..] {
            [single] => args[*single].clone(),
            several => Data::Tuple(several.iter().map(|k| args[*k].clone()).collect()),
        };
        let tangent = draw(&point);
        let with = |args: &[Data], last: &Data| [args, std::slice::from_ref(last)].concat();
        jvp.native(&self.name, &with(args, &tangent), &mut natives)?;
        let cotangent = match &value {
            Some(value) if reals(value).is_empty() => return Ok(natives),
            Some(value) => draw(value),
            None if self.gives_real => Data::from(1.0),
            // Nobody knows the sizes of its cotangent.
            None => return Ok(natives),
        };
        let outer = with(args, &cotangent);
        vjp.native(&self.name, &outer, &mut natives)?;
        forward.native(&self.name, &with(&outer, &tangent), &mut natives)?;
        let zero = with_reals(&cotangent, &mut || 0.0);
        let seed = Data::Tuple(vec![zero, tangent]);
        reverse.native(&self.name, &with(&outer, &seed), &mut natives)?;
        Ok(natives)
    }
}
