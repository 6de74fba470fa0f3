//! Bounds on the rows of a node, and on those with each further change.
//!
//! A row x that may be offered has log p⁺(x) ≥ floor, given what the person cannot change, and log-odds ≥ target. With
//! λ, μ ≥ 0 its worth is therefore at most worth(x) + μ (log p⁺(x) − floor) + λ (u(x) − target), where u is an additive
//! upper bound on the log-odds. All terms but log p⁺ are sums over changes, so that they become gains of the changes in
//! the bounds of the circuit: one bound that respects likelihood, effort and classifier.

use std::ops::Range;

use par_circuit::{Ball, ChangeBounds, Code, Evaluator};
use par_data::Choice;

use super::multipliers::{Multipliers, Unit};
use crate::problem::{Cost, Row, SearchProblem};

/// Numbers of further changes that are told apart: 1 to 6; the last stands for all above.
pub(super) const LANES: usize = 7;

/// One value for each number of further changes, from 1.
pub(super) type Lanes = [f64; LANES];

/// A candidate other than the person's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) feature: usize,
    pub(super) choice: Choice,
    /// What the classifier reads: the choice, or its code.
    value: Code,
    /// The place of its code among those of all features.
    place: usize,
    cost: Cost,
}

/// Bounds the rows of one node at a time.
pub(super) struct Bounder<'a, 'p, 'c> {
    pub(super) problem: &'a SearchProblem<'p>,
    pub(super) evaluator: &'a mut Evaluator<'c>,
    /// All changes, feature by feature.
    pub(super) changes: Vec<Change>,
    /// For each free feature, its changes.
    pub(super) features: Vec<Range<usize>>,
    /// Log-odds below this do not reach the target.
    target: f64,
    /// Features that may move as consequences, at no cost: bounds allow so many changes more.
    consequences: Vec<usize>,
    /// The rows of the current node as the classifier reads them.
    ball: Ball,
    /// The current row, and what its changes cost.
    pub(super) row: Row,
    cost: Cost,
    /// An upper bound on the log-odds above the target at the current row, and what each change adds.
    centre: f64,
    scores: Vec<f64>,
    /// Whether the classifier has such a bound; without one both are 0.
    is_additive: bool,
    /// For each alternative of each feature of the ball, what it adds.
    alternatives: Vec<f64>,
    /// For each number of further changes from 0, the highest sum of these: those that add most.
    reach: Vec<f64>,
    /// Another upper bound on the log-odds above the target.
    highest: f64,
    /// For each feature, the most that one of its changes adds to the score.
    most: Vec<f64>,
    /// The least price of a change of each open feature, ascending.
    cheapest: Vec<f64>,
    /// What each code adds in the bounds of the circuit.
    gains: Vec<f64>,
    bounds: ChangeBounds,
}

/// Bounds in one unit, by the multipliers of the last pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    unit: Unit,
    /// The multiplier of the log-odds.
    score: f64,
    /// The weight of the circuit's bound.
    weight: f64,
    /// What is added to it.
    constant: f64,
}

impl<'a, 'p, 'c> Bounder<'a, 'p, 'c> {
    pub(super) fn new(problem: &'a SearchProblem<'p>, evaluator: &'a mut Evaluator<'c>) -> Self {
        let candidates = problem.candidates;
        let (mut changes, mut features) = (Vec::new(), Vec::new());
        for &feature in candidates.free() {
            let first = changes.len();
            let start = candidates.constraints().range(feature).start;
            let list = candidates.of(feature);
            changes.extend((0..).zip(list).skip(1).map(|(choice, candidate)| Change {
                feature,
                choice,
                value: if problem.reads_values { choice } else { candidate.code },
                place: start + usize::from(candidate.code),
                cost: Cost::default().replacing(&list[0], candidate),
            }));
            features.push(first..changes.len());
        }
        let consequences =
            (0..candidates.features()).filter(|&feature| problem.is_consequence(feature)).collect();
        let ball = if problem.reads_values { problem.ball_of_choices() } else { problem.ball_of_codes() };
        Self {
            problem,
            evaluator,
            target: problem.target_log_odds(),
            consequences,
            ball,
            row: problem.own(),
            cost: Cost::default(),
            centre: 0.0,
            scores: vec![0.0; changes.len()],
            is_additive: false,
            alternatives: Vec::new(),
            reach: Vec::new(),
            highest: 0.0,
            most: vec![0.0; features.len()],
            cheapest: Vec::new(),
            gains: vec![f64::NEG_INFINITY; candidates.constraints().codes()],
            bounds: ChangeBounds::default(),
            changes,
            features,
        }
    }

    /// Goes to the node with these changes made, where the `open` ones may follow, up to `further` of them.
    pub(super) fn enter(&mut self, made: &[usize], open: &[bool], further: usize) {
        self.make(made);
        self.offer(open);
        self.ball.changes = further + self.consequences.len();
        self.relax(open, further);
        self.set_cheapest(open);
    }

    /// Goes to the node with these changes made, without bounds.
    pub(super) fn make(&mut self, made: &[usize]) {
        self.row = self.problem.own();
        self.cost = Cost::default();
        for change in made.iter().map(|&made| self.changes[made]) {
            self.problem.set(&mut self.row, change.feature, change.choice);
            self.cost.effort += change.cost.effort;
            self.cost.rarity += change.cost.rarity;
        }
    }

    /// Sets the ball to the current row and what is open.
    fn offer(&mut self, open: &[bool]) {
        let reads_values = self.problem.reads_values;
        let row = if reads_values { &self.row.choices } else { &self.row.codes };
        for (feature, &value) in row.iter().enumerate() {
            if self.ball.centre()[feature] != value {
                self.ball.move_to(feature, value);
            }
        }
        let mut offered: Vec<Code> = Vec::new();
        for range in &self.features {
            let feature = self.changes[range.start].feature;
            offered.clear();
            let open = range.clone().filter(|&change| open[change]);
            offered.extend(open.map(|change| self.changes[change].value));
            self.ball.offer(feature, &offered);
        }
        for &feature in &self.consequences {
            match reads_values {
                true => self.ball.offer(feature, &self.problem.choices_of(feature)),
                false => self.ball.offer(feature, &self.problem.codes_of(feature)),
            }
        }
    }

    /// Asks the classifier for an additive bound over the ball.
    fn relax(&mut self, open: &[bool], further: usize) {
        let relaxation = self.problem.target.classifier.relaxation(&self.ball);
        let finite = relaxation.filter(|relaxation| {
            relaxation.gains.iter().chain([&relaxation.centre]).all(|gain| gain.is_finite())
        });
        self.is_additive = finite.is_some();
        (self.centre, self.highest) = (0.0, 0.0);
        self.alternatives.clear();
        match finite {
            Some(relaxation) => {
                self.centre = relaxation.centre - self.target;
                self.highest = relaxation.most - self.target;
                self.alternatives = relaxation.gains;
            }
            None => {
                let features = 0..self.ball.centre().len();
                let count = features.map(|feature| self.ball.alternatives(feature).len()).sum();
                self.alternatives.resize(count, 0.0);
            }
        }
        self.scores.fill(f64::NEG_INFINITY);
        let mut gains = self.alternatives.iter();
        let mut free: Vec<f64> = Vec::new();
        let mut place = 0;
        for feature in 0..self.ball.centre().len() {
            let alternatives = self.ball.alternatives(feature);
            if self.features.get(place).is_some_and(|range| self.changes[range.start].feature == feature) {
                // Alternatives are the open changes in their order.
                let range = self.features[place].clone();
                let mut most = 0.0_f64;
                for change in range.filter(|&change| open[change]) {
                    let is_own = self.changes[change].value == self.ball.centre()[feature];
                    let gain = if is_own { None } else { gains.next() };
                    self.scores[change] = gain.copied().unwrap_or(0.0);
                    most = most.max(self.scores[change]);
                }
                self.most[place] = most;
                place += 1;
            } else {
                let most = gains.by_ref().take(alternatives.len()).copied().fold(0.0, f64::max);
                free.push(most);
            }
        }
        // Consequences come on top, however many changes there are.
        let freely: f64 = free.iter().sum();
        let mut largest: Vec<f64> = self.most.iter().copied().filter(|most| *most > 0.0).collect();
        largest.sort_by(|a, b| b.total_cmp(a));
        self.reach.clear();
        self.reach.push(self.centre + freely);
        for count in 0..further {
            let before = self.reach[count];
            self.reach.push(before + largest.get(count).copied().unwrap_or(0.0));
        }
    }

    fn set_cheapest(&mut self, open: &[bool]) {
        let price = |change: usize| self.problem.objective.price(self.changes[change].cost);
        let least =
            |range: &Range<usize>| range.clone().filter(|&change| open[change]).map(price).reduce(f64::min);
        self.cheapest = self.features.iter().filter_map(least).collect();
        self.cheapest.sort_by(f64::total_cmp);
    }

    /// Whether rows with this many further changes may be accepted, by the classifier's own bounds. They can take long, so
    /// they are left out where [`Bounder::may_reach`] knows as much, and are asked for last.
    pub(super) fn may_be_accepted(&mut self, further: usize) -> bool {
        self.is_additive || {
            self.ball.changes = further + self.consequences.len();
            let (_, most) = self.problem.target.classifier.log_odds_bounds(&self.ball);
            self.problem.target.is_reached_by(most)
        }
    }

    /// Whether rows with this many further changes may be accepted, by the additive bound.
    pub(super) fn may_reach(&self, further: usize) -> bool {
        self.highest >= 0.0 && self.reach[further.min(self.reach.len() - 1)] >= 0.0
    }

    /// Whether rows with this change, of the feature at `place`, and `others` beside it may be accepted.
    pub(super) fn may_reach_with(&self, change: usize, place: usize, others: usize) -> bool {
        let others = others.min(self.reach.len() - 2);
        // If its feature is among those that add most, the next one takes its place.
        let beside = self.reach[others].min(self.reach[others + 1] - self.most[place]);
        self.highest >= 0.0 && beside + self.scores[change] >= 0.0
    }

    /// Sets the gains of all codes for a pass.
    fn set_gains(&mut self, open: &[bool], unit: Unit, multipliers: Multipliers) -> Pass {
        let objective = &self.problem.objective;
        let Multipliers { mut score, floor } = multipliers;
        if !self.is_additive {
            score = 0.0;
        }
        let weight = match unit {
            Unit::Worth => objective.likelihood + floor,
            Unit::Likelihood => 1.0,
        };
        self.gains.fill(f64::NEG_INFINITY);
        for (change, _) in open.iter().enumerate().filter(|(_, open)| **open) {
            let gain = self.gain(change, unit, score) / weight;
            let place = &mut self.gains[self.changes[change].place];
            *place = place.max(gain);
        }
        self.set_gains_of_consequences(score / weight);
        let constant = match unit {
            Unit::Worth => {
                let limit = if floor > 0.0 { floor * objective.floor } else { 0.0 };
                score * self.centre - objective.price(self.cost) - limit
            }
            Unit::Likelihood => score * self.centre,
        };
        Pass { unit, score, weight, constant: constant - weight * self.problem.log_given[self.row.duration] }
    }

    /// What a change adds to the objective and the constraints, beside the likelihood.
    fn gain(&self, change: usize, unit: Unit, score: f64) -> f64 {
        let price = match unit {
            Unit::Worth => self.problem.objective.price(self.changes[change].cost),
            Unit::Likelihood => 0.0,
        };
        score * self.scores[change] - price
    }

    fn set_gains_of_consequences(&mut self, score: f64) {
        if self.consequences.is_empty() {
            return;
        }
        let mut start = 0;
        for feature in 0..self.ball.centre().len() {
            let alternatives = self.ball.alternatives(feature);
            if self.consequences.contains(&feature) {
                let codes = self.problem.candidates.constraints().range(feature).start;
                for (&value, gain) in alternatives.iter().zip(&self.alternatives[start..]) {
                    let code = match self.problem.reads_values {
                        true => self.problem.candidates.of(feature)[usize::from(value)].code,
                        false => value,
                    };
                    // An unknown value has no code of its own.
                    if let Some(place) = self.gains.get_mut(codes + usize::from(code)) {
                        *place = place.max(score * gain);
                    }
                }
            }
            start += alternatives.len();
        }
    }

    /// Bounds all rows of the node, for each number of further changes.
    pub(super) fn bound_all(&mut self, open: &[bool], unit: Unit, multipliers: Multipliers) -> Lanes {
        let pass = self.set_gains(open, unit, multipliers);
        self.evaluator.bound_changes(&self.row.codes, &self.gains, &mut self.bounds);
        self.lanes(&pass)
    }

    /// The same, and the rows with each change: see [`Bounder::with`].
    pub(super) fn bound_each(
        &mut self,
        open: &[bool],
        unit: Unit,
        multipliers: Multipliers,
    ) -> (Pass, Lanes) {
        let pass = self.set_gains(open, unit, multipliers);
        self.evaluator.bound_each_change(&self.row.codes, &self.gains, &mut self.bounds);
        (pass, self.lanes(&pass))
    }

    fn lanes(&self, pass: &Pass) -> Lanes {
        std::array::from_fn(|lane| {
            pass.weight * self.bounds.all(lane + 1 + self.consequences.len()) + pass.constant
        })
    }

    /// The bound of the last pass on the rows with this change and at most `others` beside it.
    pub(super) fn with(&self, pass: &Pass, change: usize, others: usize) -> f64 {
        let place = self.changes[change].place;
        // Its code may stand for another value that gains more.
        let less = self.gain(change, pass.unit, pass.score) - pass.weight * self.gains[place];
        pass.weight * self.bounds.with(place, others + self.consequences.len()) + pass.constant + less
    }

    /// After [`Bounder::bound_each`]: an upper bound on log p⁺ of the row with this one change more; up to rounding it is
    /// that, unless the row is nearly impossible beside others.
    pub(super) fn log_prob_with(&self, change: usize) -> f64 {
        let place = self.changes[change].place;
        self.bounds.with(place, 0) - self.gains[place]
    }

    /// For each change, log p⁺ of the row with it.
    pub(super) fn log_probs(&mut self) -> Vec<f64> {
        // The gains are set again before they are used.
        self.evaluator.neighbours(&self.row.codes, &mut self.gains);
        self.changes.iter().map(|change| self.gains[change.place]).collect()
    }

    /// What the row with this one change more is worth, if that is its log p⁺; +∞ if the change has consequences.
    pub(super) fn worth_with(&self, change: usize, log_prob: f64) -> f64 {
        if self.problem.candidates.has_consequences(self.changes[change].feature) {
            return f64::INFINITY;
        }
        self.problem.worth(log_prob, self.row.duration, self.cost_with(change))
    }

    /// What the cheapest row of the node with this change and `others` beside it is worth at most, whatever its
    /// likelihood.
    pub(super) fn most_by_price(&self, change: usize, others: usize) -> f64 {
        let others = self.cheapest.iter().take(others).sum::<f64>();
        self.problem.most_worth(self.row.duration, self.cost_with(change)) - others
    }

    /// What the values of the row cost with this one change more.
    fn cost_with(&self, change: usize) -> Cost {
        let cost = self.changes[change].cost;
        Cost { effort: self.cost.effort + cost.effort, rarity: self.cost.rarity + cost.rarity }
    }

    /// A bound in a pass's unit as one on what rows are worth.
    pub(super) fn worth(&self, unit: Unit, bound: f64) -> f64 {
        match unit {
            Unit::Worth => bound,
            // Further changes cost at least nothing.
            Unit::Likelihood => {
                self.problem.objective.likelihood * bound - self.problem.objective.price(self.cost)
            }
        }
    }
}
