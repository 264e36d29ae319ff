//! Derivatives as Lambada source. The array code prints itself; where parameters or results have structure that array code has not
//! (tuples, records, variants, arrays of them), a second definition takes them apart and puts them together again.

use std::collections::BTreeSet;
use std::rc::Rc;

use lambada_anf::{Atom, Ty, surface};
use lambada_core::{Program, Size, SizedTy, TypeId};
use lambada_prim::ScalarTy;
use lambada_source::{Problem, stack};

use crate::data::{is_identifier, print_type, unsized_ty};
use crate::operators::Operator;
use crate::pipeline::arrays;
use crate::{Call, Unit};

impl Unit {
    /// The forward or reverse derivative of a definition as a definition of its own: `f_forward` takes a tangent after the parameters,
    /// `f_reverse` a cotangent; both give the value, then the derivative.
    pub fn derivative_source(
        &self,
        entry: &str,
        operator: Operator,
        wrt: Option<&[String]>,
    ) -> Result<String, Vec<Problem>> {
        stack::roomy(|| self.derived(entry, operator, wrt))
    }

    fn derived(
        &self,
        entry: &str,
        operator: Operator,
        wrt: Option<&[String]>,
    ) -> Result<String, Vec<Problem>> {
        let call = self.call(entry, operator, wrt)?;
        let name =
            format!("{entry}_{}", if operator == Operator::Jvp { "forward" } else { "reverse" });
        let function = arrays(&call.program, call.entry)?.optimized;
        let signature = call.program.def(call.entry).signature.clone();
        let result = signature.result.clone();
        let plain = signature.params.iter().all(|(_, ty)| is_plain(ty))
            && result.as_ref().is_none_or(reads_flat);
        let head = heading(&call, entry, operator);
        let Some(result) = result.filter(|_| !plain) else {
            return Ok(format!("{head}{}", surface::definition(&function, &name)));
        };
        let flat = surface::definition(&function, &format!("{name}_flat"));
        let types = self.type_definitions(
            &call.program,
            signature.params.iter().map(|(_, ty)| ty).chain([&result]),
        )?;
        Ok(format!(
            "{types}{head}{}\n{flat}",
            wrapper(&call.program, &name, &signature.params, &result, &function.results)
        ))
    }
}

fn heading(call: &Call, entry: &str, operator: Operator) -> String {
    let names: Vec<String> = call.wrt_names().iter().map(|n| format!("`{n}`")).collect();
    let names = names.join(", ");
    match operator {
        Operator::Jvp => {
            format!("--| Value of `{entry}` and its tangent, for a tangent of {names}.\n")
        }
        Operator::Vjp => format!(
            "--| Value of `{entry}` and the cotangents of {names}, for a cotangent of the value.\n"
        ),
        Operator::Value | Operator::Grad => String::new(),
    }
}

/// Is a value of the type a single array (or scalar) of array code?
fn is_plain(ty: &SizedTy) -> bool {
    match ty {
        SizedTy::Scalar(_) => true,
        SizedTy::Array(_, elem) => is_plain(elem),
        SizedTy::Tuple(_) | SizedTy::Record(_) | SizedTy::Fun(..) | SizedTy::Variant(_) => false,
    }
}

/// Is it a plain value with plain derivatives, `(value, (x_ct, y_ct))`? Then the flat tuple of array code reads better. A value that is itself
/// a tuple would run into its derivative.
fn reads_flat(result: &SizedTy) -> bool {
    match result {
        SizedTy::Tuple(items) => match &items[..] {
            [value, SizedTy::Tuple(derivatives)] => {
                is_plain(value) && derivatives.iter().all(is_plain)
            }
            items => items.iter().all(is_plain),
        },
        other => is_plain(other),
    }
}

/// The definition with the types of the source, in terms of the flat one.
fn wrapper(
    program: &Program,
    name: &str,
    params: &[(Rc<str>, SizedTy)],
    result: &SizedTy,
    flat: &[Ty],
) -> String {
    let pieces = Pieces { program };
    let mut sizes = BTreeSet::new();
    params.iter().for_each(|(_, ty)| size_names(ty, &mut sizes));
    let ints: Vec<&str> = params.iter().map(|(n, _)| &**n).collect();
    let sizes: String =
        sizes.iter().filter(|s| !ints.contains(&s.as_str())).map(|s| format!(" [{s}]")).collect();
    let names: Vec<String> = params
        .iter()
        .enumerate()
        .map(|(k, (n, _))| if is_identifier(n) { n.to_string() } else { format!("argument{k}") })
        .collect();
    let declared: String = names
        .iter()
        .zip(params)
        .map(|(n, (_, ty))| format!(" ({n} : {})", print_type(program, ty)))
        .collect();
    let arguments: Vec<String> =
        names.iter().zip(params).flat_map(|(n, (_, ty))| pieces.take_apart(ty, n, 0)).collect();
    let leaves: Vec<String> = (0..flat.len()).map(|k| format!("r{k}")).collect();
    let pattern = if let [single] = &leaves[..] {
        single.clone()
    } else {
        format!("({})", leaves.join(", "))
    };
    let given: Vec<String> = leaves
        .iter()
        .zip(flat)
        .map(|(leaf, ty)| absent_field(leaf, ty).unwrap_or(leaf.clone()))
        .collect();
    let rebuilt = pieces.put_together(result, &mut given.into_iter(), 0);
    let wide = arguments.iter().map(|a| a.len() + 1).sum::<usize>() > LINE;
    let gap = if wide { "\n    " } else { " " };
    let call: String = arguments.iter().map(|argument| format!("{gap}{argument}")).collect();
    let body = format!("let {pattern} = {name}_flat{call}\n  in {rebuilt}");
    let absent = if body.contains(ABSENT) {
        format!("let {ABSENT} = if true then 0 else 1\n  ")
    } else {
        String::new()
    };
    format!("def {name}{sizes}{declared} =\n  {absent}{body}\n")
}

/// Arguments longer than this stand on lines of their own.
const LINE: usize = 80;

/// The size of an array in a field of a constructor that a value is not: 0, but inference must not know, for the field may be declared to
/// have another.
const ABSENT: &str = "no_elements'";

/// Where a result is known to be another constructor, the arrays in a field are known to be empty.
/// Gives what stands for such an array in the value that is never built.
fn absent_field(leaf: &str, ty: &Ty) -> Option<String> {
    ty.dims.iter().find(|d| d.as_lit().is_some_and(|k| k.int() == 0))?;
    let size = |(axis, dim): (usize, &Atom)| match dim {
        Atom::Lit(k) if k.int() > 0 => k.int().to_string(),
        Atom::Var(_) if axis == 0 => format!("length {leaf}"),
        Atom::Lit(_) | Atom::Var(_) => ABSENT.to_string(),
    };
    let clauses: Vec<String> = ty
        .dims
        .iter()
        .enumerate()
        .map(|(axis, dim)| format!("_i{axis} < {}", size((axis, dim))))
        .collect();
    let zero = match ty.elem {
        ScalarTy::Real => "0.0",
        ScalarTy::Int => "(0 : int)",
        ScalarTy::Bool => "false",
    };
    Some(format!("(for {} => {zero})", clauses.join(", ")))
}

fn size_names(ty: &SizedTy, names: &mut BTreeSet<String>) {
    match ty {
        SizedTy::Scalar(_) | SizedTy::Variant(_) | SizedTy::Fun(..) => {}
        SizedTy::Tuple(items) => items.iter().for_each(|t| size_names(t, names)),
        SizedTy::Record(fields) => fields.iter().for_each(|(_, t)| size_names(t, names)),
        SizedTy::Array(size, elem) => {
            if let Size::Var(name) = size {
                names.insert(name.to_string());
            }
            size_names(elem, names);
        }
    }
}

struct Pieces<'a> {
    program: &'a Program,
}

impl Pieces<'_> {
    /// One expression per leaf of a value, in the order of array code. `depth` keeps bound names apart.
    fn take_apart(&self, ty: &SizedTy, value: &str, depth: usize) -> Vec<String> {
        match ty {
            SizedTy::Scalar(_) | SizedTy::Fun(..) => vec![value.to_string()],
            SizedTy::Tuple(items) => items
                .iter()
                .enumerate()
                .flat_map(|(k, t)| self.take_apart(t, &format!("{value}.{k}"), depth))
                .collect(),
            SizedTy::Record(fields) => fields
                .iter()
                .flat_map(|(n, t)| self.take_apart(t, &format!("{value}.{n}"), depth))
                .collect(),
            SizedTy::Array(_, elem) => {
                let element = format!("e{depth}");
                let lift = |leaf: String| {
                    if leaf == element {
                        value.to_string()
                    } else {
                        format!("(for {element} in {value} => {leaf})")
                    }
                };
                self.take_apart(elem, &element, depth + 1).into_iter().map(lift).collect()
            }
            SizedTy::Variant(id) => self.take_variant_apart(*id, value, depth),
        }
    }

    fn take_variant_apart(&self, id: TypeId, value: &str, depth: usize) -> Vec<String> {
        let constructors = &self.program.type_decl(id).constructors;
        let arms: Vec<String> = constructors
            .iter()
            .enumerate()
            .map(|(tag, (name, args))| format!("| {name}{} -> {tag}", " _".repeat(args.len())))
            .collect();
        let mut leaves = vec![format!("(match {value} {})", arms.join(" "))];
        for (name, args) in constructors {
            for (k, arg) in args.iter().enumerate() {
                let bound = format!("c{depth}");
                let pattern: String = (0..args.len())
                    .map(|j| if j == k { format!(" {bound}") } else { " _".to_string() })
                    .collect();
                let arg = unsized_ty(arg);
                for (leaf, zero) in
                    self.take_apart(&arg, &bound, depth + 1).into_iter().zip(self.zeros(&arg))
                {
                    let otherwise = if constructors.len() > 1 {
                        format!(" | _ -> {zero}")
                    } else {
                        String::new()
                    };
                    leaves.push(format!("(match {value} | {name}{pattern} -> {leaf}{otherwise})"));
                }
            }
        }
        leaves
    }

    /// What stands for the leaves of a field that a value has not.
    fn zeros(&self, ty: &SizedTy) -> Vec<String> {
        match ty {
            SizedTy::Scalar(ScalarTy::Real) => vec!["0.0".to_string()],
            SizedTy::Scalar(ScalarTy::Int) => vec!["0".to_string()],
            SizedTy::Scalar(ScalarTy::Bool) => vec!["false".to_string()],
            SizedTy::Array(_, elem) => self
                .zeros(elem)
                .into_iter()
                .map(|zero| format!("(for _none < {ABSENT} => {zero})"))
                .collect(),
            SizedTy::Tuple(items) => items.iter().flat_map(|t| self.zeros(t)).collect(),
            SizedTy::Record(fields) => fields.iter().flat_map(|(_, t)| self.zeros(t)).collect(),
            SizedTy::Variant(id) => {
                let fields =
                    self.program.type_decl(*id).constructors.iter().flat_map(|(_, args)| args);
                std::iter::once("0".to_string())
                    .chain(fields.flat_map(|t| self.zeros(&unsized_ty(t))))
                    .collect()
            }
            SizedTy::Fun(..) => Vec::new(),
        }
    }

    /// The value whose leaves have the given names.
    fn put_together(
        &self,
        ty: &SizedTy,
        leaves: &mut dyn Iterator<Item = String>,
        depth: usize,
    ) -> String {
        match ty {
            SizedTy::Scalar(_) | SizedTy::Fun(..) => leaves.next().unwrap_or_default(),
            SizedTy::Tuple(items) => {
                let items: Vec<String> =
                    items.iter().map(|t| self.put_together(t, leaves, depth)).collect();
                format!("({})", items.join(", "))
            }
            SizedTy::Record(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(n, t)| format!("{n} = {}", self.put_together(t, leaves, depth)))
                    .collect();
                format!("{{{}}}", fields.join(", "))
            }
            SizedTy::Array(_, elem) if is_plain(elem) => leaves.next().unwrap_or_default(),
            SizedTy::Array(_, elem) => {
                let arrays: Vec<String> =
                    leaves.take(self.take_apart(elem, "_", 0).len()).collect();
                let index = format!("i{depth}");
                let extent = arrays.first().map_or("0".to_string(), |a| format!("length {a}"));
                let element = self.put_together(
                    elem,
                    &mut arrays.iter().map(|a| format!("{a}[{index}]")),
                    depth + 1,
                );
                format!("(for {index} < {extent} => {element})")
            }
            SizedTy::Variant(id) => {
                let tag = leaves.next().unwrap_or_default();
                let constructors = &self.program.type_decl(*id).constructors;
                let mut values = Vec::new();
                for (name, args) in constructors {
                    let args: String = args
                        .iter()
                        .map(|t| format!(" {}", self.put_together(&unsized_ty(t), leaves, depth)))
                        .collect();
                    values.push(if args.is_empty() {
                        name.to_string()
                    } else {
                        format!("({name}{args})")
                    });
                }
                let last = values.pop().unwrap_or_default();
                let tests: String = values
                    .iter()
                    .enumerate()
                    .map(|(k, v)| format!("if {tag} == {k} then {v} else "))
                    .collect();
                format!("({tests}{last})")
            }
        }
    }
}
