//! The benefit of each mechanism of the scheduler: the slowdown of derivatives without it, with all
//! others at work.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use lambada::{Disk, Mechanism, Operator, Session, arrays, lower_for};

use crate::baseline::{FLAGS, Which};
use crate::evals::Eval;
use crate::inputs::Problem;
use crate::machine::Machine;
use crate::measure::{Contest, How, Row, Who};
use crate::table::{about, digits};

/// The workloads, by eval and prefix of the label. Other workloads of an eval behave similarly.
const WORKLOADS: &[(&str, &str)] = &[
    ("gmm", "d=64 k=25"),
    ("gmm", "d=10 k=25"),
    ("gmm", "d=2 k=5"),
    ("ba", "n=49"),
    ("lstm", "l=2"),
    ("ht", "complicated, 544"),
    ("lse", ""),
    ("llsq", ""),
    ("kmeans", "n=10000 k=1000"),
    ("ode", "n=1000 "),
];

/// The table, with a description of the machine.
pub fn measured(
    evals: &[&Eval],
    quick: bool,
    patience: Duration,
    machine: &Machine,
) -> Result<String, String> {
    let mut rows = Vec::new();
    for eval in evals {
        let own = WORKLOADS.iter().filter(|(name, _)| *name == eval.name);
        let mut problems = (eval.problems)(quick);
        let begins = |problem: &Problem, label: &str| quick || problem.label.starts_with(label);
        problems.retain(|problem| own.clone().any(|(_, label)| begins(problem, label)));
        if problems.is_empty() {
            continue;
        }
        let ways = different(eval)?;
        // Values are not measured, and handwritten code has no mechanisms.
        let derivatives = Eval { value: None, by_hand: false, ..**eval };
        let contest = Contest::new(&crate::root(), &derivatives, &ways, FLAGS)?;
        for problem in problems {
            let row = contest.run(&problem, patience)?;
            println!("{}", crate::table::line(&row));
            rows.push(row);
        }
    }
    Ok(about(machine) + &table(&rows))
}

/// The usual way, and each omitted mechanism that changes the code of the derivative.
fn different(eval: &Eval) -> Result<Vec<How>, String> {
    let file = crate::root().join("examples/gradbench").join(eval.name).with_extension("lam");
    let mut session = Session::with(Arc::new(Disk), How::Nests.options());
    let unit = session.load(&file).map_err(|p| session.render(&p, false))?;
    let mut programs = Vec::new();
    for definition in eval.derivatives {
        let call = unit.call(definition, Operator::Value, None);
        let program = call.and_then(|call| arrays(&call.program, call.entry));
        programs.push(program.map_err(|p| session.render(&p, false))?);
    }
    let loops = |how: How| -> Vec<_> {
        let options = how.options();
        programs.iter().map(|program| lower_for(program, &options, options.target)).collect()
    };
    let usual = loops(How::Nests);
    let without = Mechanism::ALL.map(How::Without);
    let others = without.into_iter().filter(|how| loops(*how) != usual);
    Ok([How::Nests].into_iter().chain(others).collect())
}

/// A line for each mechanism, a column for each workload.
fn table(rows: &[Row]) -> String {
    let mut text = "\n| without |".to_string();
    for row in rows {
        let _ = write!(text, " {} {} |", row.eval, row.label);
    }
    let _ = writeln!(text, "\n|---|{}", "--:|".repeat(rows.len()));
    for mechanism in Mechanism::ALL {
        let slower = |row: &Row| {
            let least = |how| row.least(Who::Lambada(how), Which::Derivative);
            Some(least(How::Without(mechanism))? / least(How::Nests)?)
        };
        if rows.iter().all(|row| slower(row).is_none()) {
            continue;
        }
        let _ = write!(text, "| {} |", mechanism.name());
        for row in rows {
            let cell = slower(row).map_or("–".to_string(), digits);
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    text
}
