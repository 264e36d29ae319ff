//! `lambada plot`: values and derivatives of a definition as a picture.

use std::path::Path;

use lambada::{
    Along, Data, Expression, Inputs, Operator, Options, RESULT, Range, Slopes, Sweep, Swept, Unit,
};
use lambada_plot::{Picture, svg};

use crate::args::{self, DataArgs, Drawing, Mode};
use crate::report::Report;
use crate::shell::{Shell, engine};
use crate::{progress, report};

/// A range with the values of its ends.
type Ends = (Range, (f64, f64));

impl Shell {
    pub(crate) fn plot(
        &mut self,
        file: &Path,
        entry: &str,
        mut words: Vec<String>,
        drawing: &Drawing,
    ) -> Result<(), Report> {
        if let Some(path) = &drawing.output {
            lambada::check_picture(path).map_err(|p| self.told([p]))?;
        }
        let unit = self.load(file)?;
        let range = self.range(&mut words)?;
        let data = DataArgs { engine: drawing.engine, ..DataArgs::of(drawing.files.clone()) };
        let mut inputs = self.inputs(&data, &words)?;
        if let Some((range, _)) = &range {
            inputs = inputs.with_argument_as(&range.number, &range.word);
        }
        let wrt = drawing.wrt();
        let reverse = drawing.mode == Mode::Reverse;
        let slopes = drawing.grad.then_some(Slopes { wrt: wrt.as_deref(), reverse });
        let range_at = range.as_ref().map(|(range, ends)| (range, *ends));
        let what =
            Along { definition: entry, name: entry, range: range_at, inputs: &inputs, slopes };
        let sweep = self.swept(&unit, &what, drawing.engine)?;
        let picture = self.picture(&sweep, range.map(|(_, ends)| ends))?;
        match &drawing.output {
            None => report::result(&self.drawn(&picture)),
            Some(path) => lambada::write_text(path, &svg(&picture)).map_err(|p| self.told([p])),
        }
    }

    /// The picture as text.
    pub(crate) fn drawn(&self, picture: &Picture) -> String {
        lambada_plot::text(picture, report::picture_width(), self.paints)
    }

    /// Takes the range out of words.
    pub(crate) fn range(&mut self, words: &mut [String]) -> Result<Option<Ends>, Report> {
        let Some(range) = Range::take(words).map_err(|p| self.told([p]))? else { return Ok(None) };
        let [low, high] = [0, 1].map(|k| self.end(&range, &range.ends[k]));
        let ends = range.between(low?, high?).map_err(|p| self.told([p]))?;
        Ok(Some((range, ends)))
    }

    /// The value of an end of a range: a number or an expression.
    fn end(&mut self, range: &Range, text: &str) -> Result<f64, Report> {
        if let Ok(number) = text.parse() {
            return Ok(number);
        }
        let no_end = |shell: &Shell| shell.told([range.no_end(text)]);
        if text.is_empty() {
            return Err(no_end(self));
        }
        let expression = Expression { text, ..Expression::default() };
        let unit = self.session.load_expression("<range>", &expression);
        let unit = unit.map_err(|p| self.told(p))?;
        let call = unit.call(RESULT, Operator::Value, None).map_err(|p| self.told(p))?;
        let value = self.value(call, &Inputs::new(), args::Engine::Core, false)?;
        let number = matches!(&value, Data::Tensor(tensor) if tensor.dims.is_empty());
        match lambada::vectors::numbers(&value)[..] {
            [x] if number => Ok(x),
            _ => Err(no_end(self)),
        }
    }

    /// Compiles a definition for all points of a range.
    pub(crate) fn swept(
        &self,
        unit: &Unit,
        what: &Along,
        choice: args::Engine,
    ) -> Result<Sweep, Report> {
        let options = |args: &[Data]| Options {
            engine: engine(choice),
            ..self.session.options().for_run(args)
        };
        let compiling = progress::working("compiling");
        let sweep = Sweep::new(unit, what, options);
        drop(compiling);
        sweep.map_err(|p| self.told(p))
    }

    /// Runs a definition at the points of a range, or once without one.
    pub(crate) fn picture(
        &self,
        sweep: &Sweep,
        ends: Option<(f64, f64)>,
    ) -> Result<Picture, Report> {
        let working = progress::working("drawing");
        let picture = match ends {
            Some(ends) => {
                let across = sweep.parameter().unwrap_or_default();
                let mut evaluate = |x: f64| sweep.at(x).map(Swept::panels);
                Picture::along(across, ends, sweep.is_whole(), &mut evaluate).map(Some)
            }
            None => sweep
                .lists()
                .map(|lists| (!lists.values.is_empty()).then(|| Picture::indexed(lists.panels()))),
        };
        drop(working);
        let picture = picture
            .map_err(|failure| report::failure(&self.session, &failure, self.color))?
            .ok_or_else(|| self.told([sweep.no_range()]))?;
        let judged = sweep.judge(picture.panels.len(), !picture.is_empty());
        judged.map_err(|p| self.told([p]))?;
        Ok(picture)
    }
}
