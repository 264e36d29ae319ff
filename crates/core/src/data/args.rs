//! The arguments of a constructor, at which values of recursive types become deep. Copying,
//! comparing and dropping them handles that depth.

use std::fmt;
use std::ops::{Deref, DerefMut};

use lambada_source::stack;

use super::Data;

/// The arguments of a constructor.
#[derive(Default)]
pub struct Args(Vec<Data>);

impl Args {
    /// The arguments as a vector.
    pub fn into_vec(mut self) -> Vec<Data> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Args {
    /// Iterates, because a list may be a million constructors deep.
    fn drop(&mut self) {
        let mut pending = std::mem::take(&mut self.0);
        while let Some(data) = pending.pop() {
            match data {
                Data::Con { mut args, .. } => pending.append(&mut args.0),
                Data::Tuple(items) | Data::Array(items) => pending.extend(items),
                Data::Record(fields) => pending.extend(fields.into_iter().map(|(_, item)| item)),
                Data::Tensor(_) => {}
            }
        }
    }
}

impl Clone for Args {
    fn clone(&self) -> Args {
        stack::deeper(|| Args(self.0.clone()))
    }
}

impl PartialEq for Args {
    fn eq(&self, other: &Args) -> bool {
        stack::deeper(|| self.0 == other.0)
    }
}

impl fmt::Debug for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        stack::deeper(|| self.0.fmt(f))
    }
}

impl Deref for Args {
    type Target = [Data];

    fn deref(&self) -> &[Data] {
        &self.0
    }
}

impl DerefMut for Args {
    fn deref_mut(&mut self) -> &mut [Data] {
        &mut self.0
    }
}

impl From<Vec<Data>> for Args {
    fn from(args: Vec<Data>) -> Args {
        Args(args)
    }
}

impl FromIterator<Data> for Args {
    fn from_iter<T: IntoIterator<Item = Data>>(args: T) -> Args {
        Args(args.into_iter().collect())
    }
}
