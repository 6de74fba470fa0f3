//! `[columns]` and `[label]`: the columns that are not features.

use super::{Roles, values_of};
use crate::schema::problem::{SchemaError, SchemaProblem};
use crate::schema::section::{Keys, Located, SchemaSection};
use crate::schema::{Goal, Label, Side, SpecialColumns};

const COLUMNS_KEYS: Keys = Keys::always(&["id", "fold", "subtest"]);
const LABEL_KEYS: Keys = Keys::always(&[
    "column",
    "classes",
    "favourable",
    "paper_favourable",
    "counts",
    "at_least",
    "at_most",
    "unit",
]);

pub(super) fn columns(top: &SchemaSection<'_>, roles: &mut Roles) -> Result<SpecialColumns, SchemaError> {
    let mut special = SpecialColumns::default();
    if let Some(section) = top.table("columns", "`[columns]`", &COLUMNS_KEYS)? {
        special.id = roles.take(&section, section.text("id")?, "the id")?;
        special.fold = roles.take(&section, section.text("fold")?, "the fold")?;
        special.subtest = roles.take(&section, section.text("subtest")?, "the subtest")?;
    }
    Ok(special)
}

pub(super) fn label(top: &SchemaSection<'_>, roles: &mut Roles) -> Result<Option<Label>, SchemaError> {
    let Some(section) = top.table("label", "`[label]`", &LABEL_KEYS)? else {
        return Ok(None);
    };
    let column = section.required_text("column", "the label's column")?;
    let column_name = column.value.clone();
    roles.take(&section, Some(column), "the label")?;
    match goal(&section)? {
        Some(goal) => Ok(Some(Label {
            column: column_name,
            classes: goal.classes(),
            favourable: vec![1],
            paper_favourable: None,
            goal: Some(goal),
        })),
        None => classes(&section, column_name).map(Some),
    }
}

/// The number that the label must reach; `None` if it holds classes.
fn goal(section: &SchemaSection<'_>) -> Result<Option<Goal>, SchemaError> {
    let sides = [Side::AtLeast, Side::AtMost];
    let Some(side) = sides.into_iter().find(|side| section.has(side.key())) else {
        return match section.has("unit") {
            true => Err(contradiction(section, "unit", "classes", "classes have no unit")),
            false => Ok(None),
        };
    };
    for other in ["at_most", "classes", "favourable", "paper_favourable", "counts"] {
        if other != side.key() && section.has(other) {
            let hint = "a label is either classes or a number with one bound";
            return Err(contradiction(section, other, side.key(), hint));
        }
    }
    let bound = section.number(side.key(), |_| true, "a finite number")?;
    let unit = section.plain_text("unit")?;
    Ok(bound.map(|bound| Goal { bound, side, unit }))
}

fn contradiction(section: &SchemaSection<'_>, key: &str, other: &str, hint: &str) -> SchemaError {
    let problem = SchemaProblem::Contradiction {
        first: format!("`{key}`"),
        second: format!("`{other}`"),
        hint: hint.to_string(),
    };
    section.refuse(section.line_of(key), problem)
}

/// A label of classes.
fn classes(section: &SchemaSection<'_>, column: String) -> Result<Label, SchemaError> {
    if !section.has("classes") {
        return Err(section.lacks("classes", "the label's values, or `at_least` or `at_most` for a number"));
    }
    let classes: Vec<String> = values_of(section.distinct_texts("classes")?);
    if classes.len() < 2 {
        let problem = SchemaProblem::TooFewClasses { found: classes.len() };
        return Err(section.refuse(section.line_of("classes"), problem));
    }
    let numbered: Vec<(&str, usize)> = classes.iter().map(String::as_str).zip(0..).collect();
    let paper_favourable = section.word("paper_favourable", &numbered)?;
    let counts = section.texts("counts")?.len();
    if section.has("counts") && counts != classes.len() {
        let problem = SchemaProblem::CountsLength { found: counts, expected: classes.len() };
        return Err(section.refuse(section.line_of("counts"), problem));
    }
    let favourable = favourable(section, &classes)?;
    Ok(Label { column, classes, favourable, paper_favourable, goal: None })
}

/// The classes that a person wants: one, or a list of some.
fn favourable(section: &SchemaSection<'_>, classes: &[String]) -> Result<Vec<usize>, SchemaError> {
    let value = section.value("favourable");
    let value =
        value.ok_or_else(|| section.lacks("favourable", "the class a person wants, or a list of some"))?;
    let named = match value.get_ref() {
        toml::de::DeValue::Array(_) => section.distinct_texts("favourable")?,
        _ => vec![section.as_text("favourable", value)?],
    };
    let mut favourable = Vec::with_capacity(named.len());
    for Located { value: found, line } in named {
        let class = classes.iter().position(|class| *class == found).ok_or_else(|| {
            let known = classes.to_vec();
            section.refuse(line, SchemaProblem::UnknownWord { key: "favourable", found, known })
        })?;
        favourable.push(class);
    }
    favourable.sort_unstable();
    let problem = match favourable.len() {
        0 => "no class",
        count if count == classes.len() => "every class",
        _ => return Ok(favourable),
    };
    let problem = SchemaProblem::OutOfRange {
        key: "favourable",
        found: problem.to_string(),
        expected: "at least one class, and not all\nhint: list the classes that a person wants".to_string(),
    };
    Err(section.refuse(section.line_of("favourable"), problem))
}
