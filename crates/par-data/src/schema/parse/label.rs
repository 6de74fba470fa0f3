//! `[columns]` and `[label]`: the columns that are not features.

use super::{Roles, values_of};
use crate::schema::problem::{SchemaError, SchemaProblem};
use crate::schema::section::{Keys, SchemaSection};
use crate::schema::{Label, SpecialColumns};

const COLUMNS_KEYS: Keys = Keys::always(&["id", "fold", "subtest"]);
const LABEL_KEYS: Keys = Keys::always(&["column", "classes", "favourable", "paper_favourable", "counts"]);

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
    Ok(Some(Label { column: column_name, classes, favourable, paper_favourable }))
}
