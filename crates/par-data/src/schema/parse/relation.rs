//! `[[relation]]`, and `[[rule]]` of version 1.

use toml::de::DeValue;

use super::condition::{conditions, not_a_value, set};
use super::feature_called;
use crate::schema::problem::{SchemaError, SchemaProblem};
use crate::schema::section::{Keys, SchemaSection, Value};
use crate::schema::{
    Direction, Feature, FeatureKind, Formula, Move, Permitted, Relation, Rule, parse_number,
};

pub(super) const RULE_KEYS: Keys = Keys::always(&["if_increases", "must_increase"]);
pub(super) const RELATION_KEYS: Keys = Keys::always(&[
    "at_most",
    "sum",
    "product",
    "difference",
    "ratio",
    "lookup",
    "gives",
    "table",
    "when",
    "then",
    "together",
    "at_most_changes",
    "of",
    "if_increases",
    "if_decreases",
    "must_increase",
    "must_decrease",
]);

/// Most rows of a table.
const MAX_ROWS: usize = 1000;

/// Each kind of relation by its key, with the keys that belong to it.
const KINDS: [(&str, &[&str]); 11] = [
    ("at_most", &[]),
    ("sum", &["gives"]),
    ("product", &["gives"]),
    ("difference", &["gives"]),
    ("ratio", &["gives"]),
    ("lookup", &["table", "gives"]),
    ("when", &["then"]),
    ("together", &[]),
    ("at_most_changes", &["of"]),
    ("if_increases", &["must_increase", "must_decrease"]),
    ("if_decreases", &["must_increase", "must_decrease"]),
];

pub(super) fn relation(section: &SchemaSection<'_>, features: &[Feature]) -> Result<Relation, SchemaError> {
    let relation = RelationSection { section, features };
    match relation.kind()? {
        "at_most" => relation.at_most(),
        "when" => Ok(Relation::When {
            when: conditions(section, "when", features)?,
            then: conditions(section, "then", features)?,
        }),
        "together" => Ok(Relation::Together(relation.some("together")?)),
        "at_most_changes" => relation.at_most_changes(),
        "if_increases" | "if_decreases" => relation.rule().map(Relation::Rule),
        kind => relation.follows(kind),
    }
}

/// `if_increases` and `must_increase`, and their opposites.
pub(super) fn rule(section: &SchemaSection<'_>, features: &[Feature]) -> Result<Rule, SchemaError> {
    RelationSection { section, features }.rule()
}

/// A section about features that are known.
struct RelationSection<'a> {
    section: &'a SchemaSection<'a>,
    features: &'a [Feature],
}

impl RelationSection<'_> {
    /// The only key of a kind. All other keys belong to that kind.
    fn kind(&self) -> Result<&'static str, SchemaError> {
        let section = self.section;
        let mut kinds = KINDS.iter().filter(|(key, _)| section.has(key));
        let Some((kind, own)) = kinds.next() else {
            let kinds = KINDS.iter().map(|(key, _)| key.to_string()).collect();
            return Err(section.refuse(section.line, SchemaProblem::NoRelation { kinds }));
        };
        if let Some((other, _)) = kinds.next() {
            return Err(section.contradicts(other, kind, "write a `[[relation]]` for each"));
        }
        let stray =
            RELATION_KEYS.always.iter().find(|key| section.has(key) && *key != kind && !own.contains(key));
        match stray {
            None => Ok(kind),
            Some(stray) => Err(section.contradicts(stray, kind, format!("drop `{stray}`"))),
        }
    }

    fn feature(&self, key: &'static str) -> Result<usize, SchemaError> {
        let name = self.section.required_text(key, "a feature's name")?;
        feature_called(self.section, self.features, name)
    }

    /// At least two different features.
    fn some(&self, key: &'static str) -> Result<Vec<usize>, SchemaError> {
        self.features_of(key, |found| found >= 2, "at least 2")
    }

    /// Two different features.
    fn pair(&self, key: &'static str) -> Result<[usize; 2], SchemaError> {
        let pair = self.features_of(key, |found| found == 2, "2")?;
        Ok([pair[0], pair[1]])
    }

    /// Different features, of which there are as many as expected.
    fn features_of(
        &self,
        key: &'static str,
        is_number: impl Fn(usize) -> bool,
        expected: &'static str,
    ) -> Result<Vec<usize>, SchemaError> {
        let names = self.section.distinct_texts(key)?;
        if !is_number(names.len()) {
            let problem = SchemaProblem::FeatureCount { key, found: names.len(), expected };
            return Err(self.section.refuse(self.section.line_of(key), problem));
        }
        names.into_iter().map(|name| feature_called(self.section, self.features, name)).collect()
    }

    fn at_most(&self) -> Result<Relation, SchemaError> {
        let pair = self.pair("at_most")?;
        let [first, second] = pair.map(|position| &self.features[position]);
        let numbers = first.kind.is_numeric() && second.kind.is_numeric();
        let ordinal = [first, second].iter().all(|feature| feature.kind == FeatureKind::Ordinal);
        if numbers || ordinal && first.values == second.values {
            return Ok(Relation::AtMost(pair));
        }
        let problem = SchemaProblem::NotComparable { first: first.name.clone(), second: second.name.clone() };
        Err(self.section.refuse(self.section.line_of("at_most"), problem))
    }

    fn at_most_changes(&self) -> Result<Relation, SchemaError> {
        let expected = "a whole number";
        let most = self.section.number("at_most_changes", |n| n >= 0.0 && n.fract() == 0.0, expected)?;
        let most = most.unwrap_or(0.0) as usize;
        if !self.section.has("of") {
            return Err(self.section.lacks("of", "a list of features"));
        }
        Ok(Relation::AtMostChanges { most, of: self.some("of")? })
    }

    fn rule(&self) -> Result<Rule, SchemaError> {
        let moved = |[rises, falls]: [&'static str; 2]| {
            let (key, direction) = match (self.section.has(rises), self.section.has(falls)) {
                (true, true) => return Err(self.section.contradicts(falls, rises, "drop one of them")),
                (false, true) => (falls, Direction::Decrease),
                _ => (rises, Direction::Increase),
            };
            Ok(Move { feature: self.feature(key)?, direction })
        };
        let rule = Rule {
            when: moved(["if_increases", "if_decreases"])?,
            then: moved(["must_increase", "must_decrease"])?,
        };
        if rule.when.feature == rule.then.feature {
            let name = self.features[rule.when.feature].name.clone();
            return Err(self.section.refuse(self.section.line, SchemaProblem::RuleOnItself { name }));
        }
        Ok(rule)
    }

    fn follows(&self, kind: &'static str) -> Result<Relation, SchemaError> {
        let formula = match kind {
            "sum" => Formula::Sum(self.some(kind)?),
            "product" => Formula::Product(self.some(kind)?),
            "difference" => Formula::Difference(self.pair(kind)?),
            "ratio" => Formula::Ratio(self.pair(kind)?),
            _ => return self.lookup(),
        };
        let feature = self.feature("gives")?;
        let numbers = |position: &usize| self.features[*position].kind.is_numeric();
        let other = formula.sources().iter().chain([&feature]).find(|position| !numbers(position));
        if let Some(&other) = other {
            let Feature { name, kind: found, .. } = &self.features[other];
            let problem = SchemaProblem::NotNumeric { key: kind, name: name.clone(), kind: found.name() };
            return Err(self.section.refuse(self.section.line_of(kind), problem));
        }
        Ok(Relation::Follows { feature, formula })
    }

    fn lookup(&self) -> Result<Relation, SchemaError> {
        let source = self.feature("lookup")?;
        let feature = self.feature("gives")?;
        let Some(value) = self.section.value("table") else {
            return Err(self
                .section
                .lacks("table", "rows of values and a result, such as `[[\"..24\", \"young\"]]`"));
        };
        let expected = "rows of two: values, and what they give";
        let DeValue::Array(rows) = value.get_ref() else {
            return Err(self.section.wrong_type("table", value, expected));
        };
        if !(1..=MAX_ROWS).contains(&rows.len()) {
            let found = format!("a list of {}", rows.len());
            let expected = format!("1 to {MAX_ROWS} {expected}");
            return Err(self.section.out_of_range("table", self.section.line_of("table"), found, expected));
        }
        let rows = rows.iter().map(|row| self.row(row, source, feature)).collect::<Result<_, _>>()?;
        Ok(Relation::Follows { feature, formula: Formula::Lookup { of: [source], table: rows } })
    }

    fn row(&self, row: &Value<'_>, source: usize, gives: usize) -> Result<(Permitted, String), SchemaError> {
        let expected = "rows of two: values, and what they give";
        let DeValue::Array(cells) = row.get_ref() else {
            return Err(self.section.wrong_type("table", row, expected));
        };
        let [values, result] = &cells[..] else {
            let line = self.section.document.line(row.span());
            let found = format!("a row of {}", cells.len());
            return Err(self.section.out_of_range("table", line, found, expected));
        };
        let values = set(self.section, "table", &self.features[source], values)?;
        let result = self.section.as_text("table", result)?;
        let gives = &self.features[gives];
        let has = match gives.kind.is_numeric() {
            true => parse_number(&result.value).is_some(),
            false => gives.values.is_empty() || gives.values.contains(&result.value),
        };
        match has {
            true => Ok((values, result.value)),
            false => {
                Err(self.section.refuse(result.line, SchemaProblem::Values(not_a_value(gives, result.value))))
            }
        }
    }
}
