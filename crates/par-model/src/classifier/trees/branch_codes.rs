//! Which codes of one person a branch lets through.

use std::ops::Range;

use par_circuit::Code;

use super::ensemble::{Ensemble, Node};
use super::table::SourceTable;

/// Codes whose bits make one word. A feature with more is not tracked: its branches may go either way.
pub(super) const MOST_CODES: usize = u64::BITS as usize;

/// The bit of a code that no row has.
pub(super) const NONE: u8 = u8::MAX;

/// For which codes a branch goes to `yes`.
#[derive(Debug)]
pub(super) struct BranchCodes {
    /// The numbers of each source; `None` if its feature is not tracked.
    sources: Vec<Option<Source>>,
    /// The numbers of all sources, ascending for each, in whole blocks.
    numbers: Vec<[f32; BLOCK]>,
    /// Before each number, and after the last: the bits of the codes for which the source is lower.
    below: Vec<u64>,
}

/// Numbers that are compared at once. The last block is padded with NaN.
const BLOCK: usize = 8;

#[derive(Debug)]
struct Source {
    blocks: Range<usize>,
    /// Where its bits start in [`BranchCodes::below`].
    below: usize,
    /// The bits of the codes for which it is NaN.
    missing: u64,
}

impl BranchCodes {
    /// `bits` has the bit of every code of every feature, that of the unknown code last; `counts` has how many codes of
    /// each feature have one.
    pub(super) fn new(ensemble: &Ensemble, table: &SourceTable, bits: &[Vec<u8>], counts: &[usize]) -> Self {
        let sources = Vec::with_capacity(ensemble.features.len());
        let mut branches = Self { sources, numbers: Vec::new(), below: Vec::new() };
        for of_feature in ensemble.features.chunk_by(|a, b| a == b) {
            let feature = of_feature[0] as usize;
            for place in 0..of_feature.len() {
                let codes = bits[feature].iter().enumerate().filter(|(_, bit)| **bit != NONE);
                let numbers = codes.map(|(code, &bit)| (table.numbers(feature, code as Code)[place], bit));
                let source = (counts[feature] <= MOST_CODES).then(|| branches.push(numbers.collect()));
                branches.sources.push(source);
            }
        }
        branches
    }

    /// Adds the number of a source for each code, with the code's bit.
    fn push(&mut self, mut codes: Vec<(f32, u8)>) -> Source {
        codes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let [start, below] = [self.numbers.len(), self.below.len()];
        let (missing, numbers): (Vec<_>, Vec<_>) = codes.into_iter().partition(|(number, _)| number.is_nan());
        for block in numbers.chunks(BLOCK) {
            let number = |place: usize| block.get(place).map_or(f32::NAN, |(number, _)| *number);
            self.numbers.push(std::array::from_fn(number));
        }
        self.below.push(0);
        self.below.extend(numbers.iter().scan(0, |below, (_, bit)| {
            *below |= 1 << bit;
            Some(*below)
        }));
        let missing = missing.iter().fold(0, |missing, (_, bit)| missing | 1 << bit);
        Source { blocks: start..self.numbers.len(), below, missing }
    }

    /// The bits of the codes for which a branch goes to `yes`; `None` if its feature is not tracked.
    pub(super) fn yes(&self, node: &Node) -> Option<u64> {
        let source = self.sources[node.source()].as_ref()?;
        let blocks = &self.numbers[source.blocks.clone()];
        let (low, high) = (node.low(), node.high());
        let mut yes = self.below[source.below + count(blocks, |number| number <= high)];
        if low > f32::NEG_INFINITY {
            yes &= !self.below[source.below + count(blocks, |number| number < low)];
        }
        Some(if node.holds_for_missing() { yes | source.missing } else { yes })
    }
}

/// How many numbers satisfy `is`. There are so few that comparing all is faster than a binary search.
#[inline]
fn count(blocks: &[[f32; BLOCK]], is: impl Fn(f32) -> bool) -> usize {
    let in_block = |block: &[f32; BLOCK]| block.iter().map(|&number| u32::from(is(number))).sum::<u32>();
    blocks.iter().map(in_block).sum::<u32>() as usize
}
