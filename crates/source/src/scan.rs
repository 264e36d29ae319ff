//! Lines of tokens: common parts of the readers of the compiler's intermediate languages. Their
//! printers put one statement on a line, so a reader works line by line and names the line in its
//! errors. `--` starts a comment.

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name or keyword.
    Word(String),
    /// An integer, with its sign.
    Int(i64),
    /// A number with a fraction or an exponent, with its sign; `inf`, `-inf` and `NaN` too.
    Real(f64),
    /// A quoted text, unescaped.
    Text(String),
    /// An operator or bracket.
    Mark(&'static str),
}

/// A line that is not empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// Number of leading spaces.
    pub indent: usize,
    /// Its tokens.
    pub tokens: Vec<Token>,
}

/// Operators and brackets, longer ones first.
const MARKS: &[&str] = &[
    "..+", "..", ":=", "=>", "==", "!=", "<=", ">=", "&&", "||", "**", "+=", "+", "-", "*", "//",
    "/", "%", "<", ">", "=", "(", ")", "[", "]", "{", "}", ",", ":", "@", "!", "?", ".",
];

/// The lines of a text. The error names the line and the character that starts no token.
pub fn lines(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let (number, indent) = (k + 1, line.len() - line.trim_start().len());
        let tokens = tokens(line).map_err(|message| format!("line {number}: {message}"))?;
        if !tokens.is_empty() {
            lines.push(Line { number, indent, tokens });
        }
    }
    Ok(lines)
}

fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with("--") {
        let (token, len) = token(rest)?;
        tokens.push(token);
        rest = rest[len..].trim_start();
    }
    Ok(tokens)
}

/// The first token of a text that does not start with a space, and its length.
fn token(text: &str) -> Result<(Token, usize), String> {
    let first = text.chars().next().unwrap_or(' ');
    if first == '"' {
        return quoted(text);
    }
    let sign = usize::from(first == '-');
    if text[sign..].starts_with(|c: char| c.is_ascii_digit()) {
        return number(text, sign);
    }
    for (spelling, value) in
        [("-inf", f64::NEG_INFINITY), ("inf", f64::INFINITY), ("NaN", f64::NAN)]
    {
        if text.starts_with(spelling) && !continues_word(&text[spelling.len()..]) {
            return Ok((Token::Real(value), spelling.len()));
        }
    }
    if first.is_alphabetic() || first == '_' {
        let len = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
        return Ok((Token::Word(text[..len].into()), len));
    }
    match MARKS.iter().find(|mark| text.starts_with(**mark)) {
        Some(mark) => Ok((Token::Mark(mark), mark.len())),
        None => Err(format!("unexpected {first:?}")),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

fn continues_word(text: &str) -> bool {
    text.starts_with(is_word)
}

fn number(text: &str, sign: usize) -> Result<(Token, usize), String> {
    let digits = |from: usize| {
        text[from..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |n| from + n)
    };
    let mut end = digits(sign);
    let mut real = false;
    if text[end..].starts_with('.') && text[end + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        (end, real) = (digits(end + 1), true);
    }
    if text[end..].starts_with(['e', 'E']) {
        let signed = end + 1 + usize::from(text[end + 1..].starts_with(['-', '+']));
        if digits(signed) > signed {
            (end, real) = (digits(signed), true);
        }
    }
    let token = if real {
        text[..end].parse().map(Token::Real).map_err(|e| format!("{}: {e}", &text[..end]))
    } else {
        text[..end].parse().map(Token::Int).map_err(|e| format!("{}: {e}", &text[..end]))
    };
    Ok((token?, end))
}

/// A text in quotes, with the escapes that [`str::escape_debug`] writes.
fn quoted(text: &str) -> Result<(Token, usize), String> {
    let (mut value, mut chars) = (String::new(), text.char_indices().skip(1));
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Text(value), at + 1)),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('r') => value.push('\r'),
                Some('0') => value.push('\0'),
                Some('u') => value.push(unicode(&mut chars)?),
                Some(c) => value.push(c),
                None => break,
            },
            c => value.push(c),
        }
    }
    Err("a text without its closing quote".into())
}

/// `{1f600}`, after `\u`.
fn unicode(chars: &mut dyn Iterator<Item = (usize, char)>) -> Result<char, String> {
    let code: String = chars.map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
    let value = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
    value.ok_or_else(|| format!("\\u{{{code}}} is no character"))
}

/// The position of a reader in its lines.
#[derive(Clone, Debug)]
pub struct Cursor {
    lines: Vec<Line>,
    /// The current line, and the number of its tokens read so far.
    line: usize,
    at: usize,
}

impl Cursor {
    /// A cursor at the start of a text. Fails as [`lines`] does.
    pub fn new(text: &str) -> Result<Cursor, String> {
        Ok(Cursor { lines: lines(text)?, line: 0, at: 0 })
    }

    /// The message, with the number of the current line.
    pub fn located(&self, message: &str) -> String {
        match self.lines.get(self.line).or(self.lines.last()) {
            Some(line) => format!("line {}: {message}", line.number),
            None => message.to_string(),
        }
    }

    /// The error for a text that continues after the part read, if it does.
    pub fn rest(&self, message: &str) -> Option<String> {
        self.lines.get(self.line).map(|line| format!("line {}: {message}", line.number))
    }

    /// The tokens of the current line.
    pub fn tokens(&self) -> &[Token] {
        self.lines.get(self.line).map_or(&[], |line| &line.tokens)
    }
}

/// A reader of lines of tokens: common parts of the readers of different languages. Errors name the
/// expected token.
pub trait Reads: Sized {
    /// The current position, to advance.
    fn cursor(&mut self) -> &mut Cursor;
    /// The current position.
    fn place(&self) -> &Cursor;

    /// The next token of the line.
    fn peek(&self) -> Option<&Token> {
        self.peek_after(0)
    }

    /// The token after `count` more.
    fn peek_after(&self, count: usize) -> Option<&Token> {
        self.place().tokens().get(self.place().at + count)
    }

    /// Whether this mark follows after `count` more tokens.
    fn is_mark(&self, count: usize, mark: &str) -> bool {
        matches!(self.peek_after(count), Some(Token::Mark(m)) if *m == mark)
    }

    /// The indentation of the current line, if the text has not ended.
    fn indent(&self) -> Option<usize> {
        self.place().lines.get(self.place().line).map(|line| line.indent)
    }

    /// Skips `count` tokens.
    fn skip(&mut self, count: usize) {
        self.cursor().at += count;
    }

    /// Consumes a token.
    fn next(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.skip(1);
        token
    }

    /// Consumes the mark, if it is next.
    fn eat(&mut self, mark: &str) -> bool {
        let found = self.is_mark(0, mark);
        self.skip(usize::from(found));
        found
    }

    /// Consumes the word, if it is next.
    fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(w)) if w == word);
        self.skip(usize::from(found));
        found
    }

    /// Consumes the mark, which must be next.
    fn expect(&mut self, mark: &str) -> Result<(), String> {
        if self.eat(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    /// Consumes the word, which must be next.
    fn expect_word(&mut self, word: &str) -> Result<(), String> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// The error for an unexpected token.
    fn expected(&self, what: &str) -> String {
        match self.peek() {
            None => format!("expected {what} at the end of the line"),
            Some(token) => format!("expected {what}, found {token:?}"),
        }
    }

    /// A name.
    fn word(&mut self) -> Result<String, String> {
        let Some(Token::Word(word)) = self.peek() else { return Err(self.expected("a name")) };
        let word = word.clone();
        self.skip(1);
        Ok(word)
    }

    /// Goes to the next line.
    fn end_of_line(&mut self) -> Result<(), String> {
        if self.peek().is_some() {
            return Err(self.expected("the end of the line"));
        }
        let cursor = self.cursor();
        (cursor.line, cursor.at) = (cursor.line + 1, 0);
        Ok(())
    }

    /// Items separated by commas, up to the closing mark or the end of the line.
    fn list<T>(
        &mut self,
        close: Option<&str>,
        one: fn(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut items = Vec::new();
        let done = |r: &mut Self| match close {
            Some(mark) => r.eat(mark),
            None => r.peek().is_none(),
        };
        while !done(self) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(one(self)?);
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Vec<Token> {
        lines(text).unwrap().remove(0).tokens
    }

    #[test]
    fn numbers_keep_their_type_and_sign() {
        use Token::{Int, Mark, Real, Word};
        assert_eq!(
            one("1 -2 1.0 -1e-7 1e300"),
            [Int(1), Int(-2), Real(1.0), Real(-1e-7), Real(1e300)]
        );
        assert_eq!(one("a - 1"), [Word("a".into()), Mark("-"), Int(1)]);
        assert_eq!(one("0 .. n"), [Int(0), Mark(".."), Word("n".into())]);
        assert_eq!(
            one("inf -inf inf1"),
            [Real(f64::INFINITY), Real(f64::NEG_INFINITY), Word("inf1".into())]
        );
        assert!(matches!(one("NaN")[..], [Real(x)] if x.is_nan()));
        assert_eq!(lines("9223372036854775808").unwrap_err().split(':').next(), Some("line 1"));
    }

    #[test]
    fn any_printed_number_reads_back() {
        for value in [0.0, -0.0, 1.5, f64::MIN_POSITIVE, 5e-324, f64::MAX, 1e16, 123456789.25] {
            let Token::Real(read) = one(&format!("{value:?}"))[0] else { panic!("{value:?}") };
            assert_eq!(read.to_bits(), value.to_bits());
        }
    }

    #[test]
    fn texts_are_unescaped() {
        let message = "a \"quoted\" {0}\n\\ tab\t é 😀 \u{7f}";
        assert_eq!(one(&format!("{message:?}")), [Token::Text(message.into())]);
        assert!(lines("\"open").is_err());
    }

    #[test]
    fn lines_know_their_place() {
        let read = lines("\n  x -- a comment\n\n-- only a comment\n    y\n").unwrap();
        let places: Vec<(usize, usize)> = read.iter().map(|l| (l.number, l.indent)).collect();
        assert_eq!(places, [(2, 2), (5, 4)]);
        assert_eq!(lines("x\n  #").unwrap_err(), "line 2: unexpected '#'");
    }
}
