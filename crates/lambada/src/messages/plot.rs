//! Plotting.

use std::fmt::Display;

use lambada_source::Problem;

/// A result without an axis: a number, and no range of a parameter.
pub fn no_range(definition: &str, parameter: Option<&str>) -> Problem {
    let problem = Problem::general(
        "E0666",
        format!(
            "the result of `{definition}` is a number, which has no curve without a range of a parameter"
        ),
    );
    match parameter {
        None => problem.hint("arrays, and functions of a number, have curves"),
        Some(name) => problem.hint(format!("give a parameter a range: `{name}=0..10`")),
    }
}

/// Two ranges.
pub fn second_range(first: &str, second: &str) -> Problem {
    Problem::general(
        "E0667",
        format!("`{first}` and `{second}` are two ranges, and a curve has one parameter"),
    )
    .hint("give the other parameter a value")
}

/// A range of a parameter that is no number.
pub fn range_of(definition: &str, name: &str, ty: &str, word: &str, numbers: &[&str]) -> Problem {
    let problem = Problem::general(
        "E0668",
        format!(
            "the parameter `{name} : {ty}` of `{definition}` is no number, so `{word}` is no range of it"
        ),
    );
    match numbers {
        [] => problem.hint(format!(
            "a definition with a parameter that is a number, and calls `{definition}`, can be drawn"
        )),
        numbers => problem.hint(format!("a range of {} is drawn", either(numbers))),
    }
}

fn either(names: &[&str]) -> String {
    match names {
        [one] => format!("`{one}`"),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(|name| format!("`{name}`")).collect();
            format!("{} or `{last}`", most.join(", "))
        }
        [] => String::new(),
    }
}

/// A range from a number to one that is not larger.
pub fn empty_range(word: &str, low: f64, high: f64) -> Problem {
    let problem = Problem::general("E0669", format!("`{word}` is an empty range"));
    if low > high {
        problem.hint("the smaller end comes first")
    } else {
        problem.hint("its ends are equal; `run` gives the value at a point")
    }
}

/// A range with an end that is not a finite number.
pub fn no_end(word: &str, end: &str) -> Problem {
    let problem = Problem::general(
        "E0673",
        match end {
            "" => format!("`{word}` lacks an end of its range"),
            _ => format!("`{end}`, an end of the range `{word}`, is no finite number"),
        },
    );
    problem.hint("a range is written `x=0..10`; the ends may be expressions, as in `x=-pi..pi`")
}

/// An integer range with an end that is no integer.
pub fn no_integer(name: &str, word: &str, end: impl Display) -> Problem {
    Problem::general("E0674", format!("`{word}` ends at {end}, but `{name}` is an `int`"))
        .hint("the ends of its range are integers")
}

/// A result with parts that are no numbers.
pub fn no_numbers(definition: &str, ty: &str) -> Problem {
    Problem::general(
        "E0670",
        format!("the result of `{definition}` has the type `{ty}`, which has no curve"),
    )
    .hint("numbers, arrays of numbers, and tuples and records of these have curves")
}

/// No visible point.
pub fn nothing_visible(definition: &str) -> Problem {
    Problem::general(
        "E0671",
        format!("`{definition}` has no finite value here, so there is nothing to draw"),
    )
    .hint("values that are NaN or infinite are gaps; try another range, or `run` at a point of it")
}

/// A derivative of a result without reals.
pub fn no_slope(definition: &str) -> Problem {
    Problem::general(
        "E0672",
        format!("the result of `{definition}` has no reals, so no derivative"),
    )
    .hint("without `--grad`, its values are drawn")
}

/// A reverse derivative of a result that is no real.
pub fn no_reverse(definition: &str) -> Problem {
    Problem::general(
        "E0675",
        format!(
            "reverse mode draws the gradient of a real, and the result of `{definition}` is none"
        ),
    )
    .hint("`--mode forward` draws the derivative of each number in it")
}
