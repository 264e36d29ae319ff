//! Pieces of surface syntax that know how tightly they bind, so that parentheses are put only where they are needed.

/// How tightly an expression holds together; `language.md` fixes the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// `a; b`
    Sequence,
    /// `if`, `let`, `for`, `loop`, `accumulate`, `h[i] += v`: they extend as far right as they can.
    Open,
    /// `xs with [i] = v`, `not x`: kept in parentheses inside anything tighter.
    With,
    Or,
    And,
    Compare,
    Sum,
    Product,
    Negate,
    Power,
    Apply,
    Atom,
}

/// A line longer than this is broken where that is possible.
const WIDTH: usize = 96;

/// An expression as text, perhaps of several lines.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) level: Level,
    /// For an array constructor: its clauses and its body, so that nested ones merge.
    pub(super) clauses: Option<(Vec<String>, Box<Text>)>,
}

impl Text {
    pub(super) fn new(text: impl Into<String>, level: Level) -> Text {
        Text { text: text.into(), level, clauses: None }
    }

    pub(super) fn atom(text: impl Into<String>) -> Text {
        Text::new(text, Level::Atom)
    }

    pub(super) fn is_line(&self) -> bool {
        !self.text.contains('\n')
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The text, in parentheses unless it binds at least as tightly as `level`.
    pub(super) fn at(&self, level: Level) -> String {
        if self.level >= level { self.text.clone() } else { self.parenthesized() }
    }

    fn parenthesized(&self) -> String {
        if self.is_line() {
            format!("({})", self.text)
        } else {
            format!("(\n{}\n)", indent(&self.text))
        }
    }
}

/// Two spaces before every line.
pub(super) fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// `head body` on one line if that fits, else the body below, indented.
pub(super) fn hang(head: &str, body: &str) -> String {
    let last = head.lines().last().unwrap_or("").len();
    if !body.contains('\n') && last + 1 + body.len() <= WIDTH {
        format!("{head} {body}")
    } else {
        format!("{head}\n{}", indent(body))
    }
}

/// `(a, b)`, `a`, or `()`.
pub(super) fn tuple(items: &[Text]) -> Text {
    match items {
        [one] => one.clone(),
        items => {
            let texts: Vec<String> = items.iter().map(|t| t.at(Level::With)).collect();
            let line = texts.join(", ");
            if line.contains('\n') || line.len() > WIDTH {
                Text::atom(format!("(\n{}\n)", indent(&texts.join(",\n"))))
            } else {
                Text::atom(format!("({line})"))
            }
        }
    }
}

/// `f a b`
pub(super) fn call(f: &str, args: &[Text]) -> Text {
    let mut text = f.to_string();
    for arg in args {
        text.push(' ');
        text.push_str(&arg.at(Level::Atom));
    }
    Text::new(text, Level::Apply)
}

/// `for i < n => body`; merged with the body if that is an array constructor too.
pub(super) fn for_(clause: String, body: Text) -> Text {
    let (mut clauses, body) = (vec![clause], body);
    let body = match body.clauses {
        Some((inner, innermost)) if inner.iter().all(|c| c.len() < 24) => {
            clauses.extend(inner);
            *innermost
        }
        Some(_) | None => body,
    };
    let text = hang(&format!("for {} =>", clauses.join(", ")), &body.text);
    Text { text, level: Level::Open, clauses: Some((clauses, Box::new(body))) }
}

/// `if c then a else b`
pub(super) fn if_(cond: &Text, then: &Text, otherwise: &Text) -> Text {
    let (c, a, b) = (cond.at(Level::With), then.at(Level::Open), otherwise.at(Level::Open));
    let line = format!("if {c} then {a} else {b}");
    let text = if line.contains('\n') || line.len() > WIDTH {
        format!("if {c} then\n{}\nelse\n{}", indent(&a), indent(&b))
    } else {
        line
    };
    Text::new(text, Level::Open)
}
