//! What may happen to a feature: `change`, and the keys that say how far, from what to what, and at what cost.

use std::collections::BTreeMap;

use super::feature::refuse_unlisted;
use super::values_of;
use crate::schema::problem::{SchemaError, SchemaProblem};
use crate::schema::section::{Keys, Located, SchemaSection};
use crate::schema::{
    Actor, Direction, Effort, Feature, FeatureKind, Mutability, Step, Takes, TimeUnit, parse_number,
};

/// `monotone` of schema 1.
const MONOTONE: [(&str, Mutability); 3] =
    [("none", Mutability::Free), ("increasing", Mutability::Increase), ("decreasing", Mutability::Decrease)];
const STEP_KEYS: Keys = Keys::always(&["up", "down", "at_least", "grid"]);
/// The keys about changes that somebody decides on.
const ACTION_KEYS: [&str; 7] = ["allowed", "step", "transitions", "forbid", "effort", "per", "takes"];
/// What `transitions` says of a special value that may become an ordinary number.
const LEAVE: &str = "leave";

/// Completes a feature whose values are known.
pub(super) fn read(section: &SchemaSection<'_>, feature: &mut Feature) -> Result<(), SchemaError> {
    feature.change = match section.document.version {
        1 => first_version(section)?,
        _ => section.word("change", &Mutability::WORDS)?.unwrap_or(Mutability::Undecided),
    };
    refuse_actions_on_what_nobody_changes(section, feature.change)?;
    if feature.change == Mutability::WithTime {
        refuse_what_is_no_clock(section, feature)?;
    }
    feature.special = special(section, feature)?;
    feature.allowed = allowed(section, feature)?;
    feature.step = step(section, feature)?;
    if feature.kind.is_numeric() {
        feature.transitions = left(section, &feature.special)?;
    } else {
        feature.transitions = categories_to_categories(section, "transitions", &feature.values)?;
        feature.forbidden = categories_to_categories(section, "forbid", &feature.values)?;
        refuse_transitions_without_a_move(section, feature)?;
    }
    feature.effort = effort(section)?;
    feature.takes = takes(section, feature.kind)?;
    feature.improves = section.word("improves", &Direction::WORDS)?;
    feature.who = section.word("who", &Actor::WORDS)?.unwrap_or_default();
    Ok(())
}

fn first_version(section: &SchemaSection<'_>) -> Result<Mutability, SchemaError> {
    let monotone = section.word("monotone", &MONOTONE)?.unwrap_or(Mutability::Free);
    if !section.flag("immutable")? {
        return Ok(monotone);
    }
    if monotone != Mutability::Free {
        return Err(section.contradicts("monotone", "immutable", "drop one of them"));
    }
    if section.has("allowed") {
        return Err(section.contradicts("allowed", "immutable", "drop one of them"));
    }
    Ok(Mutability::Never)
}

fn refuse_actions_on_what_nobody_changes(
    section: &SchemaSection<'_>,
    change: Mutability,
) -> Result<(), SchemaError> {
    let Some(key) = ACTION_KEYS.into_iter().find(|key| section.has(key)) else {
        return Ok(());
    };
    let hint = match change {
        Mutability::Free | Mutability::Increase | Mutability::Decrease => return Ok(()),
        Mutability::Never => "drop one of them".to_string(),
        Mutability::Undecided => {
            let problem = SchemaProblem::ChangeUndecided { key: key.to_string() };
            return Err(section.refuse(section.line_of(key), problem));
        }
        Mutability::WithTime => format!("a clock moves only as time passes; drop `{key}`"),
        Mutability::Follows => format!("it is computed from other features; drop `{key}`"),
    };
    Err(section.contradicts(key, "change", hint))
}

fn refuse_what_is_no_clock(section: &SchemaSection<'_>, feature: &Feature) -> Result<(), SchemaError> {
    if !feature.kind.is_numeric() {
        return Err(section.contradicts("change", "kind", "a clock is `discrete` or `continuous`"));
    }
    if feature.clock().is_none() {
        let found = feature.unit.clone();
        return Err(section.refuse(section.line_of("change"), SchemaProblem::ClockUnit { found }));
    }
    Ok(())
}

fn special(section: &SchemaSection<'_>, feature: &Feature) -> Result<Vec<f64>, SchemaError> {
    let mut special: Vec<f64> = Vec::new();
    for text in section.texts("special")? {
        let refuse = |expected: &str| section.out_of_range("special", text.line, &text.value, expected);
        let number = parse_number(&text.value).ok_or_else(|| refuse("finite numbers"))?;
        if special.contains(&number) {
            return Err(section.refuse(text.line, SchemaProblem::Repeated { name: text.value }));
        }
        if feature.range.is_some_and(|[low, high]| number < low || number > high) {
            return Err(refuse(&format!("{}, as its `range` says", feature.expected_number())));
        }
        if let Some([low, high]) = feature.bounds.filter(|[low, high]| (*low..=*high).contains(&number)) {
            return Err(refuse(&format!(
                "a number outside the bounds {low} to {high}, which may be advised"
            )));
        }
        special.push(number);
    }
    Ok(special)
}

fn allowed(section: &SchemaSection<'_>, feature: &Feature) -> Result<Option<Vec<String>>, SchemaError> {
    if !section.has("allowed") {
        return Ok(None);
    }
    let allowed = section.distinct_texts("allowed")?;
    if allowed.is_empty() {
        let never = if section.document.version == 1 { "immutable = true" } else { "change = \"never\"" };
        let expected = format!("at least one value, or `{never}`");
        return Err(section.out_of_range("allowed", section.line_of("allowed"), "empty", expected));
    }
    for value in &allowed {
        if feature.kind.is_numeric() {
            refuse_number_outside(section, value, feature)?;
        } else {
            refuse_unlisted(section, "allowed", value, &feature.values)?;
        }
    }
    Ok(Some(values_of(allowed)))
}

fn refuse_number_outside(
    section: &SchemaSection<'_>,
    value: &Located<String>,
    feature: &Feature,
) -> Result<(), SchemaError> {
    let refuse = |expected: String| section.out_of_range("allowed", value.line, &value.value, expected);
    let number = parse_number(&value.value).ok_or_else(|| refuse("a finite number".to_string()))?;
    if feature.special.contains(&number) {
        return Err(refuse("a number that is not `special`".to_string()));
    }
    let within = feature.bounds.map(|ends| ("bounds", ends)).or(feature.range.map(|ends| ("range", ends)));
    match within {
        Some((what, [low, high])) if number < low || number > high => {
            Err(refuse(format!("a number within the {what} {low} to {high}")))
        }
        _ => Ok(()),
    }
}

fn step(section: &SchemaSection<'_>, feature: &Feature) -> Result<Step, SchemaError> {
    let Some(table) = section.table("step", &format!("{}, `step`", section.name), &STEP_KEYS)? else {
        return Ok(Step::default());
    };
    let contradicts = |key: &'static str, second: &str, hint: &str| {
        let (first, second, hint) = (format!("`{key}`"), second.to_string(), hint.to_string());
        table.refuse(table.line_of(key), SchemaProblem::Contradiction { first, second, hint })
    };
    let in_places = feature.kind == FeatureKind::Ordinal;
    if let Some(key) = ["at_least", "grid"].into_iter().find(|key| in_places && table.has(key)) {
        let hint = "ordered categories have `up` and `down`, in places";
        return Err(contradicts(key, "`kind = \"ordinal\"`", hint));
    }
    let distance = |key| match in_places {
        true => table.number(key, |n| n >= 0.0 && n.fract() == 0.0, "a whole number of places, 0 or more"),
        false => table.number(key, |n| n >= 0.0, "a number, 0 or more"),
    };
    let positive = |key| table.number(key, |n| n > 0.0, "a number above 0");
    let step = Step {
        up: distance("up")?,
        down: distance("down")?,
        at_least: positive("at_least")?,
        grid: positive("grid")?,
    };
    let direction = feature.direction();
    for (key, only, change) in
        [("up", Direction::Decrease, "decrease"), ("down", Direction::Increase, "increase")]
    {
        if table.has(key) && direction == Some(only) {
            let second = format!("`change = \"{change}\"`");
            return Err(contradicts(key, &second, "drop it, or write `change = \"free\"`"));
        }
    }
    let farthest = match direction {
        Some(Direction::Increase) => step.up,
        Some(Direction::Decrease) => step.down,
        None => step.up.zip(step.down).map(|(up, down)| up.max(down)),
    };
    let largest = if step.up >= step.down { "up" } else { "down" };
    if farthest == Some(0.0) {
        let problem = SchemaProblem::NoStep;
        return Err(table.refuse(table.line_of(largest), problem));
    }
    if let (Some(farthest), Some(least)) = (farthest, step.at_least)
        && least > farthest
    {
        let expected = format!("at most {farthest}, as far as it may move");
        return Err(table.out_of_range("at_least", table.line_of("at_least"), least, expected));
    }
    if let Some(grid) = step.grid {
        refuse_grid_without_values(&table, grid, feature)?;
    }
    Ok(step)
}

fn refuse_grid_without_values(
    table: &SchemaSection<'_>,
    grid: f64,
    feature: &Feature,
) -> Result<(), SchemaError> {
    let refuse = |expected: String| table.out_of_range("grid", table.line_of("grid"), grid, expected);
    let within = feature.bounds.map(|ends| ("bounds", ends)).or(feature.range.map(|ends| ("range", ends)));
    if let Some((what, [low, high])) = within
        && (low / grid).ceil() * grid > high
    {
        return Err(refuse(format!("a number with a multiple within the {what} {low} to {high}")));
    }
    let on_grid = |value: &String| parse_number(value).is_some_and(|number| (number / grid).fract() == 0.0);
    match &feature.allowed {
        Some(allowed) if !allowed.iter().any(on_grid) => {
            Err(refuse("a number with a multiple among `allowed`".to_string()))
        }
        _ => Ok(()),
    }
}

/// From a category to some categories.
fn categories_to_categories(
    section: &SchemaSection<'_>,
    key: &'static str,
    listed: &[String],
) -> Result<BTreeMap<String, Vec<String>>, SchemaError> {
    let mut lists = BTreeMap::new();
    for (from, to) in section.entries(key)? {
        refuse_unlisted(section, key, &from, listed)?;
        let to = section.as_distinct_texts(key, to)?;
        to.iter().try_for_each(|to| refuse_unlisted(section, key, to, listed))?;
        lists.insert(from.value, values_of(to));
    }
    Ok(lists)
}

fn refuse_transitions_without_a_move(
    section: &SchemaSection<'_>,
    feature: &Feature,
) -> Result<(), SchemaError> {
    for (from, value) in section.entries("forbid")? {
        let listed = feature.transitions.contains_key(&from.value);
        if listed {
            let problem = SchemaProblem::Contradiction {
                first: format!("`forbid` for `{}`", from.value),
                second: "`transitions` for it".to_string(),
                hint: "say in `transitions` alone what it may become".to_string(),
            };
            return Err(section.refuse(section.document.line(value.span()), problem));
        }
    }
    let Some(key) = ["forbid", "transitions"].into_iter().find(|key| section.has(key)) else {
        return Ok(());
    };
    let place = |value: &String| feature.values.iter().position(|other| other == value);
    let may_move = feature.values.iter().any(|own| {
        let mut others = feature.transitions.get(own).unwrap_or(&feature.values).iter();
        others.any(|other| {
            let in_order = match feature.direction() {
                None => own != other,
                Some(Direction::Increase) => place(own) < place(other),
                Some(Direction::Decrease) => place(own) > place(other),
            };
            in_order && feature.may_become(own, other)
        })
    });
    match may_move || feature.values.is_empty() {
        true => Ok(()),
        false => Err(section.refuse(section.line_of(key), SchemaProblem::NoTransition)),
    }
}

/// The special values that may become ordinary numbers, each written as [`f64`] writes it.
fn left(section: &SchemaSection<'_>, special: &[f64]) -> Result<BTreeMap<String, Vec<String>>, SchemaError> {
    let mut left = BTreeMap::new();
    for (from, to) in section.entries("transitions")? {
        let number = parse_number(&from.value).filter(|number| special.contains(number));
        let Some(number) = number else {
            let problem = SchemaProblem::NotSpecial {
                found: from.value,
                known: special.iter().map(f64::to_string).collect(),
            };
            return Err(section.refuse(from.line, problem));
        };
        let to = section.as_text("transitions", to)?;
        if to.value != LEAVE {
            let expected = format!("`{LEAVE}`, from a special value to any ordinary number");
            return Err(section.out_of_range("transitions", to.line, format!("`{}`", to.value), expected));
        }
        left.insert(number.to_string(), vec![to.value]);
    }
    Ok(left)
}

fn effort(section: &SchemaSection<'_>) -> Result<Effort, SchemaError> {
    let mut effort =
        Effort { per: section.number("per", |n| n > 0.0, "a number above 0")?, ..Effort::default() };
    if let Some(text) = section.text("effort")? {
        effort.weight = match parse_number(&text.value) {
            Some(weight) if weight > 0.0 => weight,
            Some(_) => {
                return Err(section.out_of_range("effort", text.line, text.value, "a number above 0"));
            }
            None => section.word("effort", &Effort::WORDS)?.unwrap_or(effort.weight),
        };
    }
    Ok(effort)
}

/// `6 months`, or `6 months per 500`.
fn takes(section: &SchemaSection<'_>, kind: FeatureKind) -> Result<Option<Takes>, SchemaError> {
    let Some(text) = section.text("takes")? else {
        return Ok(None);
    };
    let positive = |word: &str| parse_number(word).filter(|number| *number > 0.0);
    let words: Vec<&str> = text.value.split_whitespace().collect();
    let takes = match words[..] {
        [count, unit] => positive(count).zip(TimeUnit::parse(unit)).zip(Some(None)),
        [count, unit, "per", distance] => {
            positive(count).zip(TimeUnit::parse(unit)).zip(positive(distance).map(Some))
        }
        _ => None,
    };
    let Some(((count, unit), per)) = takes else {
        let problem = SchemaProblem::Duration { found: text.value };
        return Err(section.refuse(text.line, problem));
    };
    if per.is_some() && kind == FeatureKind::Nominal {
        let hint = "drop the distance, or make the feature `ordinal` and list its `values` in order";
        return Err(section.contradicts("takes", "kind", hint));
    }
    Ok(Some(Takes { months: count * unit.months(), per }))
}
