//! Transposition. A square of as many rows as a vector has lanes is transposed in registers: first
//! single elements change places between neighboring rows, then pairs, and so on, each time half of
//! two vectors.

/// The types and helpers for elements.
pub(crate) struct Elements {
    /// The type of an element in memory.
    pub(crate) memory: &'static str,
    /// The type of a vector.
    pub(crate) vector: String,
    /// The type of the lane numbers of a shuffle.
    pub(crate) index: String,
    /// The helpers that read and write a vector.
    pub(crate) load: String,
    pub(crate) store: String,
}

/// The helper with this name.
pub(crate) fn definition(name: &str, of: &Elements, lanes: u16) -> String {
    let Elements { memory, vector, index, load, store } = of;
    let each = |line: &dyn Fn(u16) -> String| (0..lanes).map(line).collect::<Vec<String>>();
    let loads = each(&|k| format!("x{k} = {load}(from + (r + {k}) * from_row + c)")).join(", ");
    let stores = each(&|k| format!("            {store}(to + (c + {k}) * to_row + r, x{k});\n"));
    let stores = stores.concat();
    let turns = turned(vector, index, lanes);
    let column =
        each(&|k| format!("to[c * to_row + r + {k}] = from[(r + {k}) * from_row + c];")).join(" ");
    format!(
        "static inline void {name}({memory} *restrict to, int64_t to_row, const {memory} *restrict from, int64_t from_row, int64_t rows, int64_t cols) {{
    int64_t r = 0;
    for (; r + {lanes} <= rows; r += {lanes}) {{
        int64_t c = 0;
#if defined __GNUC__ && !defined __clang__
        for (; c + {lanes} <= cols; c += {lanes}) {{
            {vector} {loads};
{turns}{stores}        }}
#endif
        for (; c < cols; c++) {{ {column} }}
    }}
    for (; r < rows; r++) {{
        for (int64_t c = 0; c < cols; c++) to[c * to_row + r] = from[r * from_row + c];
    }}
}}
"
    )
}

/// Statements that turn the vectors `x0`, `x1` … from rows into columns.
fn turned(vector: &str, index: &str, lanes: u16) -> String {
    let steps = (0..lanes.trailing_zeros()).map(|k| 1 << k);
    steps.map(|apart| step(vector, index, lanes, apart)).collect()
}

/// Exchanges elements between rows at a distance, as many as the distance.
fn step(vector: &str, index: &str, lanes: u16, apart: u16) -> String {
    let lists = |lane: &dyn Fn(u16) -> u16| {
        let all: Vec<String> = (0..lanes).map(|k| lane(k).to_string()).collect();
        format!("({index}){{{}}}", all.join(", "))
    };
    // A shuffle numbers the lanes of the second vector behind those of the first one.
    let low = lists(&|k| if k & apart == 0 { k } else { lanes + k - apart });
    let high = lists(&|k| if k & apart == 0 { k + apart } else { lanes + k });
    let pairs = (0..lanes).filter(|k| k & apart == 0);
    let pair = |a: u16| {
        let b = a + apart;
        format!(
            "            {{ {vector} a = x{a}, b = x{b}; x{a} = __builtin_shuffle(a, b, {low}), x{b} = __builtin_shuffle(a, b, {high}); }}\n"
        )
    };
    pairs.map(pair).collect()
}
