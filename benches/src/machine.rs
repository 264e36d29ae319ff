//! Description of the machine and date of a measurement.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Conditions of a measurement.
#[derive(Clone, Debug)]
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    /// First line of the C compiler's `--version`.
    pub compiler: String,
    /// The flags for handwritten code, then those for generated code.
    pub flags: String,
    pub generated: String,
    pub date: String,
}

impl Machine {
    pub fn found(flags: &str) -> Machine {
        let target = lambada_run::Target::Here;
        let own = lambada_run::Compiler::find().map(|compiler| compiler.flags());
        let own = own.into_iter().flatten();
        let generated: Vec<&str> = own.chain(target.flags().iter().copied()).collect();
        Machine {
            processor: processor(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            compiler: compiler(),
            flags: flags.to_string(),
            generated: format!(
                "{} ({} lanes)",
                generated.join(" "),
                target.lanes(lambada::Precision::F64)
            ),
            date: date(),
        }
    }
}

/// Keeps this process and its children on one core, so that all of them have the same.
pub fn pin() {
    #[cfg(target_os = "linux")]
    {
        let mut core = rustix::thread::CpuSet::new();
        core.set(std::thread::available_parallelism().map_or(1, usize::from) - 1);
        if let Err(error) = rustix::thread::sched_setaffinity(None, &core) {
            eprintln!("warning: the measurements are not kept on one core: {error}");
        }
    }
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        let line = info.lines().find(|line| line.split(':').next().map(str::trim) == Some(key))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    let name = value("model name").unwrap_or_else(|| std::env::consts::ARCH.to_string());
    match (value("cpu family"), value("model")) {
        (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        _ => name,
    }
}

fn compiler() -> String {
    let output = Command::new(crate::baseline::compiler()).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().lines().next().unwrap_or("unknown").to_string()
}

fn date() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let (year, month, day) = civil(now / 86400);
    format!("{year}-{month:02}-{day:02}")
}

/// The date `days` days after 1970-01-01. Counts years from March, so that the leap day is the
/// last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(19_783), (2024, 3, 1));
        assert_eq!(civil(20_819), (2027, 1, 1));
    }
}
