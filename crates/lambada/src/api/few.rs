//! A list that needs no memory of its own as long as it is short.

/// A list of which the first `N` items are inside of it.
pub(crate) struct Few<T, const N: usize> {
    few: [T; N],
    len: usize,
    /// All items, if there are more.
    many: Vec<T>,
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    pub(crate) fn new() -> Few<T, N> {
        Few { few: [T::default(); N], len: 0, many: Vec::new() }
    }

    pub(crate) fn push(&mut self, item: T) {
        if self.len < N {
            self.few[self.len] = item;
        } else {
            if self.many.is_empty() {
                self.many.extend_from_slice(&self.few);
            }
            self.many.push(item);
        }
        self.len += 1;
    }

    pub(crate) fn all(&self) -> &[T] {
        if self.len <= N { &self.few[..self.len] } else { &self.many }
    }

    pub(crate) fn all_mut(&mut self) -> &mut [T] {
        if self.len <= N { &mut self.few[..self.len] } else { &mut self.many }
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Few<T, N> {
        let mut few = Few::new();
        items.into_iter().for_each(|item| few.push(item));
        few
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn a_list_may_grow_beyond_its_place() {
        for count in [0, 1, 3, 4, 5, 9] {
            let mut few: Few<usize, 4> = (0..count).collect();
            assert_eq!(few.all(), (0..count).collect::<Vec<_>>());
            few.all_mut().iter_mut().for_each(|item| *item += 1);
            assert_eq!(few.all().iter().sum::<usize>(), count * (count + 1) / 2);
        }
    }
}
