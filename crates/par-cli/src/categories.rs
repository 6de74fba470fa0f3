//! A schema for a table that has none: every column is nominal, its categories are its different texts.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use par_data::{Schema, suggest};
use serde::Serialize;

use crate::rows::SelectedRows;

/// A column with more different texts is refused: it holds numbers or free text, not categories.
const MAX_CATEGORIES: usize = 4096;

#[derive(Serialize)]
struct SchemaDocument {
    missing_text: [&'static str; 1],
    feature: Vec<FeatureSection>,
}

#[derive(Serialize)]
struct FeatureSection {
    name: String,
    kind: &'static str,
    missing: bool,
    values: Vec<String>,
}

/// The schema of all columns of the first table except the dropped ones. Categories are collected from all
/// tables; an empty cell is missing.
pub(crate) fn schema(tables: Vec<SelectedRows>, dropped: &[String]) -> Result<Schema> {
    let first = &tables[0];
    let origin = first.origin().to_string();
    let is = |name: &String, column: &String| name.trim() == column.trim();
    if let Some(name) = dropped.iter().find(|name| !first.columns().iter().any(|column| is(name, column))) {
        bail!("{origin}: no column `{name}` to drop{}", suggest(name, first.columns()));
    }
    let is_dropped = |column: &&String| dropped.iter().any(|name| is(name, column));
    let names: Vec<String> = first.columns().iter().filter(|column| !is_dropped(column)).cloned().collect();
    if names.is_empty() {
        bail!("{origin}: no column is left to learn from");
    }
    let mut texts = vec![BTreeSet::new(); names.len()];
    for table in tables {
        collect_categories(table, &names, &mut texts)?;
    }
    let section = |(name, texts): (String, BTreeSet<String>)| {
        if texts.is_empty() {
            bail!(
                "{origin}: column `{name}` has no value in any row\nhint: leave it out with `--drop '{name}'`"
            );
        }
        Ok(FeatureSection { name, kind: "nominal", missing: true, values: sorted(texts) })
    };
    let feature = names.into_iter().zip(texts).map(section).collect::<Result<_>>()?;
    let text = toml::to_string(&SchemaDocument { missing_text: [""], feature })?;
    Ok(Schema::parse(&text, "the columns")?)
}

fn collect_categories(
    mut table: SelectedRows,
    names: &[String],
    texts: &mut [BTreeSet<String>],
) -> Result<()> {
    let origin = table.origin().to_string();
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        match table.columns().iter().position(|column| column == name) {
            Some(column) => columns.push(column),
            None => bail!("{origin}: no column `{name}`{}", suggest(name, table.columns())),
        }
    }
    let mut rows = 0;
    for batch in &mut table {
        let batch = batch?;
        rows += batch.rows();
        for ((&column, texts), name) in columns.iter().zip(texts.iter_mut()).zip(names) {
            for row in 0..batch.rows() {
                let text = batch.cell(row, column).trim();
                if !text.is_empty() && !texts.contains(text) {
                    texts.insert(text.to_string());
                }
            }
            if texts.len() > MAX_CATEGORIES {
                bail!(
                    "{origin}: column `{name}` has more than {MAX_CATEGORIES} different values\n\
                     hint: leave it out with `--drop '{name}'`, or say what the columns mean with `--schema`"
                );
            }
        }
    }
    if rows == 0 {
        return Err(table.none_passed());
    }
    Ok(())
}

/// Sorts numerically if every text is a number, and by text otherwise.
fn sorted(texts: BTreeSet<String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.into_iter().collect();
    let number = |text: &String| text.parse::<f64>();
    if texts.iter().all(|text| number(text).is_ok()) {
        texts.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_as_numbers() {
        let ordered = |texts: &[&str]| sorted(texts.iter().map(ToString::to_string).collect());
        assert_eq!(ordered(&["10", "9", "-1", "2.5"]), ["-1", "2.5", "9", "10"]);
        assert_eq!(ordered(&["10", "9", "b"]), ["10", "9", "b"]);
    }
}
