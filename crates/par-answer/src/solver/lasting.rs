//! Ways that last: what they must withstand, and what that costs.

use par_data::{Candidates, Choice};
use par_model::classifier::{Classifier, RobustClassifier, Version, denials};
use par_model::{Model, RowError};

use super::{Person, Solver};
use crate::answer::{Accepting, Answer};
use crate::problem::Solution;
use crate::request::Request;
use crate::slack::{SlackClassifier, Steps};

/// How exactly it is known how far a classifier may move.
const PRECISION: f64 = 1e-5;

/// What a way must withstand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demands {
    /// The share of the classifier's versions that must accept it.
    pub(crate) robust: Option<f64>,
    /// The deployed classifier's log-odds that versions match by accepting: those of its threshold, or of the request's
    /// if that is lower. What a request asks for beyond them, it asks of versions too.
    pub(crate) needed: f64,
    /// How far the classifier's weights or thresholds may move.
    pub(crate) certify: Option<f64>,
    /// Whether any one change may fall a step short.
    pub(crate) slack: bool,
}

impl Demands {
    pub(crate) fn of(request: &Request, model: &Model) -> Self {
        let log_odds = |threshold: f64| model.scale().log_odds(threshold);
        let needed = log_odds(model.threshold()).min(log_odds(request.threshold_for(model)));
        Self { robust: request.robust, needed, certify: request.certify, slack: request.slack }
    }

    pub(crate) fn are_none(self) -> bool {
        self.robust.is_none() && self.certify.is_none() && !self.slack
    }

    /// Whether searches read values: the deployed classifier does, or a version that must accept.
    pub(crate) fn read_values(self, model: &Model) -> bool {
        let versions = self.robust.map_or(&[][..], |_| model.versions());
        model.classifier().reads_values() || versions.iter().any(|version| version.classifier.reads_values())
    }
}

impl<'m> Solver<'m> {
    /// The classifier that searches for one person ask: the deployed one, and what a way must withstand besides. Over
    /// choices if the demands read values, otherwise over codes.
    pub(super) fn demanding(
        &self,
        cells: &[&str],
        candidates: &Candidates<'_>,
        demands: Demands,
    ) -> Result<Box<dyn Classifier + 'm>, RowError> {
        let (model, reads_values) = (self.model, demands.read_values(self.model));
        let deployed = model.classifier();
        let mut classifier = match (demands.certify, reads_values) {
            (None, true) => deployed.of_choices(cells, candidates)?,
            (None, false) => deployed.of_person(cells, candidates)?,
            (Some(moved), true) => deployed.certified_of_choices(cells, candidates, moved)?,
            (Some(moved), false) => deployed.certified(cells, candidates, moved)?,
        };
        if let Some(share) = demands.robust {
            let of = |version: &'m Version| {
                let own = match reads_values {
                    true => version.classifier.of_choices(cells, candidates)?,
                    false => version.classifier.of_person(cells, candidates)?,
                };
                Ok((version, own))
            };
            let versions = model.versions().iter().map(of).collect::<Result<Vec<_>, RowError>>()?;
            classifier = Box::new(RobustClassifier::new(classifier, demands.needed, versions, share));
        }
        if demands.slack {
            let steps = Steps::new(model.discretizer(), candidates);
            classifier = Box::new(SlackClassifier::new(classifier, &steps, candidates, reads_values));
        }
        Ok(classifier)
    }

    /// The score of a solution's row as written, or the lowest of those that it must withstand.
    pub(super) fn withstood(&self, person: Person<'_>, solution: &Solution) -> Result<f64, RowError> {
        let choices = &solution.row.choices;
        let mut lowest = self.withstood_as_written(person, choices)?;
        if person.demands.slack {
            let steps = Steps::new(self.model.discretizer(), person.candidates);
            for (feature, short) in steps.short_of(choices) {
                let mut missed = choices.clone();
                missed[feature] = short;
                // What would follow need not be a candidate: it is not known what such a row comes to.
                let is_known = person.candidates.settle(&mut missed);
                let score = match is_known && person.candidates.keeps_policies(&missed) {
                    true => self.withstood_as_written(person, &missed)?,
                    false => f64::NEG_INFINITY,
                };
                lowest = lowest.min(score);
            }
        }
        Ok(self.model.scale().score(lowest))
    }

    /// The log-odds of a row of choices as written, or the lowest of those that versions and certificate ask for.
    fn withstood_as_written(&self, person: Person<'_>, choices: &[Choice]) -> Result<f64, RowError> {
        let model = self.model;
        let written = self.written(person, choices);
        let cells: Vec<&str> = written.iter().map(String::as_str).collect();
        let codes = model.discretizer().encode_row(&cells)?.into_codes();
        let mut deployed = model.classifier().log_odds(&cells, &codes)?;
        if let Some(moved) = person.demands.certify {
            deployed = deployed.min(model.classifier().certified_log_odds(&cells, &codes, moved)?);
        }
        let Some(share) = person.demands.robust else { return Ok(deployed) };
        let excess = model.versions().iter().map(|version| version.excess(&cells, &codes));
        let mut excess = excess.collect::<Result<Vec<f64>, RowError>>()?;
        excess.sort_by(f64::total_cmp);
        let counted = excess.get(denials(excess.len(), share));
        Ok(counted.map_or(deployed, |least| deployed.min(least + person.demands.needed)))
    }

    /// How many versions of the classifier accept a row as written; `None` if there are none. One that has no score for it
    /// does not accept it.
    pub(super) fn accepting(&self, person: Person<'_>, choices: &[Choice]) -> Option<Accepting> {
        let versions = self.model.versions();
        if versions.is_empty() {
            return None;
        }
        let written = self.written(person, choices);
        let cells: Vec<&str> = written.iter().map(String::as_str).collect();
        let codes = person.candidates.codes(choices);
        let accepts = |version: &&Version| version.excess(&cells, &codes).is_ok_and(|excess| excess >= 0.0);
        Some(Accepting { versions: versions.iter().filter(accepts).count(), of: versions.len() })
    }

    /// How far the classifier may move so that it surely accepts a row as written.
    pub(super) fn certified_up_to(&self, cells: &[String], threshold: f64) -> Option<f64> {
        let model = self.model;
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let codes = model.discretizer().encode_row(&cells).ok()?.into_codes();
        let needed = model.scale().log_odds(threshold);
        model.classifier().certified_up_to(&cells, &codes, needed, PRECISION).ok()
    }

    /// Adds to the ways of a request with demands the way of the same request without them.
    pub(super) fn add_plain(&mut self, cells: &[&str], request: &Request, answer: &mut Answer) {
        let Answer::Found(found) = answer else { return };
        if Demands::of(request, self.model).are_none() {
            return;
        }
        let plain = Request { robust: None, certify: None, slack: false, count: 1, ..request.clone() };
        if let Ok(Answer::Found(plain)) = self.search_answer(cells, &plain) {
            found.plain = plain.ways.into_iter().next().map(Box::new);
        }
    }
}
