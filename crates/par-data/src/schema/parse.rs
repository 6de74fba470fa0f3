//! Parses TOML to a [`Schema`], and refuses unknown, missing and contradictory statements.

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::problem::{SchemaError, SchemaProblem};
use super::section::{Located, SchemaSection, SchemaText};
use super::{
    Actor, Direction, Effort, Feature, FeatureKind, Label, MAX_CATEGORIES, Mutability, Relation, Rule,
    Schema, SpecialColumns, Step, rules,
};

const TOP_KEYS: [&str; 9] =
    ["name", "file", "rows", "folds", "missing_text", "columns", "label", "feature", "rule"];
const COLUMNS_KEYS: [&str; 3] = ["id", "fold", "subtest"];
const LABEL_KEYS: [&str; 5] = ["column", "classes", "favourable", "paper_favourable", "counts"];
const FEATURE_KEYS: [&str; 14] = [
    "name",
    "kind",
    "values",
    "labels",
    "bounds",
    "range",
    "observed",
    "unit",
    "missing",
    "bins",
    "immutable",
    "monotone",
    "allowed",
    "note",
];
const RULE_KEYS: [&str; 2] = ["if_increases", "must_increase"];

const KINDS: [(&str, FeatureKind); 4] = [
    ("nominal", FeatureKind::Nominal),
    ("ordinal", FeatureKind::Ordinal),
    ("discrete", FeatureKind::Discrete),
    ("continuous", FeatureKind::Continuous),
];
/// `monotone` of schema 1.
const DIRECTIONS: [(&str, Mutability); 3] =
    [("none", Mutability::Free), ("increasing", Mutability::Increase), ("decreasing", Mutability::Decrease)];

/// The texts of a missing cell, unless the schema lists others.
pub(super) const MISSING_TEXT: [&str; 5] = ["", "NA", "NaN", "nan", "null"];

/// Parses a schema that a person wrote.
pub(super) fn parse(text: &str, origin: &str) -> Result<Schema, SchemaError> {
    let (schema, rule_lines) = read(text, origin)?;
    for (number, (rule, line)) in (1..).zip(schema.rules.iter().zip(rule_lines)) {
        let cause = &schema.features[rule.then.feature];
        let because = match cause.direction() {
            _ if cause.is_immutable() => "it is immutable",
            Some(Direction::Decrease) => "it can only fall",
            None | Some(Direction::Increase) => continue,
        };
        let effect = schema.features[rule.when.feature].name.clone();
        let problem = SchemaProblem::RuleImpossible { name: cause.name.clone(), because, effect };
        return Err(SchemaText { text, origin }.refuse(line, &format!("rule {number}"), problem));
    }
    Ok(schema)
}

/// Parses the schema in a model file. Earlier versions accepted rules that require an impossible rise.
pub(super) fn parse_saved(text: &str) -> Result<Schema, SchemaError> {
    read(text, "saved schema").map(|(schema, _)| schema)
}

/// The schema, and the line of each of its rules.
fn read(text: &str, origin: &str) -> Result<(Schema, Vec<usize>), SchemaError> {
    let document = SchemaText { text, origin };
    let root = DeTable::parse(text).map_err(|error| {
        let line = document.line(error.span().unwrap_or_default());
        let message = error.message().replace('\n', ", ");
        document.refuse(line, "not TOML", SchemaProblem::Syntax { message })
    })?;
    let top = SchemaSection::new(&document, "the schema", root.span(), root.get_ref(), &TOP_KEYS)?;

    let mut roles = Roles::default();
    let mut special = SpecialColumns::default();
    if let Some(section) = top.table("columns", "`[columns]`", &COLUMNS_KEYS)? {
        special.id = roles.take(&section, section.text("id")?, "the id")?;
        special.fold = roles.take(&section, section.text("fold")?, "the fold")?;
        special.subtest = roles.take(&section, section.text("subtest")?, "the subtest")?;
    }
    let label = top.table("label", "`[label]`", &LABEL_KEYS)?;
    let label = label.map(|section| parse_label(&section, &mut roles)).transpose()?;

    let mut features = Vec::new();
    let mut order_lines = Vec::new();
    for mut section in top.tables("feature", "`[[feature]]`", &FEATURE_KEYS)? {
        let name = section.required_text("name", "the column's name")?;
        section.name = format!("feature `{}`", name.value);
        section.line = name.line;
        features.push(parse_feature(&section, name, &mut roles)?);
        order_lines.push(section.line_of("monotone"));
    }
    if features.is_empty() {
        return Err(top.refuse(1, SchemaProblem::NoFeatures));
    }

    let mut rules = Vec::new();
    let mut rule_lines = Vec::new();
    for (number, mut section) in (1..).zip(top.tables("rule", "`[[rule]]`", &RULE_KEYS)?) {
        section.name = format!("rule {number}");
        let rule = parse_rule(&section, &features)?;
        if let Some(earlier) = rules.iter().position(|other| *other == rule) {
            let problem = SchemaProblem::RuleRepeated { earlier: earlier + 1 };
            return Err(section.refuse(section.line, problem));
        }
        for feature in [rule.when.feature, rule.then.feature] {
            order_lines[feature] = order_lines[feature].max(section.line);
        }
        rules.push(rule);
        rule_lines.push(section.line);
    }
    rules::check(&features, &rules).map_err(|(rule, problem)| {
        document.refuse(rule_lines[rule], &format!("rule {}", rule + 1), problem)
    })?;

    let missing_text = match top.has("missing_text") {
        true => top.texts("missing_text")?.into_iter().map(|text| text.value).collect(),
        false => MISSING_TEXT.map(String::from).to_vec(),
    };
    let schema = Schema {
        source: text.to_string(),
        name: top.plain_text("name")?,
        file: top.plain_text("file")?,
        rows: top.count("rows")?,
        folds: top.count("folds")?,
        special,
        label,
        features,
        relations: rules.iter().copied().map(Relation::Rule).collect(),
        rules,
        accept: Vec::new(),
        missing_text,
    };
    for (position, feature) in schema.features.iter().enumerate() {
        let unordered = feature.values.iter().find(|value| parse_number(value).is_none());
        if let (FeatureKind::Nominal, Some(because), Some(found)) =
            (feature.kind, schema.order_needed(position), unordered)
        {
            let problem = SchemaProblem::NoOrder { because, found: found.clone() };
            let section = format!("feature `{}`", feature.name);
            return Err(document.refuse(order_lines[position], &section, problem));
        }
    }
    Ok((schema, rule_lines))
}

/// A finite number, trimmed.
pub fn parse_number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
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

fn parse_label(section: &SchemaSection<'_>, roles: &mut Roles) -> Result<Label, SchemaError> {
    let column = section.required_text("column", "the label's column")?;
    let column_name = column.value.clone();
    roles.take(section, Some(column), "the label")?;
    if !section.has("classes") {
        return Err(section.lacks("classes", "the label's values"));
    }
    let classes: Vec<String> = values_of(section.distinct_texts("classes")?);
    if classes.len() < 2 {
        let problem = SchemaProblem::TooFewClasses { found: classes.len() };
        return Err(section.refuse(section.line_of("classes"), problem));
    }
    let numbered: Vec<(&str, usize)> = classes.iter().map(String::as_str).zip(0..).collect();
    let favourable = section
        .word("favourable", &numbered)?
        .ok_or_else(|| section.lacks("favourable", "the class a person wants"))?;
    let paper_favourable = section.word("paper_favourable", &numbered)?;
    let counts = section.texts("counts")?.len();
    if section.has("counts") && counts != classes.len() {
        let problem = SchemaProblem::CountsLength { found: counts, expected: classes.len() };
        return Err(section.refuse(section.line_of("counts"), problem));
    }
    Ok(Label { column: column_name, classes, favourable, paper_favourable })
}

fn parse_feature(
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
    let labels = section.text_table("labels")?;
    for (value, _) in &labels {
        refuse_unlisted(section, "labels", value, &values)?;
    }
    let bounds = section.range("bounds")?;
    let range = section.open_range("range")?;
    for (key, part) in [("bounds", bounds), ("observed", observed)] {
        if let (Some([low, high]), Some(range)) = (part, range)
            && (low < range[0] || high > range[1])
        {
            let expected = format!("within the range {} to {}", range[0], range[1]);
            return Err(section.out_of_range(
                key,
                section.line_of(key),
                format!("[{low}, {high}]"),
                expected,
            ));
        }
    }
    let bins = section.count("bins")?.map(|bins| usize::try_from(bins).unwrap_or(usize::MAX));
    if let Some(bins) = bins.filter(|bins| !(2..=1000).contains(bins)) {
        return Err(section.out_of_range("bins", section.line_of("bins"), bins, "2 to 1000"));
    }

    let immutable = section.flag("immutable")?;
    let monotone = section.word("monotone", &DIRECTIONS)?.unwrap_or(Mutability::Free);
    if immutable && monotone != Mutability::Free {
        return Err(section.contradicts("monotone", "immutable", "drop one of them"));
    }
    if immutable && section.has("allowed") {
        return Err(section.contradicts("allowed", "immutable", "drop one of them"));
    }
    let allowed = section.distinct_texts("allowed")?;
    if section.has("allowed") && allowed.is_empty() {
        let expected = "at least one value, or `immutable = true`";
        return Err(section.out_of_range("allowed", section.line_of("allowed"), "empty", expected));
    }
    for value in &allowed {
        if kind.is_numeric() {
            let within = bounds.map(|ends| ("bounds", ends)).or(range.map(|ends| ("range", ends)));
            refuse_number_outside(section, value, within)?;
        } else {
            refuse_unlisted(section, "allowed", value, &values)?;
        }
    }
    Ok(Feature {
        name: feature_name,
        kind,
        values,
        labels: labels.into_iter().map(|(value, label)| (value.value, label)).collect(),
        bounds,
        range,
        unit: section.plain_text("unit")?,
        missing: section.flag("missing")?,
        bins,
        change: if immutable { Mutability::Never } else { monotone },
        step: Step::default(),
        transitions: BTreeMap::new(),
        forbidden: BTreeMap::new(),
        special: Vec::new(),
        effort: Effort::default(),
        takes: None,
        improves: None,
        who: Actor::default(),
        allowed: section.has("allowed").then(|| values_of(allowed)),
    })
}

fn values_of(texts: Vec<Located<String>>) -> Vec<String> {
    texts.into_iter().map(|text| text.value).collect()
}

fn refuse_keys_of_other_kinds(section: &SchemaSection<'_>, kind: FeatureKind) -> Result<(), SchemaError> {
    let (keys, hint): (&[&str], _) = if kind.is_numeric() {
        (
            &["values", "labels"],
            "give numbers `bounds` or `allowed`, or make the feature `nominal` or `ordinal`",
        )
    } else {
        (
            &["bounds", "range", "observed", "bins", "unit"],
            "give categories `values` or `allowed`, or make the feature `discrete` or `continuous`",
        )
    };
    match keys.iter().find(|key| section.has(key)) {
        Some(key) => Err(section.contradicts(key, "kind", hint)),
        None => Ok(()),
    }
}

/// Without listed values, every value is accepted: the training rows may have it.
fn refuse_unlisted(
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

fn refuse_number_outside(
    section: &SchemaSection<'_>,
    value: &Located<String>,
    within: Option<(&str, [f64; 2])>,
) -> Result<(), SchemaError> {
    let refuse = |expected: String| section.out_of_range("allowed", value.line, &value.value, expected);
    let number = parse_number(&value.value).ok_or_else(|| refuse("a finite number".to_string()))?;
    match within {
        Some((what, [low, high])) if number < low || number > high => {
            Err(refuse(format!("a number within the {what} {low} to {high}")))
        }
        _ => Ok(()),
    }
}

fn parse_rule(section: &SchemaSection<'_>, features: &[Feature]) -> Result<Rule, SchemaError> {
    let position = |key| {
        let name = section.required_text(key, "a feature's name")?;
        features.iter().position(|feature| feature.name == name.value).ok_or_else(|| {
            let known = features.iter().map(|feature| feature.name.clone()).collect();
            section.refuse(name.line, SchemaProblem::RuleFeature { found: name.value, known })
        })
    };
    let rule = Rule::rises(position("if_increases")?, position("must_increase")?);
    if rule.when.feature == rule.then.feature {
        let name = features[rule.when.feature].name.clone();
        return Err(section.refuse(section.line, SchemaProblem::RuleOnItself { name }));
    }
    Ok(rule)
}
