//! Features that are computed from others: each by exactly one relation, and none from itself.

use super::contradictions::{Contradiction, Part};
use super::problem::SchemaProblem;
use super::rules::cycle;
use super::{Feature, Mutability, Relation};

/// Refuses followers that cannot be computed in some order.
pub(super) fn check(features: &[Feature], relations: &[Relation]) -> Result<(), Contradiction> {
    let mut computed_by: Vec<Option<usize>> = vec![None; features.len()];
    let mut edges = Vec::new();
    for (at, relation) in relations.iter().enumerate() {
        let Relation::Follows { feature, formula } = relation else { continue };
        let name = &features[*feature].name;
        if features[*feature].change != Mutability::Follows {
            let problem = SchemaProblem::Impossible {
                statement: format!("`gives = \"{name}\"` computes it"),
                because: format!("`{name}` does not follow from others"),
                hint: format!("write `change = \"follows\"` for `{name}`"),
            };
            return Err(Part::Relation(at).contradicts(problem));
        }
        if let Some(earlier) = computed_by[*feature].replace(at) {
            let problem = SchemaProblem::Impossible {
                statement: format!("`gives = \"{name}\"` computes it"),
                because: format!("relation {} does so already", earlier + 1),
                hint: "remove one of them".to_string(),
            };
            return Err(Part::Relation(at).contradicts(problem));
        }
        edges.extend(formula.sources().iter().map(|source| [*feature, *source]));
    }
    for (at, feature) in features.iter().enumerate() {
        if feature.change == Mutability::Follows && computed_by[at].is_none() {
            let problem = SchemaProblem::Impossible {
                statement: "`change = \"follows\"` needs a relation that computes it".to_string(),
                because: "there is none".to_string(),
                hint: format!("write a `[[relation]]` with `gives = \"{}\"`", feature.name),
            };
            return Err(Part::Feature(at).contradicts(problem));
        }
    }
    if let Some(cycle) = cycle(features.len(), &edges) {
        let at = cycle.iter().filter_map(|&feature| computed_by[feature]).max().unwrap_or(0);
        let cycle = cycle.iter().map(|&feature| features[feature].name.clone()).collect();
        return Err(Part::Relation(at).contradicts(SchemaProblem::Cycle { cycle }));
    }
    Ok(())
}
