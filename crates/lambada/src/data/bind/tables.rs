//! Tables as values: the type of the parameter decides how to interpret rows and columns.

use lambada_core::data::Data;
use lambada_core::{Size, SizedTy};
use lambada_prim::{Data as Elements, ScalarTy, Tensor};
use lambada_source::Problem;

use super::{At, DataReader, push};
use crate::data::raw;
use crate::data::table::{self, Column, Table};
use crate::messages::data as messages;

impl DataReader<'_> {
    /// Converts a table to a matrix of all columns, to an array of records or tuples with one
    /// element for each row, or takes its only column.
    pub(super) fn table(&self, ty: &SizedTy, table: &Table) -> Result<Data, Problem> {
        let SizedTy::Array(_, row) = ty else { return Err(self.mismatch(table.describe())) };
        if let ([(_, column)], SizedTy::Scalar(_) | SizedTy::Variant(_)) =
            (&table.columns[..], &**row)
        {
            return self.raw(ty, &raw::raw(column));
        }
        let columns = match &**row {
            SizedTy::Record(types) => {
                let column = |name: &str| table.columns.iter().find(|(known, _)| known == name);
                let missing: Vec<&str> =
                    types.iter().map(|(n, _)| &**n).filter(|n| column(n).is_none()).collect();
                if !missing.is_empty() {
                    return Err(messages::fields(self.name, self.expected, &missing, &[]));
                }
                let fields = types.iter().filter_map(|(n, t)| Some((t, column(n)?)));
                self.columns(fields)?
            }
            SizedTy::Tuple(types) if types.len() == table.columns.len() => {
                self.columns(types.iter().zip(&table.columns))?
            }
            SizedTy::Array(_, elem) => {
                let SizedTy::Scalar(elem) = **elem else {
                    return Err(self.mismatch(table.describe()));
                };
                return self.matrix(elem, table);
            }
            SizedTy::Scalar(_) | SizedTy::Tuple(_) | SizedTy::Variant(_) | SizedTy::Fun(..) => {
                return Err(self.mismatch(table.describe()));
            }
        };
        let names: Option<Vec<_>> = match &**row {
            SizedTy::Record(types) => Some(types.iter().map(|(name, _)| name).collect()),
            _ => None,
        };
        let rows = (0..table.rows).map(|k| {
            let cells = columns.iter().map(|column| column[k].clone());
            match &names {
                Some(names) => {
                    Data::Record(names.iter().map(|name| (***name).into()).zip(cells).collect())
                }
                None => Data::Tuple(cells.collect()),
            }
        });
        Ok(Data::Array(rows.collect()))
    }

    /// Converts the cells of columns to these types.
    fn columns<'t>(
        &self,
        columns: impl Iterator<Item = (&'t SizedTy, &'t (String, Column))>,
    ) -> Result<Vec<Vec<Data>>, Problem> {
        let column = |(ty, (name, column)): (&SizedTy, &(String, Column))| match column {
            Column::Numbers(tensor) => {
                let tensor = self.numbers(ty, name, tensor)?;
                Ok(tensor.rows().map(Data::Tensor).collect())
            }
            Column::Words(words) => self.each(words, |inner, word| {
                inner.inside(At::Field(name), |inner| inner.json(ty, &table::cell(word)))
            }),
            Column::Foreign(what) => self.inside(At::Field(name), |inner| {
                Err(inner.mismatch(format!("a column of {what}")))
            }),
        };
        columns.map(column).collect()
    }

    /// Converts a column of numbers to cells of this type.
    fn numbers(&self, ty: &SizedTy, name: &str, tensor: &Tensor) -> Result<Tensor, Problem> {
        if let (SizedTy::Scalar(ScalarTy::Int), Elements::Real(values), Some(_)) =
            (ty, &tensor.data, self.lines)
            && let Some(problem) = self.fraction(values, Some(name))
        {
            return Err(problem);
        }
        let all = SizedTy::Array(Size::Any, Box::new(ty.clone()));
        self.inside(At::Field(name), |inner| match inner.tensor(&all, tensor)? {
            Data::Tensor(tensor) => Ok(tensor),
            Data::Tuple(_) | Data::Record(_) | Data::Array(_) | Data::Con { .. } => {
                Err(inner.mismatch("a column of numbers"))
            }
        })
    }

    /// All columns side by side.
    fn matrix(&self, elem: ScalarTy, table: &Table) -> Result<Data, Problem> {
        let ty = SizedTy::Scalar(elem);
        let mut columns = Vec::new();
        for column in &table.columns {
            columns.push(match column {
                (name, Column::Numbers(tensor)) => self.numbers(&ty, name, tensor)?.data,
                (_, Column::Words(_) | Column::Foreign(_)) => {
                    let mut data = Elements::zeros(elem, 0);
                    let cells = self.columns(std::iter::once((&ty, column)))?;
                    let cells = cells.iter().flatten().filter_map(Data::as_scalar);
                    cells.for_each(|cell| push(&mut data, cell));
                    data
                }
            });
        }
        let mut data = Elements::zeros(elem, 0);
        for row in 0..table.rows {
            columns.iter().for_each(|column| push(&mut data, column.get(row)));
        }
        Ok(Data::Tensor(Tensor { dims: vec![table.rows, columns.len()], data }))
    }
}
