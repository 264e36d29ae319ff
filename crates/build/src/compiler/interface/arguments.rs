//! The arguments of a function: sizes of arrays, parameters of the definition, and tangents or a
//! cotangent.

use std::collections::BTreeMap;
use std::ops::Range;

use lambada_anf::{Atom, Var};
use lambada_core::Size;
use lambada_normalize::Shape;
use lambada_prim::ScalarTy;
use lambada_source::Problem;

use super::super::describe::{Input, Role, Whole};
use super::super::leaves::{Leaf, LeafKind, leaves};
use super::super::messages;
use super::super::sizes::{Extent, traced, written};
use super::parts::parts;
use super::{Builder, Word, Wrt, constructors, part_of, word};

/// A size variable of the code, as a signature declares it.
struct Declared {
    var: Var,
    size: Size,
    label: String,
}

impl Builder<'_> {
    /// Adds the parameters of the definition.
    pub(super) fn parameters(&mut self) {
        let params = self.own();
        let mut all = Vec::new();
        for (k, (name, layout)) in params.iter().enumerate() {
            let name = name.as_ref();
            let name = if lambada::is_identifier(name) {
                name.to_string()
            } else {
                format!("argument_{}", k + 1)
            };
            all.push((name.clone(), leaves(layout, &name, self.order)));
            self.rows(&name, layout);
        }
        self.own_sizes(&all);
        let mut before = 0;
        for (name, leaves) in all {
            let count = leaves.len();
            self.parameter(&name, leaves, before);
            before += count;
        }
    }

    /// Determines the sizes of the parameters: as arguments, or computed from others.
    fn own_sizes(&mut self, params: &[(String, Vec<Leaf>)]) {
        let declared = self.declared(params);
        let scalar = |name: &str| {
            let mut found = params.iter().filter(|(param, leaves)| {
                param == name
                    && matches!(&leaves[..], [leaf] if leaf.axes.is_empty() && leaf.elem == ScalarTy::Int)
            });
            found.next().is_some()
        };
        let mut order: Vec<&Declared> = declared.iter().collect();
        let place = |size: &Size| match size {
            Size::Var(name) => {
                self.bound.iter().position(|bound| **bound == **name).unwrap_or(self.bound.len())
            }
            Size::Any | Size::Const(_) | Size::Expr(_) => self.bound.len(),
        };
        order.sort_by_key(|declared| place(&declared.size));
        let mut named: BTreeMap<String, Extent> = BTreeMap::new();
        for Declared { var, size, .. } in order {
            let Size::Var(name) = size else { continue };
            let extent = if scalar(name) {
                let own = self.names.fresh(name);
                self.passed.insert(name.to_string(), own.clone());
                Extent::Argument(own)
            } else {
                self.size(name)
            };
            named.insert(name.to_string(), extent.clone());
            self.sizes.insert(*var, extent);
        }
        for Declared { var, size, label } in &declared {
            if self.sizes.contains_key(var) {
                continue;
            }
            let computed = if let Size::Expr(text) = size {
                written(text, &|name| named.get(name).cloned())
            } else {
                None
            };
            let extent = computed.unwrap_or_else(|| self.size(label));
            self.sizes.insert(*var, extent);
        }
    }

    /// The distinct size variables of the parameters, in order of first occurrence.
    fn declared(&self, params: &[(String, Vec<Leaf>)]) -> Vec<Declared> {
        let mut declared: Vec<Declared> = Vec::new();
        let mut before = 0;
        for (_, leaves) in params {
            for leaf in leaves {
                let dims = self.dims(before + leaf.place);
                for (dim, (size, label)) in dims.iter().zip(&leaf.axes) {
                    let Atom::Var(var) = dim else { continue };
                    if declared.iter().all(|known| known.var != *var) {
                        let (size, label) = (size.clone(), label.clone());
                        declared.push(Declared { var: *var, size, label });
                    }
                }
            }
            before += leaves.len();
        }
        declared
    }

    /// Adds an argument for a size.
    fn size(&mut self, label: &str) -> Extent {
        let name = self.names.fresh(label);
        self.size_inputs.push(Input {
            name: name.clone(),
            role: Role::Size,
            elem: ScalarTy::Int,
            dims: Vec::new(),
            constructors: Vec::new(),
        });
        Extent::Argument(name)
    }

    /// The sizes of a leaf in terms of the arguments.
    fn extents(&self, place: usize) -> Vec<Extent> {
        let body = &self.arrays.optimized.body;
        let known = |var: Var| self.sizes.get(&var).cloned();
        let dims = self.dims(place).iter();
        dims.map(|dim| traced(dim, body, &known).unwrap_or(Extent::Constant(0))).collect()
    }

    fn parameter(&mut self, param: &str, leaves: Vec<Leaf>, before: usize) {
        let mut point = Vec::with_capacity(leaves.len());
        let mut places = BTreeMap::new();
        for leaf in leaves {
            places.insert(leaf.place, self.inputs.len());
            let dims = self.extents(before + leaf.place);
            let role = match leaf.kind {
                LeafKind::Data | LeafKind::Tag(_) => Role::Value(leaf.name.clone()),
                LeafKind::Number | LeafKind::Column => Role::Rows(param.to_string()),
            };
            let name = self.input(&leaf, &leaf.name, role, dims);
            point.push((leaf, name));
        }
        point.sort_by_key(|(leaf, _)| leaf.place);
        self.words.extend(point.iter().map(|(leaf, name)| word(leaf, name)));
        let shape = self.own()[self.points.len()].1.shape();
        self.param(param, shape, &places);
        self.points.push(point);
    }

    /// Adds an argument of the language: the places of its leaves, by number, and of its columns.
    fn param(&mut self, name: &str, shape: &Shape, places: &BTreeMap<usize, usize>) {
        let mut next = 0;
        let parts = parts(shape, self.order, &mut next, &|leaf| places.get(&leaf).copied());
        let columns = places.range(next..).map(|(_, place)| *place).collect();
        self.params.push(Whole { name: name.to_string(), parts, columns });
    }

    /// Adds an argument; returns its name.
    fn input(&mut self, leaf: &Leaf, hint: &str, role: Role, dims: Vec<Extent>) -> String {
        let passed = self.passed.remove(hint);
        let name = passed.unwrap_or_else(|| self.names.fresh(hint));
        let (elem, constructors) = (leaf.elem, constructors(leaf));
        self.inputs.push(Input { name: name.clone(), role, elem, dims, constructors });
        name
    }

    /// Adds the tangents. Only the reals of a parameter have one; the code gets all other leaves
    /// from the parameter.
    pub(super) fn tangent(&mut self) -> Result<(), Box<Problem>> {
        let wrt = self.wrt();
        let layout = &self.arrays.normalized.params[self.own().len()].1;
        let is_whole = |part: &Wrt| part.leaves.len() == self.points[part.param].len();
        let recursive = !layout.table().types.is_empty();
        if recursive && (wrt.len() > 1 || !wrt.iter().all(is_whole)) {
            return Err(Box::new(messages::several_recursive(self.target.entry)));
        }
        let before: usize = self.points.iter().map(Vec::len).sum();
        let own = |wrt: &Wrt| self.points[wrt.param][wrt.leaves.clone()].to_vec();
        let points: Vec<(Leaf, String)> = wrt.iter().flat_map(own).collect();
        // The tangent has the shape of the parameter, hence its sizes.
        let places: Vec<usize> = wrt.iter().flat_map(|part| self.places(part)).collect();
        for (k, place) in places.iter().enumerate() {
            let extents = self.extents(*place);
            for (dim, extent) in self.dims(before + k).iter().zip(extents) {
                if let Atom::Var(var) = dim {
                    self.sizes.entry(*var).or_insert(extent);
                }
            }
        }
        let mut tangents: Vec<(usize, Word)> = Vec::new();
        for (k, (leaf, name)) in points.iter().enumerate() {
            if !leaf.is_real() {
                tangents.push((k, word(leaf, name)));
            }
        }
        let mut placed = BTreeMap::new();
        // In the declared order, like the parameters.
        for (place, name) in self.declared_order(&wrt) {
            let (leaf, _) = points[place].clone();
            if leaf.is_real() {
                let dims = self.extents(before + place);
                let role = Role::Tangent(name.clone());
                placed.insert(place, self.inputs.len());
                let input = self.input(&leaf, &format!("{name}_tan"), role, dims);
                tangents.push((place, word(&leaf, &input)));
            }
        }
        tangents.sort_by_key(|(k, _)| *k);
        self.words.extend(tangents.into_iter().map(|(_, word)| word));
        let mut first = 0;
        for part in &wrt {
            let own = placed.range(first..first + part.leaves.len());
            let own = own.map(|(place, input)| (place - first, *input)).collect();
            self.param(&format!("{}_tan", part.name), &part.shape, &own);
            first += part.leaves.len();
        }
        Ok(())
    }

    /// The leaves of a parameter, or of a field of one, among all leaves.
    fn places(&self, wrt: &Wrt) -> Range<usize> {
        let before: usize = self.points[..wrt.param].iter().map(Vec::len).sum();
        before + wrt.leaves.start..before + wrt.leaves.end
    }

    /// The leaves of these parameters in the order of the arguments: position among them, and name.
    fn declared_order(&self, wrt: &[Wrt]) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        let mut before = 0;
        for part in wrt {
            let passed = |name: &String| self.inputs.iter().position(|input| input.name == *name);
            let mut leaves: Vec<(usize, String)> = self.points[part.param][part.leaves.clone()]
                .iter()
                .enumerate()
                .map(|(place, (_, name))| (before + place, name.clone()))
                .collect();
            leaves.sort_by_key(|(_, name)| passed(name));
            before += leaves.len();
            all.extend(leaves);
        }
        all
    }

    /// Adds the cotangent of the value.
    pub(super) fn cotangent(&mut self) {
        let layout = &self.arrays.normalized.params[self.own().len()].1;
        let before: usize = self.points.iter().map(Vec::len).sum();
        let leaves = leaves(layout, "value", self.order);
        // Known sizes of the value are also sizes of its cotangent.
        for leaf in &leaves {
            let result = self.arrays.optimized.results.get(leaf.place).map(|ty| ty.dims.clone());
            let dims = self.dims(before + leaf.place);
            for (axis, (dim, (_, label))) in dims.iter().zip(&leaf.axes).enumerate() {
                let Atom::Var(var) = dim else { continue };
                if self.sizes.contains_key(var) {
                    continue;
                }
                let of_value = result.as_ref().and_then(|dims| self.known(dims.get(axis)?));
                let extent = of_value.unwrap_or_else(|| self.size(label));
                self.sizes.insert(*var, extent);
            }
        }
        let whole = !layout.table().types.is_empty();
        let mut words: Vec<(usize, Word)> = Vec::new();
        let mut places = BTreeMap::new();
        for leaf in leaves {
            let dims = self.extents(before + leaf.place);
            let needed = leaf.is_real() || whole || matches!(leaf.kind, LeafKind::Tag(_));
            let word = if needed {
                let role = Role::Cotangent(part_of("value", &leaf.name));
                places.insert(leaf.place, self.inputs.len());
                let name = self.input(&leaf, &format!("{}_ct", leaf.name), role, dims);
                word(&leaf, &name)
            } else {
                Word::Zero(leaf.elem, dims)
            };
            words.push((leaf.place, word));
        }
        if whole {
            self.rows("value", layout);
        }
        self.param("value_ct", layout.shape(), &places);
        words.sort_by_key(|(place, _)| *place);
        self.words.extend(words.into_iter().map(|(_, word)| word));
    }
}
