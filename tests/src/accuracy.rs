//! The accuracy of the library: how far values and derivatives are from `tests/accuracy/references.txt`, in units in the last place.

use lambada::{Data, Disk, Engine, Executable, Options, Precision, Session, Tensor, Unit};

/// A function of `x`, and what it is at points.
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

/// The largest errors of a function, and where.
#[derive(Clone, Copy, Debug, Default)]
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

/// The blocks of a file of references.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in text.lines() {
        if let Some(expression) = line.strip_prefix("= ") {
            blocks.push(Block { expression: expression.to_string(), rows: Vec::new() });
            continue;
        }
        let mut words = line.split(' ');
        let x = words.next().and_then(|word| word.parse().ok()).expect("a point is a number");
        let mut next = || match words.next().expect("a row has three references") {
            "*" => None,
            word => Some(word.parse().unwrap_or_else(|e| panic!("{word}: {e}"))),
        };
        let wanted = [next(), next(), next()];
        blocks.last_mut().expect("a row stands in a block").rows.push(Row { x, wanted });
    }
    blocks
}

/// The largest errors that the page of the book allows, in units in the last place.
#[derive(Debug)]
pub struct Limits(Vec<(String, [[f64; 3]; 2])>);

/// The rows of the page's tables: ``| `EXPRESSION` | VALUE FIRST SECOND | VALUE FIRST SECOND |``, for 64 and for 32 bits. The first row is that of
/// all expressions that have none of their own.
pub fn limits(page: &str) -> Limits {
    let numbers = |cell: &str| -> [f64; 3] {
        let words = cell.split_whitespace().map(|word| word.parse().expect("a limit is a number"));
        words.collect::<Vec<f64>>().try_into().expect("a cell has three limits")
    };
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let expression = cells.next()?.trim().trim_end_matches('`').to_string();
        Some((expression, [numbers(cells.next()?), numbers(cells.next()?)]))
    };
    Limits(page.lines().filter_map(row).collect())
}

impl Limits {
    /// Those of the row that is the longest beginning of the expression.
    pub fn of(&self, expression: &str, precision: Precision) -> [f64; 3] {
        let begins = |row: &&(String, [[f64; 3]; 2])| expression.starts_with(&row.0);
        let row = self.0.iter().filter(begins).max_by_key(|row| row.0.len());
        let (_, [double, single]) = row.or(self.0.first()).expect("the page has a row");
        match precision {
            Precision::F64 => *double,
            Precision::F32 => *single,
        }
    }
}

/// The rows whose points are numbers of the format.
fn rows(block: &Block, precision: Precision) -> Vec<Row> {
    block.rows.iter().filter(|row| precision.round(row.x) == row.x).copied().collect()
}

/// Each block's function, and its value, its derivatives in both modes, and its second derivatives in both orders.
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

/// The errors of the functions on an engine: of the value, the first and the second derivatives.
///
/// # Panics
/// If the functions have problems.
pub fn errors(blocks: &[Block], precision: Precision, engine: Engine) -> Vec<[Worst; 3]> {
    let options = Options { engine, precision, quick: true, ..Options::default() };
    let mut session = Session::with(std::sync::Arc::new(Disk), options.clone());
    let unit: Unit = match session.load_text("accuracy.lam", &program(blocks), None) {
        Ok(unit) => unit,
        Err(problems) => panic!("{}", session.render(&problems, false)),
    };
    let (program, entry) = unit.definition("all").expect("it is defined");
    let all = Executable::with(program, entry, &options).unwrap_or_else(|p| panic!("{p:?}"));
    let points: Vec<Vec<Row>> = blocks.iter().map(|block| rows(block, precision)).collect();
    let args: Vec<Data> = points
        .iter()
        .map(|rows| Tensor::reals(vec![rows.len()], rows.iter().map(|row| row.x).collect()))
        .map(Data::Tensor)
        .collect();
    let found = all.run(&args).unwrap_or_else(|failure| panic!("{}", failure.message));
    let Data::Tuple(found) = found else { panic!("{found} is no tuple") };
    found.iter().zip(&points).map(|(found, rows)| worst(found, rows, precision)).collect()
}

fn worst(found: &Data, rows: &[Row], precision: Precision) -> [Worst; 3] {
    let numbers = lambada::vectors::numbers(found);
    let mut worst = [Worst { ulps: -1.0, ..Worst::default() }; 3];
    for (found, row) in numbers.chunks(5).zip(rows) {
        for (found, order) in found.iter().zip([0, 1, 1, 2, 2]) {
            let Some(wanted) = row.wanted[order] else { continue };
            let ulps = error(*found, wanted, precision);
            if ulps > worst[order].ulps {
                worst[order] = Worst { ulps, x: row.x, found: *found, wanted };
            }
        }
    }
    worst
}

/// The error in units in the last place of the reference.
fn error(found: f64, wanted: f64, precision: Precision) -> f64 {
    let rounded = precision.round(wanted);
    if found == rounded || found.is_nan() && wanted.is_nan() {
        return 0.0;
    }
    let (digits, least) = match precision {
        Precision::F64 => (52, -1074),
        Precision::F32 => (23, -149),
    };
    // A number that overflows where the reference almost does is compared as the largest number.
    let largest = match precision {
        Precision::F64 => f64::MAX,
        Precision::F32 => f64::from(f32::MAX),
    };
    let near = rounded.is_finite() && wanted.abs() > 0.999 * largest;
    let found = if found.is_infinite() && near { largest.copysign(found) } else { found };
    if !found.is_finite() || !rounded.is_finite() {
        return f64::INFINITY;
    }
    let exponent = (wanted.abs().log2().floor() as i32 - digits).max(least);
    // The unit itself may be subnormal: two factors.
    let half = exponent / 2;
    (found - wanted).abs() / f64::powi(2.0, half) / f64::powi(2.0, exponent - half)
}
