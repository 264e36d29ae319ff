//! The interface for Rust: functions as statistical models.

use lambada_source::Problem;

use super::{Goal, Optimum, Posterior, Prediction, Request};
use crate::{Error, Function, Inputs, Options, Session, Unit, Variable};

/// Data of a model.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Values of parameters.
    pub data: Inputs,
    /// Sizes that no data have, by name.
    pub sizes: Vec<(String, usize)>,
    /// Values of the other parameters to begin at.
    pub start: Option<Inputs>,
}

impl Function {
    /// The function as the log density of those of its parameters that have no data.
    ///
    /// ```
    /// use lambada::{Given, Inputs, Model};
    ///
    /// let model = Model::compile("m.lam", "
    ///     import \"std/space\"
    ///     import \"std/dist\"
    ///     def m (s : space.positive) (y : real) : real =
    ///       dist.normal_lpdf y 0 s + dist.exponential_lpdf s 1")?;
    /// let mut data = Inputs::new();
    /// data.read_argument("y=1").expect("JSON");
    /// let posterior = model.function("m")?.posterior(&Given { data, ..Given::default() })?;
    /// let mut both = [0.0; 2];
    /// posterior.density(&[0.0], &mut both).map_err(|failure| failure.message)?;
    /// // The coordinate is the logarithm of `s`.
    /// assert_eq!(both, [-0.5 - 0.9189385332046727 - 1.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The result is no real; data do not fit; parameters without data hold more than reals.
    pub fn posterior(&self, given: &Given) -> Result<Posterior, Error> {
        self.modelled(given, |request, session, unit| request.posterior(session, unit))
    }

    /// The search for an optimum of the function by those of its parameters that have no data.
    ///
    /// # Errors
    /// As [`posterior`](Function::posterior).
    pub fn optimum(&self, given: &Given, goal: Goal) -> Result<Optimum, Error> {
        self.modelled(given, |request, session, unit| request.optimum(session, unit, goal))
    }

    /// The function of draws of `variables`, and of data.
    ///
    /// # Errors
    /// A parameter is neither data nor among the draws, or the result is not made of numbers.
    pub fn prediction(
        &self,
        given: &Given,
        variables: &[Variable],
        seed: u64,
    ) -> Result<Prediction, Error> {
        self.modelled(given, |request, session, unit| {
            request.prediction(session, unit, variables, seed)
        })
    }

    fn modelled<T>(
        &self,
        given: &Given,
        make: impl FnOnce(&Request<'_>, &mut Session, &Unit) -> Result<T, Vec<Problem>>,
    ) -> Result<T, Error> {
        self.model().with_session(|session, unit| {
            let options = Options { meanwhile: false, ..self.model().options().clone() };
            let request = Request {
                entry: Some(self.name()),
                inputs: &given.data,
                sizes: &given.sizes,
                start: given.start.as_ref(),
                options: &options,
                told: &|_| {},
            };
            make(&request, session, unit)
        })
    }
}
