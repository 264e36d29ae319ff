//! Text to tokens. Never fails: a mistake is reported and replaced by the most probable token.

use lambada_source::{FileId, Span};

use crate::ast::BinaryOp;
use crate::messages::lexical as messages;
use crate::token::{
    Borrowed, Bracket, DocComment, Keyword, Token, TokenKind, Tokens, begins_with, keyword,
};

/// The tokens of a text.
pub fn tokenize(text: &str, file: FileId) -> Tokens {
    tokenize_from(text, 0, file)
}

/// The tokens of a text from a byte on.
pub fn tokenize_from(text: &str, at: usize, file: FileId) -> Tokens {
    let mut lexer = Lexer {
        text,
        file,
        at,
        line_start: text[..at].rfind('\n').map_or(0, |end| end + 1),
        fresh_line: true,
        space: true,
        doc: Vec::new(),
        out: Tokens::default(),
    };
    if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    while lexer.at < text.len() {
        lexer.step();
    }
    lexer.end_doc(true);
    lexer.push(TokenKind::End, text.len());
    lexer.out
}

/// The spelling of a token for which another language has another sign.
fn meant(kind: TokenKind) -> Option<&'static str> {
    match kind {
        TokenKind::Op(op) => Some(op.spelling()),
        TokenKind::Keyword(Keyword::Not) => Some("not"),
        TokenKind::Arrow => Some("->"),
        TokenKind::FatArrow => Some("=>"),
        _ => None,
    }
}

struct Lexer<'a> {
    text: &'a str,
    file: FileId,
    /// The next byte to read.
    at: usize,
    /// Where the current line starts.
    line_start: usize,
    /// Whether this line has no token yet.
    fresh_line: bool,
    /// Whether space or a comment separates the last token from `at`.
    space: bool,
    /// The lines of a doc comment that may continue.
    doc: Vec<&'a str>,
    out: Tokens,
}

/// Signs, longest first. Those with a note belong to other languages and are read as this token.
const SIGNS: &[(&str, TokenKind, &str)] = &[
    ("===", TokenKind::Op(BinaryOp::Eq), "equality is written `==`"),
    ("!==", TokenKind::Op(BinaryOp::Ne), "inequality is written `!=`"),
    ("%*%", TokenKind::Op(BinaryOp::MatMul), ""),
    ("%/%", TokenKind::Op(BinaryOp::FloorDiv), ""),
    ("...", TokenKind::DotDot, ""),
    ("->", TokenKind::Arrow, ""),
    ("=>", TokenKind::FatArrow, ""),
    ("==", TokenKind::Op(BinaryOp::Eq), ""),
    ("!=", TokenKind::Op(BinaryOp::Ne), ""),
    ("/=", TokenKind::Op(BinaryOp::Ne), "inequality is written `!=`"),
    ("<>", TokenKind::Op(BinaryOp::Ne), "inequality is written `!=`"),
    ("~=", TokenKind::Op(BinaryOp::Ne), "inequality is written `!=`"),
    ("<=", TokenKind::Op(BinaryOp::Le), ""),
    ("=<", TokenKind::Op(BinaryOp::Le), "less or equal is written `<=`"),
    (">=", TokenKind::Op(BinaryOp::Ge), ""),
    (">>", TokenKind::Op(BinaryOp::Compose), ""),
    (
        "<<",
        TokenKind::Op(BinaryOp::Compose),
        "composition goes from left to right only: `f << g` is written `g >> f`; the bits of integers are shifted by `shift_left a n`",
    ),
    ("|>", TokenKind::Op(BinaryOp::Pipe), ""),
    ("<|", TokenKind::Borrowed(Borrowed::Apply), ""),
    ("$", TokenKind::Borrowed(Borrowed::Apply), ""),
    ("||", TokenKind::Op(BinaryOp::Or), ""),
    ("&&", TokenKind::Op(BinaryOp::And), ""),
    ("**", TokenKind::Op(BinaryOp::Pow), ""),
    ("++", TokenKind::Op(BinaryOp::Add), "arrays are joined by `concat xs ys`"),
    ("+=", TokenKind::PlusEquals, ""),
    (
        "-=",
        TokenKind::PlusEquals,
        "a new value has a `let` of its own, `let x = x - 1`; an accumulator only adds, `h[i] += -v`",
    ),
    (
        "*=",
        TokenKind::PlusEquals,
        "a new value has a `let` of its own, `let x = x * 2`; an accumulator only adds, `h[i] += v`",
    ),
    (":=", TokenKind::Equals, "a name is given to a value by `let x = …`"),
    (
        "::",
        TokenKind::Colon,
        "a type is written after a single `:`; arrays are joined by `concat xs ys`",
    ),
    ("..", TokenKind::DotDot, ""),
    ("+.", TokenKind::Op(BinaryOp::Add), "operators need no point: write `+`"),
    ("-.", TokenKind::Op(BinaryOp::Sub), "operators need no point: write `-`"),
    ("*.", TokenKind::Op(BinaryOp::Mul), "operators need no point: write `*`"),
    ("/.", TokenKind::Op(BinaryOp::Div), "operators need no point: write `/`"),
    (".*", TokenKind::Op(BinaryOp::Mul), ""),
    ("./", TokenKind::Op(BinaryOp::Div), ""),
    (".+", TokenKind::Op(BinaryOp::Add), ""),
    (".-", TokenKind::Op(BinaryOp::Sub), ""),
    ("%%", TokenKind::Op(BinaryOp::Rem), ""),
    (".^", TokenKind::Op(BinaryOp::Pow), ""),
    (";;", TokenKind::Semicolon, "a definition needs no sign at its end"),
    ("=", TokenKind::Equals, ""),
    ("<", TokenKind::Op(BinaryOp::Lt), ""),
    (">", TokenKind::Op(BinaryOp::Gt), ""),
    ("+", TokenKind::Op(BinaryOp::Add), ""),
    ("-", TokenKind::Op(BinaryOp::Sub), ""),
    ("*", TokenKind::Op(BinaryOp::Mul), ""),
    ("//", TokenKind::Op(BinaryOp::FloorDiv), ""),
    ("/", TokenKind::Op(BinaryOp::Div), ""),
    ("%", TokenKind::Op(BinaryOp::Rem), ""),
    ("@", TokenKind::Op(BinaryOp::MatMul), ""),
    ("^", TokenKind::Op(BinaryOp::Pow), ""),
    ("&", TokenKind::Borrowed(Borrowed::BitAnd), ""),
    ("!", TokenKind::Keyword(Keyword::Not), "“not” is written `not`"),
    ("(", TokenKind::Open(Bracket::Round), ""),
    (")", TokenKind::Close(Bracket::Round), ""),
    ("[", TokenKind::Open(Bracket::Square), ""),
    ("]", TokenKind::Close(Bracket::Square), ""),
    ("{", TokenKind::Open(Bracket::Curly), ""),
    ("}", TokenKind::Close(Bracket::Curly), ""),
    ("|", TokenKind::Bar, ""),
    (",", TokenKind::Comma, ""),
    (";", TokenKind::Semicolon, ""),
    (":", TokenKind::Colon, ""),
    (".", TokenKind::Dot, ""),
    ("\\", TokenKind::Backslash, ""),
    ("→", TokenKind::Arrow, "write `->`"),
    ("⇒", TokenKind::FatArrow, "write `=>`"),
    ("≤", TokenKind::Op(BinaryOp::Le), "write `<=`"),
    ("≥", TokenKind::Op(BinaryOp::Ge), "write `>=`"),
    ("≠", TokenKind::Op(BinaryOp::Ne), "write `!=`"),
    ("−", TokenKind::Op(BinaryOp::Sub), "write `-`"),
    ("–", TokenKind::Op(BinaryOp::Sub), "write `-`"),
    ("×", TokenKind::Op(BinaryOp::Mul), "write `*`"),
    ("·", TokenKind::Op(BinaryOp::Mul), "write `*`, or `@` for a product of matrices"),
    ("÷", TokenKind::Op(BinaryOp::Div), "write `/`"),
    ("∧", TokenKind::Op(BinaryOp::And), "write `&&`"),
    ("∨", TokenKind::Op(BinaryOp::Or), "write `||`"),
    ("¬", TokenKind::Keyword(Keyword::Not), "write `not`"),
    ("λ", TokenKind::Backslash, "write `\\`"),
];

/// The note for `x++`.
const INCREMENT: &str = "a new value has a `let` of its own: `let x = x + 1`";

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// The byte `ahead` of the next one; 0 past the end.
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start, self.at)
    }

    /// Ends a token that starts at `start`.
    fn push(&mut self, kind: TokenKind, start: usize) {
        let column = (start - self.line_start) as u32;
        self.out.tokens.push(Token {
            kind,
            span: self.span(start),
            touches: !self.space,
            starts_line: self.fresh_line,
            column,
        });
        self.space = false;
        self.fresh_line = false;
    }

    /// Reads one token, comment or piece of white space.
    fn step(&mut self) {
        let c = self.rest().chars().next().unwrap_or(' ');
        match c {
            '\n' => self.new_line(),
            _ if c.is_whitespace() => self.blank(c.len_utf8()),
            '-' if self.byte(1) == b'-' => self.comment(),
            '#' => self.foreign_comment("#"),
            // No expression continues at the start of a line.
            '/' if self.byte(1) == b'/' && self.at == self.line_start => self.foreign_comment("//"),
            '/' if self.byte(1) == b'*' => self.foreign_block("/*", "*/"),
            '{' if self.byte(1) == b'-' && self.rest().contains("-}") => {
                self.foreign_block("{-", "-}")
            }
            '"' => self.string(),
            '0'..='9' => self.number(),
            '.' if self.byte(1).is_ascii_digit() && !self.after_value() => self.number(),
            'a'..='z' | 'A'..='Z' | '_' => self.name(),
            _ => self.sign(c),
        }
    }

    fn blank(&mut self, length: usize) {
        self.at += length;
        self.space = true;
    }

    fn new_line(&mut self) {
        self.blank(1);
        self.line_start = self.at;
        self.fresh_line = true;
    }

    /// Whether a `.` here touches a value before it, and so selects a component.
    fn after_value(&self) -> bool {
        let value = |kind| match kind {
            TokenKind::Lower
            | TokenKind::Upper
            | TokenKind::Int(_)
            | TokenKind::Real(_)
            | TokenKind::Close(_) => true,
            TokenKind::Keyword(keyword) => matches!(keyword, Keyword::True | Keyword::False),
            TokenKind::Text | TokenKind::Op(_) | TokenKind::Open(_) | TokenKind::Equals => false,
            TokenKind::PlusEquals
            | TokenKind::Borrowed(_)
            | TokenKind::Arrow
            | TokenKind::FatArrow
            | TokenKind::Bar
            | TokenKind::Comma => false,
            TokenKind::Semicolon
            | TokenKind::Colon
            | TokenKind::Dot
            | TokenKind::DotDot
            | TokenKind::Backslash => false,
            TokenKind::Bad | TokenKind::End => false,
        };
        !self.space && self.out.tokens.last().is_some_and(|token| value(token.kind))
    }

    /// Skips matching characters.
    fn skip_while(&mut self, matches: impl Fn(char) -> bool) {
        let length = self.rest().find(|c| !matches(c)).unwrap_or(self.rest().len());
        self.at += length;
    }

    fn skip_line(&mut self) {
        self.skip_while(|c| c != '\n');
        self.space = true;
    }

    fn comment(&mut self) {
        let start = self.at;
        let doc = self.byte(2) == b'|' && self.fresh_line;
        self.skip_line();
        self.out.comments.push(self.span(start));
        if doc {
            let line = &self.text[start + 3..self.at];
            self.doc.push(line.strip_prefix(' ').unwrap_or(line).trim_end());
            let next = self
                .rest()
                .strip_prefix('\n')
                .unwrap_or("")
                .split('\n')
                .next()
                .unwrap_or("")
                .trim();
            if !next.starts_with("--|") {
                self.end_doc(next.is_empty());
            }
        }
    }

    fn end_doc(&mut self, detached: bool) {
        if !self.doc.is_empty() {
            let text = std::mem::take(&mut self.doc).join("\n").into();
            self.out.docs.push(DocComment { before: self.out.tokens.len(), text, detached });
        }
    }

    /// `#` and `//` comments of other languages, up to the end of the line.
    fn foreign_comment(&mut self, sign: &str) {
        let start = self.at;
        self.at += sign.len();
        let problem = messages::comment(self.span(start), sign, true);
        self.out.problems.push(problem);
        self.skip_line();
    }

    fn foreign_block(&mut self, open: &str, close: &str) {
        let start = self.at;
        self.at += open.len();
        let problem = messages::comment(self.span(start), open, false);
        self.out.problems.push(problem);
        let length = self.rest().find(close).map_or(self.rest().len(), |k| k + close.len());
        for _ in 0..length {
            match self.byte(0) {
                b'\n' => self.new_line(),
                _ => self.at += 1,
            }
        }
        self.space = true;
    }

    fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        self.skip_while(|c| c != '"' && c != '\n');
        if self.byte(0) == b'"' {
            self.at += 1;
            return self.push(TokenKind::Text, start);
        }
        self.out.problems.push(messages::open_string(Span::new(self.file, start, start + 1)));
        self.push(TokenKind::Bad, start);
    }

    fn name(&mut self) {
        let start = self.at;
        self.skip_while(|c| c.is_alphanumeric() || c == '_');
        self.skip_while(|c| c == '\'');
        let text = &self.text[start..self.at];
        if !text.is_ascii() {
            self.out.problems.push(messages::foreign_letters(self.span(start), text));
        }
        let upper = text.starts_with(char::is_uppercase);
        let kind = keyword(text)
            .map_or(if upper { TokenKind::Upper } else { TokenKind::Lower }, TokenKind::Keyword);
        self.push(kind, start);
    }

    fn sign(&mut self, c: char) {
        let start = self.at;
        if let Some((text, kind, note)) =
            SIGNS.iter().find(|(text, ..)| begins_with(self.rest(), text) && !self.is_point(text))
        {
            if *text == "::" && self.is_colon_twice() {
                self.at += 1;
                return self.push(TokenKind::Colon, start);
            }
            self.at += text.len();
            let note = if *text == "++" && self.at_line_end() { INCREMENT } else { note };
            if !note.is_empty() {
                let better = meant(*kind).filter(|sign| note.contains(&format!("`{sign}`")));
                // In `n!` the sign follows its operand.
                let better = better.filter(|sign| *sign != "not" || !self.follows_operand(start));
                let problem = messages::foreign_sign(self.span(start), text, note, better);
                self.out.problems.push(problem);
            }
            return self.push(*kind, start);
        }
        if c.is_alphabetic() {
            return self.name();
        }
        self.skip_while(|other| other == c);
        self.out.problems.push(messages::unknown_character(self.span(start), c));
        self.push(TokenKind::Bad, start);
    }

    /// Whether a `::` here stands between the bounds of a slice, or after the name of a signature,
    /// which the parser reports.
    fn is_colon_twice(&self) -> bool {
        let mut depth = 0_usize;
        for token in self.out.tokens.iter().rev() {
            match token.kind {
                TokenKind::Close(_) => depth += 1,
                TokenKind::Open(Bracket::Square) if depth == 0 => return true,
                TokenKind::Open(_) if depth == 0 => return false,
                TokenKind::Open(_) => depth -= 1,
                _ => {}
            }
            if token.starts_line {
                return depth == 0
                    && token.column == 0
                    && token.span.end as usize <= self.at
                    && self.out.tokens.last().is_some_and(|last| last.span == token.span);
            }
        }
        false
    }

    fn at_line_end(&self) -> bool {
        let line = self.rest().lines().next().unwrap_or("");
        line.trim_start().is_empty() || line.trim_start().starts_with("--")
    }

    /// Whether a name, a number or a bracket ends here.
    fn follows_operand(&self, at: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ')' | ']'))
    }

    /// Whether the point at the end of a sign begins a number, as in `x +.5`.
    fn is_point(&self, sign: &str) -> bool {
        let operator = sign.ends_with('.') && !sign.starts_with('.');
        operator && self.byte(sign.len()).is_ascii_digit()
    }

    /// `12`, `1_000`, `1.5`, `1e-3`; after the dot of `t.0` only digits.
    fn number(&mut self) {
        let start = self.at;
        let component =
            self.out.tokens.last().is_some_and(|token| token.kind == TokenKind::Dot) && !self.space;
        let mut real = false;
        let mut problem = None;
        self.digits();
        if !component && self.byte(0) == b'.' && self.byte(1) != b'.' {
            real = true;
            self.at += 1;
            self.digits();
            problem = self.bare_point(start);
        }
        if !component && matches!(self.byte(0), b'e' | b'E') && self.exponent_follows() {
            real = true;
            self.at += 1 + usize::from(matches!(self.byte(1), b'+' | b'-'));
            self.digits();
        }
        let literal_end = self.at;
        let factor = !component && self.is_factor(start);
        if (self.byte(0).is_ascii_alphabetic() && !factor)
            || (real && self.byte(0) == b'.' && self.byte(1).is_ascii_digit())
        {
            self.skip_while(|c| c.is_alphanumeric() || c == '_' || c == '.');
            problem = Some(messages::number_suffix(
                self.span(start),
                &self.text[start..literal_end],
                &self.text[literal_end..self.at],
            ));
        }
        let text: String = self.text[start..literal_end].chars().filter(|c| *c != '_').collect();
        if problem.is_none()
            && self.text[start..literal_end].split(['.', 'e', 'E']).any(|part| part.ends_with('_'))
        {
            let better = self.text[start..literal_end].trim_end_matches('_');
            problem = Some(messages::trailing_underscore(self.span(start), better));
        }
        let kind = if real {
            self.real(&text, start, &mut problem)
        } else {
            self.int(&text, start, &mut problem)
        };
        self.out.problems.extend(problem);
        self.push(kind, start);
    }

    /// Whether a name directly after the number that started here is a factor, as in `2k` and
    /// `2pi`. A suffix that gives a number its type elsewhere is none, nor is a broken exponent.
    fn is_factor(&self, start: usize) -> bool {
        let number = &self.text[start..self.at];
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..end];
        let suffix = matches!(name, "f" | "f32" | "f64" | "d" | "L" | "u");
        let other_base = number == "0" && name.starts_with(['x', 'X', 'b', 'o']);
        !suffix
            && !other_base
            && !name.starts_with(['e', 'E'])
            && !number.ends_with(['.', '_'])
            && keyword(name).is_none()
    }

    fn digits(&mut self) {
        self.skip_while(|c| c.is_ascii_digit() || c == '_');
    }

    /// The problem of a number that starts or ends with its point.
    fn bare_point(&self, start: usize) -> Option<lambada_source::Problem> {
        let text = &self.text[start..self.at];
        if text.starts_with('.') {
            return Some(messages::missing_digits(self.span(start), &format!("0{text}")));
        }
        text.ends_with('.').then(|| messages::missing_digits(self.span(start), &format!("{text}0")))
    }

    fn exponent_follows(&self) -> bool {
        let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
        self.byte(1 + sign).is_ascii_digit()
    }

    fn real(
        &self,
        text: &str,
        start: usize,
        problem: &mut Option<lambada_source::Problem>,
    ) -> TokenKind {
        let value = text.parse::<f64>().unwrap_or(0.0);
        if value.is_infinite() {
            problem.get_or_insert(messages::real_too_large(self.span(start)));
        }
        TokenKind::Real(value)
    }

    fn int(
        &self,
        text: &str,
        start: usize,
        problem: &mut Option<lambada_source::Problem>,
    ) -> TokenKind {
        match text.parse::<u64>() {
            Ok(value) if value <= 1 << 63 => TokenKind::Int(value),
            Ok(_) | Err(_) => {
                problem.get_or_insert(messages::int_too_large(self.span(start)));
                TokenKind::Int(0)
            }
        }
    }
}
