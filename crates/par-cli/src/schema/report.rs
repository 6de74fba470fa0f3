//! The report of `par schema check`, as text and as JSON.

use par_data::schema::{Mutability, roc_area, same_numbers, suspicions};
use par_data::{Domain, Feature};
use serde::Serialize;

use super::check::SchemaTally;
use crate::aligned::{Align, aligned, grouped, percent};
use crate::{domain_text, schema_text};

/// An area under the ROC curve that no honest feature alone has.
const LEAK: f64 = 0.98;
/// Rows of each class that show it.
const LEAK_ROWS: u64 = 50;

#[derive(Serialize)]
pub(super) struct SchemaReport {
    table: String,
    rows_fitted: u64,
    rows_checked: u64,
    features: Vec<FeatureReport>,
    label: Option<LabelReport>,
    /// Absent unless the checked rows are held out.
    coverage: Option<f64>,
    fidelity: Option<f64>,
    rules: Vec<RuleReport>,
    /// Features without a `change`: they stay as they are.
    undecided: Vec<String>,
    /// The relations between features, rules among them, in words.
    relations: Vec<String>,
    /// The policies beside the classifier, in words.
    accept: Vec<String>,
    #[serde(skip)]
    relations_text: String,
    columns_left_out: Vec<String>,
    worth_a_look: Vec<String>,
}

#[derive(Serialize)]
struct FeatureReport {
    name: String,
    kind: &'static str,
    codes: usize,
    coded_as: &'static str,
    /// Categories or numbers by code; for bins, their edges.
    contents: Vec<String>,
    #[serde(skip)]
    contents_line: String,
    /// Fitted rows by code.
    rows: Vec<u64>,
    /// Checked cells that are missing or unseen.
    unknown: u64,
    /// Checked numbers that are unseen and count as the nearest known one.
    snapped: u64,
    /// What the schema says may happen to it.
    change: &'static str,
    constraints: Vec<String>,
}

#[derive(Serialize)]
struct LabelReport {
    column: String,
    favourable: String,
    classes: Vec<ClassReport>,
}

#[derive(Serialize)]
struct ClassReport {
    class: String,
    /// Checked rows.
    rows: u64,
    /// Whether it counts as accepted.
    favourable: bool,
}

#[derive(Serialize)]
struct RuleReport {
    if_increases: String,
    must_increase: String,
}

impl SchemaReport {
    pub(super) fn new(tally: &SchemaTally<'_>, origin: &str, columns: &[String], held_out: bool) -> Self {
        let schema = tally.discretizer.schema();
        let name = |feature: usize| schema.features()[feature].name.clone();
        let label = schema.label().zip(tally.classes.as_ref()).map(|(label, counts)| LabelReport {
            column: label.column.clone(),
            favourable: label.sides()[0].join(", "),
            classes: (0..)
                .zip(label.classes.iter().zip(counts))
                .map(|(position, (class, &rows))| ClassReport {
                    class: class.clone(),
                    rows,
                    favourable: label.wants(position),
                })
                .collect(),
        });
        let rules = schema
            .rises()
            .map(|[effect, cause]| RuleReport { if_increases: name(effect), must_increase: name(cause) });
        let at = &tally.columns;
        let special = [at.label, at.id, at.fold, at.subtest];
        let is_named = |column: &usize| at.features.contains(column) || special.contains(&Some(*column));
        Self {
            table: origin.to_string(),
            rows_fitted: tally.fitted_rows,
            rows_checked: tally.coverage.rows(),
            features: (0..schema.features().len())
                .map(|feature| FeatureReport::new(tally, feature))
                .collect(),
            label,
            coverage: tally.coverage.coverage().filter(|_| held_out),
            fidelity: tally.coverage.fidelity().filter(|_| held_out),
            rules: rules.collect(),
            undecided: schema.undecided().map(|feature| feature.name.clone()).collect(),
            relations: schema.relations_in_words(),
            accept: schema.accept_rules_in_words(),
            relations_text: schema_text::relations(schema),
            columns_left_out: (0..columns.len())
                .filter(|column| !is_named(column))
                .map(|column| columns[column].clone())
                .collect(),
            worth_a_look: worth_a_look(tally),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("{}: {} rows checked", self.table, grouped(self.rows_checked));
        text += &match (self.coverage, self.fidelity) {
            (Some(coverage), Some(fidelity)) => format!(
                " against the bins of {} rows\n  coverage {}, fidelity {}\n",
                grouped(self.rows_fitted),
                percent(coverage),
                percent(fidelity)
            ),
            _ => ", which the bins are fitted to as well\n".to_string(),
        };

        text += "\nfeatures\n";
        let titles = ["name", "kind", "codes", "coded as", "unknown", "snapped", "constraints"];
        let mut lines = vec![titles.map(String::from)];
        lines.extend(self.features.iter().map(|feature| {
            [
                feature.name.clone(),
                feature.kind.to_string(),
                grouped(feature.codes),
                feature.coded_as.to_string(),
                grouped(feature.unknown),
                grouped(feature.snapped),
                feature.constraints.join(", "),
            ]
        }));
        let (left, right) = (Align::Left, Align::Right);
        text += &aligned([left, left, right, left, right, right, left], &lines);

        text += "\ncodes (for bins, their edges)\n";
        let codes = |feature: &FeatureReport| [feature.name.clone(), feature.contents_line.clone()];
        text += &aligned([left, left], &self.features.iter().map(codes).collect::<Vec<_>>());

        if let Some(label) = &self.label {
            text += &format!("\nlabel {}\n", label.column);
            let lines: Vec<[String; 4]> = label
                .classes
                .iter()
                .map(|ClassReport { class, rows, favourable }| {
                    let note = match favourable {
                        true => "favourable",
                        // Of two classes it goes without saying.
                        false if label.classes.len() > 2 => "denied",
                        false => "",
                    };
                    let share = percent(*rows as f64 / self.rows_checked as f64);
                    [class.clone(), grouped(*rows), share, note.to_string()]
                })
                .collect();
            text += &aligned([left, right, right, left], &lines);
        }
        text += &self.relations_text;
        if !self.columns_left_out.is_empty() {
            text += &format!("\ncolumns left out\n  {}\n", self.columns_left_out.join(", "));
        }
        text += &schema_text::section("worth a look", &self.worth_a_look);
        text
    }
}

impl FeatureReport {
    fn new(tally: &SchemaTally<'_>, position: usize) -> Self {
        let feature = &tally.discretizer.schema().features()[position];
        let domain = &tally.discretizer.domains()[position];
        let unknown = tally.unknown[position];
        Self {
            name: feature.name.clone(),
            kind: feature.kind.name(),
            codes: domain.cardinality(),
            coded_as: domain_text::coded_as(domain),
            contents: domain_text::contents(domain),
            contents_line: domain_text::contents_line(domain),
            rows: tally.codes[position].clone(),
            unknown,
            snapped: tally.coverage.outside()[position] - unknown,
            change: feature.change.name(),
            constraints: constraints(feature),
        }
    }
}

fn constraints(feature: &Feature) -> Vec<String> {
    let change = match feature.change {
        Mutability::Never => Some("immutable"),
        Mutability::Undecided => Some("undecided"),
        Mutability::Free => None,
        Mutability::Increase => Some("increasing"),
        Mutability::Decrease => Some("decreasing"),
        Mutability::WithTime => Some("moves with time"),
        Mutability::Follows => Some("follows from others"),
    };
    let mut constraints: Vec<String> = change.into_iter().map(String::from).collect();
    if let Some([low, high]) = feature.bounds {
        constraints.push(format!("{low} to {high}"));
    }
    if let Some(allowed) = &feature.allowed {
        constraints.push(format!("only to {}", allowed.join(" or ")));
    }
    if feature.missing {
        constraints.push("may be missing".to_string());
    }
    constraints.extend(feature.changes_in_words());
    constraints
}

/// Findings that are not errors, but may be mistakes.
fn worth_a_look(tally: &SchemaTally<'_>) -> Vec<String> {
    let schema = tally.discretizer.schema();
    let mut notes = Vec::new();
    for (position, feature) in schema.features().iter().enumerate() {
        let name = &feature.name;
        let outside = tally.out_of_bounds[position];
        if let (Some([low, high]), 1..) = (feature.bounds, outside) {
            notes.push(format!("{name}: cells outside the bounds {low} to {high}: {}", grouped(outside)));
        }
        let counts = &tally.codes[position];
        let seen = counts.iter().filter(|count| **count > 0).count();
        if seen == 1 {
            notes.push(format!("{name}: all rows have the same value"));
        } else if !feature.values.is_empty() && seen < counts.len() {
            let contents = domain_text::contents(&tally.discretizer.domains()[position]);
            let never: Vec<String> = contents
                .into_iter()
                .zip(counts)
                .filter(|(_, count)| **count == 0)
                .map(|(text, _)| text)
                .collect();
            notes.push(format!("{name}: listed but never seen: {}", never.join(", ")));
        }
        if let Domain::Categories { values, .. } = &tally.discretizer.domains()[position] {
            for [first, second] in same_numbers(values) {
                notes.push(format!(
                    "{name}: `{first}` and `{second}` are the same number but two categories; if they are one, make it discrete"
                ));
            }
        }
        notes.extend(leak(tally, position));
        let missing = tally.unknown[position];
        if 2 * missing > tally.coverage.rows() {
            notes.push(format!("{name}: more than half of the cells are unknown"));
        }
    }
    match (schema.label(), &tally.classes) {
        (None, _) => notes.push("there is no [label], which recourse needs".to_string()),
        (Some(label), None) => notes.push(format!("the table has no column `{}`, the label", label.column)),
        (Some(label), Some(counts)) => {
            for [first, second] in same_numbers(&label.classes) {
                notes.push(format!(
                    "{}: `{first}` and `{second}` are the same number but two classes",
                    label.column
                ));
            }
            for (class, _) in label.classes.iter().zip(counts).filter(|(_, count)| **count == 0) {
                notes.push(format!("{}: no row is of the class {class}", label.column));
            }
        }
    }
    notes.extend(suspicions(schema));
    let undecided: Vec<&str> = schema.undecided().map(|feature| feature.name.as_str()).collect();
    if !undecided.is_empty() {
        let names = undecided.join(", ");
        notes.push(format!("without `change`, so that they stay as they are: {names}"));
    }
    if schema.features().iter().all(Feature::is_immutable) {
        notes.push("every feature is immutable: there is nothing that a person could change".to_string());
    }
    notes
}

/// Whether a feature alone nearly tells the label, by the best order of its codes.
fn leak(tally: &SchemaTally<'_>, position: usize) -> Option<String> {
    let mut by_rate = tally.by_class[position].clone();
    let rows = by_rate.iter().fold([0, 0], |[no, yes], [more_no, more_yes]| [no + more_no, yes + more_yes]);
    by_rate.retain(|[no, yes]| no + yes > 0);
    by_rate.sort_by(|[no, yes], [other_no, other_yes]| (yes * other_no).cmp(&(other_yes * no)));
    let area = roc_area(&by_rate);
    (area >= LEAK && rows.iter().all(|rows| *rows >= LEAK_ROWS)).then(|| {
        let name = &tally.discretizer.schema().features()[position].name;
        format!("{name}: it alone nearly tells the label (AUC {area:.3}); is it known before the decision?")
    })
}
