//! The file of a chain's state. The same seed gives the same draws, so a chain that goes on from
//! its file makes those of one that was never interrupted.
//!
//! A file has the settings, the place in the random numbers, and all numbers of the state; it is
//! replaced as a whole. A chain goes on from it if the posterior has the density, the gradient and
//! the values there that the file has, bit for bit: then program and data are those of before.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::rngs::ChaCha8Rng;

use crate::shape::Each;
use crate::{Metric, Resumed, Settings, Unsampled, Watch};

/// A chain whose state can be kept.
pub(crate) trait Kept {
    /// Draws that were made, with those of the warm-up.
    fn made(&self) -> u64;

    /// The numbers of coordinates and of values.
    fn sizes(&self) -> (usize, usize);

    /// The random numbers.
    fn generator(&mut self) -> &mut ChaCha8Rng;

    /// The form of the shape.
    fn form(&self) -> u64;

    /// Makes room for the state after a number of draws, with a shape of this form.
    fn resize(&mut self, made: u64, warmup: u64, form: u64);

    /// Calls `f` on all numbers of the state.
    fn numbers(&mut self, f: Each);

    /// Whether the density, its gradient, and the values of the last draw are those of the
    /// posterior.
    fn is_of_posterior(&self) -> bool;
}

/// The first word of a file: its format.
const FORMAT: u64 = u64::from_le_bytes(*b"lamchain");

/// The time before a file is written, and between two of them at least.
const INTERVAL: Duration = Duration::from_secs(1);

/// The time between two writings, at least, as a multiple of that which one takes.
const SELDOM: u32 = 50;

/// The file of a chain.
pub(crate) struct File {
    path: PathBuf,
    chain: usize,
    settings: Settings,
    due: Instant,
    wait: Duration,
    /// The number of draws in the file, if it is there.
    written: Option<u64>,
}

impl File {
    /// The file of a chain, if states are kept.
    pub(crate) fn of(settings: &Settings, chain: usize) -> Option<File> {
        let path = path(settings.states.as_deref()?, chain);
        let (settings, due) = (settings.clone(), Instant::now() + INTERVAL);
        Some(File { path, chain, settings, due, wait: INTERVAL, written: None })
    }

    /// The chain that the file has, or else one that begins, and the file to keep it in.
    pub(crate) fn resumed<K: Kept>(
        mut self,
        begun: impl Fn() -> Result<K, Unsampled>,
        watch: &dyn Watch,
    ) -> Result<(K, Option<File>), Unsampled> {
        let mut run = begun()?;
        if let Ok(bytes) = std::fs::read(&self.path) {
            if self.restore(&bytes, &mut run).is_some() {
                self.written = Some(run.made());
                watch.resumed(self.chain, Resumed::After(run.made()));
            } else {
                watch.resumed(self.chain, Resumed::OtherChain);
                run = begun()?;
            }
        }
        Ok((run, Some(self)))
    }

    /// Replaces the file, if it is time.
    pub(crate) fn keep(&mut self, run: &mut impl Kept, watch: &dyn Watch) {
        if Instant::now() >= self.due {
            self.write(run, watch);
        }
    }

    /// Replaces the file after the last draw, unless the chain was so short that it has none.
    pub(crate) fn keep_last(&mut self, run: &mut impl Kept, watch: &dyn Watch) {
        let ends_early = run.made() < self.settings.warmup + self.settings.draws;
        if (ends_early || self.written.is_some()) && self.written != Some(run.made()) {
            self.write(run, watch);
        }
    }

    fn write(&mut self, run: &mut impl Kept, watch: &dyn Watch) {
        let begun = Instant::now();
        let bytes = self.bytes(run);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| lambada::replace_file(&self.path, &bytes));
        match written {
            Ok(()) => self.written = Some(run.made()),
            Err(why) => watch.resumed(self.chain, Resumed::NotKept(&why)),
        }
        self.wait = INTERVAL.max(SELDOM * begun.elapsed());
        self.due = Instant::now() + self.wait;
    }

    /// The words of the settings that decide the draws.
    fn head(&self, dimension: usize, count: usize) -> [u64; 9] {
        let Settings { warmup, seed, target_accept, max_depth, metric, .. } = self.settings;
        let metric = match metric {
            Metric::Diagonal => 0,
            Metric::Dense => 1,
            Metric::LowRank => 2,
        };
        let (chain, dimension, count) = (self.chain as u64, dimension as u64, count as u64);
        let target = target_accept.to_bits();
        [FORMAT, chain, seed, warmup, target, max_depth, metric, dimension, count]
    }

    fn bytes(&self, run: &mut impl Kept) -> Vec<u8> {
        let (dimension, count) = run.sizes();
        let at = run.generator().get_word_pos();
        let mut words = self.head(dimension, count).to_vec();
        words.extend([run.made(), run.form(), at as u64, (at >> 64) as u64]);
        run.numbers(&mut |x| words.push(x.to_bits()));
        words.push(checksum(&words));
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Gives a chain that has just begun the state of the file; `None` if the file is of another
    /// chain, or of another format.
    fn restore(&self, bytes: &[u8], run: &mut impl Kept) -> Option<()> {
        let (words, rest) = bytes.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let (sum, words) = words.split_last()?;
        let (dimension, count) = run.sizes();
        let numbers = words.strip_prefix(&self.head(dimension, count))?;
        let ([made, form, low, high], numbers) = numbers.split_first_chunk::<4>()?;
        let most = self.settings.warmup + self.settings.draws;
        if !rest.is_empty() || checksum(words) != *sum || *made > most {
            return None;
        }
        // More directions than coordinates are none of ours.
        if form.saturating_sub(2) > dimension as u64 {
            return None;
        }
        run.resize(*made, self.settings.warmup, *form);
        let mut numbers = numbers.iter().map(|word| f64::from_bits(*word));
        let mut is_short = false;
        run.numbers(&mut |x| match numbers.next() {
            Some(number) => *x = number,
            None => is_short = true,
        });
        run.generator().set_word_pos(u128::from(*low) | u128::from(*high) << 64);
        (!is_short && numbers.next().is_none() && run.is_of_posterior()).then_some(())
    }
}

/// The names of files begin so.
const NAME: &str = "chain-";

/// The names of unfinished files, of processes that were killed, begin so.
const UNFINISHED: &str = ".tmp";

/// The file of a chain in a folder.
fn path(folder: &Path, chain: usize) -> PathBuf {
    folder.join(format!("{NAME}{}", chain + 1))
}

/// Removes the states of chains, and their folder if it has nothing else.
///
/// # Errors
/// Errors of the file system. It is none if there is no such folder.
pub fn remove_states(folder: &Path) -> std::io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for file in std::fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(NAME) || name.starts_with(UNFINISHED) {
            std::fs::remove_file(file.path())?;
        }
    }
    std::fs::remove_dir(folder).or(Ok(()))
}

fn checksum(words: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.iter().for_each(|word| hasher.write_u64(*word));
    hasher.finish()
}
