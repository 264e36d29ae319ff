//! Missing parts of any construct.

use lambada_source::{Fix, Problem, Span};

use crate::token::Bracket;

/// Place of a missing part: the current token, or the end of the one before if that ended its line.
#[derive(Clone, Copy, Debug)]
pub struct GapPosition {
    pub span: Span,
    pub after: bool,
}

impl GapPosition {
    fn label(self, what: &str) -> String {
        if self.after { format!("expected {what} after this") } else { format!("expected {what}") }
    }

    /// Inserts the missing word.
    pub fn insert(self, word: &str) -> Fix {
        if self.after {
            Fix::behind(self.span, format!(" {word}"))
        } else {
            Fix::before(self.span, format!("{word} "))
        }
    }
}

/// The kind of the missing part.
#[derive(Clone, Copy, Debug)]
pub enum Missing {
    Expression,
    Pattern,
    Type,
    Name,
    Sign,
}

impl Missing {
    fn code(self) -> &'static str {
        match self {
            Missing::Expression => "E0010",
            Missing::Pattern => "E0011",
            Missing::Type => "E0012",
            Missing::Name => "E0013",
            Missing::Sign => "E0014",
        }
    }
}

/// A sign in the place of one that perhaps follows without a space.
pub(super) fn spaced(sign: &str, touches: bool) -> String {
    if touches { format!(" {sign}") } else { sign.to_string() }
}

pub fn expected(missing: Missing, what: &str, found: &str, gap: GapPosition) -> Problem {
    lacking(missing.code(), what, found, gap)
}

pub(super) fn lacking(code: &'static str, what: &str, found: &str, gap: GapPosition) -> Problem {
    Problem::error(code, format!("expected {what}, found {found}"), gap.span, gap.label(what))
}

pub fn unclosed(opener: Span, bracket: Bracket, gap: GapPosition) -> Problem {
    let closing = bracket.closing();
    let problem = Problem::error(
        "E0015",
        format!("this `{}` is never closed", bracket.opening()),
        opener,
        format!("no `{closing}` belongs to it"),
    );
    if gap.span == opener {
        return problem;
    }
    problem
        .label(
            gap.span,
            format!(
                "`{closing}` is missing at the latest {}",
                if gap.after { "after this" } else { "here" }
            ),
        )
        .fix(
            format!("write `{closing}` where the inner part ends"),
            Fix::replace(if gap.after { gap.span.end() } else { gap.span.start() }, closing)
                .probable(),
        )
}

pub fn mismatched(opener: Span, bracket: Bracket, closer: Span, found: Bracket) -> Problem {
    let (opening, wrong) = (bracket.opening(), found.closing());
    let title = format!("`{opening}` is closed by `{wrong}`");
    Problem::error("E0016", title, closer, format!("expected `{}`", bracket.closing()))
        .label(opener, format!("for this `{opening}`"))
        .fix(
            format!("write `{}`", bracket.closing()),
            Fix::replace(closer, bracket.closing()).probable(),
        )
}

pub fn unopened(span: Span, bracket: Bracket) -> Problem {
    Problem::error(
        "E0056",
        format!("this `{}` closes nothing", bracket.closing()),
        span,
        format!("no `{}` is open here", bracket.opening()),
    )
    .fix("leave it out", Fix::remove(span).probable())
}

/// `lambda`: the edits that make the content a function.
pub fn in_brackets(
    what: &str,
    found: &str,
    gap: GapPosition,
    opener: Span,
    bracket: Bracket,
    lambda: Option<Fix>,
) -> Problem {
    let problem = expected(Missing::Sign, what, found, gap)
        .label(opener, format!("inside this `{}`", bracket.opening()));
    match lambda {
        Some(lambda) => problem.fix("a function is written `\\x -> e`", lambda),
        None => problem,
    }
}

pub fn reserved(span: Span, word: &str) -> Problem {
    let problem =
        Problem::error("E0017", format!("`{word}` is a reserved word"), span, "cannot be a name");
    problem.hint(format!("choose another name, such as `{word}_`"))
}

pub fn too_deep(span: Span, limit: usize) -> Problem {
    Problem::error(
        "E0018",
        "this is nested too deeply",
        span,
        format!("more than {limit} constructs inside each other"),
    )
    .hint("give inner parts names with `let`, or make them definitions")
}

pub fn too_long(span: Span, limit: usize) -> Problem {
    Problem::error(
        "E0019",
        "this expression is too long",
        span,
        format!("more than {limit} operations in a row"),
    )
    .hint("give parts of it names with `let`")
}
