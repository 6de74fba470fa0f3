//! Which leaves the codes of one person lead to, and the sums of leaves of rows and of all their single changes.

use std::borrow::Cow;
use std::sync::OnceLock;

use par_circuit::{Code, Kernel, vectorised};

use super::branch_codes::MOST_CODES;
use super::conditions::FeatureConditions;
use super::leaf_sets::{Block, LEAVES_A_BLOCK, LeafSets, blocks, intersect, list_block, visit_common};
use super::table::SourceTable;

/// Codes to which a leaf is added at once.
const LANES: usize = 8;

/// For every byte, a word of ones where a bit is set.
static MASKS: [[u64; LANES]; 256] = {
    let mut masks = [[0; LANES]; 256];
    let mut at = 0;
    while at < 256 * LANES {
        let (byte, lane) = (at / LANES, at % LANES);
        masks[byte][lane] = if byte >> lane & 1 == 1 { u64::MAX } else { 0 };
        at += 1;
    }
    masks
};

/// Room for so many leaves that codes of one feature lead to; there may be more.
const LEAVES_A_FEATURE: usize = 512;

/// The leaves that every code of every feature leads to.
#[derive(Debug)]
pub(super) struct CodeSets<'a> {
    leaf_sets: &'a LeafSets,
    /// For every feature, its first source and the place of its first code.
    features: Vec<[usize; 2]>,
    /// For every code of every feature, in order.
    sets: Vec<Cow<'a, [u64]>>,
    /// The features with sources and several codes.
    varying: Vec<usize>,
    /// The features with sources and one code.
    constant: Vec<usize>,
    /// The leaves that the codes of the constant features lead to.
    of_constant: Vec<u64>,
    /// Found once single changes are scored.
    code_words: OnceLock<Vec<CodeWord<'a>>>,
}

/// Up to as many codes of a varying feature as a word has bits.
#[derive(Debug)]
struct CodeWord<'a> {
    /// The place of the feature among the varying ones.
    varying: usize,
    /// The place of the first code among those of all features.
    first: usize,
    codes: usize,
    conditions: &'a FeatureConditions,
    /// For each condition, the codes that meet it.
    met: Vec<u64>,
}

/// The leaves that the codes of features with several sources lead to, as of one-hot categories, `[feature][code]`. Other
/// features have none.
#[derive(Clone, Debug)]
pub(crate) struct JointSets(Vec<Vec<Vec<u64>>>);

/// Sets of joint codes are made from so many words at most: in about a second.
const MOST_WORDS: u64 = 1 << 30;

impl JointSets {
    /// `None` if they would be too large, or take too long to make.
    pub(super) fn new(leaf_sets: &LeafSets, table: &SourceTable) -> Option<Self> {
        let sizes =
            table.cardinalities().iter().enumerate().map(|(feature, &codes)| (codes, table.sources(feature)));
        let of_several = sizes.filter(|(_, sources)| *sources > 1);
        let (codes, read) = of_several.fold((0_u64, 0_u64), |(all, read), (codes, sources)| {
            (all + codes as u64, read.saturating_add(codes as u64 * sources as u64))
        });
        let is_large = codes * size_of_val(&*leaf_sets.all) as u64 > leaf_sets.most_bytes;
        if is_large || read.saturating_mul(leaf_sets.width as u64) > MOST_WORDS {
            return None;
        }
        let mut first = 0;
        let of_feature = |(feature, &codes): (usize, &usize)| {
            let start = first;
            first += table.sources(feature);
            let set = |code: Code| leaf_sets.of_all(start, table.numbers(feature, code)).into_owned();
            if table.sources(feature) > 1 { (0..codes as Code).map(set).collect() } else { Vec::new() }
        };
        Some(Self(table.cardinalities().iter().enumerate().map(of_feature).collect()))
    }

    pub(crate) fn get(&self, feature: usize, code: Code) -> Option<&[u64]> {
        self.0[feature].get(usize::from(code)).map(Vec::as_slice)
    }

    /// The leaves that a feature leads to whose sources have these numbers, if they are those of a code of the table.
    pub(crate) fn find(&self, table: &SourceTable, feature: usize, numbers: &[f32]) -> Option<&[u64]> {
        let mut sets = self.0[feature].iter().zip(0..);
        let (set, _) = sets.find(|(_, code)| table.numbers(feature, *code) == numbers)?;
        Some(set)
    }
}

impl<'a> CodeSets<'a> {
    /// `known` returns the set of a feature's code, whose sources have these numbers, if it was made before.
    pub(super) fn new(
        leaf_sets: &'a LeafSets,
        table: &SourceTable,
        known: impl Fn(usize, Code, &[f32]) -> Option<&'a [u64]>,
    ) -> Self {
        let features = Vec::with_capacity(table.cardinalities().len());
        let of_constant = leaf_sets.all.clone();
        let (sets, varying, constant) = (Vec::new(), Vec::new(), Vec::new());
        let code_words = OnceLock::new();
        let mut all = Self { leaf_sets, features, sets, varying, constant, of_constant, code_words };
        let mut first = 0;
        for (feature, &codes) in table.cardinalities().iter().enumerate() {
            let place = all.sets.len();
            all.features.push([first, place]);
            for code in 0..codes as Code {
                let numbers = table.numbers(feature, code);
                let known = known(feature, code, numbers).map(Cow::Borrowed);
                all.sets.push(known.unwrap_or_else(|| leaf_sets.of_all(first, numbers)));
            }
            match (table.sources(feature), codes) {
                (0, _) => {}
                (_, 1) => {
                    all.constant.push(feature);
                    intersect(&mut all.of_constant, &all.sets[place]);
                }
                _ => all.varying.push(feature),
            }
            first += table.sources(feature);
        }
        all
    }

    /// The leaves that a code leads to.
    fn of(&self, table: &SourceTable, feature: usize, code: Code) -> Cow<'_, [u64]> {
        let [first, place] = self.features[feature];
        match usize::from(code) < table.cardinalities()[feature] {
            true => Cow::Borrowed(&self.sets[place + usize::from(code)]),
            false => self.leaf_sets.of_all(first, table.numbers(feature, code)),
        }
    }

    /// The leaves that a row's codes of the constant features lead to.
    fn of_constant(&self, table: &SourceTable, row: &[Code]) -> Cow<'_, [u64]> {
        if self.knows_constant(row) {
            return Cow::Borrowed(&self.of_constant);
        }
        let mut set = self.leaf_sets.all.clone();
        for &feature in &self.constant {
            intersect(&mut set, &self.of(table, feature, row[feature]));
        }
        Cow::Owned(set)
    }

    /// The sum of a row's leaves, tree by tree.
    pub(super) fn sum(&self, table: &SourceTable, row: &[Code]) -> f64 {
        let varying = self.varying.iter().map(|&feature| self.of(table, feature, row[feature]));
        let sets: Vec<Cow<'_, [u64]>> = [self.of_constant(table, row)].into_iter().chain(varying).collect();
        self.leaf_sets.sum(&sets.iter().map(|set| &**set).collect::<Vec<_>>())
    }

    /// Whether a row has the only codes of the constant features, rather than unknown ones.
    pub(super) fn knows_constant(&self, row: &[Code]) -> bool {
        self.constant.iter().all(|&feature| row[feature] == 0)
    }

    /// For each code of each feature, in order, the sum of leaves of the row with this code in place of its own, up to
    /// rounding. Its constant features are known.
    pub(super) fn neighbours(&self, table: &SourceTable, row: &[Code], sums: &mut [f64]) {
        let own: Vec<Cow<'_, [u64]>> =
            self.varying.iter().map(|&feature| self.of(table, feature, row[feature])).collect();
        let own: Vec<&[u64]> = own.iter().map(|set| &**set).collect();
        let code_words = self.code_words.get_or_init(|| self.code_words(table));
        vectorised(SumNeighbours {
            of_constant: &self.of_constant,
            leaf_sets: self.leaf_sets,
            own: &own,
            code_words,
            sums,
        });
    }

    /// The codes of the varying features, in words.
    fn code_words(&self, table: &SourceTable) -> Vec<CodeWord<'a>> {
        let mut words = Vec::with_capacity(self.varying.len());
        for (varying, &feature) in self.varying.iter().enumerate() {
            let ([source, place], codes) = (self.features[feature], table.cardinalities()[feature]);
            let conditions = self.leaf_sets.conditions.of_source(source);
            for start in (0..codes).step_by(MOST_CODES) {
                let range = start..codes.min(start + MOST_CODES);
                let (first, codes) = (place + start, range.len());
                let met = conditions.codes(table, feature, range);
                words.push(CodeWord { varying, first, codes, conditions, met });
            }
        }
        words
    }
}

/// Adds up the leaves of a row with each code in place of its own.
struct SumNeighbours<'a> {
    leaf_sets: &'a LeafSets,
    of_constant: &'a [u64],
    /// The leaves that the row's codes of the varying features lead to.
    own: &'a [&'a [u64]],
    code_words: &'a [CodeWord<'a>],
    sums: &'a mut [f64],
}

impl Kernel for SumNeighbours<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { leaf_sets: LeafSets { values, trees, .. }, of_constant, own, code_words, sums } = self;
        // The row's leaves, and those that one other code leads to: the leaves in all sets, and in all but one.
        let (mut common, mut near) = (of_constant.to_vec(), vec![0; of_constant.len()]);
        for set in own {
            for ((common, near), set) in common.iter_mut().zip(&mut near).zip(*set) {
                *near = *near & set | *common & !set;
                *common &= set;
            }
        }
        // The values of the row's leaves, tree by tree.
        let mut reached = Vec::with_capacity(trees.last().map_or(0, |last| *last as usize + 1));
        visit_common(&[&common], |leaf| reached.push(values[leaf]));
        let sum: f64 = reached.iter().sum();
        sums.fill(sum);
        let mut leaves = [0; LEAVES_A_BLOCK + 1];
        let mut changes: Vec<(u64, f64)> = Vec::with_capacity(LEAVES_A_FEATURE);
        for code_word in code_words {
            // What each leaf adds, and to which codes.
            changes.clear();
            let own = own[code_word.varying];
            for (place, [near, own]) in blocks([&near, own]).enumerate() {
                let others: Block = std::array::from_fn(|word| near[word] & !own[word]);
                for leaf in list_block(place, &others, &mut leaves).iter().map(|&leaf| leaf as usize) {
                    let met = code_word.met[code_word.conditions.of_leaf(leaf)];
                    changes.push((met, values[leaf] - reached[trees[leaf] as usize]));
                }
            }
            let sums = &mut sums[code_word.first..][..code_word.codes];
            for (lanes, sums) in sums.chunks_mut(LANES).enumerate() {
                let mut gains = [0.0; LANES];
                for &(met, gain) in &changes {
                    let met = &MASKS[usize::from((met >> (lanes * LANES)) as u8)];
                    for (gains, mask) in gains.iter_mut().zip(met) {
                        *gains += f64::from_bits(gain.to_bits() & mask);
                    }
                }
                sums.iter_mut().zip(gains).for_each(|(sum, gain)| *sum += gain);
            }
        }
    }
}
