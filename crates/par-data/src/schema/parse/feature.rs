//! `[[feature]]`: the values of a column. What may happen to it is read in [`change`].

use std::collections::BTreeMap;

use super::{Roles, change, values_of};
use crate::schema::problem::{SchemaError, SchemaProblem};
use crate::schema::section::{Keys, Located, SchemaSection};
use crate::schema::{Actor, Effort, Feature, FeatureKind, MAX_CATEGORIES, Mutability, Step};

pub(super) const FEATURE_KEYS: Keys = Keys {
    always: &[
        "name", "kind", "values", "labels", "bounds", "range", "observed", "unit", "missing", "bins",
        "allowed", "note",
    ],
    first: &[
        ("immutable", "`change = \"never\"`, or `change = \"free\"` if it is false"),
        ("monotone", "`change = \"increase\"`, `\"decrease\"` or `\"free\"`"),
    ],
    second: &[
        "change",
        "step",
        "transitions",
        "forbid",
        "special",
        "effort",
        "per",
        "takes",
        "improves",
        "who",
    ],
};

const KINDS: [(&str, FeatureKind); 4] = [
    ("nominal", FeatureKind::Nominal),
    ("ordinal", FeatureKind::Ordinal),
    ("discrete", FeatureKind::Discrete),
    ("continuous", FeatureKind::Continuous),
];

pub(super) fn feature(
    section: &SchemaSection<'_>,
    name: Located<String>,
    roles: &mut Roles,
) -> Result<Feature, SchemaError> {
    let feature_name = name.value.clone();
    roles.take(section, Some(name), "a feature")?;
    let kind = section
        .word("kind", &KINDS)?
        .ok_or_else(|| section.lacks("kind", "one of `nominal`, `ordinal`, `discrete`, `continuous`"))?;
    refuse_keys_of_other_kinds(section, kind)?;
    section.text("note")?;
    let observed = section.range("observed")?;

    let values = values_of(section.distinct_texts("values")?);
    if kind == FeatureKind::Ordinal && values.is_empty() {
        return Err(section.lacks("values", "its categories in order"));
    }
    if values.len() > MAX_CATEGORIES {
        let found = format!("a list of {}", values.len());
        let expected = format!("at most {MAX_CATEGORIES} values");
        return Err(section.out_of_range("values", section.line_of("values"), found, expected));
    }
    let mut labels = BTreeMap::new();
    for (value, label) in section.entries("labels")? {
        refuse_unlisted(section, "labels", &value, &values)?;
        labels.insert(value.value, section.as_text("labels", label)?.value);
    }
    let bounds = section.range("bounds")?;
    let range = section.open_range("range")?;
    for (key, part) in [("bounds", bounds), ("observed", observed)] {
        if let (Some([low, high]), Some(range)) = (part, range)
            && (low < range[0] || high > range[1])
        {
            let found = format!("[{low}, {high}]");
            let expected = format!("within the range {} to {}", range[0], range[1]);
            return Err(section.out_of_range(key, section.line_of(key), found, expected));
        }
    }
    let bins = section.count("bins")?.map(|bins| usize::try_from(bins).unwrap_or(usize::MAX));
    if let Some(bins) = bins.filter(|bins| !(2..=1000).contains(bins)) {
        return Err(section.out_of_range("bins", section.line_of("bins"), bins, "2 to 1000"));
    }
    let mut feature = Feature {
        name: feature_name,
        kind,
        values,
        labels,
        bounds,
        range,
        unit: section.plain_text("unit")?,
        missing: section.flag("missing")?,
        bins,
        change: Mutability::Undecided,
        allowed: None,
        step: Step::default(),
        transitions: BTreeMap::new(),
        forbidden: BTreeMap::new(),
        special: Vec::new(),
        effort: Effort::default(),
        takes: None,
        improves: None,
        who: Actor::default(),
    };
    change::read(section, &mut feature)?;
    Ok(feature)
}

fn refuse_keys_of_other_kinds(section: &SchemaSection<'_>, kind: FeatureKind) -> Result<(), SchemaError> {
    const ORDER: &str = "make the feature `ordinal` and list its `values` in order";
    const NUMBERS: &str =
        "give categories `values` or `allowed`, or make the feature `discrete` or `continuous`";
    const CATEGORIES: &str = "give numbers `bounds` or `allowed`, or make the feature `nominal` or `ordinal`";
    let refused: &[(&[&str], &str)] = match kind {
        FeatureKind::Discrete | FeatureKind::Continuous => &[(&["values", "labels", "forbid"], CATEGORIES)],
        FeatureKind::Ordinal => &[(&["bounds", "range", "observed", "bins", "unit", "special"], NUMBERS)],
        FeatureKind::Nominal => &[
            (&["bounds", "range", "observed", "bins", "unit", "special"], NUMBERS),
            (&["step", "per"], ORDER),
        ],
    };
    for (keys, hint) in refused {
        if let Some(key) = keys.iter().find(|key| section.has(key)) {
            return Err(section.contradicts(key, "kind", *hint));
        }
    }
    Ok(())
}

/// Without listed values, every value is accepted: the training rows may have it.
pub(super) fn refuse_unlisted(
    section: &SchemaSection<'_>,
    key: &'static str,
    value: &Located<String>,
    listed: &[String],
) -> Result<(), SchemaError> {
    if listed.is_empty() || listed.contains(&value.value) {
        return Ok(());
    }
    let (found, known) = (value.value.clone(), listed.to_vec());
    Err(section.refuse(value.line, SchemaProblem::NotAValue { key, found, known }))
}
