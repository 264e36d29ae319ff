//! Programs under test: functions with varied real parameters, and constants. Derivatives of
//! programs are programs.

use std::path::{Path, PathBuf};

use lambada_anf::{
    Atom, Audience, Block, Counts, Derivatives, Elem, Function, Lambda, Library, Names, Param,
    Renaming, Subject, Ty, Var, check, eval, print, read,
};
use lambada_differentiate::Request;
use lambada_prim::{Data, ScalarTy, Tensor};

/// `Γ ⊢ f`: sizes and constants are free in the function.
#[derive(Clone)]
pub struct Program {
    pub names: Names,
    pub sizes: Vec<Var>,
    pub constants: Vec<Param>,
    pub f: Lambda,
    pub library: Library,
}

/// Arguments of a run.
#[derive(Clone)]
pub struct Point {
    pub constants: Vec<Tensor>,
    pub params: Vec<Tensor>,
}

impl Program {
    pub fn read(text: &str) -> Program {
        let function = read(text).unwrap_or_else(|message| panic!("{message}\n{text}"));
        Program::of(&function)
    }

    /// The program in a file of the folder `programs`.
    pub fn named(name: &str) -> Program {
        Program::read(&text(name))
    }

    /// A program in which the real parameters of a function are varied.
    pub fn of(function: &Function) -> Program {
        let (params, constants) =
            function.params.iter().cloned().partition(|p| p.ty.elem == ScalarTy::Real);
        // Cotangents are parameters here, so their sizes must be in scope before the body.
        let known = |ty: &Ty| {
            ty.dims.iter().all(|d| d.as_var().is_none_or(|d| function.sizes.contains(&d)))
        };
        let results = function
            .body
            .results
            .iter()
            .copied()
            .zip(function.results.iter().cloned())
            .filter(|(_, ty)| known(ty));
        let (atoms, types) = results.unzip();
        let f = Lambda {
            params,
            results: types,
            body: Block { stms: function.body.stms.clone(), results: atoms },
        };
        let (names, sizes) = (function.names.clone(), function.sizes.clone());
        Program { names, sizes, constants, f, library: function.library.clone() }.guarded()
    }

    pub fn function(&self) -> Function {
        let params: Vec<Param> = self.constants.iter().chain(&self.f.params).cloned().collect();
        let sizes = self.sizes.iter().copied().filter(|n| mentions(&params, *n)).collect();
        let (results, body, names) =
            (self.f.results.clone(), self.f.body.clone(), self.names.clone());
        let (name, library) = ("f".into(), self.library.clone());
        let accumulators = Vec::new();
        Function {
            name,
            sizes,
            params,
            accumulators,
            results,
            body,
            names,
            library,
            rules: None,
            known: None,
        }
    }

    pub fn show(&self) -> String {
        print(&self.function())
    }

    /// Adds the checks of indices that are not evidently in range, as `normalize` does for the
    /// whole program.
    fn guarded(mut self) -> Program {
        let mut function = self.function();
        lambada_anf::guard(&mut function);
        (self.names, self.f.body) = (function.names, function.body);
        self.library = function.library;
        self
    }

    pub fn check(&self, what: &str) {
        if let Err(message) = check(&self.function()) {
            panic!("{what}: {message}\n{}", self.show());
        }
    }

    pub fn run(&self, at: &Point) -> Result<(Vec<Tensor>, Counts), String> {
        let args: Vec<Tensor> = at.constants.iter().chain(&at.params).cloned().collect();
        let outcome = eval(&self.function(), &args).map_err(|failure| failure.message)?;
        Ok((outcome.results, outcome.counts))
    }

    /// `x, ẋ ↦ f x, ḟ`
    pub fn forward(&self) -> Program {
        let mut program = self.clone();
        program.f =
            Request::default().forward(program.subject(&self.f)).expect("rules that suffice");
        let program = program.guarded();
        program.check("the forward derivative");
        program
    }

    /// `x, ȳ ↦ f x, x̄`
    pub fn reverse(&self) -> Program {
        self.reverse_for(Audience::Machine)
    }

    /// The reverse derivative in the form that becomes source.
    pub fn reverse_as_source(&self) -> Program {
        self.reverse_for(Audience::People)
    }

    fn subject<'a>(&'a mut self, f: &'a Lambda) -> Subject<'a> {
        Subject { library: &mut self.library, names: &mut self.names, f, captured: &[] }
    }

    fn reverse_for(&self, audience: Audience) -> Program {
        let mut program = self.clone();
        let request = Request { audience, ..Request::default() };
        let derivative = request.reverse(program.subject(&self.f)).expect("rules that suffice");
        let (sweep, pullback) = (derivative.forward, derivative.pullback);
        let params = [sweep.params, pullback.params].concat();
        let results = [sweep.results, pullback.results].concat();
        let body = Block {
            stms: [sweep.body.stms, pullback.body.stms].concat(),
            results: [sweep.body.results, pullback.body.results].concat(),
        };
        program.f = Lambda { params, results, body };
        let program = program.guarded();
        program.check("the reverse derivative");
        program
    }

    /// The program with fresh names for all bound variables.
    pub fn renamed(&self) -> Program {
        let mut program = self.clone();
        let mut renaming = Renaming::new();
        for p in &mut program.f.params {
            let var = program.names.again(p.var);
            renaming.insert(p.var, var.into());
            p.var = var;
        }
        program.f.body = renaming.copy(&self.f.body, &mut program.names);
        program.f.results = self.f.results.iter().map(|ty| renaming.ty(ty)).collect();
        program
    }

    /// The last results only.
    pub fn last(mut self, count: usize) -> Program {
        let skip = self.f.results.len() - count;
        self.f.results.drain(..skip);
        self.f.body.results.drain(..skip);
        self
    }
}

fn mentions(params: &[Param], size: Var) -> bool {
    params.iter().any(|p| p.ty.dims.contains(&Atom::Var(size)))
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/derivatives/programs")
}

/// The text of a file of the folder `programs`.
pub fn text(name: &str) -> String {
    let path = programs().join(name).with_extension("anf");
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The files of a folder in `programs`, with their texts.
pub fn texts(folder: &str) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(programs().join(folder)).expect("a folder of programs");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let named = |path: &PathBuf| {
        let name = format!("{folder}/{}", path.file_stem().expect("a name").to_string_lossy());
        (name.clone(), text(&name))
    };
    paths.iter().map(named).collect()
}

/// `[d…]real`
pub fn reals(dims: &[Atom]) -> Ty {
    Ty { elem: Elem::REAL, dims: dims.to_vec() }
}

pub fn elements(t: &Tensor) -> &[f64] {
    match &t.data {
        Data::Real(v) => v,
        Data::Int(_) | Data::Bool(_) => &[],
    }
}

/// `⟨a, b⟩` over all real elements.
pub fn dot(a: &[Tensor], b: &[Tensor]) -> f64 {
    a.iter().zip(b).flat_map(|(a, b)| elements(a).iter().zip(elements(b))).map(|(a, b)| a * b).sum()
}

/// `a + k b`
pub fn axpy(a: &[Tensor], k: f64, b: &[Tensor]) -> Vec<Tensor> {
    let sum = |a: &Tensor, b: &Tensor| {
        Tensor::reals(
            a.dims.clone(),
            elements(a).iter().zip(elements(b)).map(|(a, b)| a + k * b).collect(),
        )
    };
    a.iter().zip(b).map(|(a, b)| sum(a, b)).collect()
}
