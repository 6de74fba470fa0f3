//! Random worlds, rows and requests.

use par_answer::{Method, Request};
use par_data::{Limits, Permitted};
use par_model::{Model, Order, ScoreScale};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::meaning::{Asking, computed};
use crate::model::Made;
use crate::rows::Row;
use crate::world::{
    Change, Conditions, Feature, Formula, Kind, Policy, Relation, Set, Step, Takes, Value, World,
};

const CATEGORIES: [&str; 4] = ["a", "b", "c", "d"];

pub(crate) struct Draw<'r>(pub(crate) &'r mut ChaCha8Rng);

impl Draw<'_> {
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.0.random_bool(share)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0.random_range(0..count)
    }

    pub(crate) fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    pub(crate) fn maybe<T>(&mut self, share: f64, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.chance(share).then(|| draw(self))
    }

    /// Different elements, in their order.
    fn some<T: Clone>(&mut self, of: &[T], count: usize) -> Vec<T> {
        let mut places: Vec<usize> = (0..of.len()).collect();
        while places.len() > count {
            let place = self.below(places.len());
            places.remove(place);
        }
        places.into_iter().map(|place| of[place].clone()).collect()
    }

    /// A number of the table's column.
    fn number(&mut self, feature: &Feature) -> f64 {
        let [low, high] = feature.span;
        let steps = ((high - low) / feature.unit).round() as usize;
        rounded(low + self.below(steps + 1) as f64 * feature.unit)
    }
}

/// Without the rounding errors of sums.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0 + 0.0
}

/// A world that the parser may still refuse.
pub(crate) fn world(draw: &mut Draw<'_>) -> World {
    let mut world = World { features: Vec::new(), relations: Vec::new(), policies: Vec::new(), label: "" };
    for _ in 0..4 + draw.below(3) {
        let feature = feature(draw);
        world.features.push(feature);
    }
    for _ in 0..draw.one(&[0, 0, 1, 1, 1, 2]) {
        if world.features.len() < 7 {
            add_follower(&mut world, draw);
        }
    }
    for _ in 0..draw.one(&[0, 1, 1, 2, 3]) {
        if let Some(relation) = relation(&world, draw) {
            world.relations.push(relation);
        }
    }
    for _ in 0..draw.one(&[0, 0, 1, 2]) {
        let when = if draw.chance(0.6) { conditions(&world, draw) } else { Vec::new() };
        let require = conditions(&world, draw);
        world.policies.push(Policy { when, require });
    }
    world
}

fn plain(kind: Kind) -> Feature {
    Feature {
        kind,
        values: Vec::new(),
        span: [0.0, 0.0],
        unit: 1.0,
        change: Change::Undecided,
        missing: false,
        bins: None,
        range: None,
        bounds: None,
        special: Vec::new(),
        left: Vec::new(),
        allowed: None,
        step: Step::default(),
        transitions: Vec::new(),
        forbid: Vec::new(),
        effort: None,
        per: None,
        takes: None,
        improves: None,
    }
}

fn feature(draw: &mut Draw<'_>) -> Feature {
    let kind = draw.one(&[
        Kind::Nominal,
        Kind::Ordinal,
        Kind::Discrete,
        Kind::Discrete,
        Kind::Continuous,
        Kind::Continuous,
    ]);
    let mut feature = plain(kind);
    feature.missing = draw.chance(0.4);
    match kind {
        Kind::Nominal | Kind::Ordinal => {
            let count = 2 + draw.below(3);
            feature.values = CATEGORIES[..count].iter().map(ToString::to_string).collect();
        }
        Kind::Discrete => {
            let (low, unit) = (draw.one(&[0.0, 1.0, 10.0]), draw.one(&[1.0, 2.0, 5.0]));
            feature.span = [low, low + unit * (1 + draw.below(4)) as f64];
            feature.unit = unit;
        }
        Kind::Continuous => {
            let (low, unit) = (draw.one(&[0.0, 1.0, 13.0]), draw.one(&[0.1, 0.5, 1.0]));
            feature.span = [low, low + draw.one(&[10.0, 33.0, 60.0])];
            feature.unit = unit;
            feature.bins = Some(2 + draw.below(3));
        }
    }
    feature.change = match draw.below(20) {
        0 => Change::Undecided,
        1 => Change::Never,
        2..5 if feature.is_numeric() => {
            let units = [("months", 1.0), ("years", 12.0), ("quarters", 3.0)];
            let (unit, months) = draw.one(&units);
            Change::WithTime(unit, months)
        }
        5..8 if feature.is_ordered() => Change::Increase,
        8..10 if feature.is_ordered() => Change::Decrease,
        _ => Change::Free,
    };
    if feature.is_numeric() {
        add_numbers(&mut feature, draw);
    }
    if feature.is_ordered() {
        feature.improves = draw.maybe(0.4, |draw| draw.chance(0.5));
    }
    if feature.is_acted_on() {
        add_action(&mut feature, draw);
    }
    feature
}

fn add_numbers(feature: &mut Feature, draw: &mut Draw<'_>) {
    let [low, high] = feature.span;
    if draw.chance(0.25) {
        feature.special = if draw.chance(0.5) { vec![-9.0] } else { vec![-9.0, -8.0] };
    }
    feature.range = draw.maybe(0.4, |draw| {
        let lowest = if feature.special.is_empty() { low - draw.one(&[0.0, 1.0, 50.0]) } else { -9.0 };
        [lowest, high + draw.one(&[0.0, 0.0, 1.0, 12.0, 1000.0])]
    });
    feature.bounds = draw.maybe(0.3, |draw| {
        let mut ends = [draw.number(feature), draw.number(feature)];
        ends.sort_by(f64::total_cmp);
        let highest = feature.range.map_or(f64::INFINITY, |[_, high]| high);
        if draw.chance(0.4) {
            ends[1] = (high + 10.0).min(highest);
        }
        ends
    });
}

fn add_action(feature: &mut Feature, draw: &mut Draw<'_>) {
    feature.left = feature.special.iter().copied().filter(|_| draw.chance(0.5)).collect();
    if feature.is_numeric() {
        feature.allowed = draw.maybe(0.15, |draw| {
            let mut numbers: Vec<f64> = (0..1 + draw.below(5)).map(|_| draw.number(feature)).collect();
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            numbers.iter().map(f64::to_string).collect()
        });
        let wide = feature.span[1] - feature.span[0];
        if draw.chance(0.35) {
            let far = |draw: &mut Draw<'_>| rounded((0.1 + 0.2 * draw.below(4) as f64) * wide);
            feature.step = Step {
                up: draw.maybe(0.5, far).filter(|_| feature.change != Change::Decrease),
                down: draw.maybe(0.5, far).filter(|_| feature.change != Change::Increase),
                at_least: draw.maybe(0.3, |draw| draw.one(&[0.5, 1.0, 2.0, 5.0])),
                grid: draw.maybe(0.3, |draw| draw.one(&[0.2, 0.5, 2.0, 3.0, 5.0])),
            };
        }
    } else {
        let count = feature.values.len();
        feature.allowed = draw.maybe(0.15, |draw| {
            let count = 1 + draw.below(count);
            draw.some(&feature.values, count)
        });
        if feature.is_ordered() && draw.chance(0.3) {
            let places = |draw: &mut Draw<'_>| draw.below(3) as f64;
            feature.step.up = draw.maybe(0.6, places).filter(|_| feature.change != Change::Decrease);
            feature.step.down = draw.maybe(0.6, places).filter(|_| feature.change != Change::Increase);
        }
        for from in 0..count {
            let places: Vec<usize> = (0..count).collect();
            let to = |draw: &mut Draw<'_>| {
                let size = draw.below(count);
                draw.some(&places, size)
            };
            match draw.below(12) {
                0 => {
                    let to = to(draw);
                    feature.transitions.push((from, to));
                }
                1 | 2 => {
                    let to = to(draw);
                    feature.forbid.push((from, to));
                }
                _ => {}
            }
        }
    }
    feature.effort = draw.maybe(0.6, |draw| {
        let words = [
            ("\"easy\"", 1.0),
            ("\"some\"", 2.0),
            ("\"hard\"", 4.0),
            ("\"very hard\"", 8.0),
            ("0.3", 0.3),
            ("17", 17.0),
        ];
        let (text, weight) = draw.one(&words);
        (text.to_string(), weight)
    });
    feature.per = draw.maybe(0.35, |draw| draw.one(&[0.5, 1.0, 7.0, 20.0])).filter(|_| feature.is_ordered());
    feature.takes = draw.maybe(0.55, |draw| {
        let day = 12.0 / 365.25;
        let times = [
            ("6 months", 6.0),
            ("1 year", 12.0),
            ("10 days", 10.0 * day),
            ("3 weeks", 21.0 * day),
            ("2 quarters", 6.0),
            ("1 month", 1.0),
        ];
        let (text, months) = draw.one(&times);
        let per = draw.maybe(0.5, |draw| draw.one(&[1.0, 2.5, 10.0])).filter(|_| feature.is_ordered());
        let text = per.map_or(text.to_string(), |per| format!("{text} per {per}"));
        Takes { text, months, per }
    });
}

/// Adds a feature that follows from others.
fn add_follower(world: &mut World, draw: &mut Draw<'_>) {
    let numbers: Vec<usize> =
        (0..world.features.len()).filter(|&feature| world.features[feature].is_numeric()).collect();
    let position = world.features.len();
    let is_lookup = numbers.len() < 2 || draw.chance(0.35);
    let mut feature = plain(if is_lookup {
        draw.one(&[Kind::Nominal, Kind::Ordinal, Kind::Discrete])
    } else {
        Kind::Continuous
    });
    feature.change = Change::Follows;
    feature.missing = true;
    let (sources, formula) = if is_lookup {
        let source = draw.below(position);
        match feature.kind {
            Kind::Discrete => feature.span = [0.0, 3.0],
            _ => feature.values = CATEGORIES[..2 + draw.below(3)].iter().map(ToString::to_string).collect(),
        }
        let table = lookup(&world.features[source], &feature, draw);
        (vec![source], Formula::Lookup(table))
    } else {
        let count = if numbers.len() > 2 && draw.chance(0.3) { 3 } else { 2 };
        let formula = match count {
            2 => draw.one(&[Formula::Sum, Formula::Product, Formula::Difference, Formula::Ratio]),
            _ => draw.one(&[Formula::Sum, Formula::Product]),
        };
        let mut sources = draw.some(&numbers, count);
        if draw.chance(0.5) {
            sources.reverse();
        }
        feature.unit = if matches!(formula, Formula::Ratio) { 0.01 } else { 0.1 };
        feature.bins = Some(2 + draw.below(3));
        (sources, formula)
    };
    world.relations.push(Relation::Follows { feature: position, sources, formula });
    feature.improves = draw.maybe(0.4, |draw| draw.chance(0.5)).filter(|_| feature.is_ordered());
    if feature.is_numeric() && draw.chance(0.2) {
        feature.special = vec![-9.0];
    }
    world.features.push(feature);
    if is_lookup {
        return;
    }
    let sample: Vec<f64> = (0..200).filter_map(|_| row(world, draw, 0.0)[position].number()).collect();
    let low = sample.iter().copied().fold(f64::INFINITY, f64::min);
    let high = sample.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let between = |share: f64| rounded(((low + share * (high - low)) * 10.0).round() / 10.0);
    let feature = &mut world.features[position];
    feature.span = [low, high];
    feature.bounds = draw.maybe(0.25, |_| [between(0.1), between(0.8)]);
    feature.range = draw.maybe(0.25, |_| [low.min(-9.0), high]);
}

fn lookup(source: &Feature, gives: &Feature, draw: &mut Draw<'_>) -> Vec<(Set, Value)> {
    let result = |draw: &mut Draw<'_>| match gives.is_numeric() {
        true => Value::Number(draw.number(gives)),
        false => Value::Category(draw.below(gives.values.len())),
    };
    let mut table = Vec::new();
    if source.is_numeric() {
        let mut ends: Vec<f64> = (0..1 + draw.below(3)).map(|_| draw.number(source)).collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        let mut low = f64::NEG_INFINITY;
        for end in ends {
            table.push((Set::Between(low, end), result(draw)));
            low = rounded(end + source.unit);
        }
        if draw.chance(0.8) {
            table.push((Set::Between(low, f64::INFINITY), result(draw)));
        }
    } else {
        for place in 0..source.values.len() {
            if draw.chance(0.9) {
                table.push((Set::Categories(vec![place]), result(draw)));
            }
        }
    }
    table
}

fn relation(world: &World, draw: &mut Draw<'_>) -> Option<Relation> {
    let all: Vec<usize> = (0..world.features.len()).collect();
    let is = |test: fn(&Feature) -> bool| -> Vec<usize> {
        all.iter().copied().filter(|&feature| test(&world.features[feature])).collect()
    };
    let pair = |of: &[usize], draw: &mut Draw<'_>| -> Option<[usize; 2]> {
        let mut pair = draw.some(of, 2);
        if draw.chance(0.5) {
            pair.reverse();
        }
        pair.try_into().ok()
    };
    match draw.below(6) {
        0 => {
            let of =
                if draw.chance(0.8) { is(Feature::is_numeric) } else { is(|one| one.kind == Kind::Ordinal) };
            pair(&of, draw).map(|[lower, upper]| Relation::AtMost(lower, upper))
        }
        1 => Some(Relation::When(conditions(world, draw), conditions(world, draw))),
        2 => {
            let count = 2 + draw.below(2);
            Some(Relation::Together(draw.some(&is(Feature::is_acted_on), count)))
        }
        3 => {
            let count = 2 + draw.below(3);
            let of = draw.some(&all, count);
            Some(Relation::AtMostChanges(1 + draw.below(2), of))
        }
        _ => {
            let [when, then] = pair(&is(Feature::is_ordered), draw)?;
            Some(Relation::Rule { when: (when, draw.chance(0.5)), then: (then, draw.chance(0.5)) })
        }
    }
}

fn conditions(world: &World, draw: &mut Draw<'_>) -> Conditions {
    let all: Vec<usize> = (0..world.features.len()).collect();
    let count = 1 + draw.below(2);
    let features = draw.some(&all, count);
    features.into_iter().map(|feature| (feature, set(&world.features[feature], draw))).collect()
}

fn set(feature: &Feature, draw: &mut Draw<'_>) -> Set {
    if !feature.is_numeric() {
        let places: Vec<usize> = (0..feature.values.len()).collect();
        let count = 1 + draw.below(2);
        return Set::Categories(draw.some(&places, count));
    }
    let number = draw.number(feature);
    match draw.below(4) {
        0 => Set::Between(number, f64::INFINITY),
        1 => Set::Between(f64::NEG_INFINITY, number),
        2 => {
            let other = draw.number(feature);
            Set::Between(number.min(other), number.max(other))
        }
        _ => {
            let mut numbers = vec![number, draw.number(feature)];
            numbers.extend(feature.special.iter().take(1).filter(|_| draw.chance(0.5)));
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            Set::Numbers(numbers)
        }
    }
}

/// A row of the world; a share of what follows from others is drawn instead.
pub(crate) fn row(world: &World, draw: &mut Draw<'_>, noise: f64) -> Vec<Value> {
    let mut row: Vec<Value> = Vec::new();
    for (position, feature) in world.features.iter().enumerate() {
        let followed = world.relations.iter().find_map(|relation| match relation {
            Relation::Follows { feature, sources, formula } if *feature == position => {
                Some((sources, formula))
            }
            _ => None,
        });
        let value = match followed {
            Some((sources, formula))
                if !draw.chance(noise) || feature.span == [0.0, 0.0] && feature.is_numeric() =>
            {
                let is_ordinary = |source: &usize| {
                    row[*source] != Value::Unknown && !world.features[*source].is_special(&row[*source])
                };
                match sources.iter().all(is_ordinary) {
                    true => computed(world, position, sources, formula, &row, decimals(feature.unit)),
                    false => None,
                }
                .unwrap_or_else(|| match feature.special.first() {
                    Some(special) => Value::Number(*special),
                    None => Value::Unknown,
                })
            }
            _ => cell(feature, draw),
        };
        row.push(value);
    }
    row
}

fn cell(feature: &Feature, draw: &mut Draw<'_>) -> Value {
    match feature.is_numeric() {
        _ if feature.missing && draw.chance(0.07) => Value::Unknown,
        true => match feature.special.is_empty() || !draw.chance(0.15) {
            true => Value::Number(draw.number(feature)),
            false => Value::Number(draw.one(&feature.special)),
        },
        false => Value::Category(draw.below(feature.values.len())),
    }
}

pub(crate) fn decimals(unit: f64) -> usize {
    unit.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// A person: a row, where some numbers were never seen.
pub(crate) fn person(world: &World, draw: &mut Draw<'_>) -> Vec<Value> {
    let mut person = row(world, draw, 0.15);
    for (feature, value) in world.features.iter().zip(&mut person) {
        if feature.is_numeric() && draw.chance(0.1) {
            let [low, high] = feature.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            let far = draw.number(feature) + draw.one(&[-20.0, 20.0, 0.0]) + draw.one(&[0.0, 0.03]);
            *value = Value::Number(rounded(far.clamp(low, high)));
        }
    }
    person
}

pub(crate) fn asking(world: &World, model: &Model, draw: &mut Draw<'_>) -> Asking {
    let features = world.features.len();
    // How much this person asks for.
    let wishes = draw.one(&[0.0, 0.0, 0.5, 1.0, 2.0]);
    let mut limits: Conditions = Vec::new();
    for (feature, described) in world.features.iter().enumerate() {
        if described.is_acted_on() && draw.chance(0.1 * wishes) {
            limits.push((feature, set(described, draw)));
        }
    }
    let named = limits.iter().map(|(feature, set)| (*feature, permitted(&world.features[*feature], set)));
    let checked = Limits::new(model.discretizer(), named).unwrap_or_else(|_| {
        limits.clear();
        Limits::default()
    });
    let request = Request {
        method: draw.one(&Method::ALL),
        locks: (0..features).filter(|_| draw.chance(0.07 * wishes)).collect(),
        limits: checked,
        budget: draw.maybe(0.25 * wishes, |draw| 1 + draw.below(3)),
        threshold: draw.maybe(0.3, |draw| 0.3 + 0.1 * draw.below(6) as f64),
        margin: draw.maybe(0.5, |draw| draw.one(&[0.0, 0.02, 0.2])),
        min_percentile: draw.maybe(0.5, |draw| draw.one(&[0.0, 0.05, 0.3])),
        efforts: (0..features).filter(|_| draw.chance(0.1)).map(|feature| (feature, 3.0)).collect(),
        max_effort: draw.maybe(0.2 * wishes, |draw| draw.one(&[0.3, 1.0, 2.0, 4.0, 9.0])),
        within: draw.maybe(0.2 * wishes, |draw| draw.one(&[0, 1, 5, 6, 11, 12, 30])),
        no_harm: draw.chance(0.2 * wishes),
        robust: draw.maybe(0.6, |draw| draw.one(&[1.0, 0.5])).filter(|_| !model.versions().is_empty()),
        certify: None,
        slack: draw.chance(0.15),
        count: 1 + draw.below(3),
        order: draw.maybe(0.6, |draw| draw.one(&Order::ALL)),
        deadline: None,
        auditor: draw.chance(0.5),
    };
    Asking { request, limits, lifted: Vec::new() }
}

/// Asks for a score that some of the rows have, and not many.
pub(crate) fn hard_to_reach(made: &Made, rows: &[Row], asking: &mut Asking, draw: &mut Draw<'_>) {
    let mut scores: Vec<f64> = rows.iter().map(|row| row.score).filter(|score| score.is_finite()).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    if !scores.is_empty() {
        let score = scores[draw.below(1 + scores.len() / 5)];
        asking.request.threshold = Some(match made.model.scale() {
            ScoreScale::Probability => (score - 1e-3).clamp(0.02, 0.98),
            scale => scale.score(score - 1e-3),
        });
    }
}

fn permitted(feature: &Feature, set: &Set) -> Permitted {
    match set {
        Set::Between(low, high) => Permitted::Between([*low, *high]),
        Set::Numbers(numbers) => Permitted::Among(numbers.iter().map(f64::to_string).collect()),
        Set::Categories(places) => {
            Permitted::Among(places.iter().map(|place| feature.values[*place].clone()).collect())
        }
    }
}
