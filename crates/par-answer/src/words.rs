//! The sentences of answers.

use par_data::schema::{Actor, Direction, Relation};
use par_data::{Code, Domain, Feature, Novelty, Restriction, Schema, UNKNOWN};
use par_model::Model;

use crate::answer::{Accepting, BestAt, Change, Found, IfKnown, NotFound, Obstacle, Reason, Solves, Way};

/// A cell as a person reads it: the label of a category, a number with its unit.
pub fn cell(feature: &Feature, text: &str) -> String {
    let text = text.trim();
    match (feature.labels.get(text), &feature.unit) {
        (Some(label), _) => label.clone(),
        (None, Some(unit)) if !text.is_empty() => format!("{text} {unit}"),
        (None, _) => text.to_string(),
    }
}

/// A code as a person reads it: the label of a category, a number, or an interval.
///
/// # Panics
/// When the domain has no such code.
pub fn code(feature: &Feature, domain: &Domain, code: Code) -> String {
    let place = usize::from(code);
    match domain {
        _ if code == UNKNOWN => "unknown".to_string(),
        Domain::Categories { values, .. } => {
            feature.labels.get(&values[place]).unwrap_or(&values[place]).clone()
        }
        numeric if place >= numeric.ordinary() => numeric.number(code).to_string(),
        Domain::Values { values, .. } => values[place].to_string(),
        Domain::Bins { edges, medians, .. } if place + 1 == medians.len() => {
            format!("{} to {}", edges[place], edges[place + 1])
        }
        Domain::Bins { edges, .. } => format!("{} to under {}", edges[place], edges[place + 1]),
    }
}

/// A number or a range of numbers with the unit of its feature.
pub fn with_unit(feature: &Feature, text: &str) -> String {
    match &feature.unit {
        Some(unit) => format!("{text} {unit}"),
        None => text.to_string(),
    }
}

/// Warns that a cell's value was not in the training rows, and says what it counts as.
pub fn novelty(feature: &Feature, text: &str, novelty: Novelty) -> String {
    let (name, found) = (&feature.name, cell(feature, text));
    match novelty {
        Novelty::Outside { low, high } => format!(
            "`{name}` is {found}, outside the training rows' {low} to {high}, and counts as the nearest value among them"
        ),
        Novelty::Between { nearest } => {
            format!("`{name}` is {found}, which no training row has, and counts as {nearest}")
        }
        Novelty::Category => format!("`{name}` is {found}, which training never saw, and counts as unknown"),
        _ => format!("`{name}` is {found}, which training never saw"),
    }
}

/// A warning for each cell of a row, in schema order, whose value was not in the training rows.
///
/// # Panics
/// When there are more cells than features.
pub fn warnings(model: &Model, cells: &[&str]) -> Vec<String> {
    let warning = |(position, cell): (usize, &&str)| {
        let novelty = model.discretizer().novelty(position, cell)?;
        Some(self::novelty(&model.schema().features()[position], cell, novelty))
    };
    cells.iter().enumerate().filter_map(warning).collect()
}

/// That a search ended before it was done.
pub const SEARCH_ENDED: &str = "the search ended before it was done: there may be more or better ways";

/// `1 change`, `2 changes`.
pub fn changes(count: usize) -> String {
    if count == 1 { "1 change".to_string() } else { format!("{count} changes") }
}

/// The percentile of a row among accepted ones.
pub fn percentile(share: f64) -> String {
    // Rounded down, so that 99.9 % does not become 100 %.
    let people = match (100.0 * share).floor() {
        _ if share >= 1.0 => "all".to_string(),
        0.0 => "less than 1 % of".to_string(),
        percent => format!("{percent} % of"),
    };
    format!("likelier than {people} accepted people, given what cannot change")
}

/// A time in words: `6 months`, `1 year`, `2 years and 1 month`.
pub fn time(months: u32) -> String {
    let count = |number: u32, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    match (months / 12, months % 12) {
        (0, months) => count(months, "month"),
        (years, 0) => count(years, "year"),
        (years, months) => format!("{} and {}", count(years, "year"), count(months, "month")),
    }
}

/// What a way takes: effort, and time if it takes any.
pub fn cost(effort: f64, months: u32) -> String {
    match months {
        0 => format!("effort {effort:.1}"),
        months => format!("effort {effort:.1}, takes {}", time(months)),
    }
}

/// A change in words, with what would do as well; one that the lender makes is a counter-offer.
pub fn change(change: &Change) -> String {
    let least = change.least.map(|least| {
        let is_rise = change.value.parse().is_ok_and(|value: f64| value > least);
        format!("at {} {least}", if is_rise { "least" } else { "most" })
    });
    let range = || change.range.map(|[lowest, highest]| format!("{lowest} to {highest} would do"));
    let offer = (change.who == Actor::Lender).then(|| "a counter-offer".to_string());
    let notes: Vec<String> = least.or_else(range).into_iter().chain(offer).collect();
    match notes.is_empty() {
        true => change.sentence(),
        false => format!("{} ({})", change.sentence(), notes.join("; ")),
    }
}

/// The change of a feature from a cell to another in words.
pub fn cells(feature: &Feature, from: &str, to: &str) -> String {
    let label = feature.labels.get(from.trim()).map_or(from.trim(), String::as_str);
    format!("{}: {label} → {}", feature.name, cell(feature, to))
}

/// How much better another row could be, if the way has a gap; `rank` is its place among the ways, from 1.
pub fn proof(rank: usize, way: &Way) -> Option<String> {
    let gap = way.gap?;
    let (lasting, most) = (if way.must_last { "lasting " } else { "" }, at_most(way.changes.len()));
    let others = match rank {
        1 => format!("no other {lasting}combination of values with {most}"),
        _ => {
            format!("of all that leave out a change of every way before, no {lasting}combination with {most}")
        }
    };
    // A bound is rounded away from the claim.
    let up = |bound: f64| (100.0 * bound).ceil() / 100.0;
    Some(match (way.solves, way.is_optimal()) {
        (Solves::LeastEffort, true) => {
            format!("proved: {others} is as plausible and sure and takes less effort")
        }
        (Solves::LeastEffort, false) => {
            format!("{others} is as plausible and sure and takes more than {:.2} less effort", up(gap))
        }
        (Solves::Likeliest, true) => format!("proved: {others} is likelier for its effort"),
        (Solves::Likeliest, false) => {
            format!("{others} is more than {:.2} times as likely for its effort", up(gap.exp()))
        }
    })
}

fn at_most(changes: usize) -> String {
    format!("at most {}", self::changes(changes))
}

/// A score: `probability 0.520`, or `predicted 52,300 DM`.
pub fn score(model: &Model, score: f64) -> String {
    let what = if model.scale().is_number() { "predicted" } else { "probability" };
    format!("{what} {}", model.score_words(score))
}

/// The score of a way: `with probability 0.520`, or `with a prediction of 52,300 DM`.
pub fn with_score(model: &Model, score: f64) -> String {
    let what = if model.scale().is_number() { "a prediction of" } else { "probability" };
    format!("with {what} {}", model.score_words(score))
}

/// A score and what it must reach: `probability 0.412, threshold 0.500`, or `predicted 46,300 DM, at least 50,000 DM is
/// needed`.
pub fn decision(model: &Model, score: f64, threshold: f64) -> String {
    let Some(goal) = model.goal() else {
        return format!("{}, threshold {threshold:.3}", self::score(model, score));
    };
    // Rounding must not show a number on the other side of the threshold.
    let scale = model.scale();
    let is_true = |decimals: &usize| {
        let shown: f64 = format!("{score:.decimals$}").parse().unwrap_or(score);
        scale.reaches(shown, threshold) == scale.reaches(score, threshold)
    };
    let decimals = (scale.decimals()..=scale.decimals() + 6).find(is_true);
    let (predicted, needed) = (goal.amount(score, decimals), goal.amount(threshold, None));
    format!("predicted {predicted}, {} {needed} is needed", goal.side.words())
}

/// How long a way can be expected to hold: which versions of the classifier accept it, and what it is certified for.
pub fn lasting(way: &Way) -> Option<String> {
    let accepting = way.accepting.map(|accepting| match accepting {
        Accepting { of: 1, versions } => {
            format!(
                "the other version of the classifier {} it",
                if versions == 1 { "accepts" } else { "does not accept" }
            )
        }
        Accepting { of, .. } if accepting.all() => {
            format!("all {of} other versions of the classifier accept it")
        }
        Accepting { versions, of } => {
            format!("{versions} of {of} other versions of the classifier accept it")
        }
    });
    // Rounded down, so that nothing is said that was not proved.
    let certified = way.certified.map(|moved| {
        let moved = (1e4 * moved).floor() / 1e4;
        format!("certified while the classifier moves by at most {moved}")
    });
    let facts: Vec<String> = accepting.into_iter().chain(certified).collect();
    (!facts.is_empty()).then(|| facts.join(", "))
}

/// What it costs that the first way lasts, beside the way of the same request that need not; `None` if it need not.
pub fn price_of_lasting(found: &Found) -> Option<String> {
    let (way, plain) = (found.ways.first()?, found.plain.as_deref()?);
    if way.cells == plain.cells {
        return Some("the way that need not last is the same".to_string());
    }
    let more =
        |by: f64, what: &str| format!("{:.1} {} {what}", by.abs(), if by < 0.0 { "less" } else { "more" });
    let effort = more(way.effort - plain.effort, "effort");
    let further = match (way.changes.len(), plain.changes.len()) {
        (own, plain) if own < plain => format!("{} fewer", changes(plain - own)),
        (own, plain) if own > plain => format!("{} more", changes(own - plain)),
        _ => "as many changes".to_string(),
    };
    let months = match i64::from(way.months) - i64::from(plain.months) {
        0 => String::new(),
        by => format!(", {} {}", time(by.unsigned_abs() as u32), if by < 0 { "sooner" } else { "later" }),
    };
    let times = (way.conditional_log_likelihood - plain.conditional_log_likelihood).exp();
    let likely = format!(", {times:.2} times as likely");
    Some(format!("beside the way that need not last: {effort}, {further}{months}{likely}"))
}

/// Warns that a way, or what it must withstand, is less far above the threshold than was asked for.
pub fn close(way: &Way) -> &'static str {
    match way.must_last {
        false => "close to the threshold: no way was found that is beyond it by the margin",
        true => "it lasts by less than the margin: no way was found that lasts by more",
    }
}

/// What an unknown cell would decide.
pub fn if_known(one: &IfKnown) -> String {
    format!("`{}` is unknown: if it is {}, nothing has to change", one.name, one.values)
}

/// A policy that a row breaks.
pub fn policy(schema: &Schema, position: usize) -> String {
    let rule = &schema.accept()[position];
    rule.because.clone().unwrap_or_else(|| schema.accept_rule_in_words(rule))
}

/// What a way is best at; `None` if there is nothing to compare it with.
pub fn best_at(found: &Found, way: &Way) -> Option<String> {
    let strength = |strength: &BestAt| match strength {
        BestAt::LeastEffort => "least effort",
        BestAt::FewestChanges => "fewest changes",
        BestAt::MostCommon => "most common",
        BestAt::Surest => "surest",
        BestAt::Soonest => "soonest",
        BestAt::Lasting => "lasting",
    };
    let is_alone = found.ways.len() == 1 && found.frontier.len() <= 1;
    let strengths: Vec<&str> = way.best_at.iter().filter(|_| !is_alone).map(strength).collect();
    (!strengths.is_empty()).then(|| strengths.join(", "))
}

/// Whether fewer changes than the fewest found could be enough; `None` for a single change, an unverified answer, and
/// where the least effort was searched for, whatever its number of changes.
pub fn fewest(found: &Found) -> Option<String> {
    let way = found.ways.first()?;
    let is_counted = found.verified && way.solves == Solves::Likeliest;
    let fewest = found.frontier.first().filter(|point| point.changes.len() > 1 && is_counted)?;
    let fewer = format!("fewer than {}", changes(fewest.changes.len()));
    let enough = if way.must_last { "enough to last" } else { "enough" };
    Some(match found.fewest_proved {
        true if way.has_margin => format!("proved: with the margin, {fewer} are not {enough}"),
        true => format!("proved: {fewer} are not {enough}"),
        false => format!("not ruled out: {fewer} could be {enough}"),
    })
}

/// Why there is no way.
pub fn reason(not_found: &NotFound) -> &'static str {
    match not_found.reason {
        Reason::AllUnknown => "no cell of the row is known",
        Reason::NothingToChange => "nothing is left that may change",
        Reason::OutOfReach if not_found.must_last => {
            "no combination of the values tried for this person is accepted and lasts (proved)"
        }
        Reason::OutOfReach => "no combination of the values tried for this person is accepted (proved)",
        Reason::OnlyUnusual if not_found.must_last => {
            "what would be accepted and last is rarer than what nearly all accepted people have (proved)"
        }
        Reason::OnlyUnusual => {
            "what would be accepted is rarer than what nearly all accepted people have (proved)"
        }
        Reason::SearchEnded => "the search ended before it found a way, or proved that there is none",
        Reason::ProposalsDenied => "nothing that the generator proposes can be offered",
    }
}

/// Which of the person's own wishes to lift so that there is a way, if that is known. Never names a constraint of the
/// schema.
pub fn remedy(schema: &Schema, not_found: &NotFound) -> Option<String> {
    if not_found.reason == Reason::ProposalsDenied {
        return Some("search by `refine`".to_string());
    }
    if let Some(needed) = not_found.needs_changes {
        return Some(format!("allow {}", changes(needed)));
    }
    let obstacles: Vec<String> = not_found.obstacles.iter().map(|one| obstacle(schema, *one)).collect();
    (!obstacles.is_empty()).then(|| obstacles.join(" and "))
}

/// A sentence for a person without a way and without a [`remedy`].
pub fn nothing_own(not_found: &NotFound) -> Option<&'static str> {
    let has_remedy = not_found.reason == Reason::ProposalsDenied
        || not_found.needs_changes.is_some()
        || !not_found.obstacles.is_empty();
    let is_denied = not_found.reason != Reason::AllUnknown;
    (is_denied && !has_remedy).then_some("no wish of the request is known to be an obstacle")
}

/// For an auditor: which constraints of the schema to lift so that there is a way; `None` unless requested.
pub fn schema_remedy(schema: &Schema, not_found: &NotFound) -> Option<String> {
    let obstacles = not_found.schema_obstacles.as_ref()?;
    let words: Vec<String> = obstacles.iter().map(|one| obstacle(schema, *one)).collect();
    Some(match nothing_own(not_found) {
        None => "nothing, since lifting the person's own wishes is enough".to_string(),
        Some(_) if words.is_empty() => "nothing was found".to_string(),
        Some(_) => words.join(" and "),
    })
}

/// How to lift an obstacle.
pub fn obstacle(schema: &Schema, obstacle: Obstacle) -> String {
    let name = |feature: usize| &schema.features()[feature].name;
    match obstacle {
        Obstacle::Lock(feature) => format!("unlock `{}`", name(feature)),
        Obstacle::Limit(feature) => format!("lift the limit on `{}`", name(feature)),
        Obstacle::MaxEffort(None) => "allow more effort".to_string(),
        Obstacle::MaxEffort(Some(enough)) => {
            format!("allow an effort of {:.1}", (10.0 * enough).ceil() / 10.0)
        }
        Obstacle::Within(None) => "allow more time".to_string(),
        Obstacle::Within(Some(enough)) => format!("allow {}", time(enough)),
        Obstacle::NoHarm => "allow changes for the worse".to_string(),
        Obstacle::Robust => "do without the acceptance of other versions of the classifier".to_string(),
        Obstacle::Certify => "do without the certificate".to_string(),
        Obstacle::Slack => "do without room for a change that falls a step short".to_string(),
        Obstacle::Schema(Restriction::Step(feature)) => format!("let `{}` move farther", name(feature)),
        Obstacle::Schema(Restriction::Transitions(feature)) => {
            format!("allow more transitions of `{}`", name(feature))
        }
        Obstacle::Schema(Restriction::Relation(position)) => {
            format!("lift the relation: {}", schema.relation_in_words(&schema.relations()[position]))
        }
        Obstacle::Schema(Restriction::Policy(position)) => {
            format!("lift the policy: {}", policy(schema, position))
        }
        Obstacle::Schema(Restriction::Monotone(feature)) => {
            let direction = match schema.features()[feature].direction() {
                Some(Direction::Increase) => "fall",
                Some(Direction::Decrease) => "rise",
                None => "change",
            };
            format!("let `{}` {direction}", name(feature))
        }
        Obstacle::Schema(Restriction::Immutable(feature)) => format!("let `{}` change", name(feature)),
        Obstacle::Schema(Restriction::Allowed(feature)) => format!("allow more of `{}`", name(feature)),
        Obstacle::Schema(Restriction::Rule(rule)) => {
            format!("lift the rule: {}", schema.relation_in_words(&Relation::Rule(rule)))
        }
        Obstacle::Schema(_) => "lift a constraint".to_string(),
    }
}

/// The part of a message before its hint.
pub fn without_hint(message: &str) -> &str {
    message.split_once('\n').map_or(message, |(message, _)| message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"
[[feature]]
name = "age"
kind = "discrete"
monotone = "increasing"
unit = "years"

[[feature]]
name = "job"
kind = "nominal"
values = ["a", "b"]
labels = { a = "cook" }
"#;

    #[test]
    fn a_remedy_names_the_obstacles_to_lift() {
        let schema = Schema::parse(SCHEMA, "test").expect("a schema");
        let not_found = |reason, needs_changes, obstacles: &[Obstacle]| {
            let obstacles = obstacles.to_vec();
            let schema_obstacles = None;
            remedy(
                &schema,
                &NotFound {
                    probability: 0.1,
                    broken_policies: Vec::new(),
                    reason,
                    must_last: false,
                    needs_changes,
                    obstacles,
                    schema_obstacles,
                    unusual: Vec::new(),
                    search_ended: false,
                    unknown: Vec::new(),
                },
            )
        };
        assert_eq!(
            not_found(Reason::OutOfReach, None, &[Obstacle::Limit(0)]),
            Some("lift the limit on `age`".to_string())
        );
        let both = [Obstacle::Lock(1), Obstacle::Limit(0)];
        let out_of_reach = Reason::OutOfReach;
        assert_eq!(
            not_found(out_of_reach, None, &both),
            Some("unlock `job` and lift the limit on `age`".to_string())
        );
        assert_eq!(not_found(out_of_reach, Some(1), &[]), Some("allow 1 change".to_string()));
        assert_eq!(not_found(out_of_reach, None, &[]), None);
    }

    #[test]
    fn only_the_auditor_sees_obstacles_of_the_schema() {
        let schema = Schema::parse(SCHEMA, "test").expect("a schema");
        let mut not_found = NotFound {
            probability: 0.1,
            broken_policies: Vec::new(),
            reason: Reason::OutOfReach,
            must_last: false,
            needs_changes: None,
            obstacles: Vec::new(),
            schema_obstacles: None,
            unusual: Vec::new(),
            search_ended: false,
            unknown: Vec::new(),
        };
        let nothing = "no wish of the request is known to be an obstacle";
        assert_eq!((remedy(&schema, &not_found), schema_remedy(&schema, &not_found)), (None, None));
        assert_eq!(nothing_own(&not_found), Some(nothing));
        let rule = Restriction::Rule(par_data::schema::Rule::rises(1, 0));
        not_found.schema_obstacles =
            Some(vec![Obstacle::Lock(1), Obstacle::Schema(Restriction::Monotone(0)), Obstacle::Schema(rule)]);
        assert_eq!((remedy(&schema, &not_found), nothing_own(&not_found)), (None, Some(nothing)));
        assert_eq!(
            schema_remedy(&schema, &NotFound { needs_changes: Some(2), ..not_found.clone() }).as_deref(),
            Some("nothing, since lifting the person's own wishes is enough")
        );
        assert_eq!(
            schema_remedy(&schema, &not_found).as_deref(),
            Some("unlock `job` and let `age` fall and lift the rule: job rises only if age rises too")
        );
    }

    #[test]
    fn cells_have_labels_and_units() {
        let schema = Schema::parse(SCHEMA, "test").expect("a schema");
        let [age, job] = schema.features() else { panic!("two features") };
        assert_eq!(
            [cell(age, " 31"), cell(age, ""), cell(job, "a"), cell(job, "b")],
            ["31 years", "", "cook", "b"]
        );
    }
}
