//! Drafts the file of inputs for a classifier, for its user to correct.

mod plan;
mod reading;
#[cfg(test)]
mod tests;

use par_data::Schema;
use par_data::schema::{Label, parse_number, quoted};
use par_onnx::{Input, InputKind, Output, Scale};

use self::plan::{Plan, plans};
use super::column::{Column, Form, Plain};

const ADVICE: &str = "\
# How the columns of a table become the inputs of a classifier. Drafted from names and widths: correct what is wrong,
# above all the order of columns and values, which only the code that trained the classifier knows. scikit-learn
# sorts the values of a feature by default, and puts columns in the order of its transformers. Numbers are drafted as
# they are: if that code scaled them for the classifier, scale them here too.
#
# as = \"number\"                                       the number itself
#      \"scale\", shift = 1.0, divide = 98.0            (x - shift) / divide
#      \"standardize\", mean = 10.0, deviation = 3.0    (x - mean) / deviation, by default of the training rows
#      \"zero-one\", one = \"a\"                          1 for this value, 0 for all others
#      \"one-hot\", values = [\"a\", \"b\"], zeros = [\"c\"]  a place for each value, none for those in zeros
#      \"label\", values = [\"a\", \"b\"]                   0, 1, 2 and so on
#      \"text\"                                         the text itself, for inputs of texts
# missing = the value of a missing cell: a number, \"nan\", for one-hot and label also a listed value, for text any text";

/// Drafts the TOML text that maps the schema's columns to these inputs, from names and widths. Comments mark guesses.
/// [`Inputs::parse`](super::Inputs::parse) reads the text, which fits schema and classifier if the widths can be
/// explained.
pub fn draft(schema: &Schema, inputs: &[Input], outputs: &[Output]) -> String {
    let mut lines = vec![ADVICE.to_string(), String::new()];
    lines.extend(output(schema, outputs));
    let plans = plans(schema, inputs);
    for plan in &plans {
        lines.push(String::new());
        lines.extend(entry(plan));
    }
    let is_used =
        |name: &str| plans.iter().flat_map(|plan| &plan.columns).any(|column| column.feature == name);
    let unused: Vec<String> = schema
        .features()
        .iter()
        .filter(|feature| !is_used(&feature.name))
        .map(|feature| quoted(&feature.name))
        .collect();
    if !unused.is_empty() {
        lines.push(format!("\n# Features that the classifier does not read: {}", unused.join(", ")));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Prefers an output of probabilities, the usual score.
fn output(schema: &Schema, outputs: &[Output]) -> Vec<String> {
    let mut lines = vec!["[output]".to_string()];
    let is_probability = |output: &&Output| output.scale == Scale::Probability;
    let Some(chosen) = outputs.iter().find(is_probability).or(outputs.first()) else {
        lines.push("# The classifier has no output that can be a score.".to_string());
        return lines;
    };
    let others: Vec<String> = outputs
        .iter()
        .filter(|output| output.name != chosen.name)
        .map(|output| quoted(&output.name))
        .collect();
    lines.push(match others.is_empty() {
        true => format!("name = {}", quoted(&chosen.name)),
        false => format!("name = {}  # a guess; there are also {}", quoted(&chosen.name), others.join(", ")),
    });
    if schema.label().is_some_and(|label| label.goal.is_some()) {
        lines.push("scale = \"number\"".to_string());
        return lines;
    }
    lines.push(accepted(schema.label(), &chosen.classes));
    lines.push(match chosen.scale {
        Scale::Probability => "scale = \"probability\"".to_string(),
        Scale::LogOdds | Scale::Number => "scale = \"log-odds\"".to_string(),
    });
    lines
}

/// Which columns are the favourable classes, and why.
fn accepted(label: Option<&Label>, classes: &[String]) -> String {
    let Some(label) = label else {
        return "accepted = 1  # a guess: the schema names no favourable class".to_string();
    };
    let [favourable, _] = label.sides();
    let column = |name: &&str| {
        let number = parse_number(name);
        classes.iter().position(|class| class == name || number.is_some() && parse_number(class) == number)
    };
    let named: Option<Vec<usize>> = favourable.iter().map(column).collect();
    let names = favourable.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    let what = if favourable.len() == 1 { "the class" } else { "the classes" };
    let (columns, why) = match named {
        Some(columns) => (columns, format!("{what} {names}")),
        None if label.classes.len() == 2 || classes.len() == 2 => {
            let columns = vec![label.favourable[0].min(1)];
            (columns, format!("a guess: {what} {names} by its place in the schema"))
        }
        None => (label.favourable.clone(), format!("a guess: {what} {names} by place in the schema")),
    };
    match columns[..] {
        [column] => format!("accepted = {column}  # {why}"),
        _ => format!("accepted = {columns:?}  # {why}; their probabilities are added up"),
    }
}

fn entry(plan: &Plan<'_>) -> Vec<String> {
    let holds = match plan.input.kind {
        InputKind::Number => "numbers",
        InputKind::Integer => "whole numbers",
        InputKind::Text => "texts",
    };
    let width = match plan.input.width {
        None => format!("{holds}, as many as the columns give"),
        Some(1) => format!("1 place, {holds}"),
        Some(width) => format!("{width} places, {holds}"),
    };
    let mut lines = vec!["[[input]]".to_string(), format!("name = {}  # {width}", quoted(&plan.input.name))];
    lines.extend(plan.notes.iter().map(|note| format!("# {note}")));
    if plan.columns.is_empty() {
        lines.push("columns = []".to_string());
        return lines;
    }
    lines.push("columns = [".to_string());
    lines.extend(plan.columns.iter().map(|column| {
        let comment = if column.missing.is_some() { "  # missing: a guess" } else { "" };
        format!("  {},{comment}", inline(column))
    }));
    lines.push("]".to_string());
    lines
}

/// A column as an inline table.
fn inline(column: &Column) -> String {
    let list = |values: &[String]| {
        let quoted: Vec<String> = values.iter().map(|value| quoted(value)).collect();
        format!("[{}]", quoted.join(", "))
    };
    let mut keys = vec![
        format!("feature = {}", quoted(&column.feature)),
        format!("as = {}", quoted(column.form.name())),
    ];
    match &column.form {
        Form::ZeroOne { one } => keys.push(format!("one = {}", quoted(one))),
        Form::OneHot { values, zeros } => {
            keys.push(format!("values = {}", list(values)));
            if !zeros.is_empty() {
                keys.push(format!("zeros = {}", list(zeros)));
            }
        }
        Form::Label { values } => keys.push(format!("values = {}", list(values))),
        Form::Number | Form::Scale { .. } | Form::Standardize { .. } | Form::Text => {}
    }
    match &column.missing {
        Some(Plain::Number(number)) => keys.push(format!("missing = {number}")),
        Some(Plain::Text(text)) => keys.push(format!("missing = {}", quoted(text))),
        None => {}
    }
    format!("{{ {} }}", keys.join(", "))
}
