//! How common the numbers of a bin are: p(value | code).

use serde::{Deserialize, Serialize};

use super::shared::SHARED;

/// How common the numbers of a bin are among people: spikes that many share, and a smooth remainder.
///
/// No number in it belongs to fewer than ten people: spikes have at least as many, and so have the pieces of the
/// remainder, whose edges divide the bin evenly. People are counted in tens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BinValues {
    /// Numbers that many people share, ascending, each with its share of the people of the bin.
    pub(super) spikes: Vec<(f64, f64)>,
    /// The edges of the pieces over which all others are spread evenly, ascending, one more than pieces.
    pub(super) edges: Vec<f64>,
    /// The share of people in each piece.
    pub(super) pieces: Vec<f64>,
}

/// A rarer number is part of the smooth remainder.
const LEAST_SPIKE: f64 = 0.01;
/// The most pieces of the smooth remainder.
const PIECES: usize = 8;
/// A number of the smooth remainder stands for this share of its bin's width.
const RESOLUTION: f64 = 0.01;

impl BinValues {
    /// Learns from the sorted numbers of people in the bin from `low` to `high`; `None` if they are fewer than ten, or
    /// the bin is too wide for its width to be a number. Fewer than ten people beside the spikes are left out. One person
    /// more is spread over the whole bin, so that no number is impossible.
    pub(super) fn learn(sorted: &[f64], low: f64, high: f64) -> Option<Self> {
        let people = sorted.len();
        if people < SHARED || !(high - low).is_finite() {
            return None;
        }
        let is_spike = |run: &&[f64]| run.len() >= SHARED.max((people as f64 * LEAST_SPIKE) as usize);
        let runs = || sorted.chunk_by(|a, b| a == b);
        let mut others: Vec<f64> = runs().filter(|run| !is_spike(run)).flatten().copied().collect();
        if others.len() < SHARED {
            others.clear();
        }
        let spikes: Vec<(f64, f64)> =
            runs().filter(is_spike).map(|run| (run[0], in_tens(run.len()))).collect();
        let even = |place: usize| low + (high - low) * place as f64 / PIECES as f64;
        let (mut edges, mut counts) = (vec![low], Vec::new());
        let mut before = 0;
        for place in 1..=PIECES {
            let edge = if place == PIECES { f64::INFINITY } else { even(place) };
            let below = others.partition_point(|number| *number < edge);
            if below - before >= SHARED && even(place) > edges[edges.len() - 1] {
                counts.push(below - before);
                edges.push(even(place));
                before = below;
            }
        }
        // Who is left belongs to the last piece.
        match counts.last_mut() {
            Some(last) => *last += others.len() - before,
            None => {
                counts.push(0);
                edges.push(high);
            }
        }
        let last = edges.len() - 1;
        edges[last] = high;
        let counts: Vec<f64> = counts.into_iter().map(in_tens).collect();
        let total = spikes.iter().map(|(_, count)| count).sum::<f64>() + counts.iter().sum::<f64>() + 1.0;
        let evenly = |piece: usize| (edges[piece + 1] - edges[piece]) / (high - low);
        let pieces =
            counts.iter().enumerate().map(|(piece, count)| (count + evenly(piece)) / total).collect();
        let spikes = spikes.into_iter().map(|(number, count)| (number, count / total)).collect();
        Some(Self { spikes, edges, pieces })
    }

    /// Numbers that many people share, ascending.
    pub(crate) fn spikes(&self) -> impl Iterator<Item = f64> {
        self.spikes.iter().map(|(number, _)| *number)
    }

    /// The share of people who have a number, where one of the smooth remainder stands for numbers as wide as `width`.
    pub(crate) fn share(&self, number: f64, width: f64) -> f64 {
        let spike = self.spikes.iter().find(|(spike, _)| *spike == number).map_or(0.0, |(_, share)| *share);
        spike + self.density(self.piece(number)) * width
    }

    /// How common a number is, in nats, at a hundredth of the bin's width, or at the `unit` of the column if that is
    /// wider.
    pub(crate) fn commonness(&self, number: f64, unit: f64) -> f64 {
        self.share(number, self.resolution(unit)).ln()
    }

    /// The share of people with lower numbers, and half of those with the same.
    pub(crate) fn place(&self, number: f64) -> f64 {
        let mut below = 0.0;
        for &(spike, share) in &self.spikes {
            below += if spike < number {
                share
            } else if spike == number {
                share / 2.0
            } else {
                0.0
            };
        }
        for piece in 0..self.pieces.len() {
            let (from, to) = (self.edges[piece], self.edges[piece + 1]);
            below += self.density(piece) * (number.clamp(from, to) - from);
        }
        below
    }

    /// The number at a place, with few digits.
    pub(crate) fn at(&self, place: f64, unit: f64) -> f64 {
        let mut below = 0.0;
        let mut spikes = self.spikes.iter().peekable();
        for piece in 0..self.pieces.len() {
            let (mut from, to, density) = (self.edges[piece], self.edges[piece + 1], self.density(piece));
            let is_last = piece + 1 == self.pieces.len();
            loop {
                let spike = spikes.next_if(|(number, _)| *number < to || is_last);
                let until = spike.map_or(to, |(number, _)| *number).max(from);
                let mass = density * (until - from);
                if place < below + mass {
                    return self.rounded(from + (place - below) / density, unit);
                }
                below += mass;
                from = until;
                match spike {
                    Some(&(number, share)) if place < below + share => return number,
                    Some((_, share)) => below += share,
                    None => break,
                }
            }
        }
        self.edges[self.pieces.len()]
    }

    fn piece(&self, number: f64) -> usize {
        self.edges[1..self.pieces.len()].partition_point(|edge| *edge <= number)
    }

    /// The share of people for each unit of a piece.
    fn density(&self, piece: usize) -> f64 {
        self.pieces[piece] / (self.edges[piece + 1] - self.edges[piece])
    }

    fn resolution(&self, unit: f64) -> f64 {
        ((self.edges[self.pieces.len()] - self.edges[0]) * RESOLUTION).max(unit)
    }

    /// A number without digits that the resolution does not tell apart.
    fn rounded(&self, number: f64, unit: f64) -> f64 {
        let digits = -self.resolution(unit).log10().floor();
        match digits > 0.0 {
            true => format!("{number:.*}", digits.min(17.0) as usize).parse().unwrap_or(number) + 0.0,
            false => (number * 10f64.powf(digits)).round() / 10f64.powf(digits) + 0.0,
        }
    }

    /// Whether `learn` may have produced it, for a bin with these ends.
    pub(super) fn is_of_bin(&self, [low, high]: [f64; 2]) -> bool {
        let ascend = |numbers: Vec<f64>| {
            numbers.iter().all(|n| n.is_finite()) && numbers.windows(2).all(|pair| pair[0] < pair[1])
        };
        let shares = || self.spikes.iter().map(|(_, share)| *share).chain(self.pieces.iter().copied());
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        let total: f64 = shares().sum();
        !self.pieces.is_empty()
            && self.edges.len() == self.pieces.len() + 1
            && self.pieces.len() <= PIECES
            && ascend(self.edges.clone())
            && ascend(self.spikes().collect())
            && self.spikes().all(|number| (low..=high).contains(&number))
            && [self.edges[0], self.edges[self.pieces.len()]] == [low, high]
            && (high - low).is_finite()
            && self.pieces.iter().all(|share| *share > 0.0)
            && shares().all(is_share)
            && (total - 1.0).abs() < 1e-6
    }
}

/// A number of people, rounded so that one more or less cannot be told.
fn in_tens(people: usize) -> f64 {
    (people as f64 / SHARED as f64).round() * SHARED as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 people have 40, 20 have 45, and one each has 30.5, 31, 31.5 and so on to 49.5.
    fn hours() -> BinValues {
        let mut numbers = vec![40.0; 40];
        numbers.extend([45.0; 20]);
        numbers.extend((0..39).map(|half| 30.5 + f64::from(half) / 2.0));
        numbers.sort_by(f64::total_cmp);
        BinValues::learn(&numbers, 30.0, 50.0).expect("enough people")
    }

    #[test]
    fn numbers_that_many_share_are_spikes() {
        let hours = hours();
        assert_eq!(hours.spikes().collect::<Vec<f64>>(), [40.0, 45.0]);
        assert!((hours.share(40.0, 0.0) - 40.0 / 91.0).abs() < 1e-9, "41 people, in tens");
        assert_eq!(hours.share(41.0, 0.0), 0.0);
        assert!(hours.share(41.0, 0.5) > 0.0);
        assert!(hours.commonness(45.0, 0.5) > hours.commonness(41.0, 0.5));
    }

    #[test]
    fn pieces_have_ten_people_and_all_shares_sum_to_one() {
        let hours = hours();
        assert_eq!(hours.edges, [30.0, 37.5, 50.0], "nine people from 45 on are too few");
        let people: Vec<f64> = hours.pieces.iter().map(|share| (share * 91.0).floor()).collect();
        assert_eq!(people, [10.0, 20.0], "14 and 23, in tens");
        let total: f64 =
            hours.spikes.iter().map(|(_, share)| share).sum::<f64>() + hours.pieces.iter().sum::<f64>();
        assert!((total - 1.0).abs() < 1e-9);
        assert!(hours.is_of_bin([30.0, 50.0]) && !hours.is_of_bin([30.0, 51.0]));
    }

    #[test]
    fn the_number_at_a_place_has_that_place() {
        let hours = hours();
        let mut last = f64::NEG_INFINITY;
        for percent in 0..=100 {
            let place = f64::from(percent) / 100.0;
            let number = hours.at(place, 0.1);
            assert!((30.0..=50.0).contains(&number) && number >= last, "{place}: {number}");
            last = number;
            let half = hours.share(number, 0.0) / 2.0;
            assert!((hours.place(number) - place).abs() <= half + 0.02, "{place}: {number}");
        }
        assert_eq!(hours.at(0.5, 0.1), 40.0);
    }

    #[test]
    fn few_people_tell_nothing() {
        assert_eq!(BinValues::learn(&[1.0; 9], 0.0, 2.0), None);
        let with_one_other = BinValues::learn(&[&[1.0; 12][..], &[1.7]].concat(), 0.0, 2.0).expect("twelve");
        assert_eq!(with_one_other.edges, [0.0, 2.0]);
        assert!((with_one_other.pieces[0] - 1.0 / 11.0).abs() < 1e-9, "the other one is not told");
    }

    #[test]
    fn one_person_more_or_less_is_not_told() {
        let learned = |people: usize| BinValues::learn(&vec![1.0; people], 0.0, 2.0);
        assert!((46..55).all(|people| learned(people) == learned(50)));
        assert_ne!(learned(50), learned(55));
    }

    #[test]
    fn a_bin_too_wide_to_measure_tells_nothing() {
        assert_eq!(BinValues::learn(&[0.0; 20], -1.5e308, 1.5e308), None);
    }

    #[test]
    fn numbers_at_places_have_no_more_decimals_than_the_unit() {
        for decimals in 0..=9 {
            let unit = 10f64.powi(-decimals);
            let narrow = BinValues { spikes: Vec::new(), edges: vec![0.0, 20.0 * unit], pieces: vec![1.0] };
            let number = narrow.at(0.37, unit);
            let written = format!("{number:.*}", decimals as usize);
            assert_eq!(written.parse::<f64>(), Ok(number), "{decimals} decimals");
        }
    }
}
