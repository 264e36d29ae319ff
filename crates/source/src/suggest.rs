//! "Did you mean …?"

/// The candidate of which `name` is most probably a misspelling. `None` if no candidate is near: at
/// most a third of its letters may be wrong, missing, surplus or swapped with a neighbor. Ties go
/// to the alphabetically first candidate, so the order does not matter.
pub fn suggest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let letters: Vec<char> = name.chars().collect();
    let best = candidates
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| Some((nearness(&letters, candidate)?, candidate)))
        .min()?;
    Some(best.1.to_string())
}

/// The distance of a candidate that is near enough; a difference in case only is the smallest.
fn nearness(name: &[char], candidate: &str) -> Option<usize> {
    let other: Vec<char> = candidate.chars().collect();
    if name.len() == other.len() && name.iter().zip(&other).all(|(a, b)| a.eq_ignore_ascii_case(b))
    {
        return Some(0);
    }
    let longest = name.len().max(other.len());
    let limit = (longest / 3).max(1);
    if longest < 2 || name.len().abs_diff(other.len()) > limit {
        return None;
    }
    let distance = distance(name, &other);
    // Every letter differs: another word altogether (`x` for `ab`).
    (distance <= limit && distance < name.len().min(other.len()).max(2)).then_some(distance)
}

/// Number of letters to insert, delete, replace or swap with a neighbor (Damerau–Levenshtein, each
/// letter edited once).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, candidates: &[&str], expect: Option<&str>) {
        assert_eq!(suggest(name, candidates.iter().copied()).as_deref(), expect, "{name}");
        assert_eq!(
            suggest(name, candidates.iter().rev().copied()).as_deref(),
            expect,
            "{name}, reversed"
        );
    }

    #[test]
    fn near_words() {
        check("maxmum", &["minimum", "maximum", "max"], Some("maximum"));
        check("lenght", &["length", "tenth"], Some("length"));
        check("Map", &["map", "mop"], Some("map"));
        check("trasnpose", &["transpose"], Some("transpose"));
        check("logsumxep", &["logsumexp", "sum"], Some("logsumexp"));
    }

    #[test]
    fn far_words() {
        check("x", &["y", "z"], None);
        check("solve", &["sort", "sum"], None);
        check("banana", &[], None);
        check("xs", &["ys", "zs"], Some("ys"));
        check("same", &["same"], None);
    }
}
