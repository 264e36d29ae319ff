//! A derivation as text.

use std::fmt::Write as _;

use super::data::{Clause, Derivation, Step, Variable};

impl Derivation {
    /// The steps in ASCII, as the pages of the book have them.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.steps.len() == self.count {
            let names = typed(&self.parameters, true);
            let _ = writeln!(text, "{}", judged(&names, None, &self.ty));
            let _ = writeln!(text, "{}", self.program);
        }
        for step in &self.steps {
            if !text.is_empty() {
                text.push('\n');
            }
            text += &step.text(&self.source);
        }
        text
    }
}

/// `x : real, y : real`, or `x, y`
fn typed(variables: &[Variable], types: bool) -> String {
    let one = |x: &Variable| if types { format!("{} : {}", x.name, x.ty) } else { x.name.clone() };
    variables.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn judged(context: &str, linear: Option<&Variable>, ty: &str) -> String {
    let linear = linear.map(|v| format!("{} : {}", v.name, v.ty));
    let zones: Vec<String> =
        [context.to_string()].into_iter().chain(linear).filter(|zone| !zone.is_empty()).collect();
    format!("{} |- {ty}", zones.join("; ")).trim_start().to_string()
}

impl Step {
    /// `t4 = <t2, t3>`, or the part alone.
    pub(crate) fn head(&self) -> String {
        match &self.name {
            Some(name) => format!("{name} = {}", self.part),
            None => self.part.clone(),
        }
    }

    fn text(&self, source: &str) -> String {
        let mut text = format!("{}. {} : {}\n", self.number, self.head(), self.ty);
        for place in &self.places {
            let written = place.excerpt(source);
            let _ = writeln!(text, "   source: {}:{}: {written}", place.line, place.column);
        }
        let rule = &self.rule;
        let _ = writeln!(text, "   rule:   {}, {}; {}", rule.name, rule.item, rule.paper);
        equations(&mut text, "clause:", &self.clause);
        equations(&mut text, "here:  ", &self.here);
        for (k, component) in self.components.iter().enumerate() {
            // The types of the context stand once.
            let context = typed(&self.context, k == 0);
            let judged = judged(&context, component.linear.as_ref(), &component.ty);
            let _ = writeln!(text, "   {judged}");
            component.term.lines().for_each(|line| {
                let _ = writeln!(text, "   {line}");
            });
        }
        text
    }
}

fn equations(text: &mut String, head: &str, equations: &[Clause]) {
    for (k, Clause { left, right }) in equations.iter().enumerate() {
        let head = if k == 0 { head } else { "       " };
        let _ = writeln!(text, "   {head} {left} = {right}");
    }
}
