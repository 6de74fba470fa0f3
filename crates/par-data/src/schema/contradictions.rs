//! Statements of a schema that contradict each other, across features and relations.

use super::problem::SchemaProblem;
use super::{Direction, Feature, Mutability, Relation, Rule, Schema};

/// A part of a schema, by its position.
pub(super) enum Part {
    Feature(usize),
    Relation(usize),
    Accept(usize),
}

impl Part {
    /// Its name in messages.
    pub(super) fn name(&self, schema: &Schema) -> String {
        match *self {
            Self::Feature(at) => format!("feature `{}`", schema.features[at].name),
            Self::Relation(at) if schema.version == 1 => format!("rule {}", at + 1),
            Self::Relation(at) => format!("relation {}", at + 1),
            Self::Accept(at) => format!("accept rule {}", at + 1),
        }
    }
}

/// Refuses the first contradiction, with its part.
pub(super) fn check(schema: &Schema) -> Result<(), (Part, SchemaProblem)> {
    for (at, relation) in schema.relations.iter().enumerate() {
        let problem = match relation {
            Relation::Rule(rule) => impossible_rule(schema, rule),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err((Part::Relation(at), problem));
        }
    }
    Ok(())
}

fn impossible_rule(schema: &Schema, rule: &Rule) -> Option<SchemaProblem> {
    let [cause, effect] = [rule.then, rule.when].map(|one| &schema.features[one.feature]);
    let because = cannot_move(schema.version, cause, rule.then.direction)?;
    Some(SchemaProblem::RuleImpossible {
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
        (Mutability::Undecided, _) => Some("nobody has said whether it can change"),
        (Mutability::WithTime, Direction::Decrease) => Some("a clock only rises"),
        (Mutability::Increase, Direction::Decrease) => Some("it can only rise"),
        (Mutability::Decrease, Direction::Increase) => Some("it can only fall"),
        _ => None,
    }
}
