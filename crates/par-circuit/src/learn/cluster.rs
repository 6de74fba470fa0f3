//! Clusters of similar rows: a mixture of independent variables, fitted by EM.

use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use super::base_rates::BaseRates;
use super::columns::ColumnMajor;
use crate::log_space::log_sum_exp;
use crate::{Code, OPEN, Stop, Stopped};

/// Rows that the mixture is fitted to, at most; it then assigns all rows. More rows change the groups little
/// and cost much at the top of a tree.
const SAMPLE: usize = 10_000;

/// Rounds of EM.
const ROUNDS: usize = 20;

/// Pseudo-count of a group's categories, spread like the base rates.
const PRIOR: f64 = 1.0;

/// Rows between two polls of [`Stop`].
const CHUNK: usize = 1024;

/// The group of every row, below `groups`; groups may be empty.
pub(crate) fn cluster(
    columns: &ColumnMajor,
    scope: &[usize],
    rows: &[u32],
    groups: usize,
    rates: &BaseRates,
    rng: &mut ChaCha8Rng,
    stop: Stop<'_>,
) -> Result<Vec<usize>, Stopped> {
    let sample: Vec<u32> = if rows.len() > SAMPLE {
        index::sample(rng, rows.len(), SAMPLE).iter().map(|position| rows[position]).collect()
    } else {
        rows.to_vec()
    };
    let seeds = spread(columns, scope, &sample, groups, rng);
    let mut shares = vec![0.0; sample.len() * groups];
    for (&row, shares) in sample.iter().zip(shares.chunks_exact_mut(groups)) {
        let distance = |group: &usize| mismatches(columns, scope, row, seeds[*group]);
        shares[(0..groups).min_by_key(distance).expect("at least one group")] = 1.0;
    }
    let mut mixture = Mixture::fit(columns, scope, &sample, &shares, rates);
    for _ in 0..ROUNDS {
        for (rows, shares) in sample.chunks(CHUNK).zip(shares.chunks_mut(CHUNK * groups)) {
            stop.check()?;
            for (&row, shares) in rows.iter().zip(shares.chunks_exact_mut(groups)) {
                mixture.scores(columns, row, shares);
                let total = log_sum_exp(shares.iter().copied());
                shares.iter_mut().for_each(|share| *share = (*share - total).exp());
            }
        }
        mixture = Mixture::fit(columns, scope, &sample, &shares, rates);
    }
    let mut scores = vec![0.0; groups];
    let mut likeliest = |&row: &u32| {
        mixture.scores(columns, row, &mut scores);
        (0..groups).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).expect("at least one group")
    };
    let mut found = Vec::with_capacity(rows.len());
    for rows in rows.chunks(CHUNK) {
        stop.check()?;
        found.extend(rows.iter().map(&mut likeliest));
    }
    Ok(found)
}

/// Rows far from each other: the first at random, each next one the farthest from those before it.
fn spread(
    columns: &ColumnMajor,
    scope: &[usize],
    sample: &[u32],
    groups: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<u32> {
    let first = sample[index::sample(rng, sample.len(), 1).index(0)];
    let mut seeds = vec![first];
    let mut distances: Vec<usize> =
        sample.iter().map(|&row| mismatches(columns, scope, row, first)).collect();
    while seeds.len() < groups {
        let farthest = (0..sample.len()).max_by_key(|&position| distances[position]);
        let seed = sample[farthest.expect("the sample has rows")];
        seeds.push(seed);
        for (distance, &row) in distances.iter_mut().zip(sample) {
            *distance = (*distance).min(mismatches(columns, scope, row, seed));
        }
    }
    seeds
}

fn mismatches(columns: &ColumnMajor, scope: &[usize], a: u32, b: u32) -> usize {
    let differ = |&&variable: &&usize| columns.of(variable)[a as usize] != columns.of(variable)[b as usize];
    scope.iter().filter(differ).count()
}

struct Mixture {
    log_weights: Vec<f64>,
    /// `[variable of the scope][code][group]`
    log_probabilities: Vec<(usize, Vec<f64>)>,
}

impl Mixture {
    /// The mixture in which `shares`, `[row][group]`, assign rows to groups.
    fn fit(columns: &ColumnMajor, scope: &[usize], rows: &[u32], shares: &[f64], rates: &BaseRates) -> Self {
        let groups = shares.len() / rows.len();
        let mut weights = vec![PRIOR / groups as f64; groups];
        for shares in shares.chunks_exact(groups) {
            weights.iter_mut().zip(shares).for_each(|(weight, share)| *weight += share);
        }
        let total: f64 = weights.iter().sum();
        let log_weights = weights.iter().map(|weight| (weight / total).ln()).collect();
        let of_variable = |&variable: &usize| {
            let column = columns.of(variable);
            let rates = rates.of(variable);
            let mut masses: Vec<f64> = rates.iter().flat_map(|rate| vec![rate * PRIOR; groups]).collect();
            for (&row, shares) in rows.iter().zip(shares.chunks_exact(groups)) {
                let code = column[row as usize];
                if code != OPEN {
                    let masses = &mut masses[usize::from(code) * groups..][..groups];
                    masses.iter_mut().zip(shares).for_each(|(mass, share)| *mass += share);
                }
            }
            for group in 0..groups {
                let total: f64 = masses.iter().skip(group).step_by(groups).sum();
                masses.iter_mut().skip(group).step_by(groups).for_each(|mass| *mass = (*mass / total).ln());
            }
            (variable, masses)
        };
        Self { log_weights, log_probabilities: scope.iter().map(of_variable).collect() }
    }

    /// For each group, the logarithm of its weight times the row's probability in it.
    fn scores(&self, columns: &ColumnMajor, row: u32, scores: &mut [f64]) {
        scores.copy_from_slice(&self.log_weights);
        for (variable, log_probabilities) in &self.log_probabilities {
            let code: Code = columns.of(*variable)[row as usize];
            if code != OPEN {
                let terms = &log_probabilities[usize::from(code) * scores.len()..];
                scores.iter_mut().zip(terms).for_each(|(score, term)| *score += term);
            }
        }
    }
}
