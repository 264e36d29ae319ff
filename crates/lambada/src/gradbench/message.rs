//! Messages of the suite, parsed in two passes over their text: first the header, then the input,
//! directly into the arrays of the program.

use std::fmt;
use std::rc::Rc;

use lambada_core::data::Data;
use lambada_core::{Program, SizedTy};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{
    DeserializeSeed, Error, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::data::Typed;

/// A message without its input; missing members are empty.
pub(super) struct Header {
    pub id: Value,
    pub kind: String,
    pub module: String,
    pub function: String,
}

impl Header {
    pub fn read(line: &[u8]) -> serde_json::Result<Header> {
        serde_json::from_slice(line)
    }
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Header, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Header, A::Error> {
                let [mut kind, mut module, mut function] = [const { String::new() }; 3];
                let mut id = None;
                while let Some(name) = members.next_key::<String>()? {
                    match &*name {
                        "id" => id = Some(members.next_value()?),
                        "kind" => kind = members.next_value()?,
                        "module" => module = members.next_value()?,
                        "function" => function = members.next_value()?,
                        _ => drop(members.next_value::<IgnoredAny>()?),
                    }
                }
                let id = id.ok_or_else(|| A::Error::missing_field("id"))?;
                Ok(Header { id, kind, module, function })
            }
        }
        from.deserialize_map(Members)
    }
}

/// The input of a function, and the requested repetitions.
pub(super) struct Request {
    /// A value for each parameter.
    pub arguments: Vec<Data>,
    /// Minimal number of runs.
    pub runs: usize,
    /// Minimal total time in seconds.
    pub seconds: f64,
}

/// Reads the member `input` of a message.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub program: &'a Program,
    pub params: &'a [(Rc<str>, SizedTy)],
}

impl Input<'_> {
    pub fn read(self, line: &[u8]) -> serde_json::Result<Request> {
        let mut text = serde_json::Deserializer::from_slice(line);
        text.deserialize_map(Message(self))
    }

    /// Index of a parameter. The first letter may be upper case, because parameters in Lambada
    /// begin with a lower-case letter.
    fn parameter(&self, member: &str) -> Option<usize> {
        let named = |name: &str| self.params.iter().position(|(known, _)| **known == *name);
        let mut letters = member.chars();
        let small =
            || letters.next().map(|first| first.to_lowercase().chain(letters).collect::<String>());
        named(member).or_else(|| named(&small()?))
    }

    fn typed(&self, k: usize) -> Typed<'_> {
        Typed { program: self.program, ty: &self.params[k].1 }
    }

    /// Reads an input that is no object as the value of the only parameter.
    fn alone<'de, D: Deserializer<'de>>(self, from: D) -> Result<Request, D::Error> {
        match self.params {
            [_] => Ok(Request {
                arguments: vec![self.typed(0).deserialize(from)?],
                runs: 1,
                seconds: 0.0,
            }),
            _ => Err(D::Error::custom("an object with a member for each parameter is expected")),
        }
    }
}

struct Message<'a>(Input<'a>);

impl<'de> Visitor<'de> for Message<'_> {
    type Value = Request;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Request, A::Error> {
        let mut request = None;
        while let Some(name) = members.next_key::<String>()? {
            match &*name {
                "input" => request = Some(members.next_value_seed(self.0)?),
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        request.ok_or_else(|| A::Error::missing_field("input"))
    }
}

impl<'de> DeserializeSeed<'de> for Input<'_> {
    type Value = Request;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Request, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Input<'_> {
    type Value = Request;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object with a member for each parameter")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Request, A::Error> {
        let (mut runs, mut seconds) = (1, 0.0);
        let mut found: Vec<Option<Data>> = vec![None; self.params.len()];
        while let Some(name) = members.next_key::<String>()? {
            match self.parameter(&name) {
                Some(k) => {
                    let value = members.next_value_seed(self.typed(k));
                    let told = |error| A::Error::custom(format_args!("`{name}`: {error}"));
                    found[k] = Some(value.map_err(told)?);
                }
                None if name == "min_runs" => runs = members.next_value()?,
                None if name == "min_seconds" => seconds = members.next_value()?,
                None => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        let missing = |name: &str| A::Error::custom(format_args!("it has no member `{name}`"));
        let arguments = self
            .params
            .iter()
            .zip(found)
            .map(|((name, _), value)| value.ok_or_else(|| missing(name)));
        Ok(Request { arguments: arguments.collect::<Result<_, _>>()?, runs, seconds })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Request, A::Error> {
        self.alone(SeqAccessDeserializer::new(items))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Request, E> {
        self.alone(x.into_deserializer())
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Request, E> {
        self.alone(n.into_deserializer())
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<Request, E> {
        self.alone(n.into_deserializer())
    }
}
