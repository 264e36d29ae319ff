//! Curves in the coordinates of a panel, from (0, 0) at the lower left to (1, 1) at the upper
//! right, and places for their names at the right.

use crate::{Curve, Panel, Picture};

/// Columns of points above which a curve is thinned: more than a screen has.
const COLUMNS: usize = 2000;

/// The visible lines of a curve.
pub fn lines(picture: &Picture, panel: &Panel, curve: &Curve) -> Vec<Vec<(f64, f64)>> {
    visible(&curve.pieces, picture.range, panel.window)
}

/// The visible parts of lines, in the coordinates of a panel.
pub fn visible(
    pieces: &[Vec<(f64, f64)>],
    range: (f64, f64),
    window: (f64, f64),
) -> Vec<Vec<(f64, f64)>> {
    let (across, up) = (scale(range), scale(window));
    let mut lines = Vec::new();
    for piece in pieces {
        let points = thinned(piece.iter().map(|(x, y)| (across(*x), up(*y))).collect());
        clip(&points, &mut lines);
    }
    lines
}

/// The part of an interval below a value.
pub fn scale((low, high): (f64, f64)) -> impl Fn(f64) -> f64 {
    // Halves, because the difference of finite numbers may be infinite.
    move |x| (x / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
}

/// Of the points in a column, the first, the last, the lowest and the highest.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= 4 * COLUMNS {
        return points;
    }
    let column = |point: &(f64, f64)| (point.0 * COLUMNS as f64) as usize;
    let mut kept = Vec::new();
    for run in points.chunk_by(|a, b| column(a) == column(b)) {
        let by_height = |a: &usize, b: &usize| run[*a].1.total_cmp(&run[*b].1);
        let extremes = [(0..run.len()).min_by(by_height), (0..run.len()).max_by(by_height)];
        let mut places: Vec<usize> = extremes.into_iter().flatten().collect();
        places.extend([0, run.len() - 1]);
        places.sort_unstable();
        places.dedup();
        kept.extend(places.into_iter().map(|k| run[k]));
    }
    kept
}

/// Adds the parts of a line that lie between the heights 0 and 1.
fn clip(points: &[(f64, f64)], lines: &mut Vec<Vec<(f64, f64)>>) {
    let mut line = Vec::new();
    if let [(x, y)] = points
        && (0.0..=1.0).contains(y)
    {
        line.push((*x, *y));
    }
    for pair in points.windows(2) {
        match clipped(pair[0], pair[1]) {
            Some((a, b)) => {
                if line.last() != Some(&a) {
                    lines.push(std::mem::replace(&mut line, vec![a]));
                }
                line.push(b);
            }
            None => lines.push(std::mem::take(&mut line)),
        }
    }
    lines.push(line);
    lines.retain(|line| !line.is_empty());
}

/// A line.
type Segment = ((f64, f64), (f64, f64));

/// The part of a line between the heights 0 and 1.
fn clipped(a: (f64, f64), b: (f64, f64)) -> Option<Segment> {
    if a.1.max(b.1) < 0.0 || a.1.min(b.1) > 1.0 {
        return None;
    }
    let within = |(x, y): (f64, f64), other: (f64, f64)| {
        let bound = y.clamp(0.0, 1.0);
        let moved = x + (other.0 - x) * ((bound - y) / (other.1 - y));
        if bound == y { (x, y) } else { (moved, bound) }
    };
    Some((within(a, b), within(b, a)))
}

/// Heights for the names of curves, with `gap` between them. Each comes close to the last visible
/// point of its curve. `None` for the names that have no place.
pub fn places(ends: &[Option<f64>], gap: f64) -> Vec<Option<f64>> {
    let room = (1.0 / gap).floor() as usize + 1;
    let mut order: Vec<usize> = (0..ends.len()).filter(|k| ends[*k].is_some()).take(room).collect();
    let wanted = |k: usize| ends[k].unwrap_or(0.0);
    order.sort_by(|a, b| wanted(*a).total_cmp(&wanted(*b)));
    let mut heights: Vec<f64> = order.iter().map(|k| wanted(*k)).collect();
    let mut least = 0.0;
    for height in &mut heights {
        *height = height.max(least);
        least = *height + gap;
    }
    let mut most = 1.0;
    for height in heights.iter_mut().rev() {
        *height = height.min(most);
        most = *height - gap;
    }
    let mut places = vec![None; ends.len()];
    order.into_iter().zip(heights).for_each(|(k, height)| places[k] = Some(height.max(0.0)));
    places
}

/// The height of the last visible point of a curve.
pub fn end(lines: &[Vec<(f64, f64)>]) -> Option<f64> {
    let last = lines.iter().filter_map(|line| line.last());
    last.max_by(|a, b| a.0.total_cmp(&b.0)).map(|point| point.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_the_edge() {
        let check = |points: &[(f64, f64)], expect: &[&[(f64, f64)]]| {
            let mut lines = Vec::new();
            clip(points, &mut lines);
            assert_eq!(lines, expect);
        };
        check(&[(0.0, 0.5), (1.0, 1.5)], &[&[(0.0, 0.5), (0.5, 1.0)]]);
        check(&[(0.0, -1.0), (1.0, 3.0)], &[&[(0.25, 0.0), (0.5, 1.0)]]);
        check(&[(0.0, 2.0), (1.0, 2.0)], &[]);
        check(&[(0.0, 0.5)], &[&[(0.0, 0.5)]]);
        check(
            &[(0.0, 0.0), (0.25, 2.0), (0.5, 2.0), (0.75, 0.0)],
            &[&[(0.0, 0.0), (0.125, 1.0)], &[(0.625, 1.0), (0.75, 0.0)]],
        );
    }

    #[test]
    fn names_keep_apart() {
        assert_eq!(places(&[Some(0.5), Some(0.5), None], 0.25), [Some(0.5), Some(0.75), None]);
        assert_eq!(places(&[Some(1.0), Some(1.0)], 0.25), [Some(0.75), Some(1.0)]);
        assert_eq!(places(&[Some(0.0); 4], 0.5), [Some(0.0), Some(0.5), Some(1.0), None]);
    }

    #[test]
    fn thinning_keeps_extremes() {
        let point = |k: usize| (k as f64 / 1e5, if k == 777 { 5.0 } else { 0.0 });
        let kept = thinned((0..100_000).map(point).collect());
        assert!(kept.len() <= 4 * COLUMNS && kept.contains(&point(777)));
    }
}
