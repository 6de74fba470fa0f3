//! One person's search problem: the rows they may become, the target, and what is best.

use par_circuit::{Ball, Code, Evaluator};
use par_data::{Candidate, Candidates, Choice};
use par_model::Target;

/// The constraints and the objective of a search for one person.
///
/// # Paper
/// Eq. (1) and (2): the constraints f(x) = 1 and x ∈ F(x⁻), and the objective log p⁺(x). Departures: rows are
/// combinations of candidate values, and the objective subtracts their effort and how rare they are.
#[derive(Clone, Copy)]
pub(crate) struct SearchProblem<'a> {
    pub(crate) candidates: &'a Candidates<'a>,
    /// The place of the only duration of ways among those of the candidates; `None` for all of them.
    pub(crate) duration: Option<usize>,
    pub(crate) target: Target<'a>,
    /// Whether the classifier reads choices, rather than codes.
    pub(crate) reads_values: bool,
    pub(crate) objective: Objective,
    /// log p⁺ of what the person cannot change, after each duration.
    pub(crate) log_given: &'a [f64],
    /// The most features that may change.
    pub(crate) budget: usize,
    /// Sets of features, ascending; of each at least one must stay. They are the changes of ways already taken.
    pub(crate) taken: &'a [Vec<usize>],
}

/// What a row is worth: a weighted sum of its log-likelihood, given what the person cannot change, and of its effort,
/// if it is likely enough. The log-likelihood is that of its codes, and less the rarer its values are within them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Objective {
    /// The weight of log p⁺, given what the person cannot change.
    pub(crate) likelihood: f64,
    /// What a unit of effort costs.
    pub(crate) effort: f64,
    /// The lowest log p⁺ of a row, given what the person cannot change.
    pub(crate) floor: f64,
    /// Local search looks around solutions worth at most so much less than the best.
    pub(crate) near: f64,
    /// Whether likelihood only tells equal efforts apart, so that what a row costs nearly tells what it is worth.
    pub(crate) is_for_effort: bool,
}

impl Objective {
    /// log p⁺ of rows that are likely enough, where a unit of effort costs so many nats.
    pub(crate) fn likeliest(effort: f64, floor: f64) -> Self {
        // Measured on gmsc: at 0 the answers are 0.4 nats less likely; beyond 1 they hardly get likelier and take longer.
        Self { likelihood: 1.0, effort, floor, near: 1.0, is_for_effort: false }
    }

    /// The least effort of rows that are likely enough; of about equal ones the likeliest.
    pub(crate) fn least_effort(floor: f64) -> Self {
        Self { likelihood: 1e-4, effort: 1.0, floor, near: 0.5, is_for_effort: true }
    }

    /// What a row is worth; −∞ if it is not likely enough. `conditional` is its log p⁺, given what the person cannot
    /// change.
    pub(crate) fn worth(&self, conditional: f64, cost: Cost) -> f64 {
        match conditional >= self.floor {
            true => self.worth_anywhere(conditional, cost),
            false => f64::NEG_INFINITY,
        }
    }

    /// The same, likely enough or not.
    pub(crate) fn worth_anywhere(&self, conditional: f64, cost: Cost) -> f64 {
        self.likelihood * conditional - self.price(cost)
    }

    /// What the values of a row cost.
    pub(crate) fn price(&self, cost: Cost) -> f64 {
        self.effort * cost.effort - self.likelihood * cost.rarity
    }
}

/// What the values of a row cost, whatever its codes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) effort: f64,
    /// As [`Candidate::rarity`]; at most 0.
    pub(crate) rarity: f64,
}

impl Cost {
    /// The cost of a row's choices.
    pub(crate) fn of(candidates: &Candidates<'_>, choices: &[Choice]) -> Self {
        Self { effort: candidates.effort(choices), rarity: candidates.rarity(choices) }
    }

    /// The cost with one value instead of another.
    pub(crate) fn replacing(self, old: &Candidate, new: &Candidate) -> Self {
        Self { effort: self.effort - old.effort + new.effort, rarity: self.rarity - old.rarity + new.rarity }
    }
}

/// A row, as choices among candidates and as codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) choices: Vec<Choice>,
    pub(crate) codes: Vec<Code>,
    /// Whether all clocks and consequences have a value that they may have.
    pub(crate) is_settled: bool,
    /// The place of the duration after which clocks stand as they do here.
    pub(crate) duration: usize,
}

/// So many rows are scored before others are compared with them.
const COMPARED_AT_ONCE: usize = 8;

impl SearchProblem<'_> {
    /// The person's own row; after the duration of the problem, if it has one.
    pub(crate) fn own(&self) -> Row {
        let duration = self.duration.unwrap_or(0);
        let mut choices = self.candidates.durations()[duration].row.clone();
        let is_settled = self.candidates.settle(&mut choices);
        Row { codes: self.candidates.codes(&choices), choices, is_settled, duration }
    }

    /// The same problem, for ways of one duration.
    pub(crate) fn after(&self, duration: usize) -> Self {
        Self { duration: Some(duration), ..*self }
    }

    /// The row with these codes: for each the candidate that has it and costs least. `None` if there is none.
    pub(crate) fn row(&self, codes: &[Code]) -> Option<Row> {
        let mut row = self.own();
        let mut moves_others = false;
        for &feature in self.candidates.free() {
            if codes[feature] != row.codes[feature] {
                let list = self.candidates.of(feature);
                let has_code = |&choice: &usize| list[choice].code == codes[feature];
                let price = |choice: usize| {
                    let Candidate { effort, rarity, .. } = list[choice];
                    (self.objective.price(Cost { effort, rarity }), effort)
                };
                let costs = |a: &usize, b: &usize| {
                    let ((own, effort), (its, its_effort)) = (price(*a), price(*b));
                    own.total_cmp(&its).then(effort.total_cmp(&its_effort))
                };
                row.choices[feature] = (1..list.len()).filter(has_code).min_by(costs)? as Choice;
                row.codes[feature] = codes[feature];
                moves_others |= self.moves_others(feature);
            }
        }
        if moves_others {
            self.settle(&mut row);
        }
        row.is_settled.then_some(row)
    }

    /// What a row with this log p⁺ is worth after a duration.
    pub(crate) fn worth(&self, log_prob: f64, duration: usize, cost: Cost) -> f64 {
        self.objective.worth(log_prob - self.log_given[duration], cost)
    }

    /// What a row with these values is worth at most, whatever its likelihood.
    pub(crate) fn most_worth(&self, duration: usize, cost: Cost) -> f64 {
        // No log p⁺ is above 0; a row that a lifted lock lets change may be likelier than what was given.
        self.objective.worth_anywhere(-self.log_given[duration], cost)
    }

    /// What a row is worth where it may be too unlikely, times `weight`, less one for each nat below the floor.
    pub(crate) fn relaxed_worth(&self, log_prob: f64, duration: usize, cost: Cost, weight: f64) -> f64 {
        let (objective, conditional) = (&self.objective, log_prob - self.log_given[duration]);
        let below = (objective.floor - conditional).max(0.0);
        weight * objective.worth_anywhere(conditional, cost) - below
    }

    /// Whether a change of the feature moves others: consequences, or clocks by the time that it takes.
    pub(crate) fn moves_others(&self, feature: usize) -> bool {
        self.candidates.has_consequences(feature) || self.has_clocks() && self.candidates.takes_time(feature)
    }

    /// Whether clocks stand elsewhere in some rows than in others.
    pub(crate) fn has_clocks(&self) -> bool {
        self.duration.is_none() && self.candidates.durations().len() > 1
    }

    fn settle(&self, row: &mut Row) {
        row.is_settled =
            (!self.has_clocks() || self.move_clocks(row)) && self.candidates.settle(&mut row.choices);
        self.candidates.write_codes(&row.choices, &mut row.codes);
    }

    /// Moves clocks to where they stand after the changes of a row; false if they cannot stand there.
    fn move_clocks(&self, row: &mut Row) -> bool {
        let Some(duration) = self.candidates.duration_of(&row.choices) else { return false };
        row.duration = duration;
        let then = &self.candidates.durations()[duration].row;
        self.candidates.clocks().iter().for_each(|&clock| row.choices[clock] = then[clock]);
        true
    }

    /// Changes a feature, and what it moves.
    pub(crate) fn set(&self, row: &mut Row, feature: usize, choice: Choice) {
        row.choices[feature] = choice;
        match self.moves_others(feature) {
            true => self.settle(row),
            false => row.codes[feature] = self.candidates.of(feature)[usize::from(choice)].code,
        }
    }

    /// Whether the row may be offered, if it is accepted.
    pub(crate) fn permits(&self, row: &Row) -> bool {
        let is_taken = |set: &Vec<usize>| set.iter().all(|&feature| row.choices[feature] != 0);
        let duration = &self.candidates.durations()[row.duration];
        row.is_settled
            && self.changes(row) <= self.budget
            && (duration.shortest..=duration.longest).contains(&self.candidates.months(&row.choices))
            && self.candidates.is_affordable(&row.choices)
            && self.candidates.keeps_relations(&row.choices)
            && !self.taken.iter().any(is_taken)
    }

    /// How long a way takes at most, in months.
    pub(crate) fn longest(&self) -> u32 {
        let durations = self.candidates.durations();
        durations[self.duration.unwrap_or(durations.len() - 1)].longest
    }

    /// Whether the row may lie on the way to one that may be offered.
    pub(crate) fn permits_on_the_way(&self, row: &Row) -> bool {
        self.changes(row) <= self.budget
            && self.candidates.months(&row.choices) <= self.longest()
            && self.candidates.is_affordable(&row.choices)
    }

    /// Whether the classifier and all policies accept the row.
    pub(crate) fn accepts(&self, row: &Row) -> bool {
        self.target.is_reached_by(self.log_odds(row)) && self.candidates.keeps_policies(&row.choices)
    }

    /// Log-odds below which no row reaches the target.
    pub(crate) fn target_log_odds(&self) -> f64 {
        let target = &self.target;
        let mut log_odds = target.scale.log_odds(target.threshold).clamp(-1e15, 1e15);
        let mut step = 1e-9 * (1.0 + log_odds.abs());
        while target.is_reached_by(log_odds) && log_odds > -1e18 {
            log_odds -= step;
            step *= 2.0;
        }
        log_odds
    }

    /// The classifier's log-odds of a row.
    pub(crate) fn log_odds(&self, row: &Row) -> f64 {
        self.target.classifier.log_odds(self.classified(row))
    }

    /// The row as the classifier reads it.
    pub(crate) fn classified<'r>(&self, row: &'r Row) -> &'r [Code] {
        if self.reads_values { &row.choices } else { &row.codes }
    }

    /// The log-odds of a row, less than those of any row that keeps the policies if it does not.
    pub(crate) fn score(&self, row: &Row) -> f64 {
        let penalty = if self.candidates.keeps_policies(&row.choices) { 0.0 } else { 1e6 };
        self.log_odds(row) - penalty
    }

    /// Adds those of some rows to a frontier that change something, are accepted and may be offered.
    pub(crate) fn add_solutions(
        &self,
        frontier: &mut Frontier,
        rows: impl Iterator<Item = Row>,
        evaluator: &mut Evaluator<'_>,
    ) {
        let with_cost = |row: Row| {
            let (cost, changes) = (Cost::of(self.candidates, &row.choices), self.changes(&row));
            (row, cost, changes)
        };
        let mut rows: Vec<(Row, Cost, usize)> =
            rows.map(with_cost).filter(|(row, _, changes)| *changes > 0 && self.permits(row)).collect();
        // Once those that cost least are known, most others need no score.
        let most = |row: &Row, cost: Cost| self.most_worth(row.duration, cost);
        let at_once = if self.objective.is_for_effort { COMPARED_AT_ONCE } else { usize::MAX };
        if at_once < rows.len() {
            rows.sort_by(|(a, a_cost, _), (b, b_cost, _)| most(b, *b_cost).total_cmp(&most(a, *a_cost)));
        }
        while !rows.is_empty() {
            let next = rows.drain(..at_once.min(rows.len()));
            let may_improve = |(row, cost, changes): &(Row, Cost, usize)| {
                most(row, *cost) > frontier.at_most(*changes) && self.accepts(row)
            };
            let next: Vec<(Row, Cost, usize)> = next.filter(may_improve).collect();
            let codes: Vec<Code> = next.iter().flat_map(|(row, ..)| row.codes.iter().copied()).collect();
            for ((row, cost, changes), log_prob) in next.into_iter().zip(evaluator.log_probs(&codes)) {
                let worth = self.worth(log_prob, row.duration, cost);
                frontier.add(Solution { row, log_prob, cost, worth, changes });
            }
        }
    }

    /// How many features the person changes.
    pub(crate) fn changes(&self, row: &Row) -> usize {
        self.candidates.free().iter().filter(|&&feature| row.choices[feature] != 0).count()
    }

    /// All rows within the candidates and the budget as codes, ignoring relations and taken sets. Consequences are free.
    pub(crate) fn ball_of_codes(&self) -> Ball {
        let own = self.own();
        let cardinalities: Vec<usize> =
            (0..own.codes.len()).map(|feature| self.candidates.constraints().range(feature).len()).collect();
        let mut ball = Ball::new(&cardinalities, own.codes, self.budget + self.consequences());
        for feature in 0..cardinalities.len() {
            if self.candidates.is_free(feature) || self.is_consequence(feature) {
                ball.offer(feature, &self.codes_of(feature));
            }
        }
        ball
    }

    /// The codes of a feature's candidates.
    pub(crate) fn codes_of(&self, feature: usize) -> Vec<Code> {
        let mut codes: Vec<Code> =
            self.candidates.of(feature).iter().map(|candidate| candidate.code).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// All choices of a feature.
    pub(crate) fn choices_of(&self, feature: usize) -> Vec<Choice> {
        (0..self.candidates.of(feature).len() as Choice).collect()
    }

    /// The same rows as choices.
    pub(crate) fn ball_of_choices(&self) -> Ball {
        let own = self.own();
        let features = own.choices.len();
        let mut ball = Ball::new(&self.candidates.counts(), own.choices, self.budget + self.consequences());
        for feature in 0..features {
            if self.candidates.is_free(feature) || self.is_consequence(feature) {
                ball.offer(feature, &self.choices_of(feature));
            }
        }
        ball
    }

    pub(crate) fn is_consequence(&self, feature: usize) -> bool {
        self.candidates.is_consequence(feature) && self.candidates.of(feature).len() > 1
    }

    /// How many features may move as consequences.
    pub(crate) fn consequences(&self) -> usize {
        (0..self.candidates.features()).filter(|&feature| self.is_consequence(feature)).count()
    }
}

/// A row that reaches the target and may be offered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solution {
    pub(crate) row: Row,
    /// log p⁺ of the row.
    pub(crate) log_prob: f64,
    pub(crate) cost: Cost,
    /// What the row is worth in the problem it was found for.
    pub(crate) worth: f64,
    pub(crate) changes: usize,
}

impl Solution {
    /// What it is worth, minus `price` for every change.
    pub(crate) fn net(&self, price: f64) -> f64 {
        self.worth - price * self.changes as f64
    }
}

/// The best solutions found, by number of changes: each worth more than those with fewer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frontier {
    /// By number of changes, ascending.
    solutions: Vec<Solution>,
}

impl Frontier {
    /// What the best solution with at most `changes` changes is worth; −∞ without any.
    pub(crate) fn at_most(&self, changes: usize) -> f64 {
        let within = self.solutions.iter().take_while(|solution| solution.changes <= changes);
        within.last().map_or(f64::NEG_INFINITY, |solution| solution.worth)
    }

    /// Adds a solution if it is worth more than all with at most as many changes, and removes those it surpasses.
    /// Returns whether it was added.
    pub(crate) fn add(&mut self, solution: Solution) -> bool {
        if solution.worth <= self.at_most(solution.changes) {
            return false;
        }
        self.solutions.retain(|known| known.changes < solution.changes || known.worth > solution.worth);
        let place = self.solutions.partition_point(|known| known.changes < solution.changes);
        self.solutions.insert(place, solution);
        true
    }

    /// Keeps the solutions that pass.
    pub(crate) fn retain(&mut self, passes: impl FnMut(&Solution) -> bool) {
        self.solutions.retain(passes);
    }

    /// Keeps the solutions with at most `changes` changes.
    pub(crate) fn up_to(mut self, changes: usize) -> Self {
        self.solutions.retain(|solution| solution.changes <= changes);
        self
    }

    /// The fewest changes of any solution.
    pub(crate) fn fewest(&self) -> Option<usize> {
        self.solutions.first().map(|solution| solution.changes)
    }

    /// By number of changes, ascending.
    pub(crate) fn solutions(&self) -> &[Solution] {
        &self.solutions
    }

    /// The solution to offer if every further change must make the row worth more by `price`.
    pub(crate) fn choice(&self, price: f64) -> Option<&Solution> {
        // Of equals the first, which has the fewest changes.
        self.solutions.iter().reduce(|best, next| if next.net(price) > best.net(price) { next } else { best })
    }

    /// The solutions worth at most `less` less than the one to offer, the fewest changes first.
    pub(crate) fn near(&self, price: f64, less: f64) -> impl Iterator<Item = &Solution> {
        let best = self.choice(price).map_or(f64::INFINITY, |best| best.net(price));
        self.solutions.iter().filter(move |solution| solution.net(price) >= best - less)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solution(changes: usize, worth: f64) -> Solution {
        let row = Row { choices: Vec::new(), codes: Vec::new(), is_settled: true, duration: 0 };
        Solution { row, log_prob: worth, cost: Cost::default(), worth, changes }
    }

    #[test]
    fn more_changes_stay_on_the_frontier_only_if_they_are_worth_more() {
        let mut frontier = Frontier::default();
        assert!(frontier.add(solution(3, -9.0)));
        assert!(frontier.add(solution(1, -12.0)));
        assert!(!frontier.add(solution(3, -9.5)), "worth less with as many changes");
        assert!(!frontier.add(solution(4, -9.0)), "worth no more with more changes");
        assert!(frontier.add(solution(2, -8.0)));
        let kept: Vec<_> = frontier.solutions().iter().map(|s| (s.changes, s.worth)).collect();
        assert_eq!(kept, [(1, -12.0), (2, -8.0)]);
        assert_eq!(
            [0, 1, 2, 9].map(|changes| frontier.at_most(changes)),
            [f64::NEG_INFINITY, -12.0, -8.0, -8.0]
        );
    }

    #[test]
    fn a_further_change_has_to_be_worth_its_price() {
        let mut frontier = Frontier::default();
        assert!(frontier.choice(1.0).is_none());
        for (changes, worth) in [(1, -12.0), (2, -10.0), (3, -9.5)] {
            frontier.add(solution(changes, worth));
        }
        let chosen = |price| frontier.choice(price).map(|solution| solution.changes);
        assert_eq!([0.0, 1.0, 2.0, 3.0].map(chosen), [Some(3), Some(2), Some(1), Some(1)]);
    }

    #[test]
    fn a_row_below_the_floor_is_worth_nothing() {
        let objective = Objective::least_effort(-10.0);
        let worth = |conditional, effort| objective.worth(conditional, Cost { effort, rarity: 0.0 });
        assert!(worth(-9.0, 2.0) > worth(-9.0, 2.5));
        assert!(worth(-8.0, 2.0) > worth(-9.0, 2.0), "of equals the likelier");
        assert_eq!(worth(-10.5, 0.1), f64::NEG_INFINITY);
    }

    #[test]
    fn rare_values_make_a_row_worth_less_and_not_less_likely() {
        let objective = Objective::likeliest(0.5, -10.0);
        let worth = |rarity| objective.worth(-9.5, Cost { effort: 1.0, rarity });
        assert_eq!([worth(0.0), worth(-2.0)], [-10.0, -12.0]);
    }
}
