//! Which leaves the codes of one person lead to, and the sums of leaves of rows and of all their single changes.

use std::borrow::Cow;

use par_circuit::{Code, vectorised};

use super::leaf_sets::{LeafSets, VisitLeaves, intersect};
use super::table::SourceTable;

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
}

/// The leaves that the codes of features with several sources lead to, as of one-hot categories, `[feature][code]`. Other
/// features have none.
#[derive(Clone, Debug)]
pub(crate) struct JointSets(Vec<Vec<Vec<u64>>>);

impl JointSets {
    pub(super) fn new(leaf_sets: &LeafSets, table: &SourceTable) -> Self {
        let mut first = 0;
        let of_feature = |(feature, &codes): (usize, &usize)| {
            let start = first;
            first += table.sources(feature);
            let set = |code: Code| leaf_sets.of_all(start, table.numbers(feature, code)).into_owned();
            if table.sources(feature) > 1 { (0..codes as Code).map(set).collect() } else { Vec::new() }
        };
        Self(table.cardinalities().iter().enumerate().map(of_feature).collect())
    }

    pub(crate) fn get(&self, feature: usize, code: Code) -> Option<&[u64]> {
        self.0[feature].get(usize::from(code)).map(Vec::as_slice)
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
        let mut all = Self { leaf_sets, features, sets, varying, constant, of_constant };
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
        let LeafSets { values, trees, width, all, .. } = self.leaf_sets;
        let own: Vec<Cow<'_, [u64]>> =
            self.varying.iter().map(|&feature| self.of(table, feature, row[feature])).collect();
        // For each varying feature, the leaves that its codes may reach while all others stay.
        let mut within_reach = vec![0; width * own.len()];
        let mut reached = self.of_constant.clone();
        for (set, within_reach) in own.iter().zip(within_reach.chunks_exact_mut(*width)) {
            within_reach.copy_from_slice(&reached);
            intersect(&mut reached, set);
        }
        let mut after = all.clone();
        for (set, within_reach) in own.iter().zip(within_reach.chunks_exact_mut(*width)).rev() {
            intersect(within_reach, &after);
            intersect(&mut after, set);
        }
        let mut leaves = Vec::new();
        vectorised(VisitLeaves { sets: &[&reached], visit: |leaf: usize| leaves.push(values[leaf]) });
        let sum: f64 = leaves.iter().sum();
        sums.fill(sum);
        let mut others: Vec<(usize, u64)> = Vec::new();
        for (&feature, within_reach) in self.varying.iter().zip(within_reach.chunks_exact(*width)) {
            let words = within_reach.iter().zip(&reached).map(|(bits, reached)| bits & !reached);
            others.clear();
            others.extend(words.enumerate().filter(|(_, bits)| *bits != 0));
            let [_, place] = self.features[feature];
            for code in (0..table.cardinalities()[feature]).filter(|&code| code != usize::from(row[feature]))
            {
                let set = &*self.sets[place + code];
                let mut gain = 0.0;
                for &(word, bits) in &others {
                    let mut bits = bits & set[word];
                    while bits != 0 {
                        let leaf = word * 64 + bits.trailing_zeros() as usize;
                        gain += values[leaf] - leaves[trees[leaf] as usize];
                        bits &= bits - 1;
                    }
                }
                sums[place + code] = sum + gain;
            }
        }
    }
}
