//! The oracle matrix for one definition at one point:
//!
//! - evaluated by the meaning of the language = as array code, before and after optimization = as loops = (by the caller) natively;
//! - forward derivative = central differences; forward against reverse, ⟨Jv, w⟩ = ⟨v, Jᵀw⟩; both keep the value;
//! - once nested: the forward and the reverse derivative of the reverse derivative against differences of it, and against each other.

use lambada::operators::{self, Operator};
use lambada::{Data, Executable, Unit};
use lambada_core::{DefId, Program};
use lambada_loops as loops;
use lambada_run::Kernel;

use crate::vectors::{Numbers, inner, moved, reals, with_reals};

/// A definition with one value per parameter.
pub struct Case {
    /// For messages.
    pub name: String,
    /// The program.
    pub program: Program,
    /// The definition.
    pub entry: DefId,
    /// The arguments.
    pub args: Vec<Data>,
    /// Which parameters to differentiate with respect to; none for programs without reals.
    pub wrt: Vec<usize>,
}

/// What a case expects of native code: a function, its arguments, and the result.
pub struct Native {
    /// For messages.
    pub name: String,
    /// The code.
    pub function: loops::Function,
    /// The arguments, sizes included.
    pub args: Vec<lambada::Tensor>,
    /// The results of the interpreter of loops.
    pub expected: Result<Vec<lambada::Tensor>, lambada::Failure>,
}

/// The verdict on a case: what native code has to give, or what disagreed.
pub type Verdict = Result<Vec<Native>, String>;

impl Case {
    /// A definition of a checked file at arguments in JSON.
    pub fn new(unit: &Unit, entry: &str, args: Vec<Data>) -> Result<Case, String> {
        let (program, id) = unit.definition(entry).map_err(|p| format!("{p:?}"))?;
        let wrt = operators::choose(&program, id, None).unwrap_or_default();
        Ok(Case { name: entry.to_string(), program, entry: id, args, wrt })
    }

    /// Runs the whole matrix.
    pub fn verdict(&self) -> Verdict {
        let mut natives = Vec::new();
        let value =
            self.agreed(self.program.clone(), self.entry, &self.args, "value", &mut natives)?;
        let Some(value) = value else { return Ok(natives) };
        if !self.wrt.is_empty() && !reals(&value).is_empty() {
            self.derivatives(&value, &mut natives).map_err(|e| format!("{}: {e}", self.name))?;
        }
        Ok(natives)
    }

    fn agreed(
        &self,
        program: Program,
        entry: DefId,
        args: &[Data],
        what: &str,
        natives: &mut Vec<Native>,
    ) -> Result<Option<Data>, String> {
        agreed(&format!("{}: {what}", self.name), program, entry, args, natives)
    }

    fn derivatives(&self, value: &Data, natives: &mut Vec<Native>) -> Result<(), String> {
        let mut numbers = Numbers::new(7);
        let point = self.point(&self.args);
        let tangent = with_reals(&point, &mut || numbers.real());
        let cotangent = with_reals(value, &mut || numbers.real());

        let (jvp_program, jvp) = self.derived(self.program.clone(), self.entry, Operator::Jvp)?;
        let pushed = self
            .agreed(jvp_program, jvp, &with(&self.args, &tangent), "jvp", natives)?
            .ok_or("jvp fails where the value does not")?;
        let (kept, pushed) = pair(pushed)?;
        close("value of jvp", &reals(value), &reals(&kept), 1e-12)?;

        let (vjp_program, vjp) = self.derived(self.program.clone(), self.entry, Operator::Vjp)?;
        let pulled = self
            .agreed(vjp_program.clone(), vjp, &with(&self.args, &cotangent), "vjp", natives)?
            .ok_or("vjp fails where the value does not")?;
        let (kept, pulled) = pair(pulled)?;
        close("value of vjp", &reals(value), &reals(&kept), 1e-12)?;

        let (forward, reverse) =
            (inner(&reals(&pushed), &reals(&cotangent)), inner(&reals(&tangent), &reals(&pulled)));
        let scale = inner(&absolute(&pushed), &absolute(&cotangent))
            + inner(&absolute(&tangent), &absolute(&pulled));
        near("⟨Jv, w⟩ against ⟨v, Jᵀw⟩", forward, reverse, 1e-9, scale)?;
        self.differences("jvp", &tangent, &reals(&pushed), |args| {
            lambada_core::eval::run(&self.program, self.entry, args).ok()
        })?;

        // Once nested: g(x) = Jᵀ(x) w, with w fixed.
        let outer = with(&self.args, &cotangent);
        let gradient = |args: &[Data]| {
            lambada_core::eval::run(&vjp_program, vjp, &with(args, &cotangent))
                .ok()
                .and_then(|r| pair(r).ok())
                .map(|p| p.1)
        };
        let (program, entry) = self.derived(vjp_program.clone(), vjp, Operator::Jvp)?;
        let second = self
            .agreed(program, entry, &with(&outer, &tangent), "jvp of vjp", natives)?
            .ok_or("jvp of vjp fails")?;
        let (_, second) = pair(second)?;
        let (_, second) = pair(second)?;
        self.differences("jvp of vjp", &tangent, &reals(&second), gradient)?;

        let (program, entry) = self.derived(vjp_program, vjp, Operator::Vjp)?;
        let seeds = Data::Tuple(vec![with_reals(value, &mut || 0.0), tangent.clone()]);
        let back = self
            .agreed(program, entry, &with(&outer, &seeds), "vjp of vjp", natives)?
            .ok_or("vjp of vjp fails")?;
        let (_, back) = pair(back)?;
        // The Hessian of ⟨w, f⟩ is symmetric: Hv forward over reverse is vᵀH reverse over reverse.
        close("vjp of vjp against jvp of vjp", &reals(&second), &reals(&back), 1e-8)
    }

    fn derived(
        &self,
        mut program: Program,
        entry: DefId,
        operator: Operator,
    ) -> Result<(Program, DefId), String> {
        let id = operators::derive(&mut program, entry, operator, &self.wrt)
            .map_err(|p| format!("{p:?}"))?;
        Ok((program, id))
    }

    /// The arguments that are differentiated with respect to, packed as the operators pack them.
    fn point(&self, args: &[Data]) -> Data {
        match &self.wrt[..] {
            [single] => args[*single].clone(),
            several => Data::Tuple(several.iter().map(|k| args[*k].clone()).collect()),
        }
    }

    fn at(&self, point: &Data) -> Vec<Data> {
        let mut args = self.args.clone();
        match (&self.wrt[..], point) {
            ([single], point) => args[*single] = point.clone(),
            (several, Data::Tuple(items)) => {
                several.iter().zip(items).for_each(|(k, item)| args[*k] = item.clone())
            }
            _ => unreachable!("several parameters make a tuple"),
        }
        args
    }

    /// Central differences along the tangent, of two steps: near a kink one may be wrong, a wrong derivative fails both.
    fn differences(
        &self,
        what: &str,
        tangent: &Data,
        derivative: &[f64],
        f: impl Fn(&[Data]) -> Option<Data>,
    ) -> Result<(), String> {
        let mut complaint = String::new();
        for h in [1e-4, 1e-6, 1e-3] {
            let side = |h: f64| f(&self.at(&moved(&self.point(&self.args), h, tangent)));
            let (Some(up), Some(down), Some(up2), Some(down2)) =
                (side(h), side(-h), side(2.0 * h), side(-2.0 * h))
            else {
                continue;
            };
            let (up, down, up2, down2) = (reals(&up), reals(&down), reals(&up2), reals(&down2));
            if up.len() != derivative.len()
                || down.len() != up.len()
                || up2.len() != up.len()
                || down2.len() != up.len()
            {
                continue; // another constructor or size on the other side of the point
            }
            let slope: Vec<f64> = (0..up.len())
                .map(|k| (8.0 * (up[k] - down[k]) - (up2[k] - down2[k])) / (12.0 * h))
                .collect();
            match close(&format!("{what} against differences"), derivative, &slope, 1e-5) {
                Ok(()) => return Ok(()),
                Err(e) => complaint = e,
            }
        }
        if complaint.is_empty() { Ok(()) } else { Err(complaint) }
    }
}

/// The value that all evaluators agree on; nothing where all agree to fail. Native code is left to the caller, who compiles many at once.
pub fn agreed(
    name: &str,
    program: Program,
    entry: DefId,
    args: &[Data],
    natives: &mut Vec<Native>,
) -> Result<Option<Data>, String> {
    let expected = lambada_core::eval::run(&program, entry, args);
    let arrays = lambada::arrays(&program, entry).map_err(|p| format!("{name}: {p:?}"))?;
    let [unoptimized, optimized, lowered] = Executable::stages(&arrays);
    for (stage, executable) in
        [("normalized", &unoptimized), ("optimized", &optimized), ("as loops", &lowered)]
    {
        same(&format!("{name}, {stage} against core"), &expected, &executable.run(args))?;
    }
    let function = lambada::lower(&arrays);
    let tensors = lowered.tensors(args).map_err(|f| format!("{name}: {}", f.message))?;
    let result = loops::eval(&function, &tensors);
    natives.push(Native { name: name.to_string(), function, args: tensors, expected: result });
    Ok(expected.ok())
}

/// Runs all functions natively, compiled in few units, and compares with the interpreter of loops.
pub fn native_complaints(natives: &[Native]) -> Vec<String> {
    let mut complaints = Vec::new();
    for batch in natives.chunks(250) {
        let functions: Vec<&loops::Function> = batch.iter().map(|n| &n.function).collect();
        let kernels = match Kernel::compile_all(&functions) {
            Ok(kernels) => kernels,
            Err(e) => {
                complaints.push(format!("the batch of {} does not compile: {e}", batch[0].name));
                continue;
            }
        };
        for (native, kernel) in batch.iter().zip(kernels) {
            let tuple = |tensors: Vec<lambada::Tensor>| {
                Data::Tuple(tensors.into_iter().map(Data::Tensor).collect())
            };
            let (expected, found) =
                (native.expected.clone().map(tuple), kernel.call(&native.args).map(tuple));
            complaints.extend(
                same(&format!("{}, native against loops", native.name), &expected, &found).err(),
            );
        }
    }
    complaints
}

/// The arguments and one more.
fn with(args: &[Data], last: &Data) -> Vec<Data> {
    args.iter().cloned().chain([last.clone()]).collect()
}

fn pair(data: Data) -> Result<(Data, Data), String> {
    match data {
        Data::Tuple(items) => <[Data; 2]>::try_from(items)
            .map(|[a, b]| (a, b))
            .map_err(|items| format!("a pair, not {items:?}")),
        other => Err(format!("a pair was expected, not {other:?}")),
    }
}

fn absolute(data: &Data) -> Vec<f64> {
    reals(data).iter().map(|x| x.abs()).collect()
}

/// Equal up to the order of floating-point sums, or both failures with the same words.
pub fn same(
    what: &str,
    expected: &Result<Data, lambada::Failure>,
    found: &Result<Data, lambada::Failure>,
) -> Result<(), String> {
    match (expected, found) {
        (Ok(a), Ok(b)) => lambada_core::data::close(a, b, 1e-9).map_err(|e| format!("{what}: {e}")),
        (Err(a), Err(b)) if a.message == b.message => Ok(()),
        (Err(a), Err(b)) => {
            Err(format!("{what}: fails with {:?} instead of {:?}", b.message, a.message))
        }
        (Ok(a), Err(b)) => Err(format!("{what}: fails with {:?} instead of giving {a}", b.message)),
        (Err(a), Ok(b)) => {
            Err(format!("{what}: gives {b} instead of failing with {:?}", a.message))
        }
    }
}

fn close(what: &str, a: &[f64], b: &[f64], tolerance: f64) -> Result<(), String> {
    if a.len() != b.len() {
        return Err(format!("{what}: {} reals against {}", a.len(), b.len()));
    }
    let scale = a.iter().chain(b).map(|x| x.abs()).filter(|x| x.is_finite()).fold(1.0, f64::max);
    a.iter().zip(b).enumerate().try_for_each(|(k, (x, y))| {
        near(&format!("{what}, component {k}"), *x, *y, tolerance, scale)
    })
}

fn near(what: &str, a: f64, b: f64, tolerance: f64, scale: f64) -> Result<(), String> {
    let fine = (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() <= tolerance * scale.max(1.0);
    if fine { Ok(()) } else { Err(format!("{what}: {a} against {b}")) }
}
