//! From the result of a search to the ways that are shown.

use par_circuit::Code;
use par_data::{Decoded, Limits};
use par_model::classifier::{DeployedClassifier, Representative};
use par_model::{Model, Order, Target};

use super::{Person, SearchResult, Solver, problem, written};
use crate::answer::{BestAt, Change, Found, Point, Way};
use crate::offers::{Offer, Offers};
use crate::problem::{Candidate, SearchProblem};
use crate::request::{Method, Request};

impl Solver<'_> {
    /// The ways to show, if the search found one.
    pub(super) fn found(
        &mut self,
        person: Person<'_>,
        probability: f64,
        search: &SearchResult,
        proposals: &[Code],
        request: &Request,
    ) -> Option<Found> {
        let order = request.order.unwrap_or(self.model.config().answers.order);
        let (mut ways, frontier) = match order {
            Order::Balanced => self.balanced(person, search, proposals, request)?,
            Order::Likelihood => self.likeliest(person, search, proposals, request)?,
        };
        set_best_at(&mut ways, &frontier);
        let verified = self.model.classifier().verifies();
        let fewest_proved =
            frontier.first().is_some_and(|fewest| search.rules_out_fewer_than(fewest.changes.len()));
        Some(Found { probability, verified, ways, frontier, fewest_proved })
    }

    /// The likeliest way that is worth its changes, and further ones.
    fn likeliest(
        &mut self,
        person: Person<'_>,
        search: &SearchResult,
        proposals: &[Code],
        request: &Request,
    ) -> Option<(Vec<Way>, Vec<Point>)> {
        let best = search.frontier.choice(self.model.config().answers.price)?;
        let mut ways = vec![self.way(person, best, request.method, search.gap(best))];
        let budget = self.budget(person, request).max(best.changes);
        while ways.len() < request.count
            && !self.is_stopped()
            && let Some(way) = self.another_way(person, budget, proposals, &ways, request.method)
        {
            ways.push(way);
        }
        let frontier = search.frontier.candidates().iter().map(|candidate| Point {
            changes: self.changes(person, candidate, person.representative),
            log_likelihood: self.evaluator.log_prob(&candidate.row),
            probability: person.target.score(&candidate.row),
            row: candidate.row.clone(),
            representative: person.representative,
            gap: search.gap(candidate),
        });
        Some((ways, frontier.collect()))
    }

    /// Ways that no other dominates; no way or point beats the first in both changes and probability.
    fn balanced(
        &mut self,
        person: Person<'_>,
        search: &SearchResult,
        proposals: &[Code],
        request: &Request,
    ) -> Option<(Vec<Way>, Vec<Point>)> {
        let Request { method, count, .. } = *request;
        let price = self.model.config().answers.price;
        let mut offers = Offers::default();
        for candidate in search.frontier.candidates() {
            offers.add(self.offer(person, candidate, search.gap(candidate), &[]));
        }
        let budget = self.budget(person, request).max(offers.shown(price, 1).first()?.candidate.changes);
        let enough = person.target.threshold;
        let mut wanted = enough;
        // At most two searches per way: one among all rows and, if it finds nothing new, one for higher probabilities.
        for _ in 0..2 * count {
            let shown = offers.shown(price, count);
            if shown.len() >= count || wanted > 1.0 || self.is_stopped() {
                break;
            }
            let taken: Vec<Vec<usize>> = shown.iter().map(|offer| offer.features.clone()).collect();
            let target = Target { threshold: wanted, ..person.target };
            let problem = SearchProblem { target, ..problem(person, budget, &taken) };
            let mut further = self.search(&problem, proposals, method);
            self.verify(person, &mut further);
            let mut is_new = false;
            for candidate in further.frontier.candidates() {
                let gap = further.gap(candidate).filter(|_| wanted == enough);
                is_new |= offers.add(self.offer(person, candidate, gap, &taken));
            }
            wanted = match wanted == enough {
                _ if is_new => enough,
                true if !further.frontier.candidates().is_empty() => offers.surest().next_up(),
                _ => break,
            };
        }
        let shown = offers.shown(price, count);
        let ways = shown.iter().enumerate().map(|(place, offer)| {
            let is_before = |set: &Vec<usize>| shown[..place].iter().any(|before| before.features == *set);
            // A gap counts only if the search left out no changes but those of the ways shown before.
            let gap = offer.gap.filter(|_| offer.without.iter().all(is_before));
            self.way(person, &offer.candidate, method, gap)
        });
        let ways = ways.collect();
        let frontier = offers.frontier().into_iter().map(|offer| Point {
            changes: self.changes(person, &offer.candidate, person.representative),
            log_likelihood: offer.candidate.log_prob,
            probability: offer.probability,
            row: offer.candidate.row.clone(),
            representative: person.representative,
            gap: search.gap(&offer.candidate).filter(|gap| gap.is_finite()),
        });
        Some((ways, frontier.collect()))
    }

    /// The offer of a candidate.
    fn offer(
        &mut self,
        person: Person<'_>,
        candidate: &Candidate,
        gap: Option<f64>,
        without: &[Vec<usize>],
    ) -> Offer {
        let changes = self.changes(person, candidate, person.representative);
        let score = self.model.score(&written(person, &changes));
        Offer {
            candidate: Candidate { log_prob: self.evaluator.log_prob(&candidate.row), ..candidate.clone() },
            probability: score.expect("a decoded row can be encoded"),
            features: changes.iter().map(|change| change.feature).collect(),
            gap,
            without: without.to_vec(),
        }
    }

    /// The best way that leaves out a change of every way before it.
    fn another_way(
        &mut self,
        person: Person<'_>,
        budget: usize,
        proposals: &[Code],
        ways: &[Way],
        method: Method,
    ) -> Option<Way> {
        let features = |way: &Way| way.changes.iter().map(|change| change.feature).collect::<Vec<usize>>();
        let taken: Vec<Vec<usize>> = ways.iter().map(features).collect();
        let mut search = self.search(&problem(person, budget, &taken), proposals, method);
        self.verify(person, &mut search);
        let best = search.frontier.choice(self.model.config().answers.price)?;
        Some(self.way(person, best, method, search.gap(best)))
    }

    fn way(&mut self, person: Person<'_>, candidate: &Candidate, method: Method, gap: Option<f64>) -> Way {
        let model = self.model;
        // Searches score rows by several paths, whose last digits differ; answers use one of them.
        let log_likelihood = self.evaluator.log_prob(&candidate.row);
        let mut changes = self.changes(person, candidate, person.representative);
        let (mut similarity, mut distance) = (0.0, 0.0);
        for change in &changes {
            match model.moved_by(change.feature, person.cells[change.feature], change.value.text()) {
                Some(moved) => {
                    similarity += moved;
                    distance += moved;
                }
                None => distance += 1.0,
            }
        }
        // The row as written has to be accepted, not the codes it was found by.
        let cells = written(person, &changes);
        let probability = model.score(&cells).expect("a decoded row can be encoded");
        assert!(probability >= person.target.threshold, "a decoded recourse is accepted");
        let cells: Vec<String> = cells.into_iter().map(String::from).collect();
        if person.representative == Representative::Nearest {
            let anywhere = self.changes(person, candidate, Representative::Any);
            if self.accepts_throughout(person, &cells, &anywhere) {
                changes = anywhere;
            }
        }
        Way {
            row: candidate.row.clone(),
            cells,
            changes,
            probability,
            log_likelihood,
            percentile: model.pool().percentile(log_likelihood),
            // Finite, even for cells near the largest number.
            similarity: f64::min(similarity, f64::MAX),
            distance: f64::min(distance, f64::MAX),
            method,
            representative: person.representative,
            gap,
            best_at: Vec::new(),
        }
    }

    /// The changes of a candidate's row.
    pub(super) fn changes(
        &self,
        person: Person<'_>,
        candidate: &Candidate,
        representative: Representative,
    ) -> Vec<Change> {
        let codes = candidate.row.iter().zip(person.mask.factual()).enumerate();
        let changed = codes.filter(|(_, (code, own))| code != own);
        changed
            .map(|(feature, (&code, &own))| {
                let cell = person.cells[feature];
                change(self.model, feature, cell, own, code, representative, person.limits)
            })
            .collect()
    }

    /// Whether it is proved that a row is accepted for all values within the intervals of its changes.
    fn accepts_throughout(&self, person: Person<'_>, cells: &[String], changes: &[Change]) -> bool {
        let DeployedClassifier::External(external) = &self.model.classifier() else { return true };
        let ranges: Vec<(usize, [&str; 2])> = changes
            .iter()
            .filter_map(|change| match &change.value {
                Decoded::Interval { lowest, highest, .. } => {
                    Some((change.feature, [lowest.text.as_str(), highest.text.as_str()]))
                }
                _ => None,
            })
            .collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let least = external.least_log_odds(&cells, &ranges);
        least.is_some_and(|least| person.target.is_reached_by(least))
    }
}

/// The change of a feature from its cell, whose code is `own`, to a value of the bin of `code`, within the person's
/// limits.
///
/// # Panics
/// When `code` is neither `own` nor one of the feature's codes.
fn change(
    model: &Model,
    feature: usize,
    cell: &str,
    own: Code,
    code: Code,
    representative: Representative,
    limits: &Limits,
) -> Change {
    let decoded = model.discretizer().decode_within(feature, code, own, cell, limits);
    let value = representative.told(decoded, code < own);
    let described = &model.schema().features()[feature];
    let label = |text: &str| described.labels.get(text).map_or(text, String::as_str).to_string();
    let mut to = match &value {
        Decoded::Interval { lowest, highest, .. } if lowest.text != highest.text => {
            format!("{} to {}", lowest.text, highest.text)
        }
        other => label(other.text()),
    };
    if let Some(unit) = &described.unit {
        to = format!("{to} {unit}");
    }
    Change { feature, name: described.name.clone(), from: label(cell.trim()), to, value }
}

/// Sets what each way is best at, among all ways and points.
fn set_best_at(ways: &mut [Way], frontier: &[Point]) {
    let is_way = |point: &&Point| ways.iter().any(|way| way.row == point.row);
    let shown: Vec<(usize, f64, f64)> = ways
        .iter()
        .map(|way| (way.changes.len(), way.log_likelihood, way.probability))
        .chain(
            frontier
                .iter()
                .filter(|point| !is_way(point))
                .map(|point| (point.changes.len(), point.log_likelihood, point.probability)),
        )
        .collect();
    for way in ways {
        let fewest = shown.iter().all(|(changes, ..)| way.changes.len() <= *changes);
        let most_common = shown.iter().all(|(_, log_likelihood, _)| way.log_likelihood >= *log_likelihood);
        let surest = shown.iter().all(|(.., probability)| way.probability >= *probability);
        let strengths =
            [(fewest, BestAt::FewestChanges), (most_common, BestAt::MostCommon), (surest, BestAt::Surest)];
        way.best_at = strengths.into_iter().filter(|(has, _)| *has).map(|(_, strength)| strength).collect();
    }
}
