//! Measurements as JSON: seconds, bytes and operations as numbers, `null` for unknown values.

use serde_json::{Map, Value, json};

use crate::PassTime;

use super::{Benched, Ran};

impl Benched {
    /// As JSON.
    pub fn json(&self) -> String {
        let mut all = Map::new();
        all.insert("entry".to_string(), json!(self.entry));
        all.insert("checked_s".to_string(), json!(self.checked.as_secs_f64()));
        for row in &self.rows {
            all.insert(row.name.to_string(), one(row));
        }
        if let [value, derivative] = &self.rows[..] {
            all.insert("ratio".to_string(), json!(derivative.least / value.least));
        }
        let machine = self.machine.map(|machine| {
            json!({
                "operations_per_s": machine.arithmetic,
                "memory_bytes_per_s": machine.memory,
            })
        });
        all.insert("machine".to_string(), json!(machine));
        format!("{:#}\n", Value::Object(all))
    }
}

fn one(row: &Ran) -> Value {
    let compiled = &row.compiled;
    let each = compiled.each.iter().map(|PassTime { name, time, runs }| {
        json!({"name": name, "s": time.as_secs_f64(), "runs": runs})
    });
    let work = row.work.map(|work| {
        json!({
            "reals": work.reals,
            "integers": work.ints,
            "bytes_read": work.read,
            "bytes_written": work.written,
            "bytes_in_and_out": work.boundary,
        })
    });
    let limit = row
        .limit
        .map(|(time, by)| json!({"least_s": time, "bound_by": by, "reached": time / row.least}));
    json!({
        "native": row.native,
        "compile": {
            "specialized_s": compiled.specialized.as_secs_f64(),
            "passes_s": compiled.passes.as_secs_f64(),
            "c_compiler_s": compiled.c.as_secs_f64(),
            "each": each.collect::<Vec<_>>(),
        },
        "least_s": row.least,
        "median_s": row.median,
        "runs": row.runs,
        "memory_bytes": row.memory,
        "work": work,
        "limit": limit,
    })
}
