//! Statements of a schema that contradict each other, across features and relations.

use super::problem::SchemaProblem;
use super::{
    AcceptRule, Condition, Direction, Feature, Formula, Mutability, Permitted, Relation, Rule, Schema,
};

/// A part of a schema, by its position.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Feature(usize),
    Relation(usize),
    Accept(usize),
}

/// A contradiction, and the part of the schema where it shows.
#[derive(Debug)]
pub(super) struct Contradiction {
    pub(super) part: Part,
    pub(super) problem: Box<SchemaProblem>,
}

impl Part {
    /// Its name in messages.
    pub(super) fn name(self, schema: &Schema) -> String {
        match self {
            Self::Feature(at) => format!("feature `{}`", schema.features[at].name),
            Self::Relation(at) if schema.version == 1 => format!("rule {}", at + 1),
            Self::Relation(at) => format!("relation {}", at + 1),
            Self::Accept(at) => format!("accept rule {}", at + 1),
        }
    }

    pub(super) fn contradicts(self, problem: SchemaProblem) -> Contradiction {
        Contradiction { part: self, problem: Box::new(problem) }
    }
}

type Refused = Result<(), SchemaProblem>;

/// Refuses the first contradiction.
pub(super) fn check(schema: &Schema) -> Result<(), Contradiction> {
    for (at, relation) in schema.relations.iter().enumerate() {
        check_relation(schema, at, relation).map_err(|problem| Part::Relation(at).contradicts(problem))?;
    }
    for (at, (feature, changeable)) in schema.features.iter().zip(changeable(schema)).enumerate() {
        if feature.change == Mutability::Follows && !changeable {
            let problem = impossible(
                "`change = \"follows\"` lets it change with others",
                "nothing that it is computed from can change",
                "write `change = \"never\"` and remove its relation, or let one of the others change",
            );
            return Err(Part::Feature(at).contradicts(problem));
        }
    }
    for (at, rule) in schema.accept.iter().enumerate() {
        check_accept_rule(schema, at, rule).map_err(|problem| Part::Accept(at).contradicts(problem))?;
    }
    Ok(())
}

fn impossible(
    statement: impl Into<String>,
    because: impl Into<String>,
    hint: impl Into<String>,
) -> SchemaProblem {
    SchemaProblem::Impossible { statement: statement.into(), because: because.into(), hint: hint.into() }
}

fn check_relation(schema: &Schema, at: usize, relation: &Relation) -> Refused {
    match relation {
        Relation::AtMost(pair) => at_most(schema, *pair),
        Relation::Follows { feature, formula: Formula::Lookup { of: [source], table } } => {
            lookup(&schema.features[*source], &schema.features[*feature], table)
        }
        Relation::Follows { .. } => Ok(()),
        Relation::When { when, then } => when_then(schema, when, then),
        Relation::Together(features) => together(schema, features),
        Relation::AtMostChanges { most, of } => at_most_changes(schema, at, *most, of),
        Relation::Rule(rule) => possible_rule(schema, rule),
    }
}

fn at_most(schema: &Schema, pair: [usize; 2]) -> Refused {
    let [first, second] = pair.map(|position| &schema.features[position]);
    let ([low, _], [_, high]) = (advised(first), advised(second));
    if low <= high {
        return Ok(());
    }
    let [first, second] = [&first.name, &second.name];
    Err(impossible(
        format!("`{first}` is at most `{second}`"),
        format!("`{first}` is at least {low}, and `{second}` at most {high}"),
        "correct their `bounds` or `range`, or swap the two",
    ))
}

fn lookup(source: &Feature, gives: &Feature, table: &[(Permitted, String)]) -> Refused {
    for (row, (values, result)) in table.iter().enumerate() {
        refuse_values_outside(source, values, holds(source), "a row of the table asks for")?;
        let earlier: Vec<&Permitted> = table[..row].iter().map(|(values, _)| values).collect();
        if values.is_covered_by(&earlier, source.kind.is_numeric()) {
            return Err(impossible(
                format!("row {} of the table is for `{values}`", row + 1),
                "earlier rows hold all of it, and the first that holds a value decides",
                "remove the row, or move it up",
            ));
        }
        let result = Permitted::Among(vec![result.clone()]);
        refuse_values_outside(gives, &result, holds(gives), "a row of the table gives")?;
    }
    Ok(())
}

fn when_then(schema: &Schema, when: &[Condition], then: &[Condition]) -> Refused {
    for condition in when {
        let feature = &schema.features[condition.feature];
        refuse_values_outside(feature, &condition.values, holds(feature), "`when` asks for")?;
    }
    for condition in then {
        let feature = &schema.features[condition.feature];
        refuse_values_outside(feature, &condition.values, advised(feature), "`then` asks for")?;
        let same = when.iter().find(|other| other.feature == condition.feature);
        let numeric = feature.kind.is_numeric();
        if let Some(other) = same.filter(|other| other.values.is_apart_from(&condition.values, numeric)) {
            let name = &feature.name;
            return Err(impossible(
                format!("`then` asks for `{name}` in `{}`", condition.values),
                format!("`when` binds only where it is in `{}`", other.values),
                format!("correct one of them, or say with `allowed` or `bounds` what `{name}` may become"),
            ));
        }
    }
    Ok(())
}

fn together(schema: &Schema, features: &[usize]) -> Refused {
    for &position in features {
        let feature = &schema.features[position];
        let because = match feature.change {
            Mutability::Free | Mutability::Increase | Mutability::Decrease => continue,
            Mutability::Never => "never changes",
            Mutability::Undecided => "has no `change`, and so does not change",
            Mutability::WithTime => "changes with time only",
            Mutability::Follows => "follows from others",
        };
        return Err(impossible(
            "all of them change, or none does".to_string(),
            format!("`{}` {because}", feature.name),
            format!("drop `{}` from the list, or let it change", feature.name),
        ));
    }
    Ok(())
}

fn at_most_changes(schema: &Schema, at: usize, most: usize, of: &[usize]) -> Refused {
    if most == 0 {
        return Err(impossible(
            "`at_most_changes = 0` lets none of these features change",
            "a feature says so itself",
            "write `change = \"never\"` for each of them",
        ));
    }
    let changeable = of.iter().filter(|&&position| !schema.features[position].is_immutable()).count();
    if most >= changeable {
        return Err(impossible(
            format!("at most {most} of these {} features change", of.len()),
            format!("no more than {changeable} of them can change anyway"),
            "remove the relation, or lower `at_most_changes`",
        ));
    }
    for (other, relation) in schema.relations.iter().enumerate() {
        let Relation::Together(features) = relation else { continue };
        let tied = features.iter().filter(|feature| of.contains(feature)).count();
        if tied > most {
            return Err(impossible(
                format!("relation {} lets {tied} of these features change only together", other + 1),
                format!("at most {most} may change, so that none of the {tied} can"),
                format!("raise `at_most_changes`, or remove relation {} or {}", other + 1, at + 1),
            ));
        }
    }
    Ok(())
}

fn possible_rule(schema: &Schema, rule: &Rule) -> Refused {
    let [cause, effect] = [rule.then, rule.when].map(|one| &schema.features[one.feature]);
    let Some(because) = cannot_move(schema.version, cause, rule.then.direction) else {
        return Ok(());
    };
    Err(SchemaProblem::RuleImpossible {
        name: cause.name.clone(),
        must: rule.then.direction.verb(),
        because,
        effect: effect.name.clone(),
        when: rule.when.direction.verb(),
        keep: match schema.version {
            1 => format!("make `{}` immutable", effect.name),
            _ => format!("write `change = \"never\"` for `{}`", effect.name),
        },
    })
}

/// Why a feature cannot move in a direction, if it cannot.
fn cannot_move(version: u8, feature: &Feature, direction: Direction) -> Option<&'static str> {
    match (feature.change, direction) {
        (Mutability::Never, _) if version == 1 => Some("it is immutable"),
        (Mutability::Never, _) => Some("it never changes"),
        (Mutability::Undecided, _) => Some("it has no `change`, and so does not change"),
        (Mutability::WithTime, Direction::Decrease) => Some("a clock only rises"),
        (Mutability::Increase, Direction::Decrease) => Some("it can only rise"),
        (Mutability::Decrease, Direction::Increase) => Some("it can only fall"),
        _ => None,
    }
}

/// For each feature, whether anything can change it.
fn changeable(schema: &Schema) -> Vec<bool> {
    let moves = |feature: &Feature| !feature.is_immutable() || feature.change == Mutability::WithTime;
    let mut changeable: Vec<bool> = schema.features.iter().map(moves).collect();
    loop {
        let follows = schema.relations.iter().find_map(|relation| match relation {
            Relation::Follows { feature, formula } => {
                let moved =
                    !changeable[*feature] && formula.sources().iter().any(|source| changeable[*source]);
                moved.then_some(*feature)
            }
            _ => None,
        });
        match follows {
            None => return changeable,
            Some(follower) => changeable[follower] = true,
        }
    }
}

fn check_accept_rule(schema: &Schema, at: usize, rule: &AcceptRule) -> Refused {
    let earlier = &schema.accept[..at];
    if let Some(same) =
        earlier.iter().position(|other| other.when == rule.when && other.require == rule.require)
    {
        return Err(SchemaProblem::Repeats { kind: "accept rule", earlier: same + 1 });
    }
    for (conditions, asks) in [(&rule.when, "`when` asks for"), (&rule.require, "`require` asks for")] {
        for condition in conditions {
            let feature = &schema.features[condition.feature];
            refuse_values_outside(feature, &condition.values, holds(feature), asks)?;
        }
    }
    let binds_all = |rule: &AcceptRule| rule.when.is_empty();
    for (number, other) in (1..).zip(earlier).filter(|(_, other)| binds_all(other) && binds_all(rule)) {
        for condition in &rule.require {
            let feature = &schema.features[condition.feature];
            let apart = other.require.iter().find(|other| {
                let numeric = feature.kind.is_numeric();
                other.feature == condition.feature && other.values.is_apart_from(&condition.values, numeric)
            });
            if let Some(apart) = apart {
                return Err(impossible(
                    format!("`{}` in `{}` is required", feature.name, condition.values),
                    format!(
                        "accept rule {number} requires it in `{}`, so that nobody is accepted",
                        apart.values
                    ),
                    "correct one of them, or say with `when` whom each binds",
                ));
            }
        }
    }
    Ok(())
}

/// The lowest and highest number that a cell of the feature can hold.
fn holds(feature: &Feature) -> [f64; 2] {
    feature.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY])
}

/// The lowest and highest number that a changed cell of the feature can hold.
fn advised(feature: &Feature) -> [f64; 2] {
    let changes = !matches!(feature.change, Mutability::Never | Mutability::Undecided);
    feature.bounds.filter(|_| changes).unwrap_or(holds(feature))
}

fn refuse_values_outside(feature: &Feature, values: &Permitted, ends: [f64; 2], asks: &str) -> Refused {
    if !feature.kind.is_numeric() || values.meets(ends, &feature.special) {
        return Ok(());
    }
    let [low, high] = ends;
    let within = match (low.is_finite(), high.is_finite()) {
        (true, false) => format!("from {low} up"),
        (false, true) => format!("up to {high}"),
        _ => format!("from {low} to {high}"),
    };
    Err(impossible(
        format!("{asks} `{}` in `{values}`", feature.name),
        format!("`{}` is {within}", feature.name),
        "correct the values, or the feature's `range` or `bounds`",
    ))
}
