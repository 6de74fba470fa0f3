//! What a schema and a request mean, on values, in the plainest way.

use par_answer::Request;
use par_data::{Constraints, Discretizer, Domain, Restriction};

use crate::draw::decimals;
use crate::world::{Change, Conditions, Feature, Formula, Relation, Set, Value, World};

/// A request, its limits as the tests know them, and the constraints of the schema that do not count.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pub(crate) request: Request,
    pub(crate) limits: Conditions,
    pub(crate) lifted: Vec<Restriction>,
}

impl Asking {
    fn lifts(&self, restriction: Restriction) -> bool {
        self.lifted.contains(&restriction)
    }
}

/// A world, and what its training table says about sizes of changes.
pub(crate) struct Meaning<'w> {
    pub(crate) world: &'w World,
    domains: Vec<Domain>,
    /// For each feature, the share of people below each ordinary code.
    below: Vec<Vec<f64>>,
    /// For each numeric feature, the ends of each ordinary code.
    ends: Vec<Vec<[f64; 2]>>,
}

/// What comes of some actions.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) values: Vec<Value>,
    pub(crate) effort: f64,
    pub(crate) months: u32,
}

impl<'w> Meaning<'w> {
    pub(crate) fn new(
        world: &'w World,
        discretizer: &Discretizer,
        constraints: &Constraints,
        table: &[Vec<Value>],
    ) -> Self {
        let domains = discretizer.domains().to_vec();
        let mut meaning = Self { world, domains, below: Vec::new(), ends: Vec::new() };
        for (position, domain) in discretizer.domains().iter().enumerate() {
            let mut counts = vec![0.0; domain.ordinary()];
            for row in table {
                if let Some(code) = meaning.ordinary_code(position, &row[position]) {
                    counts[code] += 1.0;
                }
            }
            // Counts up to each code are rounded to tens, so that nobody stands out.
            let people: f64 = counts.iter().sum();
            let unit = if people >= 100.0 { 10.0 } else { 1.0 };
            let rounded = |count: f64| (count / unit).round() * unit;
            let (mut sum, mut below) = (0.0, vec![0.0]);
            for count in counts {
                sum += count;
                below.push(rounded(sum) / rounded(people).max(1.0));
            }
            meaning.below.push(below);
            let codes = 0..domain.ordinary() as u16;
            let ends =
                codes.filter(|_| domain.summary().is_some()).map(|code| constraints.ends(position, code));
            meaning.ends.push(ends.collect());
        }
        meaning
    }

    fn feature(&self, position: usize) -> &Feature {
        &self.world.features[position]
    }

    /// The code of a value that is neither unknown nor special.
    pub(crate) fn ordinary_code(&self, position: usize, value: &Value) -> Option<usize> {
        if self.feature(position).is_special(value) {
            return None;
        }
        match (value, &self.domains[position]) {
            (Value::Category(place), _) => Some(*place),
            (Value::Number(number), Domain::Bins { edges, .. }) => {
                let inner = &edges[1..edges.len() - 1];
                Some(inner.iter().filter(|edge| *edge <= number).count())
            }
            (Value::Number(number), Domain::Values { values, .. }) => {
                let nearest = |a: &usize, b: &usize| {
                    (values[*a] - number).abs().total_cmp(&(values[*b] - number).abs())
                };
                (0..values.len()).min_by(nearest)
            }
            _ => None,
        }
    }

    /// The numbers that a way could name, by the column's precision.
    pub(crate) fn numbers(&self, position: usize) -> Vec<f64> {
        match &self.domains[position] {
            Domain::Categories { .. } => Vec::new(),
            Domain::Values { values, .. } => values.clone(),
            Domain::Bins { edges, summary, .. } => {
                let scale = 10f64.powi(summary.decimals as i32);
                let bounds = self.feature(position).bounds.unwrap_or([f64::INFINITY, f64::NEG_INFINITY]);
                let low = (edges[0].min(bounds[0]) * scale).ceil() as i64;
                let high = (edges[edges.len() - 1].max(bounds[1]) * scale).floor() as i64;
                (low..=high).map(|count| count as f64 / scale).collect()
            }
        }
    }

    /// The direction of a change between ordered values: up is true.
    fn direction(&self, position: usize, from: &Value, to: &Value) -> Option<bool> {
        let feature = self.feature(position);
        if !feature.is_ordered() || feature.is_special(from) || feature.is_special(to) {
            return None;
        }
        match (from, to) {
            (Value::Number(from), Value::Number(to)) if from != to => Some(to > from),
            (Value::Category(from), Value::Category(to)) if from != to => Some(to > from),
            _ => None,
        }
    }

    pub(crate) fn is_harm(&self, position: usize, from: &Value, to: &Value) -> bool {
        let direction = self.direction(position, from, to);
        self.feature(position).improves.is_some_and(|up| direction == Some(!up))
    }

    fn distance(&self, from: &Value, to: &Value) -> f64 {
        match (from, to) {
            (Value::Number(from), Value::Number(to)) => (to - from).abs(),
            (Value::Category(from), Value::Category(to)) => from.abs_diff(*to) as f64,
            _ => 0.0,
        }
    }

    fn percentile(&self, position: usize, value: &Value) -> f64 {
        let code = self.ordinary_code(position, value).expect("an ordinary value");
        let (below, above) = (self.below[position][code], self.below[position][code + 1]);
        let share = match (value, self.ends[position].get(code)) {
            (Value::Number(number), Some([low, high])) if low < high => {
                ((number - low) / (high - low)).clamp(0.0, 1.0)
            }
            _ => 0.5,
        };
        below + share * (above - below)
    }

    /// What a change costs the person.
    pub(crate) fn effort(&self, position: usize, from: &Value, to: &Value, asking: &Asking) -> f64 {
        let feature = self.feature(position);
        let own = asking.request.efforts.iter().rfind(|(other, _)| *other == position);
        let weight =
            own.map_or(feature.effort.as_ref().map_or(2.0, |(_, weight)| *weight), |(_, weight)| *weight);
        let size = match feature.per {
            _ if !feature.is_ordered() || feature.is_special(from) => 1.0,
            Some(per) => (self.distance(from, to) / per).max(0.01),
            None => (self.percentile(position, to) - self.percentile(position, from)).abs().max(0.01),
        };
        weight * size
    }

    /// How many months a change takes.
    pub(crate) fn months(&self, position: usize, from: &Value, to: &Value) -> u32 {
        let feature = self.feature(position);
        let Some(takes) = &feature.takes else { return 0 };
        let times = match takes.per {
            Some(per) if !feature.is_special(from) => self.distance(from, to) / per,
            _ => 1.0,
        };
        (takes.months * times - 1e-9).ceil().clamp(0.0, 1200.0) as u32
    }

    /// Whether a person may change a feature to a value, as far as this change alone goes.
    pub(crate) fn is_legal(&self, position: usize, from: &Value, to: &Value, asking: &Asking) -> bool {
        let feature = self.feature(position);
        let request = &asking.request;
        let is_free = feature.is_acted_on()
            || matches!(feature.change, Change::Never | Change::Undecided)
                && asking.lifts(Restriction::Immutable(position));
        let is_left = from.number().is_some_and(|from| feature.left.contains(&from));
        let is_special = feature.is_special(from);
        let direction = self.direction(position, from, to);
        is_free
            && !request.locks.contains(&position)
            && *from != Value::Unknown
            && *to != Value::Unknown
            && !feature.is_special(to)
            && (!is_special || is_left || asking.lifts(Restriction::Transitions(position)))
            && (is_special
                || match feature.change {
                    _ if asking.lifts(Restriction::Monotone(position)) => true,
                    Change::Increase => direction == Some(true),
                    Change::Decrease => direction == Some(false),
                    _ => true,
                })
            && (asking.lifts(Restriction::Step(position)) || self.keeps_step(position, from, to))
            && (asking.lifts(Restriction::Allowed(position)) || self.is_allowed(position, to))
            && to.number().is_none_or(|number| self.can_hold(position, number))
            && (asking.lifts(Restriction::Transitions(position))
                || self.keeps_transitions(position, from, to))
            && asking
                .limits
                .iter()
                .all(|(limited, set)| *limited != position || self.holds(position, set, to) == Some(true))
            && !(request.no_harm && self.is_harm(position, from, to))
            && request.within.is_none_or(|most| self.months(position, from, to) <= most)
            && request
                .max_effort
                .is_none_or(|most| self.effort(position, from, to, asking) <= most * (1.0 + 1e-9))
    }

    fn keeps_step(&self, position: usize, from: &Value, to: &Value) -> bool {
        let feature = self.feature(position);
        let step = &feature.step;
        let on_grid = |grid: f64| {
            let to = to.number().unwrap_or(0.0);
            ((to / grid).round() * grid - to).abs() < 1e-6
        };
        let most = match self.direction(position, from, to) {
            Some(true) => step.up,
            Some(false) => step.down,
            None => None,
        };
        let distance = self.distance(from, to);
        step.grid.is_none_or(on_grid)
            && most.is_none_or(|most| distance <= most + 1e-9)
            && (feature.is_special(from) || step.at_least.is_none_or(|least| distance >= least - 1e-9))
    }

    fn is_allowed(&self, position: usize, to: &Value) -> bool {
        let feature = self.feature(position);
        let is_bound = |[low, high]: [f64; 2]| to.number().is_none_or(|to| (low..=high).contains(&to));
        let is_listed = |allowed: &Vec<String>| allowed.iter().any(|text| feature.value(text) == *to);
        feature.bounds.is_none_or(is_bound) && feature.allowed.as_ref().is_none_or(is_listed)
    }

    /// Whether the column can hold a number.
    fn can_hold(&self, position: usize, number: f64) -> bool {
        let [low, high] = self.feature(position).range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let is_whole =
            self.domains[position].summary().is_some_and(par_data::discretizer::NumberSummary::is_whole);
        (low..=high).contains(&number) && (!is_whole || number.fract() == 0.0)
    }

    fn keeps_transitions(&self, position: usize, from: &Value, to: &Value) -> bool {
        let feature = self.feature(position);
        let (Value::Category(from), Value::Category(to)) = (from, to) else { return true };
        let listed = |rows: &[(usize, Vec<usize>)]| {
            rows.iter().find(|(other, _)| other == from).map(|(_, places)| places.contains(to))
        };
        listed(&feature.transitions) != Some(false) && listed(&feature.forbid) != Some(true)
    }

    /// Whether a set holds a value; `None` for an unknown one.
    fn holds(&self, position: usize, set: &Set, value: &Value) -> Option<bool> {
        let is_special = self.feature(position).is_special(value);
        match (set, value) {
            (_, Value::Unknown) => None,
            (Set::Between(low, high), Value::Number(number)) => {
                Some(!is_special && (*low..=*high).contains(number))
            }
            (Set::Numbers(numbers), Value::Number(number)) => Some(numbers.contains(number)),
            (Set::Categories(places), Value::Category(place)) => Some(places.contains(place)),
            _ => Some(false),
        }
    }

    /// What comes of actions, if they are legal together. Durations are rounded up to multiples of `round` months.
    pub(crate) fn outcome(
        &self,
        own: &[Value],
        actions: &[(usize, Value)],
        asking: &Asking,
        round: u32,
    ) -> Option<Outcome> {
        let request = &asking.request;
        let mut values = own.to_vec();
        let (mut effort, mut months) = (0.0, 0);
        for (position, to) in actions {
            let from = &own[*position];
            if !self.is_legal(*position, from, to, asking) {
                return None;
            }
            effort += self.effort(*position, from, to, asking);
            let takes = self.months(*position, from, to).div_ceil(round) * round;
            months = months.max(takes.min(request.within.unwrap_or(u32::MAX)));
            values[*position] = to.clone();
        }
        if request.max_effort.is_some_and(|most| effort > most * (1.0 + 1e-9)) {
            return None;
        }
        self.pass_time(own, months, &mut values)?;
        self.compute(own, &mut values)?;
        let harms = |position: &usize| self.is_harm(*position, &own[*position], &values[*position]);
        let mut followers =
            (0..values.len()).filter(|&position| self.feature(position).change == Change::Follows);
        if request.no_harm && followers.any(|position| harms(&position)) {
            return None;
        }
        self.keeps_relations(own, &values, asking).then_some(Outcome { values, effort, months })
    }

    /// Moves clocks on.
    pub(crate) fn pass_time(&self, own: &[Value], months: u32, values: &mut [Value]) -> Option<()> {
        for (position, feature) in self.world.features.iter().enumerate() {
            let (Change::WithTime(_, unit), Value::Number(number)) = (feature.change, &own[position]) else {
                continue;
            };
            if feature.is_special(&own[position]) {
                continue;
            }
            let places = self.domains[position].summary()?.decimals;
            let scale = 10f64.powi(places as i32);
            let elapsed = (f64::from(months) / unit * scale + 1e-9).floor() / scale;
            let later = round_to(number + elapsed, places.max(decimals(*number)));
            if elapsed > 0.0 {
                values[position] = Value::Number(later);
                if !feature.range.is_none_or(|[low, high]| (low..=high).contains(&later)) {
                    return None;
                }
            }
        }
        Some(())
    }

    /// Sets what follows from other values.
    pub(crate) fn compute(&self, own: &[Value], values: &mut [Value]) -> Option<()> {
        // Each feature follows only from features before it.
        for relation in &self.world.relations {
            let Relation::Follows { feature, sources, formula } = relation else { continue };
            let moved: Vec<usize> =
                sources.iter().copied().filter(|&source| values[source] != own[source]).collect();
            if moved.is_empty() {
                continue;
            }
            let is_unknown = |source: &usize| own[*source] == Value::Unknown;
            if own[*feature] == Value::Unknown || sources.iter().any(is_unknown) {
                // What nobody can compute keeps those who act from acting, but not the time from passing.
                if moved.iter().any(|&source| !matches!(self.feature(source).change, Change::WithTime(..))) {
                    return None;
                }
                continue;
            }
            if sources.iter().any(|&source| self.feature(source).is_special(&values[source])) {
                continue;
            }
            let places = self.domains[*feature].summary().map_or(0, |summary| summary.decimals);
            let value = computed(self.world, *feature, sources, formula, values, places)?;
            if self.feature(*feature).is_special(&value) {
                return None;
            }
            values[*feature] = value;
        }
        Some(())
    }

    pub(crate) fn keeps_relations(&self, own: &[Value], values: &[Value], asking: &Asking) -> bool {
        self.world.relations.iter().enumerate().all(|(place, relation)| {
            let features = relation.features();
            let changed = features.iter().filter(|&&feature| values[feature] != own[feature]).count();
            changed == 0
                || self.is_lifted(place, relation, asking)
                || self.keeps_relation(relation, own, values, changed)
        })
    }

    fn is_lifted(&self, place: usize, relation: &Relation, asking: &Asking) -> bool {
        let up = |direction| direction == par_data::schema::Direction::Increase;
        asking.lifted.iter().any(|restriction| match (restriction, relation) {
            (Restriction::Rule(rule), Relation::Rule { when, then }) => {
                (rule.when.feature, up(rule.when.direction)) == *when
                    && (rule.then.feature, up(rule.then.direction)) == *then
            }
            (Restriction::Relation(position), _) => *position == place,
            _ => false,
        })
    }

    fn keeps_relation(&self, relation: &Relation, own: &[Value], values: &[Value], changed: usize) -> bool {
        let features = relation.features();
        let is_suspended =
            || features.iter().any(|&feature| self.feature(feature).is_special(&values[feature]));
        let test = |(feature, set): &(usize, Set)| self.holds(*feature, set, &values[*feature]);
        match relation {
            Relation::Follows { .. } => true,
            Relation::AtMost(lower, upper) => {
                is_suspended()
                    || match (&values[*lower], &values[*upper]) {
                        (Value::Number(lower), Value::Number(upper)) => lower <= upper,
                        (Value::Category(lower), Value::Category(upper)) => lower <= upper,
                        _ => false,
                    }
            }
            Relation::When(when, then) => {
                is_suspended()
                    || when.iter().any(|condition| test(condition) == Some(false))
                    || then.iter().all(|condition| test(condition) == Some(true))
            }
            Relation::Together(features) => changed == features.len(),
            Relation::AtMostChanges(most, of) => {
                let acts = |&&feature: &&usize| {
                    values[feature] != own[feature] && self.feature(feature).is_acted_on()
                };
                of.iter().filter(acts).count() <= *most
            }
            Relation::Rule { when, then } => {
                let happens = |(feature, up): (usize, bool)| {
                    self.direction(feature, &own[feature], &values[feature]) == Some(up)
                };
                !happens(*when) || happens(*then)
            }
        }
    }

    /// Whether a row keeps all policies.
    pub(crate) fn keeps_policies(&self, values: &[Value], asking: &Asking) -> bool {
        let test = |(feature, set): &(usize, Set)| self.holds(*feature, set, &values[*feature]);
        self.world.policies.iter().enumerate().all(|(place, policy)| {
            asking.lifts(Restriction::Policy(place))
                || policy.when.iter().any(|condition| test(condition) == Some(false))
                || policy.require.iter().all(|condition| test(condition) == Some(true))
        })
    }
}

fn round_to(number: f64, places: usize) -> f64 {
    format!("{number:.places$}").parse::<f64>().expect("a number") + 0.0
}

/// The value that follows from others; `None` if the feature cannot have it.
pub(crate) fn computed(
    world: &World,
    feature: usize,
    sources: &[usize],
    formula: &Formula,
    values: &[Value],
    places: usize,
) -> Option<Value> {
    let number = |place: usize| values[sources[place]].number().unwrap_or(f64::NAN);
    let numbers = || (0..sources.len()).map(number);
    let result = match formula {
        Formula::Sum => numbers().sum(),
        Formula::Product => numbers().product(),
        Formula::Difference => number(0) - number(1),
        Formula::Ratio => number(0) / number(1),
        Formula::Lookup(table) => {
            let value = &values[sources[0]];
            let holds = |set: &Set| match (set, value) {
                (Set::Between(low, high), Value::Number(number)) => (*low..=*high).contains(number),
                (Set::Numbers(numbers), Value::Number(number)) => numbers.contains(number),
                (Set::Categories(places), Value::Category(place)) => places.contains(place),
                _ => false,
            };
            let (_, result) = table.iter().find(|(set, _)| holds(set))?;
            match result {
                Value::Number(number) => *number,
                category => return Some(category.clone()),
            }
        }
    };
    let described = &world.features[feature];
    let [low, high] = described.bounds.or(described.range).unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    if !result.is_finite() {
        return None;
    }
    let result = round_to(result, places);
    (low..=high).contains(&result).then_some(Value::Number(result))
}
