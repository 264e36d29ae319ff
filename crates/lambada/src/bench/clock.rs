//! Timing of functions, which take turns until their minimal times settle.

use std::time::{Duration, Instant};

use lambada_source::Failure;

use super::compile::Ready;

/// The times of a function, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clocked {
    pub least: f64,
    pub median: f64,
    pub runs: usize,
}

/// Approximate duration of a turn, if that allows several runs.
const TURN: Duration = Duration::from_millis(2);
/// Lower and upper limit for the time spent on a function.
const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(4);
/// Minimal number of runs before a function can settle. It has settled when its minimum did not
/// improve during the second half of its runs.
const TURNS: usize = 5;

/// Times functions in turns.
pub(super) fn in_turn(functions: &[&Ready]) -> Result<Vec<Clocked>, Failure> {
    let mut clocks = Vec::new();
    for function in functions {
        let warm = function.time(1)?[0].max(1);
        clocks.push(Clock::new((TURN.as_nanos() as u64 / warm).clamp(1, 10_000) as usize));
    }
    let (start, count) = (Instant::now(), functions.len() as u32);
    loop {
        for (function, clock) in functions.iter().zip(&mut clocks) {
            clock.add(&function.time(clock.runs)?);
        }
        let spent = start.elapsed();
        let settled = spent > SHORT * count && clocks.iter().all(Clock::has_settled);
        if settled || spent > LONG * count {
            return Ok(clocks.into_iter().map(Clock::read).collect());
        }
    }
}

struct Clock {
    /// Runs in each turn.
    runs: usize,
    times: Vec<u64>,
    /// The minimum, and the number of runs until it occurred.
    least: (u64, usize),
}

impl Clock {
    fn new(runs: usize) -> Clock {
        Clock { runs, times: Vec::new(), least: (u64::MAX, 0) }
    }

    fn add(&mut self, times: &[u64]) {
        for time in times {
            self.times.push(*time);
            // Improvements below 1 % do not count.
            if *time < self.least.0 - self.least.0 / 100 {
                self.least = (*time, self.times.len());
            }
        }
    }

    fn has_settled(&self) -> bool {
        self.times.len() >= TURNS && self.least.1 <= self.times.len() / 2
    }

    fn read(mut self) -> Clocked {
        self.times.sort_unstable();
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        Clocked {
            least: seconds(self.times[0]),
            median: seconds(self.times[self.times.len() / 2]),
            runs: self.times.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_settles_when_nothing_faster_comes() {
        let mut clock = Clock::new(1);
        clock.add(&[100, 90, 80, 70, 60]);
        assert!(!clock.has_settled());
        clock.add(&[61, 60, 62, 75, 60]);
        assert!(clock.has_settled());
        clock.add(&[30]);
        assert!(!clock.has_settled());
        let read = clock.read();
        assert_eq!((read.least, read.median, read.runs), (30e-9, 62e-9, 11));
    }
}
