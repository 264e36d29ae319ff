//! JSON text to typed data and back without an intermediate tree: numbers of an array go directly
//! into one flat array. The type drives the reader, which skips members that the type does not
//! mention.
//!
//! * Gives: values of the type. Sizes are compared only within an array; the caller checks declared
//!   sizes.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use lambada_core::data::Data;
use lambada_core::{Program, SizedTy, sized};
use lambada_prim::{Data as Elements, Scalar, ScalarTy, Tensor};
use lambada_source::stack;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Deserializer, Serialize, Serializer};

use super::bind::{print_type, scalar_leaf};
use super::sizes::unsized_ty;

/// Reader for a value of a type.
#[derive(Clone, Copy)]
pub(crate) struct Typed<'a> {
    /// The program, which defines the variant types.
    pub program: &'a Program,
    /// The type.
    pub ty: &'a SizedTy,
}

impl<'a> Typed<'a> {
    fn at(self, ty: &'a SizedTy) -> Typed<'a> {
        Typed { program: self.program, ty }
    }
}

impl<'de> DeserializeSeed<'de> for Typed<'_> {
    type Value = Data;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Data, D::Error> {
        if let Some((_, id)) = sized::of(self.ty) {
            return self.at(&SizedTy::Variant(id)).deserialize(from);
        }
        let Some((elem, rank)) = scalar_leaf(self.ty) else { return from.deserialize_any(self) };
        let mut dims = vec![None; rank];
        let mut data = Elements::zeros(elem, 0);
        Dense { dims: &mut dims, data: &mut data }.deserialize(from)?;
        let dims = dims.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Data::Tensor(Tensor { dims, data }))
    }
}

/// Values other than arrays of scalars.
impl<'de> Visitor<'de> for Typed<'_> {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a value of type {}", print_type(self.program, self.ty))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Data, A::Error> {
        match self.ty {
            SizedTy::Tuple(types) => sequence(self, types, &mut items).map(Data::Tuple),
            SizedTy::Array(_, elem) => {
                let mut all = Vec::new();
                while let Some(item) = items.next_element_seed(self.at(elem))? {
                    all.push(item);
                }
                Ok(Data::Array(all))
            }
            SizedTy::Scalar(_) | SizedTy::Record(_) | SizedTy::Variant(_) | SizedTy::Fun(..) => {
                Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self))
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Data, A::Error> {
        match self.ty {
            SizedTy::Record(types) => record(self, types, &mut members).map(Data::Record),
            SizedTy::Variant(_) => {
                let Some(name) = members.next_key::<String>()? else {
                    return Err(A::Error::custom(format_args!(
                        "an empty object is not {}",
                        Shown(self)
                    )));
                };
                let made = members.next_value_seed(Fields { of: self, constructor: &name })?;
                match members.next_key::<IgnoredAny>()? {
                    None => Ok(made),
                    Some(_) => Err(A::Error::custom("a constructor is an object of one member")),
                }
            }
            SizedTy::Scalar(_) | SizedTy::Tuple(_) | SizedTy::Array(..) | SizedTy::Fun(..) => {
                Err(A::Error::invalid_type(serde::de::Unexpected::Map, &self))
            }
        }
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Data, E> {
        let (tag, types) = constructor(self, name)?;
        if types.is_empty() {
            return Ok(Data::Con { name: name.into(), tag, args: Vec::new().into() });
        }
        Err(E::custom(format_args!("`{name}` has {}", arguments(types.len()))))
    }
}

/// The expectation of a reader, for messages.
struct Shown<'a>(Typed<'a>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.expecting(f)
    }
}

fn arguments(count: usize) -> String {
    lambada_source::counted(count, "argument")
}

/// Reads one value of each type.
fn sequence<'de, A: SeqAccess<'de>>(
    of: Typed,
    types: &[SizedTy],
    items: &mut A,
) -> Result<Vec<Data>, A::Error> {
    let mut all = Vec::new();
    for ty in types {
        let item = items.next_element_seed(of.at(ty))?;
        all.push(item.ok_or_else(|| A::Error::invalid_length(all.len(), &of))?);
    }
    match items.next_element::<IgnoredAny>()? {
        None => Ok(all),
        Some(_) => Err(A::Error::invalid_length(all.len() + 1, &of)),
    }
}

/// Reads the fields, in the order of the type; skips other members.
fn record<'de, A: MapAccess<'de>>(
    of: Typed,
    types: &[(Rc<str>, SizedTy)],
    members: &mut A,
) -> Result<Vec<(Arc<str>, Data)>, A::Error> {
    let mut found: Vec<Option<Data>> = vec![None; types.len()];
    while let Some(name) = members.next_key::<String>()? {
        match types.iter().position(|(known, _)| **known == *name) {
            Some(k) => found[k] = Some(members.next_value_seed(of.at(&types[k].1))?),
            None => drop(members.next_value::<IgnoredAny>()?),
        }
    }
    let fields = types.iter().zip(found).map(|((name, _), value)| {
        let value = value.ok_or_else(|| A::Error::custom(format_args!("no member `{name}`")))?;
        Ok((Arc::from(&**name), value))
    });
    fields.collect()
}

/// The index of a constructor in its type, and its argument types.
fn constructor<'a, E: Error>(
    of: Typed<'a>,
    name: &str,
) -> Result<(usize, &'a [lambada_core::Ty]), E> {
    let wrong = || E::custom(format_args!("`{name}` is not {}", Shown(of)));
    let SizedTy::Variant(id) = of.ty else { return Err(wrong()) };
    let constructors = &of.program.type_decl(*id).constructors;
    let tag = constructors.iter().position(|(known, _)| **known == *name).ok_or_else(wrong)?;
    Ok((tag, &constructors[tag].1))
}

/// Reader for the arguments of a constructor.
struct Fields<'a> {
    of: Typed<'a>,
    constructor: &'a str,
}

impl<'de> DeserializeSeed<'de> for Fields<'_> {
    type Value = Data;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Data, D::Error> {
        let (tag, types) = constructor(self.of, self.constructor)?;
        let types = SizedTy::Tuple(types.iter().map(unsized_ty).collect());
        match self.of.at(&types).deserialize(from)? {
            Data::Tuple(args) => {
                Ok(Data::Con { name: self.constructor.into(), tag, args: args.into() })
            }
            Data::Tensor(_) | Data::Record(_) | Data::Array(_) | Data::Con { .. } => {
                Err(D::Error::custom("a constructor has a list of arguments"))
            }
        }
    }
}

/// Reader for nested lists of scalars. The first list of each level fixes its size.
struct Dense<'a> {
    dims: &'a mut [Option<usize>],
    data: &'a mut Elements,
}

impl<'de> DeserializeSeed<'de> for Dense<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        if self.dims.is_empty() { from.deserialize_any(self) } else { from.deserialize_seq(self) }
    }
}

impl<'de> Visitor<'de> for Dense<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let depth = "[]".repeat(self.dims.len());
        write!(f, "a value of type {depth}{}", self.data.ty())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Some((size, inner)) = self.dims.split_first_mut() else {
            return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self));
        };
        let mut count = 0;
        while items.next_element_seed(Dense { dims: inner, data: self.data })?.is_some() {
            count += 1;
        }
        match *size.get_or_insert(count) {
            first if first == count => Ok(()),
            first => Err(A::Error::custom(format_args!(
                "lists of {count} and of {first} elements side by side are no array"
            ))),
        }
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<(), E> {
        match self.data {
            Elements::Real(reals) => reals.push(x),
            Elements::Int(ints) if x.fract() == 0.0 && x.abs() < 9.2e18 => ints.push(x as i64),
            Elements::Int(_) | Elements::Bool(_) => {
                return Err(E::invalid_type(serde::de::Unexpected::Float(x), &self));
            }
        }
        Ok(())
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<(), E> {
        match self.data {
            Elements::Real(reals) => reals.push(n as f64),
            Elements::Int(ints) => ints.push(n),
            Elements::Bool(_) => {
                return Err(E::invalid_type(serde::de::Unexpected::Signed(n), &self));
            }
        }
        Ok(())
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<(), E> {
        match i64::try_from(n) {
            Ok(n) => self.visit_i64(n),
            Err(_) => self.visit_f64(n as f64),
        }
    }

    fn visit_bool<E: Error>(self, b: bool) -> Result<(), E> {
        match self.data {
            Elements::Bool(bools) => bools.push(b),
            Elements::Real(_) | Elements::Int(_) => {
                return Err(E::invalid_type(serde::de::Unexpected::Bool(b), &self));
            }
        }
        Ok(())
    }

    /// Reals that JSON cannot express.
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let value = match text {
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            "nan" => f64::NAN,
            _ => return Err(E::invalid_type(serde::de::Unexpected::Str(text), &self)),
        };
        match self.data.ty() {
            ScalarTy::Real => self.visit_f64(value),
            ScalarTy::Int | ScalarTy::Bool => {
                Err(E::invalid_type(serde::de::Unexpected::Str(text), &self))
            }
        }
    }
}

/// Serializes a value: a tuple as a list, a record as an object, `Circle 1.0` as
/// `{"Circle": [1.0]}`, and reals that JSON cannot express as strings.
pub(crate) struct Json<'a>(pub &'a Data);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0.seen() {
            Data::Tensor(tensor) => {
                Level { dims: &tensor.dims, data: &tensor.data, at: 0 }.serialize(to)
            }
            Data::Tuple(items) | Data::Array(items) => to.collect_seq(items.iter().map(Json)),
            Data::Record(fields) => {
                to.collect_map(fields.iter().map(|(name, value)| (&**name, Json(value))))
            }
            Data::Con { name, args, .. } if args.is_empty() => to.serialize_str(name),
            Data::Con { name, args, .. } => {
                let mut object = to.serialize_map(Some(1))?;
                let args: Vec<Json> = args.iter().map(Json).collect();
                stack::deeper(|| object.serialize_entry(&**name, &args))?;
                object.end()
            }
        }
    }
}

/// Subarray of an array of scalars.
struct Level<'a> {
    dims: &'a [usize],
    data: &'a Elements,
    at: usize,
}

impl Serialize for Level<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Some((n, inner)) = self.dims.split_first() else {
            return match self.data.get(self.at) {
                Scalar::Real(x) if x.is_nan() => to.serialize_str("nan"),
                Scalar::Real(x) if x.is_infinite() => {
                    to.serialize_str(if x > 0.0 { "inf" } else { "-inf" })
                }
                Scalar::Real(x) => to.serialize_f64(x),
                Scalar::Int(n) => to.serialize_i64(n),
                Scalar::Bool(b) => to.serialize_bool(b),
            };
        };
        let step: usize = inner.iter().product();
        let mut list = to.serialize_seq(Some(*n))?;
        for k in 0..*n {
            list.serialize_element(&Level {
                dims: inner,
                data: self.data,
                at: self.at + k * step,
            })?;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use lambada_core::{Size, Ty, TypeDecl, TypeId};

    use super::*;

    fn array(elem: SizedTy) -> SizedTy {
        SizedTy::Array(Size::Any, Box::new(elem))
    }

    const REAL: SizedTy = SizedTy::Scalar(ScalarTy::Real);
    const INT: SizedTy = SizedTy::Scalar(ScalarTy::Int);

    /// Reads a value and prints it as JSON, or returns the error.
    fn read(ty: &SizedTy, text: &str) -> Result<String, String> {
        let shape = TypeDecl {
            name: "shape".into(),
            constructors: vec![
                ("Dot".into(), Vec::new()),
                ("Rect".into(), vec![Ty::REAL, Ty::REAL]),
            ],
            ..TypeDecl::default()
        };
        let program = Program { types: vec![shape], ..Program::default() };
        let mut from = serde_json::Deserializer::from_str(text);
        let data = Typed { program: &program, ty }.deserialize(&mut from);
        let data = data.and_then(|data| from.end().map(|()| data)).map_err(|e| e.to_string())?;
        Ok(serde_json::to_string(&Json(&data)).expect("keys are strings"))
    }

    #[test]
    fn values_of_every_type_come_back() {
        let record = SizedTy::Record(vec![("a".into(), array(INT)), ("b".into(), REAL)]);
        let shape = SizedTy::Variant(TypeId(0));
        for (ty, text, back) in [
            (array(array(REAL)), "[[1, 2.5], [-3e2, 4]]", "[[1.0,2.5],[-300.0,4.0]]"),
            (array(array(REAL)), "[]", "[]"),
            (array(REAL), r#"["inf", "-inf", "nan"]"#, r#"["inf","-inf","nan"]"#),
            (array(SizedTy::Scalar(ScalarTy::Bool)), "[true, false]", "[true,false]"),
            (INT, "3.0", "3"),
            (array(SizedTy::Tuple(vec![REAL, INT])), "[[1, 2], [3, 4]]", "[[1.0,2],[3.0,4]]"),
            (record, r#"{"b": 1, "c": [{"d": null}], "a": [2]}"#, r#"{"a":[2],"b":1.0}"#),
            (array(shape), r#"["Dot", {"Rect": [1, 2]}]"#, r#"["Dot",{"Rect":[1.0,2.0]}]"#),
        ] {
            assert_eq!(read(&ty, text).as_deref(), Ok(back), "{text}");
        }
    }

    #[test]
    fn other_values_are_told() {
        let shape = SizedTy::Variant(TypeId(0));
        let record = SizedTy::Record(vec![("a".into(), REAL)]);
        for (ty, text, why) in [
            (array(array(REAL)), "[[1, 2], [3]]", "lists of 1 and of 2 elements"),
            (array(REAL), "[1, [2]]", "expected a value of type real"),
            (array(REAL), "[1, null]", "null"),
            (array(INT), "[1.5]", "expected a value of type int"),
            (INT, r#""inf""#, "expected a value of type int"),
            (SizedTy::Tuple(vec![REAL, INT]), "[1]", "invalid length 1"),
            (SizedTy::Tuple(vec![REAL]), "[1, 2]", "invalid length 2"),
            (record, r#"{"b": 1}"#, "no member `a`"),
            (shape.clone(), r#""Disk""#, "`Disk` is not a value of type shape"),
            (shape.clone(), r#""Rect""#, "`Rect` has 2 arguments"),
            (shape, r#"{"Rect": [1, 2], "Dot": []}"#, "one member"),
        ] {
            let told = read(&ty, text).expect_err(text);
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}
