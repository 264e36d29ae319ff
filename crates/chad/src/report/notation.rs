//! The printed notation as tokens, from which other notations are made.

/// A token, in whose order the text is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// Spaces between tokens of a line, and at its beginning.
    Space(usize),
    /// A word of the language: `let`, `fst`, `lpair`, `real`.
    Word(&'a str),
    /// An operation, before its arguments: `sin`, `lmul`.
    Operation(&'a str),
    /// A variable, or a part: `x`, `t4_2`.
    Name(&'a str),
    /// A number.
    Number(&'a str),
    /// Anything else, such as `<`, `->`, `(x)`, `\_`.
    Symbol(&'a str),
}

const WORDS: [&str; 23] = [
    "let", "in", "case", "of", "where", "fst", "snd", "cur", "id", "ev", "lfst", "lsnd", "lid",
    "lpair", "lswap", "leval", "lapp", "lcur^-1", "real", "LFun", "Tens", "dist", "D",
];

/// Symbols of several characters, the longest first. A `(x)` between spaces is ⊗, because arguments
/// of calls stand without a space, and variables without parentheses.
const SYMBOLS: [&str; 8] = [" (x) ", "^t", "\\_", "->", "-o", ";;", "..", "|-"];

/// The tokens of a line.
pub fn tokens(line: &str) -> Vec<Token<'_>> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < line.len() {
        let (token, length) = token(&line[at..]);
        tokens.push(token);
        at += length;
    }
    tokens
}

fn token(rest: &str) -> (Token<'_>, usize) {
    let taken = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
    let first = rest.chars().next().unwrap_or(' ');
    if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
        return (Token::Symbol(symbol.trim()), symbol.len());
    }
    // At the end of a line or its beginning, ⊗ has a space on one side.
    if rest == " (x)" || rest.starts_with("(x) ") {
        return (Token::Symbol("(x)"), 4);
    }
    if first == ' ' {
        let count = taken(|c| c == ' ');
        // The space before ⊗ belongs to it.
        let count =
            if rest[count - 1..].starts_with(" (x) ") && count > 1 { count - 1 } else { count };
        return (Token::Space(count), count);
    }
    if first.is_ascii_digit() {
        let digits = taken(|c| c.is_ascii_alphanumeric() || c == '.');
        let digits = rest[..digits].trim_end_matches('.').len();
        let exponent = rest[..digits].ends_with('e') && rest[digits..].starts_with('-');
        let more = rest[digits + usize::from(exponent)..].find(|c: char| !c.is_ascii_digit());
        let more = more.unwrap_or(rest.len() - digits - usize::from(exponent));
        let length = if exponent { digits + 1 + more } else { digits };
        return (Token::Number(&rest[..length]), length);
    }
    if first.is_alphabetic() || first == '_' {
        let length = taken(|c| c.is_alphanumeric() || c == '_' || c == '\'');
        let inverse = usize::from(&rest[..length] == "lcur") * "^-1".len();
        let length = if rest[length..].starts_with("^-1") { length + inverse } else { length };
        let word = &rest[..length];
        let calls = rest[length..].starts_with('(') || rest[length..].starts_with("^t");
        return match () {
            () if WORDS.contains(&word) => (Token::Word(word), length),
            () if calls => (Token::Operation(word), length),
            () => (Token::Name(word), length),
        };
    }
    (Token::Symbol(&rest[..first.len_utf8()]), first.len_utf8())
}

/// A name without its trailing number, the number, and the component of a derivative, of `t4_2`.
/// The component of `<t, s>_2` is a name of its own, without a stem.
pub fn pieces(name: &str) -> (&str, &str, &str) {
    let (whole, component) = match name.rsplit_once('_') {
        Some((whole, component @ ("1" | "2"))) => (whole, component),
        _ => (name, ""),
    };
    let stem = whole.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &whole[stem.len()..];
    match stem.strip_suffix('_').filter(|stem| !stem.is_empty() && !number.is_empty()) {
        Some(short) => (short, number, component),
        None if stem.is_empty() => (whole, "", component),
        None => (stem, number, component),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_kind() {
        use Token::*;
        assert_eq!(
            tokens("  <!y (x) v, lcur^-1 (\\_w. sin(x)) 1e-5>"),
            [
                Space(2),
                Symbol("<"),
                Symbol("!"),
                Name("y"),
                Symbol("(x)"),
                Name("v"),
                Symbol(","),
                Space(1),
                Word("lcur^-1"),
                Space(1),
                Symbol("("),
                Symbol("\\_"),
                Name("w"),
                Symbol("."),
                Space(1),
                Operation("sin"),
                Symbol("("),
                Name("x"),
                Symbol(")"),
                Symbol(")"),
                Space(1),
                Number("1e-5"),
                Symbol(">"),
            ]
        );
        assert_eq!(tokens("Dsin^t(x)")[..2], [Operation("Dsin"), Symbol("^t")]);
        assert_eq!(tokens("(x) w")[0], Symbol("(x)"));
        assert_eq!((pieces("t4_2"), pieces("x_ct")), (("t", "4", "2"), ("x_ct", "", "")));
        assert_eq!((pieces("_2"), pieces("index_0")), (("", "", "2"), ("index", "0", "")));
    }
}
