//! A prepared call of a definition or of one of its derivatives: its parameters, and the
//! interpretation of arguments.

use std::rc::Rc;

use lambada_core::data::Data;
use lambada_core::{DefId, Program, Signature, Size, SizedTy};
use lambada_elaborate::Shape;
use lambada_prim::{ScalarTy, Tensor};
use lambada_source::{Problem, stack};

use crate::Unit;
use crate::counted::Counted;
use crate::data::{self, Inputs};
use crate::fields::{self, Field};
use crate::messages::{self, derivatives, running};
use crate::operators::{self, Operator};
use crate::space::Space;
use crate::types::Files;

/// A program with its entry point and the parameters of the entry.
pub struct Call {
    /// The program.
    pub program: Program,
    /// The entry to run; that of a derivative takes one argument more than the definition.
    pub entry: DefId,
    /// The definition.
    name: Rc<str>,
    signature: Signature,
    /// The differentiated arguments: first indices of parameters, then, counted from the number of
    /// parameters, indices into `fields`.
    wrt: Vec<usize>,
    /// The differentiated fields of parameters.
    fields: Vec<Field>,
    /// The entry with one argument more for each field, after those of the definition. Equals
    /// `entry` without fields.
    wide: DefId,
    /// The differentiated parameters and fields, with their types.
    chosen: Vec<(Rc<str>, SizedTy)>,
    /// Whether each parameter of the definition lacks a type annotation.
    inferred: Vec<bool>,
    /// Where the parameters of the definition live.
    spaces: Vec<Space<Size>>,
}

impl Unit {
    /// Prepares a definition or a derivative of it; see [`operators`].
    pub fn call(
        &self,
        entry: &str,
        operator: Operator,
        wrt: Option<&[String]>,
    ) -> Result<Call, Vec<Problem>> {
        stack::roomy(|| self.prepared(self.definition(entry)?, entry, operator, wrt))
    }

    /// As [`call`](Unit::call), with open types resolved by the inputs.
    pub fn call_at(
        &self,
        entry: &str,
        operator: Operator,
        wrt: Option<&[String]>,
        inputs: &Inputs,
    ) -> Result<Call, Vec<Problem>> {
        self.call_of(entry, operator, wrt, &self.shapes(entry, inputs)?)
    }

    /// As [`call_at`](Unit::call_at), by shapes.
    pub(crate) fn call_of(
        &self,
        entry: &str,
        operator: Operator,
        wrt: Option<&[String]>,
        given: &[Shape],
    ) -> Result<Call, Vec<Problem>> {
        stack::roomy(|| self.prepared(self.definition_of(entry, given)?, entry, operator, wrt))
    }

    /// Shapes of the inputs for each parameter, if the definition leaves types open; empty
    /// otherwise.
    pub(crate) fn shapes(&self, entry: &str, inputs: &Inputs) -> Result<Vec<Shape>, Vec<Problem>> {
        if inputs.is_empty() || !self.checked.is_open(entry) {
            return Ok(Vec::new());
        }
        let (program, id) = self.definition(entry)?;
        let names: Vec<&str> = program.def(id).signature.params.iter().map(|p| &*p.0).collect();
        Ok(data::shapes(&names, inputs))
    }

    /// A definition with open types resolved by shapes.
    pub(crate) fn definition_of(
        &self,
        entry: &str,
        given: &[Shape],
    ) -> Result<(Program, DefId), Vec<Problem>> {
        let at_data = match given {
            [] => None,
            given => self.checked.program_at(entry, given),
        };
        let Some(at_data) = at_data else { return self.definition(entry) };
        let (precision, id) = (self.options.precision, DefId((at_data.defs.len() - 1) as u32));
        Ok((Program { precision, ..at_data }, id))
    }

    fn prepared(
        &self,
        (mut program, id): (Program, DefId),
        entry: &str,
        operator: Operator,
        wrt: Option<&[String]>,
    ) -> Result<Call, Vec<Problem>> {
        let (name, signature) = (program.def(id).name.clone(), program.def(id).signature.clone());
        if let Some((param, _)) = signature.params.iter().find(|(_, ty)| holds_function(ty)) {
            return Err(vec![running::needs_a_function(&name, param)]);
        }
        let inferred = self.without_types(entry);
        let spaces = self.spaces(entry, &signature);
        if operator == Operator::Value {
            let (wrt, fields, chosen) = (Vec::new(), Vec::new(), Vec::new());
            let (entry, wide) = (id, id);
            return Ok(Call {
                program,
                entry,
                name,
                signature,
                wrt,
                fields,
                wide,
                chosen,
                inferred,
                spaces,
            });
        }
        let (id, fields) =
            fields::widen(&mut program, id, wrt.unwrap_or_default()).map_err(|p| vec![p])?;
        let wrt = operators::choose(&program, id, wrt).map_err(|p| vec![p])?;
        let chosen = chosen(&program.def(id).signature, &wrt);
        let wide = operators::derive(&mut program, id, operator, &wrt).map_err(|p| vec![p])?;
        let entry = fields::narrow(&mut program, wide, signature.params.len(), &fields);
        Ok(Call { program, entry, name, signature, wrt, fields, wide, chosen, inferred, spaces })
    }
}

impl Unit {
    /// Whether each parameter of a definition lacks a type annotation.
    fn without_types(&self, entry: &str) -> Vec<bool> {
        let def = Files::of(self).entry(entry);
        def.map_or_else(Vec::new, |def| def.params.iter().map(|p| p.ty.is_none()).collect())
    }

    /// Where the parameters of a definition live.
    fn spaces(&self, entry: &str, signature: &Signature) -> Vec<Space<Size>> {
        let files = Files::of(self);
        let written = |k: usize| files.entry(entry)?.params.get(k)?.ty.as_ref();
        let params = signature.params.iter().enumerate();
        params.map(|(k, (_, ty))| files.space(written(k), ty)).collect()
    }
}

impl Call {
    /// A derivative that is a definition by itself, with the parameters of the definition `name`.
    pub(crate) fn of(
        program: Program,
        entry: DefId,
        name: Rc<str>,
        signature: Signature,
        wrt: Vec<usize>,
        unit: &Unit,
    ) -> Call {
        let inferred = unit.without_types(&name);
        let spaces = unit.spaces(&name, &signature);
        let chosen = chosen(&signature, &wrt);
        let (fields, wide) = (Vec::new(), entry);
        Call { program, entry, name, signature, wrt, fields, wide, chosen, inferred, spaces }
    }

    /// The definition's arguments, from inputs by name.
    pub fn arguments(&self, inputs: &Inputs) -> Result<Vec<Data>, Vec<Problem>> {
        let nothing = vec![None; self.signature.params.len()];
        self.bound(inputs, nothing)
    }

    /// Explains failures of the call with those arguments that are given.
    pub fn counted<'a>(&self, given: impl Iterator<Item = Option<&'a Data>>) -> Counted {
        let mut arrays = Vec::new();
        for ((name, space), data) in self.parameters().iter().zip(&self.spaces).zip(given) {
            if let Some(data) = data.filter(|_| space.counts_from_one()) {
                space.indices(data, name.to_string(), &mut arrays);
            }
        }
        Counted::new(arrays)
    }

    /// The arguments that inputs have, from inputs by name.
    pub(crate) fn partial_arguments(
        &self,
        inputs: &Inputs,
    ) -> Result<Vec<Option<Data>>, Vec<Problem>> {
        let names: Vec<&str> = self.signature.params.iter().map(|(name, _)| &**name).collect();
        let given = data::given(&names, inputs);
        let absent = given.iter().map(|given| (!given).then(|| Data::Tuple(Vec::new())));
        let args = self.bound(inputs, absent.collect())?;
        Ok(args.into_iter().zip(given).map(|(data, given)| given.then_some(data)).collect())
    }

    /// Assumptions about inputs with the names of parameters up to capital letters, in words.
    pub fn assumed(&self, inputs: &Inputs) -> Vec<String> {
        let names: Vec<&str> = self.signature.params.iter().map(|(name, _)| &**name).collect();
        let renamed = data::renamed(&names, inputs).into_iter();
        let told = renamed.map(|(name, entry)| {
            let member = entry.name.as_deref().unwrap_or_default();
            messages::data::renamed(name, member, &entry.origin)
        });
        told.collect()
    }

    fn bound(
        &self,
        inputs: &Inputs,
        otherwise: Vec<Option<Data>>,
    ) -> Result<Vec<Data>, Vec<Problem>> {
        let inferred = |k: usize| self.inferred.get(k).copied().unwrap_or(false);
        let (program, signature) = (&self.program, &self.signature);
        let mut args = data::bind_or(program, &self.name, signature, inputs, otherwise, &inferred)?;
        for (space, data) in self.spaces.iter().zip(&mut args) {
            if space.counts_from_one() {
                space.count_from_zero(data);
            }
        }
        Ok(args)
    }

    /// Where the parameters of the definition live.
    pub(crate) fn spaces(&self) -> &[Space<Size>] {
        &self.spaces
    }

    /// Whether the result of the definition is a real.
    pub(crate) fn is_density(&self) -> bool {
        self.signature.result == Some(SizedTy::Scalar(ScalarTy::Real))
    }

    /// The printed type of the result of the definition.
    pub(crate) fn result_type(&self) -> String {
        let result = self.signature.result.as_ref();
        result.map_or("a function".into(), |ty| data::print_type(&self.program, ty))
    }

    /// Name of the definition.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The derivative of this derivative along a tangent of the same parameters.
    pub(crate) fn along_tangent(mut self) -> Result<Call, Vec<Problem>> {
        let (program, operator) = (&mut self.program, Operator::Jvp);
        self.wide = operators::derive(program, self.wide, operator, &self.wrt)
            .map_err(|problem| vec![problem])?;
        self.entry = fields::narrow(program, self.wide, self.signature.params.len(), &self.fields);
        Ok(self)
    }

    /// The parameters of the definition, with their types.
    pub(crate) fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The names of the definition's parameters.
    pub fn parameters(&self) -> Vec<Rc<str>> {
        self.signature.params.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The differentiated parameters and fields, with their types.
    pub(crate) fn chosen(&self) -> &[(Rc<str>, SizedTy)] {
        &self.chosen
    }

    /// The values of the differentiated parameters and fields among the arguments.
    pub(crate) fn point(&self, args: &[Data]) -> Vec<Data> {
        let count = self.signature.params.len();
        let of = |place: &usize| match place.checked_sub(count) {
            None => args.get(*place).cloned(),
            Some(field) => self.fields.get(field).and_then(|field| field.of(args)),
        };
        self.wrt.iter().filter_map(of).collect()
    }

    /// Names of the differentiated parameters and fields.
    pub fn wrt_names(&self) -> Vec<Rc<str>> {
        self.chosen.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The tangent at the arguments, from inputs by parameter name [default: zero].
    pub fn tangent(&self, inputs: &Inputs, args: &[Data]) -> Result<Data, Vec<Problem>> {
        let misplaced: Vec<Problem> =
            inputs.names().filter_map(|(name, origin)| self.no_tangent_of(name, origin)).collect();
        if !misplaced.is_empty() {
            return Err(misplaced);
        }
        let params = self.chosen.clone();
        let zeros = self.point(args).iter().map(|part| Some(zeros_like(part))).collect();
        if inputs.is_empty() {
            return Err(vec![derivatives::no_tangent(&self.name, &self.wrt_names())]);
        }
        let signature = Signature { params, result: None };
        let mut tangents =
            data::bind_or(&self.program, &self.name, &signature, inputs, zeros, &|_| false)?;
        Ok(if tangents.len() == 1 { tangents.remove(0) } else { Data::Tuple(tangents) })
    }

    /// The problem with a tangent for `name`, if the parameter is not differentiated.
    fn no_tangent_of(&self, name: &str, origin: &str) -> Option<Problem> {
        let params = &self.signature.params;
        let k = params.iter().position(|(known, _)| data::names_match(known, name))?;
        let real = operators::carries_derivative(&self.program, &params[k].1);
        match (self.wrt.contains(&k), real) {
            (true, _) => None,
            (false, true) => Some(derivatives::tangent_of_fixed(&self.name, name, origin)),
            (false, false) => Some(derivatives::tangent_of_constant(&self.name, name, origin)),
        }
    }

    /// The cotangent of the result [default: 1 if the result is a real].
    pub fn cotangent(&self, inputs: &Inputs) -> Result<Data, Vec<Problem>> {
        let (_, ty) = self
            .program
            .def(self.entry)
            .signature
            .params
            .last()
            .expect("vjp takes the cotangent")
            .clone();
        match inputs.single() {
            Some(value) => {
                data::bind_one(&self.program, "cotangent", &ty, value).map_err(|p| vec![p])
            }
            None if ty == SizedTy::Scalar(ScalarTy::Real) => {
                Ok(Data::Tensor(Tensor::reals(Vec::new(), vec![1.0])))
            }
            None => Err(vec![derivatives::no_cotangent(
                &self.name,
                &data::print_type(&self.program, &ty),
            )]),
        }
    }
}

/// Replaces numbers by zeros of the same shape, but keeps constructors. Integers carry no
/// derivative, so their value does not matter.
pub(crate) fn zeros_like(data: &Data) -> Data {
    match data {
        Data::Tensor(t) => Data::Tensor(Tensor::zeros(t.elem(), t.dims.clone())),
        Data::Tuple(items) => Data::Tuple(items.iter().map(zeros_like).collect()),
        Data::Array(items) => Data::Array(items.iter().map(zeros_like).collect()),
        Data::Record(fields) => {
            Data::Record(fields.iter().map(|(n, v)| (n.clone(), zeros_like(v))).collect())
        }
        Data::Con { name, tag, args } => Data::Con {
            name: name.clone(),
            tag: *tag,
            args: args.iter().map(|arg| stack::deeper(|| zeros_like(arg))).collect(),
        },
    }
}

/// The differentiated parameters, with their types.
fn chosen(signature: &Signature, wrt: &[usize]) -> Vec<(Rc<str>, SizedTy)> {
    wrt.iter().map(|k| signature.params[*k].clone()).collect()
}

fn holds_function(ty: &SizedTy) -> bool {
    match ty {
        SizedTy::Fun(..) => true,
        SizedTy::Scalar(_) | SizedTy::Variant(_) => false,
        SizedTy::Tuple(items) => items.iter().any(holds_function),
        SizedTy::Record(fields) => fields.iter().any(|(_, t)| holds_function(t)),
        SizedTy::Array(_, elem) => holds_function(elem),
    }
}
