//! A derivation as a LaTeX document, in the notation of the paper.

use std::fmt::Write as _;

use super::data::{Clause, Step, Variable};
use super::notation::{Token, pieces, tokens};
use super::{Derivation, Mode, Stage};

const HEAD: &str = r"\documentclass[10pt]{article}
\usepackage{amsmath}
\usepackage{amssymb}
\usepackage{iftex}
\usepackage[margin=1.5cm]{geometry}
\setlength\parindent{0pt}
\setlength\parskip{4pt}
\allowdisplaybreaks
% A character that only engines for Unicode have: its code, and itself.
\newcommand\other[2]{\ifPDFTeX\textsc{u+#1}\else#2\fi}
\newcommand\D{\ifforward\overrightarrow{\mathcal D}\else\overleftarrow{\mathcal D}\fi}
\newif\ifforward
";

impl Derivation {
    /// A whole document.
    pub fn latex(&self) -> String {
        let mut text = String::from(HEAD);
        if self.mode == Mode::Forward {
            text += "\\forwardtrue\n";
        }
        text += "\\begin{document}\n\\small\n";
        let target = match self.stage {
            Stage::Combinators | Stage::Linear => "the linear target language, Appendix A",
            Stage::Applied => "the applied target language, Appendix C",
            Stage::Shared => "the applied target language, with the primal once",
        };
        let _ = writeln!(
            text,
            "\\section*{{The derivative $\\D$ of \\texttt{{{}}}, in {target}}}",
            typewriter(&self.definition)
        );
        let context = variables(&self.parameters);
        let turnstile = format!("{context} \\vdash {}", ty(&self.ty));
        display(&mut text, &[turnstile]);
        display(&mut text, &self.program.lines().map(line).collect::<Vec<_>>());
        self.steps.iter().for_each(|step| step.latex(&mut text, &self.source));
        text + "\\end{document}\n"
    }
}

impl Step {
    fn latex(&self, text: &mut String, source: &str) {
        let _ = writeln!(
            text,
            "\\subsubsection*{{{}. ${} : {}$}}",
            self.number,
            line(&self.head()),
            ty(&self.ty)
        );
        let rule = &self.rule;
        let _ = write!(text, "\\emph{{{}}} ({}; {})", rule.name, rule.item, words(&rule.paper));
        for place in &self.places {
            let written = typewriter(&place.excerpt(source));
            let _ = write!(text, ", {}:{} \\texttt{{{written}}}", place.line, place.column);
        }
        text.push('\n');
        equations(text, &self.clause);
        equations(text, &self.here);
        for component in &self.components {
            let linear = component.linear.as_ref().map(|v| variables(std::slice::from_ref(v)));
            let context = [Some(variables(&self.context)), linear];
            let zones: Vec<String> =
                context.into_iter().flatten().filter(|zone| !zone.is_empty()).collect();
            let judged = format!("{} \\vdash {}", zones.join("; "), ty(&component.ty));
            let lines: Vec<String> =
                [judged].into_iter().chain(component.term.lines().map(line)).collect();
            display(text, &lines);
        }
    }
}

/// Between a `let` and the next line.
const IN: &str = "\\ \\mathbf{in}\\\\\n&\\phantom{{}={}}";

fn equations(text: &mut String, clauses: &[Clause]) {
    // A line for each `let`.
    let right = |text: &str| text.split(" in ").map(line).collect::<Vec<_>>().join(IN);
    let equation = |Clause { left, right: r }: &Clause| format!("{} &= {}", line(left), right(r));
    let all: Vec<String> = clauses.iter().map(equation).collect();
    if !all.is_empty() {
        let _ = writeln!(text, "\\begin{{align*}}\n{}\n\\end{{align*}}", all.join("\\\\\n"));
    }
}

/// Lines, the first at the margin.
fn display(text: &mut String, lines: &[String]) {
    let lines: Vec<String> = lines.iter().map(|line| format!("&{line}")).collect();
    let _ = writeln!(text, "\\begin{{flalign*}}\n{}&&\n\\end{{flalign*}}", lines.join("&&\\\\\n"));
}

fn variables(all: &[Variable]) -> String {
    let one = |x: &Variable| format!("{} : {}", name(&x.name), ty(&x.ty));
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A type: `*` is a product.
fn ty(text: &str) -> String {
    line(text).replace("\\mathbin{*}", "\\times")
}

/// A line of a term.
fn line(text: &str) -> String {
    let mut latex = String::new();
    let tokens = tokens(text);
    for (k, token) in tokens.iter().enumerate() {
        let is_power = matches!(tokens.get(k + 1), Some(Token::Number(_)));
        latex += &match *token {
            Token::Symbol("^") if is_power => "^".into(),
            Token::Word("D") if tokens.get(k + 1) != Some(&Token::Symbol("[")) => "D".into(),
            Token::Space(count) if k == 0 => "\\quad".repeat(count.div_ceil(2)) + " ",
            Token::Space(_) => "\\ ".into(),
            Token::Word("lcur^-1") => "\\mathbf{lcur}^{-1}".into(),
            Token::Word("D") => "\\D".into(),
            Token::Word("id" | "ev") => format!("\\mathrm{{{}}}", word(*token)),
            Token::Word("cur") => "\\Lambda".into(),
            Token::Word(_) => format!("\\mathbf{{{}}}", word(*token)),
            Token::Operation(one) => match one.strip_prefix('D') {
                Some(one) if !one.is_empty() => format!("D\\mathsf{{{}}}", words(one)),
                _ => format!("\\mathsf{{{}}}", words(one)),
            },
            Token::Name(one) => name(one),
            Token::Number(number) => format!("{{{number}}}"),
            Token::Symbol(symbol) => self::symbol(symbol),
        };
    }
    // Operators and relations have space of their own.
    ["=", "+", "-", "\\mathbin{*}", "\\to ", "\\multimap "].iter().fold(latex, |latex, operator| {
        latex.replace(&format!("\\ {operator}\\ "), &format!(" {operator} "))
    })
}

fn word(token: Token<'_>) -> &str {
    if let Token::Word(word) = token { word } else { "" }
}

fn symbol(symbol: &str) -> String {
    match symbol {
        "<" => "\\langle ",
        ">" => "\\rangle ",
        "->" => "\\to ",
        "-o" => "\\multimap ",
        "|-" => "\\vdash ",
        "(x)" => "\\otimes ",
        "\\" => "\\lambda ",
        "\\_" => "\\underline{\\lambda} ",
        ";;" => "\\mathbin{;;}",
        ";" => "\\mathbin{;}",
        "." => ".\\,",
        ".." => "\\ldots ",
        "^t" => "^{t}",
        "^" => "\\hat{\\ }",
        "{" => "\\{",
        "}" => "\\}",
        "*" => "\\mathbin{*}",
        "[" => "{[}",
        "]" => "{]}",
        "(" | ")" | "," | "+" | "-" | "=" | "!" | ":" | "/" => return symbol.into(),
        other => return format!("\\text{{{}}}", typewriter(other)),
    }
    .into()
}

/// A variable, with numbers as indices.
fn name(name: &str) -> String {
    let (stem, number, component) = pieces(name);
    let stem = match stem.chars().count() {
        0 => "{}".to_string(),
        1 => words(stem),
        _ => format!("\\mathit{{{}}}", words(stem)),
    };
    let indices: Vec<&str> = [number, component].into_iter().filter(|k| !k.is_empty()).collect();
    if indices.is_empty() { stem } else { format!("{stem}_{{{}}}", indices.join(",")) }
}

/// A text outside of formulas, or a word in one.
fn words(text: &str) -> String {
    text.chars().map(character).collect()
}

/// As [`words`], with every space.
fn typewriter(text: &str) -> String {
    text.chars().map(|c| if c == ' ' { "\\ ".into() } else { character(c) }).collect()
}

fn character(c: char) -> String {
    match c {
        '\\' => "\\textbackslash{}".into(),
        '{' | '}' | '_' | '#' | '$' | '%' | '&' => format!("\\{c}"),
        '^' => "\\textasciicircum{}".into(),
        '~' => "\\textasciitilde{}".into(),
        '-' => "{-}".into(),
        '<' => "\\textless{}".into(),
        '>' => "\\textgreater{}".into(),
        '|' => "\\textbar{}".into(),
        '…' => "\\ldots{}".into(),
        c if c.is_ascii() => c.to_string(),
        c => format!("\\other{{{:04X}}}{{{c}}}", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_of_the_paper() {
        assert_eq!(
            line("<!y (x) v, (snd t4_2){v}>"),
            "\\langle !y\\otimes v,\\ (\\mathbf{snd}\\ t_{4,2})\\{v\\}\\rangle "
        );
        assert_eq!(
            line("\\_v. lmul(x_ct; v)"),
            "\\underline{\\lambda} v.\\,\\ \\mathsf{lmul}(\\mathit{x\\_ct}\\mathbin{;}\\ v)"
        );
        assert_eq!(
            ty("real * real^3 -o real"),
            "\\mathbf{real} \\times \\mathbf{real}^{3} \\multimap  \\mathbf{real}"
        );
    }

    #[test]
    fn every_character_is_escaped() {
        assert_eq!(
            typewriter("a_b {\\} #$%&~^"),
            "a\\_b\\ \\{\\textbackslash{}\\}\\ \\#\\$\\%\\&\\textasciitilde{}\\textasciicircum{}"
        );
        assert_eq!(words("α"), "\\other{03B1}{α}");
    }
}
