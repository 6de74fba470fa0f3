//! What all cells of a column show.

use std::collections::BTreeMap;

use super::lexicon::Meaning;
use super::relations::Rounding;
use super::{lexicon, names};
use crate::schema::parse::{MISSING_TEXT, parse_number};

/// Largest number of distinct texts of a feature.
pub(super) const MAX_DISTINCT: usize = 200;
/// Largest number of categories that are coded as whole numbers.
const MAX_CODES: usize = 60;
/// Longest text of a category, in bytes.
const MAX_CATEGORY_BYTES: usize = 1 << 10;
/// Upper end of the range of ages, in years.
const OLDEST: f64 = 120.0;
/// Texts among numbers that stand for a missing one.
const NO_NUMBER: [&str; 9] = ["?", "-", ".", "N/A", "n/a", "#N/A", "None", "none", "unknown"];
/// Numbers that often stand for something else.
const SENTINELS: [f64; 17] = [
    -1.0, -7.0, -8.0, -9.0, -77.0, -88.0, -99.0, -999.0, -9999.0, 96.0, 97.0, 98.0, 99.0, 999.0, 9999.0,
    99999.0, 999_999.0,
];
/// How many times the second highest number the highest is, if it stands for something else.
const FAR: f64 = 20.0;
/// A sentinel stands in at least this share of the cells.
const SENTINEL_SHARE: f64 = 0.002;

/// The properties of a column's cells.
pub(super) struct Profile {
    pub(super) name: String,
    pub(super) words: Vec<String>,
    /// The distinct texts and how often each occurs, up to one more than [`MAX_DISTINCT`] texts.
    texts: BTreeMap<String, u64>,
    /// The distinct numbers in ascending order, up to one more than [`MAX_DISTINCT`]: `1`, `1.0` and `01` are
    /// one number.
    numbers: Vec<f64>,
    /// The distinct texts that are no numbers, up to one more than [`NO_NUMBER`] has.
    others: Vec<String>,
    /// How often each of [`SENTINELS`] occurs.
    sentinels: [u64; SENTINELS.len()],
    pub(super) missing: u64,
    pub(super) cells: u64,
    has_long_text: bool,
    pub(super) whole: bool,
    /// Whether each number is one above the last, as a row number is.
    counting: bool,
    pub(super) low: f64,
    pub(super) high: f64,
    /// How often the highest number occurs, and the highest below it.
    highest: u64,
    second: f64,
    /// The lowest and highest number that is no sentinel.
    ordinary: [f64; 2],
    /// Most decimals of a number.
    pub(super) decimals: usize,
}

impl Profile {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_string(),
            words: names::words(name),
            texts: BTreeMap::new(),
            numbers: Vec::new(),
            others: Vec::new(),
            sentinels: [0; SENTINELS.len()],
            missing: 0,
            cells: 0,
            has_long_text: false,
            whole: true,
            counting: true,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            highest: 0,
            second: f64::NEG_INFINITY,
            ordinary: [f64::INFINITY, f64::NEG_INFINITY],
            decimals: 0,
        }
    }

    pub(super) fn add(&mut self, cell: &str) {
        let text = cell.trim();
        if MISSING_TEXT.contains(&text) {
            self.missing += 1;
            return;
        }
        match parse_number(text) {
            Some(number) => self.add_number(number, text),
            None if self.others.len() <= NO_NUMBER.len()
                && !self.others.iter().any(|other| other == text) =>
            {
                self.others.push(text.chars().take(MAX_CATEGORY_BYTES).collect());
            }
            None => {}
        }
        self.cells += 1;
        if text.len() > MAX_CATEGORY_BYTES {
            self.has_long_text = true;
        } else if let Some(count) = self.texts.get_mut(text) {
            *count += 1;
        } else if self.texts.len() <= MAX_DISTINCT {
            self.texts.insert(text.to_string(), 1);
        }
    }

    fn add_number(&mut self, number: f64, text: &str) {
        self.counting &= self.cells == 0 || number == self.high + 1.0;
        self.whole &= number.fract() == 0.0;
        self.low = self.low.min(number);
        if number > self.high {
            (self.second, self.high, self.highest) = (self.high, number, 1);
        } else if number == self.high {
            self.highest += 1;
        } else {
            self.second = self.second.max(number);
        }
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        self.decimals = self.decimals.max(decimals);
        match SENTINELS.iter().position(|sentinel| *sentinel == number) {
            Some(sentinel) => self.sentinels[sentinel] += 1,
            None => self.ordinary = [self.ordinary[0].min(number), self.ordinary[1].max(number)],
        }
        let at = self.numbers.partition_point(|other| *other < number);
        if self.numbers.get(at) != Some(&number) && self.numbers.len() <= MAX_DISTINCT {
            self.numbers.insert(at, number);
        }
    }

    /// Whether the values are numbers rather than categories written as numbers.
    pub(super) fn is_of_numbers(&self) -> bool {
        self.numbers.len() > 2 + self.special().len() && self.no_numbers().is_some() && !self.is_of_codes()
    }

    /// The texts among the numbers that stand for a missing one; `None` if there is any other text.
    pub(super) fn no_numbers(&self) -> Option<&[String]> {
        self.others.iter().all(|other| NO_NUMBER.contains(&other.as_str())).then_some(&self.others)
    }

    /// Whether whole numbers are codes of categories, as the name says.
    pub(super) fn is_of_codes(&self) -> bool {
        let is_named = || match lexicon::entry(&self.words).map(|entry| entry.meaning) {
            Some(Meaning::Protected) => !names::has_any(&self.words, lexicon::COUNTED),
            Some(Meaning::Clock | Meaning::Act(_)) => false,
            Some(Meaning::Never | Meaning::Unclear) | None => {
                let last = self.words.last().map(std::slice::from_ref).unwrap_or_default();
                names::has_any(last, lexicon::CODE)
            }
        };
        self.whole && self.others.is_empty() && (3..=MAX_CODES).contains(&self.numbers.len()) && is_named()
    }

    /// Number of distinct values, up to one more than [`MAX_DISTINCT`]: texts for categories, numbers
    /// otherwise.
    pub(super) fn distinct(&self) -> usize {
        if self.is_of_numbers() {
            self.numbers.len()
        } else {
            (self.texts.len() + usize::from(self.has_long_text)).min(MAX_DISTINCT + 1)
        }
    }

    /// Whether there are too many texts for categories.
    pub(super) fn is_free_text(&self) -> bool {
        !self.is_of_numbers() && (self.distinct() > MAX_DISTINCT || self.has_long_text)
    }

    /// Whether each number is one above the last.
    pub(super) fn is_counting(&self) -> bool {
        self.counting && self.others.is_empty() && self.numbers.len() > 10
    }

    /// The distinct texts; numbers in ascending order.
    pub(super) fn values(&self) -> Vec<&str> {
        let mut values: Vec<&str> = self.texts.keys().map(String::as_str).collect();
        if self.others.is_empty() {
            let number = |text: &str| parse_number(text).unwrap_or(f64::INFINITY);
            values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        values
    }

    /// The most frequent texts with how often each occurs, most frequent first.
    pub(super) fn frequent(&self) -> Vec<(&str, u64)> {
        let mut texts: Vec<(&str, u64)> =
            self.texts.iter().map(|(text, count)| (text.as_str(), *count)).collect();
        texts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        texts
    }

    /// The numbers that stand for something else: known ones that are frequent and far from all others.
    pub(super) fn special(&self) -> Vec<f64> {
        let [low, high] = self.ordinary;
        if self.no_numbers().is_none() || !low.is_finite() || low == high {
            return Vec::new();
        }
        let enough = (self.cells as f64 * SENTINEL_SHARE).max(3.0);
        let is_far = |number: f64| if number < 0.0 { low >= 0.0 } else { high > 0.0 && high < number / 2.0 };
        let far: Vec<(f64, u64)> = SENTINELS
            .into_iter()
            .zip(self.sentinels)
            .filter(|(number, count)| *count > 0 && is_far(*number))
            .collect();
        // A rare one counts beside a frequent one on the same side.
        let is_special = |number: f64| {
            far.iter().any(|(other, count)| *count as f64 >= enough && (*other < 0.0) == (number < 0.0))
        };
        let mut special: Vec<f64> =
            far.iter().map(|(number, _)| *number).filter(|number| is_special(*number)).collect();
        // Any other number far above the rest, such as 365243 days.
        if self.highest as f64 >= enough && self.second > 0.0 && self.high >= FAR * self.second.max(10.0) {
            special.push(self.high);
        }
        special.sort_by(f64::total_cmp);
        special.dedup();
        special
    }

    /// Whether the numbers are 0 or 1 up to at most 9 without a gap, as codes of categories are.
    pub(super) fn is_short_scale(&self) -> bool {
        let distinct = self.numbers.len() as f64;
        self.whole
            && (0.0..=1.0).contains(&self.low)
            && self.high <= 9.0
            && distinct == self.high - self.low + 1.0
    }

    /// Whether the name says that the column is about rows, not people.
    pub(super) fn is_row_role(&self) -> bool {
        names::has_any(&self.words, "=fold, =subtest") || names::has_any(&self.words, lexicon::ID)
    }

    /// The lowest and highest number that is not special.
    pub(super) fn ordinary_ends(&self) -> [f64; 2] {
        let special = self.special();
        let present = SENTINELS.into_iter().zip(self.sentinels).filter(|(_, count)| *count > 0);
        let [low, high] = self.ordinary;
        let high = if special.contains(&high) { self.second } else { high };
        present
            .filter(|(number, _)| !special.contains(number))
            .fold([low, high], |[low, high], (number, _)| [low.min(number), high.max(number)])
    }

    /// What rounding can have taken: of decimals half a unit of the last, of many decimals single precision; of
    /// whole numbers nothing.
    pub(super) fn rounding(&self) -> Rounding {
        match self.decimals {
            0 | 1 => Rounding { absolute: 0.0, relative: 1e-9 },
            2..=6 => Rounding { absolute: 0.5001 * 10f64.powi(-(self.decimals as i32)), relative: 1e-9 },
            _ => Rounding { absolute: 0.0, relative: 1e-6 },
        }
    }

    /// The range of the numbers, if the name implies one: an age is from 0 to 120.
    pub(super) fn range(&self) -> Option<[f64; 2]> {
        if self.low < 0.0 || !names::has_any(&self.words, lexicon::NEVER_NEGATIVE) {
            return None;
        }
        let is_age = self.is_age_in_years() && self.high <= OLDEST;
        Some([0.0, if is_age { OLDEST } else { f64::INFINITY }])
    }

    /// Whether it is an age, and in years.
    pub(super) fn is_age_in_years(&self) -> bool {
        names::has_any(&self.words[..self.words.len().min(1)], "age")
            && !names::has_any(&self.words, "day, week, month")
            && self.ordinary_ends()[0] >= 0.0
            && self.ordinary_ends()[1] <= OLDEST
    }
}
