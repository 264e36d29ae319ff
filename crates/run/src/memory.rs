//! Default limit on the memory for arrays.

use std::fs::read_to_string;
use std::path::Path;

use lambada_prim::Memory;

/// The environment variable that sets the limit.
pub const MAX_MEMORY: &str = "LAMBADA_MAX_MEMORY";

/// Nine tenths of the free memory of the machine or its container; no limit if the system does not
/// report it.
pub fn available() -> Memory {
    let tenths = |bytes: u64| Memory { limit: bytes / 10 * 9 };
    machine().into_iter().chain(containers()).min().map_or_else(Memory::default, tenths)
}

/// Available memory in Linux's `/proc/meminfo`, including reclaimable memory.
fn machine() -> Option<u64> {
    free(&read_to_string("/proc/meminfo").ok()?)
}

fn free(info: &str) -> Option<u64> {
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Remaining memory in the limits of control groups of both versions: the group of the process, and
/// all enclosing groups.
fn containers() -> Vec<u64> {
    let own = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let files = [
        ("/sys/fs/cgroup", group(&own, ""), "memory.max", "memory.current"),
        (
            "/sys/fs/cgroup/memory",
            group(&own, "memory"),
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
        ),
    ];
    let mut rooms = Vec::new();
    for (root, path, limit, used) in files {
        let around = Path::new(path.trim_start_matches('/')).ancestors();
        for folder in around.map(|folder| Path::new(root).join(folder)) {
            let text = |file: &str| read_to_string(folder.join(file)).ok();
            let number = |file: &str| text(file)?.trim().parse::<u64>().ok();
            let (Some(limit), used) = (number(limit), number(used).unwrap_or(0)) else { continue };
            let cached = text("memory.stat").and_then(|stat| inactive(&stat)).unwrap_or(0);
            rooms.push(limit.saturating_sub(used.saturating_sub(cached)));
        }
    }
    rooms
}

/// The group of a process in the hierarchy of a controller.
fn group<'a>(groups: &'a str, controller: &str) -> &'a str {
    let path = |line: &'a str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|known| known == controller).then_some(path)
    };
    groups.lines().find_map(path).unwrap_or("/")
}

/// Bytes of unused file contents in the page cache, which the system can reclaim.
fn inactive(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("inactive_file "))?.trim().parse().ok()
}

/// Parses a number of bytes with a unit: `800000`, `500MB`, `1.5 GB`, `2GiB`.
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
        assert_eq!(free("MemTotal:       99 kB\nMemAvailable: 16 kB\n"), Some(16384));
        assert_eq!(free("nothing"), None);
        let groups = "5:cpu,memory:/jobs/a\n0::/user.slice/b\n";
        assert_eq!((group(groups, "memory"), group(groups, "")), ("/jobs/a", "/user.slice/b"));
        assert_eq!((group("", "memory"), group("1:cpu:/x", "memory")), ("/", "/"));
        assert_eq!(inactive("anon 1\ninactive_file 4096\n"), Some(4096));
        assert!(available().limit > 1 << 20);
    }
}
