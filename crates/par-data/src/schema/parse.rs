//! From TOML to a [`Schema`], refusing what is unknown, incomplete or contradictory.

use std::collections::HashSet;
use std::fmt::Display;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{SchemaError, SchemaProblem};
use super::{Feature, Kind, Label, MAX_CATEGORIES, Monotone, Rule, Schema, SpecialColumns, rules};

const TOP_KEYS: [&str; 9] = [
    "name",
    "file",
    "rows",
    "folds",
    "missing_text",
    "columns",
    "label",
    "feature",
    "rule",
];
const COLUMNS_KEYS: [&str; 3] = ["id", "fold", "subtest"];
const LABEL_KEYS: [&str; 5] = [
    "column",
    "classes",
    "favourable",
    "paper_favourable",
    "counts",
];
const FEATURE_KEYS: [&str; 13] = [
    "name",
    "kind",
    "values",
    "labels",
    "bounds",
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
/// What a missing cell holds, unless the schema says otherwise.
pub(super) const MISSING_TEXT: [&str; 5] = ["", "NA", "NaN", "nan", "null"];

pub(super) fn parse(text: &str, origin: &str) -> Result<Schema, SchemaError> {
    let document = Document { text, origin };
    let root = DeTable::parse(text).map_err(|error| {
        let problem = SchemaProblem::Syntax {
            message: error.message().replace('\n', ", "),
        };
        document.refuse(document.line(error.span().unwrap_or_default()), problem)
    })?;
    let top = Section::new(
        &document,
        "the schema".to_string(),
        root.span(),
        root.get_ref(),
        &TOP_KEYS,
    )?;

    let mut special = SpecialColumns::default();
    let mut roles: Vec<(String, &'static str)> = Vec::new();
    if let Some(columns) = top.table("columns", "`[columns]`", &COLUMNS_KEYS)? {
        special.id = columns.text("id")?.map(|id| id.value);
        special.fold = columns.text("fold")?.map(|fold| fold.value);
        special.subtest = columns.text("subtest")?.map(|subtest| subtest.value);
        roles.extend(special.id.clone().map(|name| (name, "the id")));
        roles.extend(special.fold.clone().map(|name| (name, "the fold")));
        roles.extend(special.subtest.clone().map(|name| (name, "the subtest")));
    }
    let label = match top.table("label", "`[label]`", &LABEL_KEYS)? {
        Some(section) => {
            let label = parse_label(&section)?;
            take_role(&section, &mut roles, &label.column, "the label")?;
            Some(label)
        }
        None => None,
    };

    let mut features: Vec<Feature> = Vec::new();
    let mut order_lines = Vec::new();
    for section in top.tables("feature", "`[[feature]]`", &FEATURE_KEYS)? {
        let name = section.required_text("name", "the column's name")?;
        let section = Section {
            name: format!("feature `{}`", name.value),
            line: name.line,
            ..section
        };
        if features.iter().any(|feature| feature.name == name.value) {
            let problem = SchemaProblem::Repeated {
                section: "`[[feature]]`".to_string(),
                name: name.value,
            };
            return Err(document.refuse(name.line, problem));
        }
        take_role(&section, &mut roles, &name.value, "a feature")?;
        let feature = parse_feature(&section, name.value)?;
        order_lines.push(
            section
                .text("monotone")?
                .map_or(section.line, |monotone| monotone.line),
        );
        features.push(feature);
    }
    if features.is_empty() {
        return Err(document.refuse(1, SchemaProblem::NoFeatures));
    }

    let mut rules: Vec<Rule> = Vec::new();
    let mut rule_lines: Vec<usize> = Vec::new();
    for (number, section) in (1..).zip(top.tables("rule", "`[[rule]]`", &RULE_KEYS)?) {
        let rule = parse_rule(&section, number, &features)?;
        if let Some(earlier) = rules.iter().position(|other| *other == rule) {
            let problem = SchemaProblem::RuleRepeated {
                rule: number,
                earlier: earlier + 1,
            };
            return Err(document.refuse(section.line, problem));
        }
        for feature in [rule.if_increases, rule.must_increase] {
            order_lines[feature] = order_lines[feature].max(section.line);
        }
        rules.push(rule);
        rule_lines.push(section.line);
    }
    let groups = rules::groups(&features, &rules)
        .map_err(|(rule, problem)| document.refuse(rule_lines[rule], problem))?;

    let missing_text = match top.texts("missing_text")? {
        Some(texts) => texts.into_iter().map(|text| text.value).collect(),
        None => MISSING_TEXT.map(String::from).to_vec(),
    };
    let schema = Schema {
        source: text.to_string(),
        name: top.text("name")?.map(|name| name.value),
        file: top.text("file")?.map(|file| file.value),
        rows: top.count("rows")?.map(|rows| rows.value),
        folds: top.count("folds")?.map(|folds| folds.value),
        special,
        label,
        features,
        rules,
        groups,
        missing_text,
    };
    for (position, feature) in schema
        .features
        .iter()
        .enumerate()
        .filter(|(_, feature)| feature.kind == Kind::Nominal)
    {
        let unordered = feature
            .values
            .iter()
            .find(|value| parse_number(value).is_none());
        if let (Some(because), Some(found)) = (schema.order_needed(position), unordered) {
            let section = format!("feature `{}`", feature.name);
            let problem = SchemaProblem::NoOrder {
                section,
                because,
                found: found.clone(),
            };
            return Err(document.refuse(order_lines[position], problem));
        }
    }
    Ok(schema)
}

/// A finite number, spaces around it forgiven.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

fn take_role(
    section: &Section<'_>,
    roles: &mut Vec<(String, &'static str)>,
    column: &str,
    role: &'static str,
) -> Result<(), SchemaError> {
    if let Some((_, first)) = roles.iter().find(|(taken, _)| taken == column) {
        let problem = SchemaProblem::TwoRoles {
            column: column.to_string(),
            first,
            second: role,
        };
        return Err(section.refuse(section.line, problem));
    }
    roles.push((column.to_string(), role));
    Ok(())
}

fn parse_label(section: &Section<'_>) -> Result<Label, SchemaError> {
    let column = section.required_text("column", "the label's column")?.value;
    let classes = section
        .distinct_texts("classes")?
        .ok_or_else(|| section.lacks("classes", "the label's values"))?;
    if classes.value.len() < 2 {
        return Err(section.refuse(
            classes.line,
            SchemaProblem::TooFewClasses {
                found: classes.value.len(),
            },
        ));
    }
    let class = |key: &'static str, text: Located<String>| {
        classes
            .value
            .iter()
            .position(|class| *class == text.value)
            .ok_or_else(|| {
                section.refuse(
                    text.line,
                    SchemaProblem::UnknownWord {
                        section: section.name.clone(),
                        key,
                        found: text.value,
                        known: classes.value.clone(),
                    },
                )
            })
    };
    let favourable = class(
        "favourable",
        section.required_text("favourable", "the class a person wants")?,
    )?;
    let paper_favourable = section
        .text("paper_favourable")?
        .map(|text| class("paper_favourable", text))
        .transpose()?;
    if let Some(counts) = section.texts("counts")?
        && counts.len() != classes.value.len()
    {
        let problem = SchemaProblem::CountsLength {
            found: counts.len(),
            expected: classes.value.len(),
        };
        return Err(section.refuse(section.line_of("counts"), problem));
    }
    Ok(Label {
        column,
        classes: classes.value,
        favourable,
        paper_favourable,
    })
}

fn parse_feature(section: &Section<'_>, name: String) -> Result<Feature, SchemaError> {
    let kind = section
        .word(
            "kind",
            &[
                ("nominal", Kind::Nominal),
                ("ordinal", Kind::Ordinal),
                ("discrete", Kind::Discrete),
                ("continuous", Kind::Continuous),
            ],
        )?
        .ok_or_else(|| {
            section.lacks(
                "kind",
                "one of `nominal`, `ordinal`, `discrete`, `continuous`",
            )
        })?;
    let monotone = section
        .word(
            "monotone",
            &[
                ("none", Monotone::None),
                ("increasing", Monotone::Increasing),
                ("decreasing", Monotone::Decreasing),
            ],
        )?
        .map_or(Monotone::None, |monotone| monotone.value);
    let immutable = section.flag("immutable")?.unwrap_or(false);
    let missing = section.flag("missing")?.unwrap_or(false);
    section.text("note")?;

    let (misplaced, hint): (&[&str], _) = if kind.value.is_numeric() {
        (
            &["values", "labels"],
            "give numbers `bounds` or `allowed`, or make the feature `nominal` or `ordinal`",
        )
    } else {
        (
            &["bounds", "observed", "bins", "unit"],
            "give categories `values` or `allowed`, or make the feature `discrete` or `continuous`",
        )
    };
    if let Some(key) = misplaced
        .iter()
        .find(|key| section.table.contains_key(**key))
    {
        let kind = section
            .text("kind")?
            .map_or(String::new(), |kind| kind.value);
        return Err(section.contradiction(
            key,
            format!("`{key}`"),
            format!("`kind = \"{kind}\"`"),
            hint,
        ));
    }

    let values = section.distinct_texts("values")?.unwrap_or_default();
    if kind.value == Kind::Ordinal && values.value.is_empty() {
        return Err(section.lacks("values", "its categories in order"));
    }
    if values.value.len() > MAX_CATEGORIES {
        return Err(section.out_of_range(
            "values",
            values.line,
            values.value.len(),
            format!("at most {MAX_CATEGORIES} of them"),
        ));
    }
    let labels = section.text_table("labels")?;
    let unknown_value = |key, found: &Located<String>| {
        (!values.value.is_empty() && !values.value.contains(&found.value)).then(|| {
            section.refuse(
                found.line,
                SchemaProblem::NotAValue {
                    section: section.name.clone(),
                    key,
                    found: found.value.clone(),
                    known: values.value.clone(),
                },
            )
        })
    };
    if let Some(error) = labels
        .iter()
        .find_map(|(value, _)| unknown_value("labels", value))
    {
        return Err(error);
    }

    let bounds = section.range("bounds")?;
    section.range("observed")?;
    let bins = section.count("bins")?;
    if let Some(bins) = bins
        .as_ref()
        .filter(|bins| !(2..=1000).contains(&bins.value))
    {
        return Err(section.out_of_range("bins", bins.line, bins.value, "2 to 1000".to_string()));
    }

    let allowed = section.distinct_texts("allowed")?;
    if let Some(allowed) = &allowed {
        if immutable {
            let hint = "drop one of them";
            return Err(section.contradiction(
                "allowed",
                "`allowed`".to_string(),
                "`immutable = true`".to_string(),
                hint,
            ));
        }
        if allowed.value.is_empty() {
            return Err(section.out_of_range(
                "allowed",
                allowed.line,
                "empty",
                "at least one value, or `immutable = true`".to_string(),
            ));
        }
        for text in section.texts("allowed")?.unwrap_or_default() {
            if !kind.value.is_numeric() {
                if let Some(error) = unknown_value("allowed", &text) {
                    return Err(error);
                }
                continue;
            }
            let Some(number) = parse_number(&text.value) else {
                return Err(section.out_of_range(
                    "allowed",
                    text.line,
                    text.value,
                    "a finite number".to_string(),
                ));
            };
            if let Some([low, high]) = bounds.filter(|[low, high]| number < *low || number > *high)
            {
                return Err(section.out_of_range(
                    "allowed",
                    text.line,
                    text.value,
                    format!("a number within the bounds {low} to {high}"),
                ));
            }
        }
    }
    if immutable && monotone != Monotone::None {
        let monotone = section
            .text("monotone")?
            .map_or(String::new(), |monotone| monotone.value);
        let hint = "drop one of them";
        return Err(section.contradiction(
            "monotone",
            format!("`monotone = \"{monotone}\"`"),
            "`immutable = true`".to_string(),
            hint,
        ));
    }
    Ok(Feature {
        name,
        kind: kind.value,
        values: values.value,
        labels: labels
            .into_iter()
            .map(|(value, label)| (value.value, label))
            .collect(),
        bounds,
        unit: section.text("unit")?.map(|unit| unit.value),
        missing,
        bins: bins.and_then(|bins| usize::try_from(bins.value).ok()),
        immutable,
        monotone,
        allowed: allowed.map(|allowed| allowed.value),
    })
}

fn parse_rule(
    section: &Section<'_>,
    number: usize,
    features: &[Feature],
) -> Result<Rule, SchemaError> {
    let feature = |key| {
        let name = section.required_text(key, "a feature's name")?;
        features
            .iter()
            .position(|feature| feature.name == name.value)
            .ok_or_else(|| {
                let known = features
                    .iter()
                    .map(|feature| feature.name.clone())
                    .collect();
                section.refuse(
                    name.line,
                    SchemaProblem::RuleFeature {
                        rule: number,
                        found: name.value,
                        known,
                    },
                )
            })
    };
    let rule = Rule {
        if_increases: feature("if_increases")?,
        must_increase: feature("must_increase")?,
    };
    if rule.if_increases == rule.must_increase {
        let name = features[rule.if_increases].name.clone();
        return Err(section.refuse(
            section.line,
            SchemaProblem::RuleOnItself { rule: number, name },
        ));
    }
    Ok(rule)
}

/// A TOML text and its name in messages.
struct Document<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Document<'_> {
    fn line(&self, span: Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    fn refuse(&self, line: usize, problem: SchemaProblem) -> SchemaError {
        SchemaError {
            origin: self.origin.to_string(),
            line,
            problem: Box::new(problem),
        }
    }
}

#[derive(Default)]
struct Located<T> {
    value: T,
    line: usize,
}

/// One table of the document, with the name it has in messages.
struct Section<'a> {
    document: &'a Document<'a>,
    name: String,
    line: usize,
    table: &'a DeTable<'a>,
}

impl<'a> Section<'a> {
    fn new(
        document: &'a Document<'a>,
        name: String,
        span: Range<usize>,
        table: &'a DeTable<'a>,
        known: &[&str],
    ) -> Result<Self, SchemaError> {
        if let Some(key) = table
            .keys()
            .find(|key| !known.contains(&key.get_ref().as_ref()))
        {
            let problem = SchemaProblem::UnknownKey {
                section: name,
                key: key.get_ref().to_string(),
                known: known.iter().map(ToString::to_string).collect(),
            };
            return Err(document.refuse(document.line(key.span()), problem));
        }
        Ok(Self {
            document,
            name,
            line: document.line(span),
            table,
        })
    }

    fn refuse(&self, line: usize, problem: SchemaProblem) -> SchemaError {
        self.document.refuse(line, problem)
    }

    fn lacks(&self, key: &'static str, expected: &'static str) -> SchemaError {
        self.refuse(
            self.line,
            SchemaProblem::MissingKey {
                section: self.name.clone(),
                key,
                expected,
            },
        )
    }

    fn contradiction(
        &self,
        key: &str,
        first: String,
        second: String,
        hint: &'static str,
    ) -> SchemaError {
        let section = self.name.clone();
        self.refuse(
            self.line_of(key),
            SchemaProblem::Contradiction {
                section,
                first,
                second,
                hint,
            },
        )
    }

    fn out_of_range(
        &self,
        key: &'static str,
        line: usize,
        found: impl Display,
        expected: String,
    ) -> SchemaError {
        let problem = SchemaProblem::OutOfRange {
            section: self.name.clone(),
            key,
            found: found.to_string(),
            expected,
        };
        self.refuse(line, problem)
    }

    fn wrong_type(
        &self,
        key: &'static str,
        value: &Spanned<DeValue<'_>>,
        expected: &'static str,
    ) -> SchemaError {
        let found = match value.get_ref() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let problem = SchemaProblem::WrongType {
            section: self.name.clone(),
            key,
            found,
            expected,
        };
        self.refuse(self.document.line(value.span()), problem)
    }

    fn line_of(&self, key: &str) -> usize {
        self.table
            .get(key)
            .map_or(self.line, |value| self.document.line(value.span()))
    }

    fn table(
        &self,
        key: &'static str,
        name: &str,
        known: &[&str],
    ) -> Result<Option<Section<'a>>, SchemaError> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.wrong_type(key, value, "a table"));
        };
        Section::new(self.document, name.to_string(), value.span(), table, known).map(Some)
    }

    fn tables(
        &self,
        key: &'static str,
        name: &str,
        known: &[&str],
    ) -> Result<Vec<Section<'a>>, SchemaError> {
        let Some(value) = self.table.get(key) else {
            return Ok(Vec::new());
        };
        let DeValue::Array(tables) = value.get_ref() else {
            return Err(self.wrong_type(
                key,
                value,
                "a list of tables, each under its own double brackets",
            ));
        };
        tables
            .iter()
            .map(|value| match value.get_ref() {
                DeValue::Table(table) => {
                    Section::new(self.document, name.to_string(), value.span(), table, known)
                }
                _ => Err(self.wrong_type(key, value, "a table")),
            })
            .collect()
    }

    /// Text, or a number or truth value as it is written.
    fn as_text(
        &self,
        key: &'static str,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Located<String>, SchemaError> {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_string(),
            DeValue::Float(number) => number.as_str().to_string(),
            DeValue::Boolean(truth) => truth.to_string(),
            _ => return Err(self.wrong_type(key, value, "text or a number")),
        };
        Ok(Located {
            value: text,
            line: self.document.line(value.span()),
        })
    }

    fn text(&self, key: &'static str) -> Result<Option<Located<String>>, SchemaError> {
        self.table
            .get(key)
            .map(|value| self.as_text(key, value))
            .transpose()
    }

    fn required_text(
        &self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<Located<String>, SchemaError> {
        self.text(key)?.ok_or_else(|| self.lacks(key, expected))
    }

    fn word<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<Located<T>>, SchemaError> {
        let Some(text) = self.text(key)? else {
            return Ok(None);
        };
        match words.iter().find(|(word, _)| *word == text.value) {
            Some((_, value)) => Ok(Some(Located {
                value: *value,
                line: text.line,
            })),
            None => {
                let known = words.iter().map(|(word, _)| word.to_string()).collect();
                let section = self.name.clone();
                Err(self.refuse(
                    text.line,
                    SchemaProblem::UnknownWord {
                        section,
                        key,
                        found: text.value,
                        known,
                    },
                ))
            }
        }
    }

    fn flag(&self, key: &'static str) -> Result<Option<bool>, SchemaError> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        value
            .get_ref()
            .as_bool()
            .map(Some)
            .ok_or_else(|| self.wrong_type(key, value, "true or false"))
    }

    fn count(&self, key: &'static str) -> Result<Option<Located<u64>>, SchemaError> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let text = self.as_text(key, value)?;
        let count = text
            .value
            .parse()
            .map_err(|_| self.wrong_type(key, value, "a whole number"))?;
        Ok(Some(Located {
            value: count,
            line: text.line,
        }))
    }

    fn texts(&self, key: &'static str) -> Result<Option<Vec<Located<String>>>, SchemaError> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong_type(key, value, "a list"));
        };
        items
            .iter()
            .map(|item| self.as_text(key, item))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn distinct_texts(
        &self,
        key: &'static str,
    ) -> Result<Option<Located<Vec<String>>>, SchemaError> {
        let Some(mut texts) = self.texts(key)? else {
            return Ok(None);
        };
        for text in &mut texts {
            text.value = text.value.trim().to_string();
        }
        let mut seen = HashSet::new();
        if let Some(text) = texts.iter().find(|text| !seen.insert(text.value.as_str())) {
            let problem = SchemaProblem::Repeated {
                section: self.name.clone(),
                name: text.value.clone(),
            };
            return Err(self.refuse(text.line, problem));
        }
        let value = texts.into_iter().map(|text| text.value).collect();
        Ok(Some(Located {
            value,
            line: self.line_of(key),
        }))
    }

    fn text_table(&self, key: &'static str) -> Result<Vec<(Located<String>, String)>, SchemaError> {
        let Some(value) = self.table.get(key) else {
            return Ok(Vec::new());
        };
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.wrong_type(key, value, "a table"));
        };
        table
            .iter()
            .map(|(name, value)| {
                let name = Located {
                    value: name.get_ref().to_string(),
                    line: self.document.line(name.span()),
                };
                Ok((name, self.as_text(key, value)?.value))
            })
            .collect()
    }

    fn range(&self, key: &'static str) -> Result<Option<[f64; 2]>, SchemaError> {
        let Some(ends) = self.texts(key)? else {
            return Ok(None);
        };
        let line = self.line_of(key);
        let numbers: Option<Vec<f64>> = ends.iter().map(|end| parse_number(&end.value)).collect();
        let Some(&[low, high]) = numbers.as_deref() else {
            let found: Vec<&str> = ends.iter().map(|end| end.value.as_str()).collect();
            return Err(self.out_of_range(
                key,
                line,
                format!("[{}]", found.join(", ")),
                "two finite numbers".to_string(),
            ));
        };
        if low > high {
            let section = self.name.clone();
            let problem = SchemaProblem::EmptyRange {
                section,
                key,
                low: low.to_string(),
                high: high.to_string(),
            };
            return Err(self.refuse(line, problem));
        }
        Ok(Some([low, high]))
    }
}
