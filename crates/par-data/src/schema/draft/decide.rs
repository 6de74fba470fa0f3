//! What may happen to a feature, as far as its name and cells say.

use super::lexicon::{self, Act, Meaning, On};
use super::profile::Profile;
use super::{dates, names, order};
use crate::schema::{Direction, FeatureKind, Mutability};

/// A feature as it is drafted.
#[derive(Clone, Debug)]
pub(super) struct DraftedFeature {
    /// Its position in the table.
    pub(super) column: usize,
    pub(super) kind: FeatureKind,
    /// The categories, in order if it has one.
    pub(super) values: Vec<String>,
    pub(super) special: Vec<f64>,
    pub(super) range: Option<[f64; 2]>,
    pub(super) unit: Option<&'static str>,
    pub(super) change: Mutability,
    pub(super) reason: String,
    pub(super) sureness: Sureness,
    /// What a person can do, if it changes.
    pub(super) act: Option<Act>,
    /// How well it tells the label.
    pub(super) telling: Option<f64>,
}

/// How sure a decision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sureness {
    /// Nothing is decided.
    Open,
    /// A guess that people may correct.
    Guess,
    /// A name that leaves no doubt.
    Sure,
}

/// A word for the time to repay, in a table of loans.
const TIME_TO_REPAY: &str = "=duration, duration in month, duration month, month duration, maturity, =months";

impl DraftedFeature {
    pub(super) fn new(column: usize, profile: &Profile, telling: Option<f64>) -> Self {
        let mut feature = Self {
            column,
            kind: FeatureKind::Nominal,
            values: Vec::new(),
            special: Vec::new(),
            range: None,
            unit: None,
            change: Mutability::Undecided,
            reason: "nothing in its name says what a person can do".to_string(),
            sureness: Sureness::Open,
            act: None,
            telling,
        };
        if profile.is_of_numbers() {
            feature.kind = if profile.whole { FeatureKind::Discrete } else { FeatureKind::Continuous };
            feature.special = profile.special();
            feature.range = profile.range();
        } else {
            let values = profile.values();
            let order = order::in_order(&values).filter(|order| order.len() > 2);
            feature.kind = if order.is_some() { FeatureKind::Ordinal } else { FeatureKind::Nominal };
            feature.values = order.unwrap_or(values).into_iter().map(String::from).collect();
        }
        feature.decide(profile);
        feature
    }

    fn decide(&mut self, profile: &Profile) {
        if dates::is_year(profile) {
            return self.never("a year of the calendar");
        }
        let Some(entry) = lexicon::entry(&profile.words) else {
            if names::has_any(&profile.words, lexicon::ID) {
                self.never("a number or name of something");
            }
            return;
        };
        match entry.meaning {
            Meaning::Protected | Meaning::Never => self.never(entry.reason),
            Meaning::Clock => self.clock(profile, entry.reason),
            Meaning::Unclear => self.reason = entry.reason.to_string(),
            Meaning::Act(act) => self.act(profile, act, entry.reason),
        }
    }

    pub(super) fn never(&mut self, reason: &str) {
        (self.change, self.sureness, self.act) = (Mutability::Never, Sureness::Sure, None);
        self.reason = reason.to_string();
    }

    fn clock(&mut self, profile: &Profile, reason: &str) {
        let named = lexicon::UNITS.into_iter().find(|(_, words)| names::has_any(&profile.words, words));
        let is_plain_age =
            profile.is_age_in_years() && names::has_any(&profile.words, "=age, =age in year, =age year");
        let unit = named.map(|(unit, _)| unit).or(is_plain_age.then_some("years"));
        match unit {
            Some(unit) if self.kind.is_numeric() && profile.ordinary_ends()[0] >= 0.0 => {
                self.unit = Some(unit);
                self.change = Mutability::WithTime;
                self.sureness = Sureness::Sure;
                self.reason = format!("{reason}; it moves only as time passes");
            }
            _ => {
                self.never(reason);
                if self.kind.is_numeric() && profile.ordinary_ends()[0] >= 0.0 {
                    self.sureness = Sureness::Guess;
                    self.reason += "; with its `unit` it could be \"with-time\"";
                }
            }
        }
    }

    fn act(&mut self, profile: &Profile, act: Act, reason: &str) {
        let is_number = self.kind.is_numeric();
        let may_be_codes = is_number && profile.is_short_scale();
        let is_years_of_school = !is_number || profile.high >= 10.0 && profile.high <= 30.0;
        let fits = match act.on {
            On::Any => act.toward.is_none() || self.can_be_ordered(),
            On::Numbers => is_number,
            On::Ordered => self.can_be_ordered() && !may_be_codes,
            On::Schooling => self.can_be_ordered() && !may_be_codes && is_years_of_school,
        };
        if !fits {
            self.reason = format!("{reason}; but the order of its values is not known");
            return;
        }
        if act.toward.is_some() {
            self.put_in_order();
        }
        self.change = match act.toward {
            None => Mutability::Free,
            Some(Direction::Increase) => Mutability::Increase,
            Some(Direction::Decrease) => Mutability::Decrease,
        };
        self.sureness = Sureness::Guess;
        self.reason = reason.to_string();
        let is_bounded = act.bounds.is_some_and(|[low, high]| {
            self.special.iter().all(|special| *special < low || *special > high)
                && self.range.is_none_or(|range| range[0] <= low && high <= range[1])
        });
        let takes = if act.on == On::Schooling && is_number { Some("1 year per 1") } else { act.takes };
        self.act = Some(Act { takes, bounds: act.bounds.filter(|_| is_bounded), ..act });
    }

    /// Whether it has an order, or its categories have one that is known, as `no` and `yes`.
    pub(super) fn can_be_ordered(&self) -> bool {
        self.has_order() || order::in_order(&self.texts()).is_some()
    }

    /// Puts categories into their known order.
    pub(super) fn put_in_order(&mut self) {
        if let (FeatureKind::Nominal, Some(order)) = (self.kind, order::in_order(&self.texts())) {
            self.values = order.into_iter().map(String::from).collect();
            self.kind = FeatureKind::Ordinal;
        }
    }

    fn texts(&self) -> Vec<&str> {
        self.values.iter().map(String::as_str).collect()
    }

    /// Whether the categories or numbers have an order.
    pub(super) fn has_order(&self) -> bool {
        self.kind != FeatureKind::Nominal
    }

    /// Whether somebody can act on it, or time does.
    pub(super) fn moves(&self) -> bool {
        !matches!(self.change, Mutability::Never | Mutability::Undecided)
    }
}

/// In a table with the amount of a loan, a duration is the time to repay it.
pub(super) fn read_as_loans(features: &mut [DraftedFeature], profiles: &[Profile]) {
    let is_amount = |feature: &DraftedFeature| {
        feature.act.is_some_and(|act| act.by_lender && act.toward == Some(Direction::Decrease))
    };
    if !features.iter().any(is_amount) {
        return;
    }
    let entry = lexicon::entry(&names::words("loan term"));
    for feature in features.iter_mut().filter(|feature| feature.change == Mutability::Undecided) {
        let profile = &profiles[feature.column];
        if let Some(entry) = entry
            && let Meaning::Act(act) = entry.meaning
            && names::has_any(&profile.words, TIME_TO_REPAY)
        {
            feature.act(profile, act, entry.reason);
        }
    }
}
