//! Data: files, arguments, values and results.

use std::fmt::Display;
use std::path::Path;

use lambada_source::{Problem, counted, quoted, suggest};

use super::near_or;

/// A file that cannot be read or written.
pub fn io(path: &Path, what: &str, error: impl Display) -> Problem {
    Problem::general("E0601", format!("cannot {what} `{}`: {error}", path.display()))
}

/// Text that is not JSON.
pub fn not_json(origin: &str, error: impl Display) -> Problem {
    Problem::general("E0602", format!("{origin} is not valid JSON: {error}"))
}

/// A member that has the name of a parameter up to capital letters.
pub fn renamed(name: &str, member: &str, origin: &str) -> String {
    format!("the parameter `{name}` is the member \"{member}\" of {origin}")
}

/// A duplicate key in an object.
pub fn repeated_key(origin: &str, key: &str) -> Problem {
    Problem::general("E0627", format!("{origin} has an object with two members \"{key}\""))
        .hint("only one of the two values could be used")
}

/// The correct spelling of a value that is nearly right.
pub fn spelled(spelling: &str) -> String {
    format!("it is written {spelling}")
}

/// The spelling of infinity, for a number that is too large.
pub fn overflows(spelling: &str) -> String {
    format!("no real is as large; infinity is written {spelling}")
}

/// A constructor whose arguments are no list.
pub fn arguments_in_brackets(constructor: &str) -> String {
    format!(
        "the arguments of a constructor are a list, also a single one: {{\"{constructor}\": [x]}}"
    )
}

/// A parameter without a type annotation.
pub fn unannotated(name: &str, rank: usize) -> String {
    let brackets = "[]".repeat(rank);
    format!(
        "no types of the definition fit all the data; where `({name} : {brackets}real)` is written, `lambada check` names the use that does not fit"
    )
}

/// JSON that is no object.
pub fn not_an_object(origin: &str, found: &str) -> Problem {
    Problem::general(
        "E0603",
        format!("{origin} holds {found}, not an object from parameter names to values"),
    )
    .hint("write {\"x\": 1.0, \"y\": [1.0, 2.0]} for the parameters x and y")
}

/// A file of several arrays for one parameter, none of them with its name.
pub fn several_arrays(origin: &str, name: &str, arrays: &[&str]) -> Problem {
    let held = match arrays {
        [] => "no array".to_string(),
        names => format!("the arrays {}", quoted(names)),
    };
    Problem::general("E0664", format!("{origin} holds {held}, none of which is called `{name}`"))
        .hint(format!(
            "give the value of `{name}` as a file with one array, or with one of that name"
        ))
}

/// A file of unknown format.
pub fn unknown_format(path: &Path, written: &[String], read: &[String]) -> Problem {
    let known = format!("use a name that ends in {}", either(written));
    let more = match read {
        [] => String::new(),
        _ => format!("; {} are read, too", read.join(" and ")),
    };
    Problem::general("E0604", format!("cannot tell the format of `{}`", path.display()))
        .hint(known + &more)
}

fn either(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// An array in an archive with an unsupported element type.
pub fn npz_type(origin: &str, name: &str, error: impl Display) -> Problem {
    Problem::general("E0605", format!("cannot read the array `{name}` of {origin}: {error}"))
        .hint("arrays of 64- or 32-bit floats, of integers and of booleans are read; convert others with `astype(float)`")
}

/// A file that is no archive.
pub fn not_an_archive(origin: &str, error: impl Display) -> Problem {
    Problem::general("E0625", format!("{origin} is not a readable .npz archive: {error}"))
}

/// A second use of standard input.
pub fn input_twice(what: &str) -> Problem {
    Problem::general("E0665", format!("the standard input is read once, and it is {what} already"))
        .hint("give one of the two as a file")
}

/// Data beyond the limit on memory.
pub fn too_large(what: &str, limit: u64) -> Problem {
    let limit = lambada_prim::size(limit);
    Problem::general("E0620", format!("{what} is larger than the limit of {limit}"))
        .hint("--max-memory sets the limit")
}

/// A parameter without a value.
pub fn no_value(definition: &str, name: &str, expected: &str) -> Problem {
    Problem::general(
        "E0606",
        format!("`{definition}` needs a value for its parameter `{name} : {expected}`"),
    )
}

/// As [`no_value`], on the command line. `identifier`: the name needs no quotes in a shell. `near`:
/// a member of a file with a similar name. `file`: a file whose only value or table goes by the
/// file's name.
pub fn missing(
    definition: &str,
    name: &str,
    expected: &str,
    identifier: bool,
    near: Option<(&str, String)>,
    file: Option<&str>,
) -> Problem {
    let argument = if identifier {
        format!("as `{name}=…`")
    } else {
        format!("at its place or as `'{name}=…'`")
    };
    let problem = no_value(definition, name, expected);
    let problem = match near {
        Some((origin, near)) => {
            problem.hint(format!("{origin} has a member \"{near}\"; is `{name}` meant?"))
        }
        None => problem,
    };
    match file {
        Some(path) if identifier => problem.hint(format!(
            "what is in `{path}` goes by the name of the file; to give it to `{name}`, write `--data {name}={path}`"
        )),
        Some(_) | None => problem.hint(format!(
            "give it {argument} on the command line, or as a member \"{name}\" of the --data file"
        )),
    }
}

/// A value without a parameter.
pub fn unknown(definition: &str, name: &str, origin: &str, known: &[&str]) -> Problem {
    let problem = Problem::general(
        "E0607",
        format!("`{definition}` has no parameter `{name}`, but {origin} gives it a value"),
    );
    match suggest(name, known.iter().copied()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None if known.is_empty() => problem.hint(format!("`{definition}` takes no parameters")),
        None => problem.hint(format!("its parameters are {}", quoted(known))),
    }
}

/// More unnamed values than parameters.
pub fn too_many(definition: &str, origin: &str, known: &[&str]) -> Problem {
    let problem = Problem::general(
        "E0626",
        format!(
            "`{definition}` takes {}, and {origin} is one more",
            counted(known.len(), "argument")
        ),
    );
    if known.is_empty() {
        problem
    } else {
        problem.hint(format!("its parameters are {}", quoted(known)))
    }
}

/// Two values for one parameter.
pub fn twice(name: &str, first: &str, second: &str) -> Problem {
    Problem::general(
        "E0608",
        format!("the parameter `{name}` is given twice, by {first} and by {second}"),
    )
}

/// A value of another type or shape.
pub fn mismatch(name: &str, expected: &str, found: &str) -> Problem {
    Problem::general(
        "E0609",
        format!("the parameter `{name}` should be `{expected}`, but the data has {found}"),
    )
}

/// A finite number beyond the range of 32-bit reals.
pub fn beyond_single(name: &str, expected: &str, place: &str, x: f64) -> Problem {
    let at = if place.is_empty() { String::new() } else { format!(" at `{name}{place}`") };
    mismatch(name, expected, &format!("{x:e}{at}, and no real of 32 bits is as large"))
        .hint("without `--precision f32`, reals have 64 bits; infinity is written \"inf\"")
}

/// Rows of different lengths.
pub fn ragged(name: &str, expected: &str, place: &str, this: usize, first: usize) -> Problem {
    Problem::general(
        "E0610",
        format!(
            "the parameter `{name} : {expected}` should be a regular array, but {place} has {} where those before it have {first}",
            counted(this, "element")
        ),
    )
}

/// An index of data that count from 1, which is outside of an array with `size` elements.
pub fn one_based_index(place: &str, index: i64, size: i64) -> String {
    let allowed = match size {
        0 => String::from("the array is empty"),
        1 => String::from("only 1 is allowed"),
        _ => format!("1 to {size} are allowed"),
    };
    format!("`{place}` is {index} in the data, where {allowed}: it counts from 1")
}

/// Two uses of one size variable with different values.
pub fn size_conflict(
    name: &str,
    expected: &str,
    found: usize,
    size: &str,
    value: usize,
    from: &str,
) -> Problem {
    Problem::general("E0611", format!("the parameter `{name}` should be `{expected}`, but it has {found} where {size} = {value}"))
        .hint(format!("{size} = {value} comes from {from}"))
}

/// A size of a variant or signature with two different values.
pub fn variant_sizes(
    name: &str,
    expected: &str,
    size: &str,
    known: usize,
    found: usize,
) -> Problem {
    let title = format!(
        "the parameter `{name}` should be `{expected}`, but its {size} is both {known} and {found}"
    );
    Problem::general("E0629", title)
        .hint(format!("all that has the size {size} is equally long, in one value of a type and in all arguments whose types name it"))
}

/// A constructor that the variant type does not have.
pub fn no_constructor(
    name: &str,
    ty: &str,
    (found, place): (&str, &str),
    known: &[&str],
) -> Problem {
    let problem = Problem::general(
        "E0612",
        format!(
            "the parameter `{name}` should be a `{ty}`, which has no constructor `{found}`{place}"
        ),
    );
    near_or(problem, found, known, || format!("its constructors are {}", quoted(known)))
}

/// A record without a field, or with one too many.
pub fn fields(name: &str, expected: &str, missing: &[&str], extra: &[&str]) -> Problem {
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!("lacks {}", quoted(missing)));
    }
    if !extra.is_empty() {
        parts.push(format!("has {}, which the type has not", quoted(extra)));
    }
    Problem::general(
        "E0613",
        format!(
            "the parameter `{name}` should be `{expected}`, but the data {}",
            parts.join(" and ")
        ),
    )
}

/// An argument on the command line that is neither a value nor gives one to a name.
pub fn not_an_assignment(text: &str) -> Problem {
    Problem::general("E0614", format!("the argument `{text}` is no value, and not of the form name=value"))
        .hint("write, for example, x=1.5 or xs=[1,2,3], or only the values, in the order of the parameters")
}

/// A result that the format cannot hold.
pub fn not_for_npz(place: &str) -> Problem {
    Problem::general(
        "E0615",
        format!(
            "the result{place} is no array of numbers, so it cannot be written to an .npz file"
        ),
    )
    .hint("use --output with a name that ends in .json")
}

/// Text that is no table.
pub fn not_a_table(origin: &str, why: &str) -> Problem {
    Problem::general("E0660", format!("{origin} is not a readable table: {why}"))
        .hint("a table has a line with the names of its columns, then a line for each row; a cell that contains the separator stands in quotes")
}

/// A table in which a name means two columns.
pub fn repeated_column(origin: &str, name: &str) -> Problem {
    Problem::general("E0661", format!("{origin} has two columns called `{name}`"))
        .hint("only one of the two could be used; name each differently")
}

/// A broken Parquet or Arrow file.
#[cfg(feature = "arrow")]
pub fn not_a_container(origin: &str, format: &str, why: &str) -> Problem {
    let what = format!("{origin} is not a readable {format} file: {why}");
    Problem::general("E0663", what)
}

/// A result that is no table.
pub fn no_table(path: &Path) -> Problem {
    let extension = path.extension().unwrap_or_default().display();
    let what = format!(
        "the result is no table, so it cannot be written to a .{extension} file: a table has columns of one length"
    );
    Problem::general("E0662", what).hint("use --output with a name that ends in .json or .npz")
}

/// A number that the type cannot hold.
pub fn not_integral(name: &str, expected: &str, found: &str) -> Problem {
    Problem::general(
        "E0616",
        format!(
            "the parameter `{name}` should be `{expected}`, but the data has {found}, which is not a 64-bit integer"
        ),
    )
}

/// An assignment with spaces around the `=`.
pub fn spaced_assignment(words: &[&str]) -> Problem {
    let together = words.concat();
    Problem::general("E0628", format!("`{}` has spaces around the `=`", words.join(" ")))
        .hint(format!("write `{together}` without spaces, or `'{together}'` in quotes"))
}
