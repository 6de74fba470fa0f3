//! Parses TOML to a [`Schema`], and refuses unknown, missing and contradictory statements.

mod change;
mod condition;
mod feature;
mod label;
mod relation;

use toml::de::DeTable;

use super::contradictions::{self, Contradiction, Part};
use super::problem::{SchemaError, SchemaProblem};
use super::section::{Keys, Located, SchemaSection, SchemaText};
use super::{AcceptRule, Feature, FeatureKind, Relation, Schema, followers, rules};

const TOP_KEYS: Keys = Keys {
    always: &["version", "name", "file", "rows", "folds", "missing_text", "columns", "label", "feature"],
    first: &[("rule", "`[[relation]]`, with the same keys")],
    second: &["relation", "accept"],
};

/// Most relations, and most rules about acceptance, of version 2.
const MAX_STATEMENTS: usize = 1000;

/// The texts of a missing cell, unless the schema lists others.
pub(super) const MISSING_TEXT: [&str; 5] = ["", "NA", "NaN", "nan", "null"];

/// Parses a schema that a person wrote.
pub(super) fn parse(text: &str, origin: &str) -> Result<Schema, SchemaError> {
    let (schema, lines) = read(text, origin)?;
    contradictions::check(&schema).map_err(|found| {
        lines.refuse(&SchemaText { text, origin, version: schema.version }, &schema, found)
    })?;
    Ok(schema)
}

/// Parses the schema in a model file. Earlier versions accepted more, such as rules that
/// require an impossible rise.
pub(super) fn parse_saved(text: &str) -> Result<Schema, SchemaError> {
    read(text, "saved schema").map(|(schema, _)| schema)
}

/// The lines of a schema's parts.
#[derive(Default)]
struct Lines {
    features: Vec<usize>,
    /// By feature: where something is said that needs an order of its values.
    orders: Vec<usize>,
    relations: Vec<usize>,
    accept: Vec<usize>,
}

impl Lines {
    fn refuse(
        &self,
        document: &SchemaText<'_>,
        schema: &Schema,
        Contradiction { part, problem }: Contradiction,
    ) -> SchemaError {
        let line = match part {
            Part::Feature(at) => self.features[at],
            Part::Relation(at) => self.relations[at],
            Part::Accept(at) => self.accept[at],
        };
        document.refuse(line, &part.name(schema), *problem)
    }
}

/// The schema, and where its parts are.
fn read(text: &str, origin: &str) -> Result<(Schema, Lines), SchemaError> {
    let mut document = SchemaText { text, origin, version: 1 };
    let root = DeTable::parse(text).map_err(|error| {
        let line = document.line(error.span().unwrap_or_default());
        let message = error.message().replace('\n', ", ");
        document.refuse(line, "not TOML", SchemaProblem::Syntax { message })
    })?;
    document.version = version(&document, root.get_ref())?;
    let top = SchemaSection::new(&document, "the schema", root.span(), root.get_ref(), &TOP_KEYS)?;

    let mut lines = Lines::default();
    let mut roles = Roles::default();
    let special = label::columns(&top, &mut roles)?;
    let label = label::label(&top, &mut roles)?;
    let features = features(&top, &mut roles, &mut lines)?;
    let relations = relations(&top, &features, &mut lines)?;
    let accept = accept_rules(&top, &features, &mut lines)?;
    let rule = |relation: &Relation| match relation {
        Relation::Rule(rule) => Some(*rule),
        _ => None,
    };
    let missing_text = match top.has("missing_text") {
        true => values_of(top.texts("missing_text")?),
        false => MISSING_TEXT.map(String::from).to_vec(),
    };
    let schema = Schema {
        version: document.version,
        source: text.to_string(),
        name: top.plain_text("name")?,
        file: top.plain_text("file")?,
        rows: top.count("rows")?,
        folds: top.count("folds")?,
        special,
        label,
        features,
        rules: relations.iter().filter_map(rule).collect(),
        relations,
        accept,
        missing_text,
    };
    rules::check(&schema.features, &schema.relations)
        .and_then(|()| followers::check(&schema.features, &schema.relations))
        .map_err(|found| lines.refuse(&document, &schema, found))?;
    refuse_without_order(&document, &schema, &lines)?;
    Ok((schema, lines))
}

fn features(
    top: &SchemaSection<'_>,
    roles: &mut Roles,
    lines: &mut Lines,
) -> Result<Vec<Feature>, SchemaError> {
    let mut features = Vec::new();
    for mut section in top.tables("feature", "`[[feature]]`", &feature::FEATURE_KEYS)? {
        let name = section.required_text("name", "the column's name")?;
        section.name = format!("feature `{}`", name.value);
        section.line = name.line;
        features.push(feature::feature(&section, name, roles)?);
        lines.features.push(section.line);
        let directed = ["monotone", "change", "improves"].into_iter().filter(|key| section.has(key));
        lines.orders.push(directed.map(|key| section.line_of(key)).max().unwrap_or(section.line));
    }
    match features.is_empty() {
        true => Err(top.refuse(1, SchemaProblem::NoFeatures)),
        false => Ok(features),
    }
}

fn relations(
    top: &SchemaSection<'_>,
    features: &[Feature],
    lines: &mut Lines,
) -> Result<Vec<Relation>, SchemaError> {
    let version = top.document.version;
    let (kind, sections) = match version {
        1 => ("rule", top.tables("rule", "`[[rule]]`", &relation::RULE_KEYS)?),
        _ => ("relation", top.tables("relation", "`[[relation]]`", &relation::RELATION_KEYS)?),
    };
    if version > 1 {
        refuse_too_many(top, kind, sections.len())?;
    }
    let mut relations: Vec<Relation> = Vec::new();
    for (number, mut section) in (1..).zip(sections) {
        section.name = format!("{kind} {number}");
        let relation = match version {
            1 => Relation::Rule(relation::rule(&section, features)?),
            _ => relation::relation(&section, features)?,
        };
        if let Some(earlier) = relations.iter().position(|other| other.says_the_same(&relation)) {
            let problem = SchemaProblem::Repeats { kind, earlier: earlier + 1 };
            return Err(section.refuse(section.line, problem));
        }
        if let Relation::Rule(rule) = relation {
            for feature in [rule.when.feature, rule.then.feature] {
                lines.orders[feature] = lines.orders[feature].max(section.line);
            }
        }
        relations.push(relation);
        lines.relations.push(section.line);
    }
    Ok(relations)
}

fn accept_rules(
    top: &SchemaSection<'_>,
    features: &[Feature],
    lines: &mut Lines,
) -> Result<Vec<AcceptRule>, SchemaError> {
    let sections = top.tables("accept", "`[[accept]]`", &condition::ACCEPT_KEYS)?;
    refuse_too_many(top, "accept", sections.len())?;
    let mut accept = Vec::new();
    for (number, mut section) in (1..).zip(sections) {
        section.name = format!("accept rule {number}");
        accept.push(condition::accept_rule(&section, features)?);
        lines.accept.push(section.line);
    }
    Ok(accept)
}

/// Refuses categories that must have an order, and are neither in order nor numbers.
fn refuse_without_order(
    document: &SchemaText<'_>,
    schema: &Schema,
    lines: &Lines,
) -> Result<(), SchemaError> {
    for (position, feature) in schema.features.iter().enumerate() {
        let unordered = feature.values.iter().find(|value| parse_number(value).is_none());
        if let (FeatureKind::Nominal, Some(because), Some(found)) =
            (feature.kind, schema.order_needed(position), unordered)
        {
            let problem = SchemaProblem::NoOrder { because, found: found.clone() };
            let section = format!("feature `{}`", feature.name);
            return Err(document.refuse(lines.orders[position], &section, problem));
        }
    }
    Ok(())
}

/// A schema that does not say its version has version 1.
fn version(document: &SchemaText<'_>, root: &DeTable<'_>) -> Result<u8, SchemaError> {
    let Some(value) = root.get("version") else {
        return Ok(1);
    };
    let written = value.get_ref().as_integer().map(ToString::to_string);
    match written.as_deref() {
        Some("1") => Ok(1),
        Some("2") => Ok(2),
        other => {
            let found = other.unwrap_or("not a whole number").to_string();
            let expected = "1 or 2".to_string();
            let problem = SchemaProblem::OutOfRange { key: "version", found, expected };
            Err(document.refuse(document.line(value.span()), "the schema", problem))
        }
    }
}

fn refuse_too_many(top: &SchemaSection<'_>, key: &'static str, found: usize) -> Result<(), SchemaError> {
    if found <= MAX_STATEMENTS {
        return Ok(());
    }
    let expected = format!("at most {MAX_STATEMENTS}");
    Err(top.out_of_range(key, top.line_of(key), format!("a list of {found}"), expected))
}

/// A finite number, trimmed.
pub fn parse_number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Whether both texts are the same truth value, in any case: `True` and `true`.
pub fn is_same_truth(a: &str, b: &str) -> bool {
    ["true", "false"].iter().any(|truth| truth.eq_ignore_ascii_case(a) && truth.eq_ignore_ascii_case(b))
}

/// The position of the value with this text, or of the only one that is the same number or truth value.
pub fn position_of<T: AsRef<str>>(values: &[T], text: &str) -> Option<usize> {
    let values = || values.iter().map(AsRef::as_ref);
    let named = values().position(|value| value == text);
    named.or_else(|| {
        let is_same = |value: &str| match parse_number(text) {
            Some(number) => parse_number(value) == Some(number),
            None => is_same_truth(value, text),
        };
        let mut same = (0..).zip(values()).filter(|(_, value)| is_same(value));
        same.next().filter(|_| same.next().is_none()).map(|(position, _)| position)
    })
}

/// Pairs of different texts that are the same number, such as `01` and `1`: neighbours in the order of the
/// numbers.
pub fn same_numbers<T: AsRef<str>>(texts: &[T]) -> Vec<[&str; 2]> {
    let mut numbers: Vec<(f64, &str)> =
        texts.iter().filter_map(|text| Some((parse_number(text.as_ref())?, text.as_ref()))).collect();
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let same = numbers.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1);
    same.map(|pair| [pair[0].1, pair[1].1]).collect()
}

/// The columns that the schema names, each with its role.
#[derive(Default)]
struct Roles(Vec<(String, &'static str)>);

impl Roles {
    fn take(
        &mut self,
        section: &SchemaSection<'_>,
        column: Option<Located<String>>,
        role: &'static str,
    ) -> Result<Option<String>, SchemaError> {
        let Some(Located { value: column, line }) = column else {
            return Ok(None);
        };
        if let Some((_, first)) = self.0.iter().find(|(taken, _)| *taken == column) {
            return Err(section.refuse(line, SchemaProblem::TwoRoles { column, first }));
        }
        self.0.push((column.clone(), role));
        Ok(Some(column))
    }
}

fn values_of(texts: Vec<Located<String>>) -> Vec<String> {
    texts.into_iter().map(|text| text.value).collect()
}

/// The position of the feature with this name.
fn feature_called(
    section: &SchemaSection<'_>,
    features: &[Feature],
    name: Located<String>,
) -> Result<usize, SchemaError> {
    features.iter().position(|feature| feature.name == name.value).ok_or_else(|| {
        let known = features.iter().map(|feature| feature.name.clone()).collect();
        section.refuse(name.line, SchemaProblem::RuleFeature { found: name.value, known })
    })
}
