//! Semantic tokens: names by their meanings, and keywords, numbers, operators and comments.

use lambada::{Occurrence, Symbol};
use lambada_source::Span;
use lambada_surface::scopes::Binder;
use lambada_surface::token::TokenKind;
use lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensLegend,
    SemanticTokensParams, SemanticTokensResult,
};

use crate::analysis::Analysis;
use crate::world::World;

/// A row of the legend.
#[derive(Clone, Copy)]
enum Class {
    Namespace,
    Type,
    Parameter,
    Variable,
    Property,
    EnumMember,
    Function,
    Keyword,
    Comment,
    String,
    Number,
    Operator,
}

/// The legend, in the order of [`Class`].
const CLASSES: [SemanticTokenType; 12] = [
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::TYPE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::KEYWORD,
    SemanticTokenType::COMMENT,
    SemanticTokenType::STRING,
    SemanticTokenType::NUMBER,
    SemanticTokenType::OPERATOR,
];

const DECLARATION: u32 = 1;
const LIBRARY: u32 = 2;

pub(crate) fn legend() -> SemanticTokensLegend {
    let modifiers = [SemanticTokenModifier::DECLARATION, SemanticTokenModifier::DEFAULT_LIBRARY];
    SemanticTokensLegend { token_types: CLASSES.to_vec(), token_modifiers: modifiers.to_vec() }
}

/// The tokens of a whole document.
pub(crate) fn tokens(
    world: &mut World,
    params: &SemanticTokensParams,
) -> Option<SemanticTokensResult> {
    let analysis = world.of(&params.text_document.uri)?;
    let names = analysis.occurrences().iter();
    let mut found: Vec<(Span, Class, u32)> = names.map(|one| name(&analysis, one)).collect();
    let all = analysis.tokens();
    found.extend(all.comments.iter().map(|span| (*span, Class::Comment, 0)));
    let class = |kind: TokenKind| match kind {
        TokenKind::Keyword(_) => Some(Class::Keyword),
        TokenKind::Int(_) | TokenKind::Real(_) => Some(Class::Number),
        TokenKind::Text => Some(Class::String),
        TokenKind::Op(_) | TokenKind::Arrow | TokenKind::FatArrow => Some(Class::Operator),
        _ => None,
    };
    let tokens = all.tokens.iter();
    found.extend(tokens.filter_map(|token| Some((token.span, class(token.kind)?, 0))));
    found.sort_by_key(|(span, ..)| *span);
    Some(SemanticTokensResult::Tokens(SemanticTokens {
        result_id: None,
        data: encoded(&analysis, &found),
    }))
}

fn name(analysis: &Analysis, one: &Occurrence) -> (Span, Class, u32) {
    let library = |place: Span| match analysis.is_library(place.file) {
        true => LIBRARY,
        false => 0,
    };
    let (class, from) = match &one.symbol {
        Symbol::Local(_, Binder::Parameter) => (Class::Parameter, 0),
        Symbol::Local(_, Binder::Function) => (Class::Function, 0),
        Symbol::Local(..) => (Class::Variable, 0),
        Symbol::Definition(place) => (Class::Function, library(*place)),
        Symbol::Type(place) => (Class::Type, library(*place)),
        Symbol::Constructor(place) => (Class::EnumMember, library(*place)),
        Symbol::Field(_) => (Class::Property, 0),
        Symbol::Module(_) => (Class::Namespace, 0),
        Symbol::Builtin(name) if ["real", "int", "bool"].contains(&&**name) => {
            (Class::Type, LIBRARY)
        }
        Symbol::Builtin(_) => (Class::Function, LIBRARY),
    };
    (one.span, class, from | if one.binds { DECLARATION } else { 0 })
}

/// Each token relative to the one before; the first one at a place wins.
fn encoded(analysis: &Analysis, found: &[(Span, Class, u32)]) -> Vec<SemanticToken> {
    let lines = &analysis.lines;
    let (mut data, mut end, mut line, mut column) = (Vec::new(), 0, 0, 0);
    for (span, class, modifiers) in found {
        let text = analysis.text(*span).trim_end();
        if span.start < end || text.is_empty() || text.contains('\n') {
            continue;
        }
        let place = lines.position(span.start as usize);
        let delta_line = place.line - line;
        let delta_start = if delta_line == 0 { place.character - column } else { place.character };
        data.push(SemanticToken {
            delta_line,
            delta_start,
            length: lines.encoding.columns(text),
            token_type: *class as u32,
            token_modifiers_bitset: *modifiers,
        });
        (end, line, column) = (span.end, place.line, place.character);
    }
    data
}
