//! The accuracy of the library: the distance of values and derivatives from
//! `tests/accuracy/references.txt`, in units in the last place.

use std::collections::BTreeSet;

use lambada::{Data, Disk, Engine, Executable, Options, Precision, Session, Tensor};

/// A function of `x`, and its values at points.
#[derive(Debug)]
pub struct Block {
    /// In Lambada.
    pub expression: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// The value, the first and the second derivative at a point; none that is not promised.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The point.
    pub x: f64,
    /// The references.
    pub wanted: [Option<f64>; 3],
}

/// The largest error allowed: units in the last place of the reference, or of `floor` where the
/// reference is smaller.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// How many.
    pub ulps: f64,
    /// A size.
    pub floor: f64,
}

/// The largest errors of a function, and where.
#[derive(Clone, Copy, Debug)]
pub struct Worst {
    /// In units in the last place; infinite where one number is finite or NaN and the other is not.
    pub ulps: f64,
    /// The point.
    pub x: f64,
    /// The number there.
    pub found: f64,
    /// The reference.
    pub wanted: f64,
}

fn number(word: &str) -> f64 {
    word.parse().unwrap_or_else(|e| panic!("{word}: {e}"))
}

/// The blocks of a file of references.
///
/// # Panics
/// If it is none.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in text.lines() {
        if let Some(expression) = line.strip_prefix("= ") {
            blocks.push(Block { expression: expression.to_string(), rows: Vec::new() });
            continue;
        }
        let mut words = line.split(' ');
        let x = number(words.next().expect("a row has a point"));
        let mut next = || match words.next().expect("a row has three references") {
            "*" => None,
            word => Some(number(word)),
        };
        let wanted = [next(), next(), next()];
        blocks.last_mut().expect("a row stands in a block").rows.push(Row { x, wanted });
    }
    blocks
}

/// The limits of the functions that begin with an expression: of the value, the first and the
/// second derivative, for 64 and for 32 bits.
type Line = (String, [[Limit; 3]; 2]);

/// The limits that the page of the book states.
#[derive(Debug)]
pub struct Page {
    lines: Vec<Line>,
    /// The functions that it lists as in no row.
    absent: BTreeSet<String>,
}

/// ``| `EXPRESSION` | VALUE | FIRST | SECOND | VALUE | FIRST | SECOND |``
fn line(text: &str) -> Option<Line> {
    let (expression, cells) = text.strip_prefix("| `")?.split_once("` |")?;
    let limits: Vec<Limit> = cells.trim_end_matches('|').split('|').map(limit).collect();
    let halves = [limits.get(..3)?.try_into().ok()?, limits.get(3..)?.try_into().ok()?];
    Some((expression.to_string(), halves))
}

/// `8`, or `8 of 1e-3`
fn limit(cell: &str) -> Limit {
    let (ulps, floor) = cell.trim().split_once(" of ").unwrap_or((cell.trim(), "0"));
    Limit { ulps: number(ulps), floor: number(floor) }
}

/// The rows of the tables, and the names in the paragraph that begins with "In no row".
pub fn page(text: &str) -> Page {
    let absent = text.split("\n\n").find(|paragraph| paragraph.starts_with("In no row"));
    let names = absent.unwrap_or_default().split('`').skip(1).step_by(2).map(str::to_string);
    Page { lines: text.lines().filter_map(line).collect(), absent: names.collect() }
}

impl Page {
    /// The limits of an expression: those of the longest row that it begins with.
    pub fn limits(&self, expression: &str, precision: Precision) -> Option<[Limit; 3]> {
        let begins = |line: &&Line| {
            let rest = expression.strip_prefix(&*line.0);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let (_, [double, single]) =
            self.lines.iter().filter(begins).max_by_key(|line| line.0.len())?;
        Some(match precision {
            Precision::F64 => *double,
            Precision::F32 => *single,
        })
    }

    /// The rows that are about no block.
    pub fn idle(&self, blocks: &[Block]) -> Vec<&str> {
        let used = |row: &str| blocks.iter().any(|block| block.expression.starts_with(row));
        self.lines.iter().map(|line| &*line.0).filter(|row| !used(row)).collect()
    }

    /// The names of functions or operators that neither a block mentions nor the page calls absent.
    pub fn missing(&self, blocks: &[Block], names: impl Iterator<Item = String>) -> Vec<String> {
        let words = |block: &Block| -> Vec<String> {
            let boundary = |c: char| " .()[],".contains(c);
            block.expression.split(boundary).map(str::to_string).collect()
        };
        let mentioned: BTreeSet<String> = blocks.iter().flat_map(words).collect();
        names.filter(|name| !mentioned.contains(name) && !self.absent.contains(name)).collect()
    }
}

/// The rows whose points are numbers of the format.
fn rows(block: &Block, precision: Precision) -> Vec<Row> {
    block.rows.iter().filter(|row| precision.round(row.x) == row.x).copied().collect()
}

/// Each block's function, its value, its derivatives in both modes, and its second derivatives in
/// both orders.
fn program(blocks: &[Block]) -> String {
    let mut text = String::from("import \"std/special\"\nimport \"std/dist\"\n");
    for (k, block) in blocks.iter().enumerate() {
        text.push_str(&format!("def f_{k} (x : real) : real = {}\n", block.expression));
        text.push_str(&format!(
            "def rows_{k} (xs : []real) = for x in xs => [f_{k} x, (jvp f_{k} x 1.0).1, grad f_{k} x, \
             (jvp (grad f_{k}) x 1.0).1, grad (\\t -> (jvp f_{k} t 1.0).1) x]\n"
        ));
    }
    let params: String = (0..blocks.len()).map(|k| format!(" (x_{k} : []real)")).collect();
    let rows: Vec<String> = (0..blocks.len()).map(|k| format!("rows_{k} x_{k}")).collect();
    text.push_str(&format!("def all{params} = ({}, 0)\n", rows.join(", ")));
    text
}

/// The largest errors of the functions on an engine, relative to these limits: of the value, the
/// first and the second derivatives; none where no point has a reference.
///
/// # Panics
/// If the functions have problems.
pub fn errors(
    blocks: &[Block],
    limits: &[[Limit; 3]],
    precision: Precision,
    engine: Engine,
) -> Vec<[Option<Worst>; 3]> {
    let options = Options { engine, precision, quick: true, ..Options::default() };
    let mut session = Session::with(std::sync::Arc::new(Disk), options.clone());
    let unit = session.load_text("accuracy.lam", &program(blocks), None);
    let unit = unit.unwrap_or_else(|problems| panic!("{}", session.render(&problems, false)));
    let (program, entry) = unit.definition("all").expect("it is defined");
    let all = Executable::with(program, entry, &options).unwrap_or_else(|p| panic!("{p:?}"));
    let points: Vec<Vec<Row>> = blocks.iter().map(|block| rows(block, precision)).collect();
    let tensor = |rows: &Vec<Row>| {
        Data::Tensor(Tensor::reals(vec![rows.len()], rows.iter().map(|row| row.x).collect()))
    };
    let args: Vec<Data> = points.iter().map(tensor).collect();
    let found = all.run(&args).unwrap_or_else(|failure| panic!("{}", failure.message));
    let Data::Tuple(found) = found else { panic!("{found} is no tuple") };
    let each = found.iter().zip(&points).zip(limits);
    each.map(|((found, rows), limits)| worst(found, rows, limits, precision)).collect()
}

fn worst(
    found: &Data,
    rows: &[Row],
    limits: &[Limit; 3],
    precision: Precision,
) -> [Option<Worst>; 3] {
    let numbers = lambada::vectors::numbers(found);
    let mut worst = [None; 3];
    for (found, row) in numbers.chunks(5).zip(rows) {
        for (found, order) in found.iter().zip([0, 1, 1, 2, 2]) {
            let Some(wanted) = row.wanted[order] else { continue };
            if order > 0
                && found.is_nan()
                && wanted.is_finite()
                && overflows(row.x, wanted, precision)
            {
                continue;
            }
            let ulps = error(*found, wanted, limits[order].floor, precision);
            if worst[order].is_none_or(|w: Worst| ulps > w.ulps) {
                worst[order] = Some(Worst { ulps, x: row.x, found: *found, wanted });
            }
        }
    }
    worst
}

/// Whether a derivative, the reciprocal of the point or twice the point is beyond the largest
/// number: NaN is honest there.
fn overflows(x: f64, wanted: f64, precision: Precision) -> bool {
    [wanted, 1.0 / x, 2.0 * x].iter().any(|y| y.abs() > 0.999 * largest(precision))
}

fn largest(precision: Precision) -> f64 {
    match precision {
        Precision::F64 => f64::MAX,
        Precision::F32 => f64::from(f32::MAX),
    }
}

/// The error in units in the last place of the reference, or of `floor` if that is larger.
fn error(found: f64, wanted: f64, floor: f64, precision: Precision) -> f64 {
    let rounded = precision.round(wanted);
    if found == rounded || found.is_nan() && wanted.is_nan() {
        return 0.0;
    }
    let (digits, least) = match precision {
        Precision::F64 => (52, -1074),
        Precision::F32 => (23, -149),
    };
    // A number that overflows where the reference almost does is compared as the largest number.
    let largest = largest(precision);
    let near = rounded.is_finite() && wanted.abs() > 0.999 * largest;
    let found = if found.is_infinite() && near { largest.copysign(found) } else { found };
    if !found.is_finite() || !rounded.is_finite() {
        return f64::INFINITY;
    }
    let size = wanted.abs().max(floor);
    let exponent = (size.log2().floor() as i32).saturating_sub(digits).max(least);
    // The unit itself may be subnormal: two factors.
    let half = exponent / 2;
    (found - wanted).abs() / f64::powi(2.0, half) / f64::powi(2.0, exponent - half)
}
