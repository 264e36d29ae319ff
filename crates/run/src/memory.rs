//! How much memory a program may use for its arrays, unless it is told otherwise.

use std::fs::read_to_string;

use lambada_prim::Memory;

/// The environment variable that sets the limit.
pub const MAX_MEMORY: &str = "LAMBADA_MAX_MEMORY";

/// Nine tenths of what the machine has, or its container; no limit where the system does not say.
pub fn available() -> Memory {
    let tenths = |bytes: u64| Memory { limit: bytes / 10 * 9 };
    [machine(), container()].into_iter().flatten().min().map_or_else(Memory::default, tenths)
}

/// What Linux says in its `/proc`.
fn machine() -> Option<u64> {
    total(&read_to_string("/proc/meminfo").ok()?)
}

fn total(info: &str) -> Option<u64> {
    let line = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The limit of the control group, of either version.
fn container() -> Option<u64> {
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .into_iter()
        .find_map(|file| read_to_string(file).ok()?.trim().parse().ok())
}

/// A number of bytes as people write it: `800000`, `500MB`, `1.5 GB`, `2GiB`.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[number.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "t" | "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1u64 << 40,
        _ => return None, // no unit of memory
    };
    let bytes = number.trim_end().parse::<f64>().ok()? * unit as f64;
    (bytes >= 0.0 && bytes < i64::MAX as f64).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_units() {
        assert_eq!(parse_size("4096"), Some(4096));
        assert_eq!(parse_size("1.5GB"), Some(1_500_000_000));
        assert_eq!(parse_size(" 2 GiB "), Some(2 << 30));
        assert_eq!(parse_size("500m"), Some(500_000_000));
        for wrong in ["", "GB", "-1", "4 apples", "1e300", "nan", "inf"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_linux_says() {
        assert_eq!(total("MemTotal:       16 kB\nMemFree: 3 kB\n"), Some(16384));
        assert_eq!(total("nothing"), None);
    }
}
