//! Signature help: the function whose arguments are being written, found by the tokens before the
//! cursor, because an unfinished application does not parse.

use lambada_surface::token::{Token, TokenKind};
use lsp_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, SignatureHelp,
    SignatureHelpParams, SignatureInformation,
};

use crate::analysis::Analysis;
use crate::describe::description;
use crate::lines::Encoding;
use crate::world::World;

/// The function at the cursor, and its current parameter.
pub(crate) fn signature(world: &mut World, params: &SignatureHelpParams) -> Option<SignatureHelp> {
    let (analysis, offset) = world.at(&params.text_document_position_params)?;
    let (head, argument) = application(&analysis, offset)?;
    let one = analysis.occurrence(head)?.clone();
    let about = description(world, &analysis, one.span, &one.symbol)?;
    let label = about.code.lines().next()?.to_string();
    let parameters = parameters(&label, analysis.lines.encoding);
    if parameters.is_empty() {
        return None;
    }
    let active = (argument as u32).min(parameters.len() as u32 - 1);
    let text = MarkupContent { kind: MarkupKind::Markdown, value: about.text };
    let signature = SignatureInformation {
        label,
        documentation: Some(Documentation::MarkupContent(text)),
        parameters: Some(parameters),
        active_parameter: Some(active),
    };
    Some(SignatureHelp {
        signatures: vec![signature],
        active_signature: Some(0),
        active_parameter: Some(active),
    })
}

/// The last byte of the function's name, and the number of arguments before the cursor.
fn application(analysis: &Analysis, offset: usize) -> Option<(usize, usize)> {
    let tokens = analysis.tokens().tokens.iter();
    let tokens = tokens.take_while(|token| (token.span.end as usize) <= offset);
    let before: Vec<&Token> = tokens.filter(|token| token.kind != TokenKind::End).collect();
    let mut atoms: Vec<Atom> = Vec::new();
    let mut at = before.len();
    // An argument that the cursor touches is being written.
    let touches = before.last().is_some_and(|token| token.span.end as usize == offset);
    while let Some(atom) = atom_before(&before, at) {
        at = atom.first;
        atoms.push(atom);
        // A name at the start of a line begins a definition or a binding.
        if before[at].starts_line && !matches!(before[at].kind, TokenKind::Lower) {
            break;
        }
    }
    let function = atoms.last()?;
    let name = before[function.last];
    if name.kind != TokenKind::Lower || atoms.len() == 1 && touches {
        return None;
    }
    let arguments = atoms.len() - 1;
    let current = if touches { arguments.saturating_sub(1) } else { arguments };
    Some((name.span.end as usize, current))
}

/// A name, a literal or a group in brackets, with the fields and indices behind it.
struct Atom {
    first: usize,
    last: usize,
}

/// The atom that ends before a token.
fn atom_before(tokens: &[&Token], end: usize) -> Option<Atom> {
    let mut at = end.checked_sub(1)?;
    let last = at;
    loop {
        match tokens[at].kind {
            TokenKind::Close(_) => at = opening(tokens, at)?,
            kind if is_simple(kind) => {}
            _ => return None,
        }
        let Some(before) = at.checked_sub(1) else { return Some(Atom { first: at, last }) };
        if tokens[before].kind == TokenKind::Dot && before > 0 {
            at = before - 1;
        } else if tokens[at].touches && is_end(tokens[before].kind) {
            at = before;
        } else {
            return Some(Atom { first: at, last });
        }
    }
}

/// Whether the token alone is an argument.
fn is_simple(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Lower | TokenKind::Upper | TokenKind::Text)
        || matches!(kind, TokenKind::Int(_) | TokenKind::Real(_))
}

fn is_end(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Close(_) | TokenKind::Lower)
}

/// The bracket that a closing one closes.
fn opening(tokens: &[&Token], close: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for at in (0..=close).rev() {
        match tokens[at].kind {
            TokenKind::Close(_) => depth += 1,
            TokenKind::Open(_) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The parameters in `f : a -> b -> c`, or in `f (x : a) y`, by their columns.
fn parameters(label: &str, encoding: Encoding) -> Vec<ParameterInformation> {
    let (mut depth, mut start, mut found) = (0_i32, None, Vec::new());
    let arrows = label.split_once(" : ").filter(|(name, _)| !name.contains(['(', ' ']));
    let ends = |from: usize, to: usize, found: &mut Vec<(usize, usize)>| {
        let text = &label[from..to];
        let trimmed = text.trim();
        if !trimmed.is_empty() {
            let first = from + (text.len() - text.trim_start().len());
            found.push((first, first + trimmed.len()));
        }
    };
    if let Some((name, ty)) = arrows {
        // Overloads come first: `num a => a -> a`.
        let begin = ty.rfind("=> ").map_or(0, |at| at + 3) + name.len() + 3;
        let mut from = begin;
        for (at, c) in label.char_indices().filter(|(at, _)| *at >= begin) {
            depth += i32::from(matches!(c, '(' | '[' | '{'));
            depth -= i32::from(matches!(c, ')' | ']' | '}'));
            if depth == 0 && label[at..].starts_with(" -> ") {
                ends(from, at, &mut found);
                from = at + 4;
            }
        }
    } else {
        for (at, c) in label.char_indices() {
            depth -= i32::from(matches!(c, ')' | ']' | '}'));
            let inside = depth > 0 || !c.is_whitespace();
            if depth == 0 && c == ':' {
                break;
            }
            match (inside, start) {
                (true, None) => start = Some(at),
                (false, Some(from)) => {
                    ends(from, at, &mut found);
                    start = None;
                }
                (true, Some(_)) | (false, None) => {}
            }
            depth += i32::from(matches!(c, '(' | '[' | '{'));
        }
        found.extend(start.map(|from| (from, label.len())));
        // The name, and the sizes in brackets.
        found = found.split_off(found.len().min(1));
        found.retain(|(from, _)| !label[*from..].starts_with('['));
    }
    let columns = |end: usize| encoding.columns(&label[..end]);
    let information = |(from, to): (usize, usize)| ParameterInformation {
        label: ParameterLabel::LabelOffsets([columns(from), columns(to)]),
        documentation: None,
    };
    found.into_iter().map(information).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_labels() {
        let check = |label: &str, expect: &[&str]| {
            let text = |one: &ParameterInformation| match one.label {
                ParameterLabel::LabelOffsets([from, to]) => &label[from as usize..to as usize],
                ParameterLabel::Simple(_) => "",
            };
            let found = parameters(label, Encoding::Utf8);
            assert_eq!(found.iter().map(text).collect::<Vec<_>>(), expect, "{label}");
        };
        check("f : (real -> int) -> [n]real -> (a, b)", &["(real -> int)", "[n]real"]);
        check("f : num a, c = a + b => a -> c", &["a"]);
        check("pi : real", &[]);
        check("map f (xs : [n]a)", &["f", "(xs : [n]a)"]);
        check("zip [n] (xs : [n]a) (ys : [n]b) : [n](a, b)", &["(xs : [n]a)", "(ys : [n]b)"]);
    }
}
