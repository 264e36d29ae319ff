//! A derivation as a page of its own: the program at the left, a step at the right. Without scripts
//! it shows all steps.

use std::fmt::Write as _;

use super::data::{Clause, Component, Step, Variable};
use super::notation::{Token, pieces, tokens};
use super::{Derivation, Mode, Stage};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

impl Derivation {
    /// The page, which needs no other file.
    pub fn html(&self) -> String {
        let mode = match self.mode {
            Mode::Forward => "Forward",
            Mode::Reverse => "Reverse",
        };
        let target = match self.stage {
            Stage::Combinators | Stage::Linear => "the linear target language (Appendix A)",
            Stage::Applied => "the applied target language (Appendix C)",
            Stage::Shared => "the applied target language, with the primal once",
        };
        let definition = escaped(&self.definition);
        let steps: String = self.steps.iter().map(|step| step.html(&self.source)).collect();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>Derivation of {definition}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<h1>The derivative of <code>{definition}</code></h1>\n\
             <p>{mode} mode, in {target}, step by step.</p>\n</header>\n<main>\n\
             <section class=\"program\" aria-label=\"Program\">\n<h2>{}</h2>\n\
             <pre id=\"source\" tabindex=\"0\">{}</pre>\n<h2>In the source language of the paper</h2>\n\
             <pre tabindex=\"0\">{}\n{}</pre>\n</section>\n\
             <section class=\"derivation\" aria-label=\"Derivation\">\n\
             <nav id=\"moves\" aria-label=\"Steps\" hidden></nav>\n\
             <ol id=\"steps\">\n{steps}</ol>\n</section>\n</main>\n<script>\n{SCRIPT}</script>\n\
             </body>\n</html>\n",
            escaped(&self.file),
            escaped(&self.source),
            judged(&self.parameters, None, &self.ty),
            term(&self.program),
        )
    }
}

impl Step {
    fn html(&self, source: &str) -> String {
        let places = self
            .places
            .iter()
            .map(|p| format!("{} {} {} {}", p.line, p.column, p.end_line, p.end_column));
        let mut text = format!(
            "<li id=\"step-{0}\" value=\"{0}\" tabindex=\"-1\" data-places=\"{1}\">\n\
             <h3><span class=\"number\">{0}.</span> {2} <span class=\"type\">: {3}</span></h3>\n",
            self.number,
            places.collect::<Vec<_>>().join(","),
            term(&self.head()),
            ty(&self.ty)
        );
        let rule = &self.rule;
        let _ = writeln!(
            text,
            "<p><b>{}</b> <span class=\"item\">{}</span> {}</p>",
            escaped(&rule.name),
            escaped(&rule.item),
            escaped(&rule.paper)
        );
        if !self.places.is_empty() {
            let place = |p: &super::Place| {
                let written = escaped(&p.excerpt(source));
                format!("<li>{}:{} <code>{written}</code></li>", p.line, p.column)
            };
            let all: String = self.places.iter().map(place).collect();
            let _ = writeln!(text, "<ul class=\"places\" aria-label=\"Places\">{all}</ul>");
        }
        if !self.parts.is_empty() {
            let link = |k: &usize| format!("<a href=\"#step-{k}\">{k}</a>");
            let all: Vec<String> = self.parts.iter().map(link).collect();
            let _ = writeln!(text, "<p class=\"parts\">Parts: {}</p>", all.join(", "));
        }
        equations(&mut text, "Clause", &self.clause);
        equations(&mut text, "Here", &self.here);
        for Component { linear, ty, term: written } in &self.components {
            let _ = writeln!(
                text,
                "<pre tabindex=\"0\">{}\n{}</pre>",
                judged(&self.context, linear.as_ref(), ty),
                term(written)
            );
        }
        text + "</li>\n"
    }
}

fn equations(text: &mut String, title: &str, clauses: &[Clause]) {
    if clauses.is_empty() {
        return;
    }
    let row = |Clause { left, right }: &Clause| {
        format!("<tr><td>{}</td><td>= {}</td></tr>", term(left), term(right))
    };
    let rows: String = clauses.iter().map(row).collect();
    let _ = writeln!(text, "<table><caption>{title}</caption><tbody>{rows}</tbody></table>");
}

fn judged(context: &[Variable], linear: Option<&Variable>, of: &str) -> String {
    let one = |x: &Variable| format!("{} : {}", name(&x.name), ty(&x.ty));
    let context = context.iter().map(one).collect::<Vec<_>>().join(", ");
    let zones: Vec<String> =
        [context].into_iter().chain(linear.map(one)).filter(|zone| !zone.is_empty()).collect();
    format!("<span class=\"judgement\">{} ⊢ {}</span>", zones.join("; "), ty(of))
}

fn ty(text: &str) -> String {
    line(text).replace(" * ", " × ")
}

fn term(text: &str) -> String {
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn line(text: &str) -> String {
    let tokens = tokens(text);
    let token = |(k, token): (usize, &Token<'_>)| match *token {
        Token::Space(count) => " ".repeat(count),
        Token::Word("lcur^-1") => "<b>lcur</b><sup>−1</sup>".into(),
        Token::Word("cur") => "Λ".into(),
        Token::Word("D") if tokens.get(k + 1) == Some(&Token::Symbol("[")) => "𝒟".into(),
        Token::Word(word) => format!("<b>{word}</b>"),
        Token::Operation(word) => format!("<span class=\"op\">{}</span>", escaped(word)),
        Token::Name(word) => name(word),
        Token::Number(number) => number.into(),
        Token::Symbol(symbol) => match symbol {
            "<" => "⟨".into(),
            ">" => "⟩".into(),
            "->" => "→".into(),
            "-o" => "⊸".into(),
            "|-" => "⊢".into(),
            "(x)" => " ⊗ ".into(),
            "\\" => "λ".into(),
            "\\_" => "<u>λ</u>".into(),
            "^t" => "<sup>t</sup>".into(),
            ".." => "…".into(),
            other => escaped(other),
        },
    };
    tokens.iter().enumerate().map(token).collect()
}

fn name(name: &str) -> String {
    let (stem, number, component) = pieces(name);
    let indices: Vec<&str> = [number, component].into_iter().filter(|k| !k.is_empty()).collect();
    let index = match indices.is_empty() {
        true => String::new(),
        false => format!("<sub>{}</sub>", indices.join(",")),
    };
    format!("<i>{}</i>{index}", escaped(stem))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
