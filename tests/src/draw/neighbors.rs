//! Programs that read neighbors, near and far, in one direction or two, with something else beyond
//! the ends; and programs that share values among branches, loops and sums.

use lambada_testkit::Random;

/// The program of a seed: `f` takes an array with `rank` axes, and an `int`.
pub struct Neighbors {
    /// Its text.
    pub text: String,
    /// The number of axes.
    pub rank: usize,
}

/// An axis: its index and its size.
type Axis = (&'static str, &'static str);

const LINE: Axis = ("i", "n");
const PLANE: [Axis; 2] = [LINE, ("j", "m")];

/// The program of a seed.
pub fn neighbors(seed: u64) -> Neighbors {
    let mut draw = Draw(Random(Random(seed).bits()));
    match draw.0.below(5) {
        0 => draw.stages(),
        1 => draw.plane(),
        2 => draw.shared(),
        _ => draw.line(),
    }
}

struct Draw(Random);

impl Draw {
    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        self.0.pick(items)
    }

    fn line(&mut self) -> Neighbors {
        let (first, second) = (self.along_line("u"), self.along_line("v"));
        let repeated = if self.0.once_in(2) { "loop u = u for _t < 2 do " } else { "" };
        let text = format!(
            "def f [n] (u : [n]real) (k : int) : real =
  let v = {repeated}for i < n => {first}
  let w = for i < n => {second}
  in sum (for i < n => w[i] * w[i] * real (i % 7 + 1))
"
        );
        Neighbors { text, rank: 1 }
    }

    /// Arrays, each of which reads neighbors of those before: mostly in one direction, near ones,
    /// in its own row.
    fn stages(&mut self) -> Neighbors {
        let rank = 1 + self.0.below(2);
        let (head, around, row) = match rank {
            1 => ("[n] (u : [n]real)", "i < n", ""),
            _ => ("[m] [n] (u : [m][n]real)", "r < m, i < n", "r, "),
        };
        let mut text =
            format!("def f {head} (k : int) : real =\n  let w = loop u = u for _t < 2 do\n");
        let (mut stages, mut away) = (vec!["u".to_string()], 1 - 2 * self.0.below(2) as i64);
        for k in 0..2 + self.0.below(4) {
            if self.0.once_in(4) {
                away = -away;
            }
            let mut term = || {
                let of = stages[stages.len() - 1 - self.0.below(stages.len().min(2))].clone();
                let by = away * self.0.pick(&[0, 1, 1, 1, 2, 3, 7, 8, 9]);
                let place = format!("(i + {by})");
                let other = self.pick(&["0", "0.5", "u[ROWi]"]);
                let inside = if by < 0 { format!("0 <= {place}") } else { format!("{place} < n") };
                match self.0.below(4) {
                    0 => format!("{of}[ROWmax (min {place} (n - 1)) 0]"),
                    1 => format!("sin {of}[ROWi]"),
                    _ => format!("(if {inside} then {of}[ROW{place}] else {other})"),
                }
            };
            let (a, b) = (term(), term());
            let wrap = self.pick(&["sin", "tanh", ""]);
            let stage = format!("    let a{k} = for {around} => {wrap} ({a} + 0.4 * {b})\n");
            text += &stage.replace("ROW", row);
            stages.push(format!("a{k}"));
        }
        let last = 1 + self.0.below(2).min(stages.len() - 2);
        let total = stages[stages.len() - last..].iter().map(|of| format!("{of}[{row}i]"));
        let total = total.collect::<Vec<_>>().join(" + 1.5 * ");
        text += &format!("    in for {around} => {total}\n");
        let total = format!("sum (for i < n => w[{row}i] * real (i % 7 + 1))");
        text += &match rank {
            1 => format!("  in {total}\n"),
            _ => format!("  in sum (for r < m => {total})\n"),
        };
        Neighbors { text, rank }
    }

    /// Values that branches need for some indices, and loops for others or for all.
    fn shared(&mut self) -> Neighbors {
        let first = self.pick(&[
            "sum (for l < 3 => sin (u[i] * real (l + 1)))",
            "sum (for l < n => u[i] * sin u[l])",
            "loop s = u[i] for _t < 3 do sin s + u[i]",
            "sin (exp u[i])",
        ]);
        let mut text =
            format!("def f [n] (u : [n]real) (k : int) : real =\n  let v = for i < n => {first}\n");
        let mut stages = vec!["v".to_string()];
        for k in 0..2 + self.0.below(4) {
            let of = stages[self.0.below(stages.len())].clone();
            let (ends, inside) = (self.boundary(LINE), self.pick(&["l < 2", "i < k", "l == i"]));
            let stage = match self.0.below(6) {
                0 | 1 => format!("for i < n => if {ends} then {of}[i] * u[i] else 0.5"),
                2 => format!("for i < n => loop s = u[i] for _t < 3 do 0.5 * s + {of}[i]"),
                3 => format!(
                    "for i < n => loop s = u[i] for l < 3 do (if {inside} then sin s * {of}[i] else s)"
                ),
                4 => format!(
                    "let t = loop s = 0.0 for l < n do 0.5 * s + {of}[l] in for i < n => t * u[i]"
                ),
                _ => format!("let t = sum {of} in for i < n => if {ends} then sin t else {of}[i]"),
            };
            text += &format!("  let a{k} = {stage}\n");
            stages.push(format!("a{k}"));
        }
        let total = stages[1..].iter().map(|of| format!("{of}[i]"));
        let total = total.collect::<Vec<_>>().join(" + 1.5 * ");
        text += &format!("  in sum (for i < n => ({total}) * real (i % 7 + 1))\n");
        Neighbors { text, rank: 1 }
    }

    fn plane(&mut self) -> Neighbors {
        let mut element = |of| self.in_plane(of);
        let (a, b, c, d) = (element("u"), element("u"), element("v"), element("v"));
        let text = format!(
            "def f [n] [m] (u : [n][m]real) (k : int) : real =
  let v = for i < n, j < m => {a} + 0.3 * {b}
  let w = for i < n, j < m => {c} * {d}
  in sum (for i < n => sum (for j < m => w[i, j] * real (j % 5 + 1)))
"
        );
        Neighbors { text, rank: 2 }
    }

    /// A sum of elements, and of sums of elements over another index.
    fn along_line(&mut self, of: &str) -> String {
        let count = 1 + self.0.below(3);
        let mut term = || {
            if self.0.below(3) > 0 {
                return format!("0.3 * {}", self.element(of, None));
            }
            let many = self.pick(&["3", "5", "100", "k"]);
            let element = self.element(of, Some("l"));
            format!("0.3 * sum (for l < {many} => {element} / real (l + 1))")
        };
        (0..count).map(|_| term()).collect::<Vec<_>>().join(" + ")
    }

    fn element(&mut self, of: &str, inner: Option<&str>) -> String {
        let (index, exists) = self.index(LINE, inner);
        let value = match self.0.below(3) {
            0 => format!("{of}[{index}]"),
            1 => format!("sin {of}[{index}]"),
            _ => format!("{of}[{index}] * {of}[i]"),
        };
        let other = self.pick(&["0", "0.5"]);
        let value = exists
            .map_or(value.clone(), |exists| format!("(if {exists} then {value} else {other})"));
        if self.0.below(3) > 0 {
            return value;
        }
        format!("(if {} then {of}[i] else {value})", self.boundary(LINE))
    }

    fn in_plane(&mut self, of: &str) -> String {
        let mut exist = Vec::new();
        let mut index = Vec::new();
        for axis in PLANE {
            let (own, exists) = self.index(axis, None);
            index.push(own);
            exist.extend(exists);
        }
        let value = format!("{of}[{}]", index.join(", "));
        let value = match exist.join(" && ") {
            none if none.is_empty() => value,
            exist => format!("(if {exist} then {value} else 0)"),
        };
        if self.0.below(3) > 0 {
            return value;
        }
        let [a, b] = PLANE.map(|axis| self.boundary(axis));
        format!("(if {a} || {b} then {of}[i, j] else {value})")
    }

    /// An index along an axis, and a condition if it may be out of range.
    fn index(&mut self, (i, n): Axis, inner: Option<&str>) -> (String, Option<String>) {
        let far =
            self.pick(&["- 70", "- 9", "- 3", "- 2", "- 1", "+ 0", "+ 1", "+ 2", "+ 9", "+ 70"]);
        let base = match (inner, self.0.below(4)) {
            (Some(inner), 0) => format!("{i} - {inner}"),
            (Some(inner), 1) => format!("{i} + 2 * {inner}"),
            (Some(inner), 2) => format!("{i} + {inner}"),
            (_, _) => i.to_string(),
        };
        let place = format!("({base} {far})");
        let index = match self.0.below(14) {
            0 => format!("max (min {place} ({n} - 1)) 0"),
            1 => format!("(({place} % {n} + {n}) % {n})"),
            2 => format!("(if {i} == 0 then {n} - 1 else {i} - 1)"),
            3 => format!("(if {i} + 1 == {n} then 0 else {i} + 1)"),
            4 => format!("(({i} + 1) % {n})"),
            5 => format!("(({i} - 1 + {n}) % {n})"),
            6 => format!("max ({i} - 1) 0"),
            7 => format!("min ({i} + 1) ({n} - 1)"),
            8 => format!("({n} - 1 - {i})"),
            _ => return (place.clone(), Some(format!("0 <= {place} && {place} < {n}"))),
        };
        (index, None)
    }

    /// A condition that is about the ends of an axis, or the middle.
    fn boundary(&mut self, (i, n): Axis) -> String {
        match self.0.below(8) {
            0 => format!("{i} == 0"),
            1 => format!("{i} == {n} - 1"),
            2 => format!("{i} < 2"),
            3 => format!("{i} >= {n} - 3"),
            4 => format!("not ({i} + 1 < {n})"),
            5 => format!("{i} == 0 || {i} == {n} - 1"),
            6 => format!("{i} < {n} / 2"),
            _ => format!("not ({i} != 3)"),
        }
    }
}
