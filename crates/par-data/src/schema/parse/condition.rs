//! Sets of values in conditions and tables, and `[[accept]]`.

use toml::de::DeValue;

use super::feature_called;
use crate::constraints::LimitError;
use crate::schema::problem::{SchemaError, SchemaProblem};
use crate::schema::section::{Keys, SchemaSection, Value};
use crate::schema::{AcceptRule, Condition, Feature, Permitted, parse_number};

pub(super) const ACCEPT_KEYS: Keys = Keys::always(&["when", "require", "because"]);

pub(super) fn accept_rule(
    section: &SchemaSection<'_>,
    features: &[Feature],
) -> Result<AcceptRule, SchemaError> {
    Ok(AcceptRule {
        when: if section.has("when") { conditions(section, "when", features)? } else { Vec::new() },
        require: conditions(section, "require", features)?,
        because: section.plain_text("because")?,
    })
}

/// A table from features to sets of their values.
pub(super) fn conditions(
    section: &SchemaSection<'_>,
    key: &'static str,
    features: &[Feature],
) -> Result<Vec<Condition>, SchemaError> {
    let expected = "at least one feature with values, such as `{ Housing = \"own\" }`";
    if !section.has(key) {
        return Err(section.lacks(key, expected));
    }
    let entries = section.entries(key)?;
    if entries.is_empty() {
        return Err(section.out_of_range(key, section.line_of(key), "empty", expected));
    }
    let condition = |(name, value)| {
        let feature = feature_called(section, features, name)?;
        Ok(Condition { feature, values: set(section, key, &features[feature], value)? })
    };
    entries.into_iter().map(condition).collect()
}

/// A set of a feature's values: a text as in a person's limit, a number, or a list.
pub(super) fn set(
    section: &SchemaSection<'_>,
    key: &'static str,
    feature: &Feature,
    value: &Value<'_>,
) -> Result<Permitted, SchemaError> {
    let line = section.document.line(value.span());
    let refuse = |problem: LimitError| section.refuse(line, SchemaProblem::Values(problem));
    let set = match value.get_ref() {
        DeValue::Array(_) => {
            let listed = section.as_distinct_texts(key, value)?;
            Permitted::Among(super::values_of(listed))
        }
        _ => {
            let text = section.as_text(key, value)?;
            Permitted::read(feature, &feature.values, text.value.trim()).map_err(refuse)?
        }
    };
    match &set {
        &Permitted::Between([lowest, highest]) if lowest > highest => {
            Err(refuse(LimitError::EmptyRange { feature: feature.name.clone(), lowest, highest }))
        }
        Permitted::Among(values) if values.is_empty() => {
            let name = feature.name.clone();
            Err(section.refuse(line, SchemaProblem::NoValues { name }))
        }
        Permitted::Among(values) => {
            let found = match feature.kind.is_numeric() {
                true => values.iter().find(|value| parse_number(value).is_none()),
                false => {
                    values.iter().find(|value| !feature.values.is_empty() && !feature.values.contains(value))
                }
            };
            match found {
                None => Ok(set),
                Some(found) => Err(refuse(not_a_value(feature, found.clone()))),
            }
        }
        Permitted::Between(_) => Ok(set),
    }
}

/// Why a feature does not have this value.
pub(super) fn not_a_value(feature: &Feature, found: String) -> LimitError {
    let (feature, known) = (feature, feature.values.clone());
    match feature.kind.is_numeric() {
        true => LimitError::NotARange { feature: feature.name.clone(), found },
        false => LimitError::UnknownCategory { feature: feature.name.clone(), found, known },
    }
}
