//! From the result of a search to the ways that are shown.

use par_data::Choice;
use par_model::ScoreScale;
use par_model::classifier::DeployedClassifier;

use super::lasting::Demands;
use super::tighten::is_proved;
use super::{Aim, Person, SearchResult, Solver};
use crate::answer::{Accepting, BestAt, Change, Found, Point, Solves, Way};
use crate::offers::{Offer, Offers};
use crate::problem::Solution;
use crate::request::{Method, Request};
use crate::words;

impl Solver<'_> {
    /// The ways to show, if the search found one.
    pub(super) fn found(
        &mut self,
        person: Person<'_>,
        search: &SearchResult,
        aim: &Aim,
        request: &Request,
    ) -> Option<Found> {
        let first = search.frontier.choice(aim.price)?;
        let solutions = search.frontier.solutions();
        let found: Vec<Offer> = (solutions.iter())
            .map(|solution| self.offer(person, aim, solution, search.gap(solution.changes), &[]))
            .collect();
        let frontier: Vec<Point> = found.iter().map(|offer| self.point(person, offer)).collect();
        let mut by_worth: Vec<&Offer> = found.iter().collect();
        by_worth.sort_by(|a, b| b.solution.net(aim.price).total_cmp(&a.solution.net(aim.price)));
        // Hardly less effort is not worth a further change: the first is one that no other dominates.
        if aim.solves == Solves::LeastEffort {
            let is_dominated = |offer: &Offer| found.iter().any(|other| other.dominates(offer));
            let undominated = by_worth.iter().position(|offer| !is_dominated(offer)).unwrap_or(0);
            by_worth[..=undominated].rotate_right(1);
        }
        let mut offers = Offers::default();
        by_worth.into_iter().for_each(|offer| {
            offers.add(offer.clone());
        });
        if request.count > 1 {
            let budget = self.budget(person, request).max(first.changes);
            self.add_further_offers(person, aim, budget, &mut offers, request);
        }
        let aims = self.aims(person.plausibility, request);
        let shown = offers.shown(request.count, |offer| worth(&aims, offer));
        let mut ways: Vec<Way> = Vec::with_capacity(shown.len());
        for (place, offer) in shown.iter().enumerate() {
            let is_before = |set: &Vec<usize>| shown[..place].iter().any(|before| before.features == *set);
            // A gap counts only if the search left out no changes but those of the ways shown before.
            let gap = offer.gap.filter(|_| offer.without.iter().all(is_before));
            let difference = shown[..place].iter().map(|before| offer.difference(before)).reduce(f64::min);
            ways.push(Way { gap, difference, ..self.way(person, aim, &aims, offer, request.method) });
        }
        set_best_at(&mut ways, &frontier, self.model.scale());
        let fewest = search.frontier.fewest()?;
        Some(Found {
            probability: person.probability,
            broken_policies: person.broken_policies.to_vec(),
            verified: self.model.classifier().verifies(),
            ways,
            frontier,
            fewest_proved: fewest == 1
                || aim.solves == Solves::Likeliest && search.rules_out_fewer_than(fewest),
            search_ended: false,
            unknown: self.if_known(person, request),
            plain: None,
        })
    }

    /// Adds offers of other searches: for the likeliest rows, for rows that leave out a change of every way so far, and
    /// for surer ones.
    fn add_further_offers(
        &mut self,
        person: Person<'_>,
        first: &Aim,
        budget: usize,
        offers: &mut Offers,
        request: &Request,
    ) {
        let aims = self.aims(person.plausibility, request);
        let likeliest = aims
            .iter()
            .find(|aim| aim.solves == Solves::Likeliest && aim.scale.reaches(first.threshold, aim.threshold));
        let Some(&aim) = likeliest else { return };
        let mut wanted = aim.threshold;
        if first.solves != aim.solves {
            let search = self.search(person, &aim, budget, &[], request.method);
            for solution in search.frontier.solutions() {
                offers.add(self.offer(person, &aim, solution, search.gap(solution.changes), &[]));
            }
        }
        self.add_lasting_offers(person, first, budget, offers, request.method);
        // At most two searches per way: one among all rows and, if it finds nothing new, one for higher probabilities.
        for _ in 0..request.count.saturating_mul(2) {
            let shown = offers.shown(request.count, |offer| worth(&aims, offer));
            if shown.len() >= request.count || !aim.scale.is_possible(wanted) || self.is_stopped() {
                break;
            }
            let taken: Vec<Vec<usize>> = shown.iter().map(|offer| offer.features.clone()).collect();
            let surer = Aim { threshold: wanted, ..aim };
            let further = self.search(person, &surer, budget, &taken, request.method);
            let mut is_new = false;
            for solution in further.frontier.solutions() {
                let gap = further.gap(solution.changes).filter(|_| wanted == aim.threshold);
                is_new |= offers.add(self.offer(person, &aim, solution, gap, &taken));
            }
            wanted = match wanted == aim.threshold {
                _ if is_new => aim.threshold,
                true if !further.frontier.solutions().is_empty() => match offers.surest(aim.scale) {
                    Some(score) => aim.scale.next(score),
                    None => break,
                },
                _ => break,
            };
        }
    }

    /// Adds the offers of a search for rows that all versions of the classifier accept, if the request does not ask for
    /// that.
    fn add_lasting_offers(
        &mut self,
        person: Person<'_>,
        aim: &Aim,
        budget: usize,
        offers: &mut Offers,
        method: Method,
    ) {
        let demands = Demands { robust: Some(1.0), ..person.demands };
        let is_further = !self.model.versions().is_empty() && person.demands.robust.is_none();
        if !is_further || demands.read_values(self.model) != person.reads_values {
            return;
        }
        let Ok(classifier) = self.demanding(person.cells, person.candidates, demands) else { return };
        // What is remembered is of another classifier.
        self.memory.forget();
        let search =
            self.search(Person { classifier: &*classifier, demands, ..person }, aim, budget, &[], method);
        self.memory.forget();
        for solution in search.frontier.solutions() {
            // Its gap would be among rows that all versions accept.
            offers.add(self.offer(person, aim, solution, None, &[]));
        }
    }

    /// The offer of a solution.
    fn offer(
        &mut self,
        person: Person<'_>,
        aim: &Aim,
        solution: &Solution,
        gap: Option<f64>,
        without: &[Vec<usize>],
    ) -> Offer {
        // Neighbours of a row are scored in single precision.
        let log_prob = self.evaluator.log_prob(&solution.row.codes);
        let probability = self.score(person, &solution.row.choices).expect("a verified row has a score");
        let withstood = match person.demands.are_none() {
            true => probability,
            false => self.withstood(person, solution).expect("a verified row has a score"),
        };
        let duration = person.candidates.duration_of(&solution.row.choices);
        let conditional = log_prob - person.log_given[duration.expect("a solution has a duration")];
        Offer {
            solution: Solution { log_prob, ..solution.clone() },
            probability,
            sureness: aim.scale.sureness(probability),
            withstood,
            accepting: self.accepting(person, &solution.row.choices),
            conditional,
            percentile: person.plausibility.percentile(conditional),
            months: person.candidates.months(&solution.row.choices),
            features: changed(person, &solution.row.choices).collect(),
            solves: aim.solves,
            gap,
            without: without.to_vec(),
        }
    }

    fn way(&mut self, person: Person<'_>, aim: &Aim, aims: &[Aim], offer: &Offer, method: Method) -> Way {
        let (model, choices) = (self.model, &offer.solution.row.choices);
        let cells = self.written(person, choices);
        let sure = aims.iter().find(|aim| aim.has_margin);
        // Of a surrogate nothing is certified for the classifier itself.
        let certified = person.demands.certify.filter(|_| model.classifier().verifies()).and_then(|asked| {
            let up_to = self.certified_up_to(&cells, aims.last()?.threshold)?;
            // Halving ends below what was asked for and verified.
            Some(up_to.max(asked))
        });
        let mut changes: Vec<Change> =
            offer.features.iter().map(|&feature| self.change(person, choices, feature)).collect();
        let is_alone = changes.len() == 1;
        for change in &mut changes {
            change.alone =
                if is_alone { Some(offer.probability) } else { self.alone(person, choices, change.feature) };
        }
        match person.demands.are_none() {
            true => {
                self.drop_unproved_ranges(aim, &cells, &mut changes);
                self.tighten(person, aim, &offer.solution.row, &cells, &mut changes);
            }
            // What withstands nothing but the deployed classifier is no range to name.
            false if person.reads_values => changes.iter_mut().for_each(|change| change.range = None),
            false => {}
        }
        let follows = |&feature: &usize| choices[feature] != 0 && !offer.features.contains(&feature);
        let consequences: Vec<Change> =
            (0..choices.len()).filter(follows).map(|feature| self.change(person, choices, feature)).collect();
        let (mut similarity, mut distance) = (0.0, 0.0);
        for change in &changes {
            match model.moved_by(change.feature, person.cells[change.feature], &change.value) {
                Some(moved) => {
                    similarity += moved;
                    distance += moved;
                }
                None => distance += 1.0,
            }
        }
        Way {
            row: offer.solution.row.codes.clone(),
            cells,
            changes,
            consequences,
            probability: offer.probability,
            has_margin: sure.is_none_or(|aim| aim.scale.reaches(offer.withstood, aim.threshold)),
            accepting: offer.accepting,
            certified,
            must_last: !person.demands.are_none(),
            log_likelihood: offer.solution.log_prob,
            conditional_log_likelihood: offer.conditional,
            percentile: offer.percentile,
            effort: offer.solution.cost.effort,
            months: offer.months,
            // Finite, even for cells near the largest number.
            similarity: f64::min(similarity, f64::MAX),
            distance: f64::min(distance, f64::MAX),
            method,
            solves: offer.solves,
            gap: None,
            best_at: Vec::new(),
            difference: None,
        }
    }

    /// The change of a feature, in words.
    fn change(&self, person: Person<'_>, choices: &[Choice], feature: usize) -> Change {
        let (discretizer, described) = (self.model.discretizer(), &self.model.schema().features()[feature]);
        let cell = person.cells[feature];
        let chosen = person.candidates.chosen(choices, feature);
        let value = person.candidates.text(discretizer, choices, feature, cell);
        let range = person.candidates.range(feature, chosen);
        let label = |text: &str| described.labels.get(text).map_or(text, String::as_str).to_string();
        Change {
            feature,
            name: described.name.clone(),
            from: label(cell.trim()),
            to: words::cell(described, &value),
            value,
            range,
            least: None,
            effort: chosen.effort,
            months: chosen.months,
            alone: None,
            is_harm: person.candidates.is_harm(choices, feature),
            who: described.who,
        }
    }

    /// The score if only one feature of a row changes, at the same time.
    fn alone(&self, person: Person<'_>, choices: &[Choice], feature: usize) -> Option<f64> {
        let duration = person.candidates.duration_of(choices)?;
        let mut row = person.candidates.durations()[duration].row.clone();
        row[feature] = choices[feature];
        let is_possible = person.candidates.settle(&mut row) && person.candidates.keeps_relations(&row);
        if is_possible { self.score(person, &row).ok() } else { None }
    }

    /// Without a proof that a classifier of values accepts everything within the ranges of all changes, each change
    /// names its value alone.
    fn drop_unproved_ranges(&self, aim: &Aim, cells: &[String], changes: &mut [Change]) {
        let DeployedClassifier::External(external) = &self.model.classifier() else { return };
        let ranges: Vec<(usize, [String; 2])> = changes
            .iter()
            .filter_map(|change| Some((change.feature, change.range?.map(|number| number.to_string()))))
            .collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let is_proved = external.written(&cells).is_ok_and(|written| is_proved(&written, aim, &ranges));
        if !is_proved {
            changes.iter_mut().for_each(|change| change.range = None);
        }
    }

    fn point(&self, person: Person<'_>, offer: &Offer) -> Point {
        let (discretizer, row) = (self.model.discretizer(), &offer.solution.row);
        let text = |&feature: &usize| {
            (feature, person.candidates.text(discretizer, &row.choices, feature, person.cells[feature]))
        };
        Point {
            changes: offer.features.iter().map(text).collect(),
            log_likelihood: offer.solution.log_prob,
            conditional_log_likelihood: offer.conditional,
            percentile: offer.percentile,
            probability: offer.probability,
            effort: offer.solution.cost.effort,
            months: offer.months,
            row: row.codes.clone(),
            gap: offer.gap,
        }
    }
}

/// What an offer is worth as a further way: by the likeliest problem of the request.
fn worth(aims: &[Aim], offer: &Offer) -> f64 {
    let aim = aims.iter().find(|aim| aim.solves == Solves::Likeliest);
    let Solution { cost, changes, .. } = offer.solution;
    aim.map_or(0.0, |aim| aim.objective.worth(offer.conditional, cost) - aim.price * changes as f64)
}

/// The features that the person changes, ascending.
fn changed<'a>(person: Person<'a>, choices: &'a [Choice]) -> impl Iterator<Item = usize> + 'a {
    person.candidates.free().iter().copied().filter(|&feature| choices[feature] != 0)
}

/// Sets what each way is best at, among all ways and points.
fn set_best_at(ways: &mut [Way], frontier: &[Point], scale: ScoreScale) {
    struct Virtues {
        effort: f64,
        changes: usize,
        conditional: f64,
        probability: f64,
        months: u32,
    }
    let of_way = |way: &Way| Virtues {
        effort: way.effort,
        changes: way.changes.len(),
        conditional: way.conditional_log_likelihood,
        probability: way.probability,
        months: way.months,
    };
    let of_point = |point: &Point| Virtues {
        effort: point.effort,
        changes: point.changes.len(),
        conditional: point.conditional_log_likelihood,
        probability: point.probability,
        months: point.months,
    };
    let is_way = |point: &&Point| {
        let is_same = |way: &Way| point.changes.iter().all(|(feature, cell)| way.cells[*feature] == *cell);
        ways.iter().any(|way| way.changes.len() == point.changes.len() && is_same(way))
    };
    let others = frontier.iter().filter(|point| !is_way(point)).map(of_point);
    let shown: Vec<Virtues> = ways.iter().map(of_way).chain(others).collect();
    let some_deny = ways.iter().any(|way| way.accepting.is_some_and(|accepting| !accepting.all()));
    let slowest = shown.iter().map(|one| one.months).max().unwrap_or(0);
    for way in ways {
        let strengths = [
            (BestAt::LeastEffort, shown.iter().all(|one| way.effort <= one.effort)),
            (BestAt::FewestChanges, shown.iter().all(|one| way.changes.len() <= one.changes)),
            (BestAt::MostCommon, shown.iter().all(|one| way.conditional_log_likelihood >= one.conditional)),
            (BestAt::Surest, shown.iter().all(|one| scale.reaches(way.probability, one.probability))),
            (BestAt::Soonest, way.months < slowest && shown.iter().all(|one| way.months <= one.months)),
            (BestAt::Lasting, some_deny && way.accepting.is_some_and(Accepting::all)),
        ];
        way.best_at = strengths.into_iter().filter(|(_, has)| *has).map(|(strength, _)| strength).collect();
    }
}
