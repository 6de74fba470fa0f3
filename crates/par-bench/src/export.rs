//! The questions of a fold as files, for programs that answer them in their own way.
//!
//! Their answers come back as a table, see [`peers::recorded`](crate::peers::recorded).

use std::path::Path;

use par_answer::write::column_name;
use par_data::schema::Mutability;
use par_data::{Domain, Feature, Schema};
use par_model::{Model, RowError};
use serde::Serialize;

use crate::case::Fold;
use crate::error::Error;
use crate::peers::is_locked;
use crate::report::slug;

/// What a program must know to answer the people of a fold: `questions.json`.
#[derive(Debug, Serialize)]
pub struct Questions<'f> {
    /// The name of the case.
    pub case: &'f str,
    /// The name of the fold.
    pub fold: &'f str,
    /// The lowest probability of acceptance that is accepted.
    pub threshold: f64,
    /// The column of `training.csv` with the label.
    pub label: &'f str,
    /// The labels that a person wants.
    pub favourable: Vec<&'f str>,
    /// The column of `training.csv` with a 1 where the classifier accepts the row.
    pub accepted: String,
    /// The column of `people.csv` that identifies a person.
    pub id: String,
    /// The features, in schema order.
    pub features: Vec<AskedFeature<'f>>,
}

/// A feature of the questions.
#[derive(Debug, Serialize)]
pub struct AskedFeature<'f> {
    /// Its column.
    pub name: &'f str,
    /// `nominal`, `ordinal`, `discrete` or `continuous`.
    pub kind: &'static str,
    /// The categories that the classifier knows, in order if ordinal.
    pub values: Option<&'f [String]>,
    /// The lowest and the highest number that an answer may name: the schema's `bounds`, otherwise those of the training
    /// rows.
    pub range: Option<[f64; 2]>,
    /// What may happen to it, in the schema's words.
    pub change: &'static str,
    /// Whether a cell may be empty, which means unknown.
    pub missing: bool,
}

impl<'f> Questions<'f> {
    /// The questions of a fold.
    ///
    /// # Errors
    /// When the schema has no label.
    pub fn new(fold: &'f Fold<'_>) -> Result<Self, Error> {
        let schema = &fold.case.schema;
        let label = schema.label().ok_or(par_data::Error::NoLabel)?;
        let features = schema.features().iter().enumerate();
        Ok(Self {
            case: &fold.case.name,
            fold: fold.name,
            threshold: fold.model.threshold(),
            label: &label.column,
            favourable: fold.model.favourable(),
            accepted: own_column(schema, "accepted"),
            id: own_column(schema, "id"),
            features: features
                .map(|(place, feature)| AskedFeature::new(&fold.model, place, feature))
                .collect(),
        })
    }
}

impl<'f> AskedFeature<'f> {
    fn new(model: &'f Model, place: usize, feature: &'f Feature) -> Self {
        let domain = &model.discretizer().domains()[place];
        Self {
            name: &feature.name,
            kind: feature.kind.name(),
            values: match domain {
                Domain::Categories { values, .. } => Some(values),
                _ => None,
            },
            range: domain.summary().map(|summary| {
                let [low, high] = feature.bounds.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                [
                    if low.is_finite() { low } else { summary.low },
                    if high.is_finite() { high } else { summary.high },
                ]
            }),
            // The configuration may forbid more than the schema.
            change: match feature.change {
                Mutability::Undecided => Mutability::Undecided.name(),
                _ if is_locked(model, place) => Mutability::Never.name(),
                change => change.name(),
            },
            missing: feature.missing,
        }
    }
}

/// The name of a column of ours: another one if a feature or the label has it.
fn own_column(schema: &Schema, own: &str) -> String {
    let name = column_name(schema, own);
    match schema.label().is_some_and(|label| label.column == name) {
        true => column_name(schema, &format!("par_{name}")),
        false => name,
    }
}

/// Writes the questions of a fold to `FOLDER/CASE/FOLD`, and returns the number of denied people.
///
/// # Errors
/// When a file cannot be written, or the classifier has no score for a row.
pub fn write(fold: &Fold<'_>, folder: &Path) -> Result<usize, Error> {
    let folder = folder.join(slug(&fold.case.name)).join(slug(fold.name));
    std::fs::create_dir_all(&folder)
        .map_err(|source| par_files::Error::Write { path: folder.clone(), source })?;
    let questions = Questions::new(fold)?;
    let names = fold.case.schema.features().iter().map(|feature| feature.name.as_str());
    let training = training(fold, names.clone().chain([questions.label, &questions.accepted]))?;
    let (people, denied) = people(fold, [questions.id.as_str()].into_iter().chain(names));
    let described = serde_json::to_vec_pretty(&questions).expect("texts and finite numbers");
    par_files::write(folder.join("model.par"), &fold.model.to_bytes())?;
    par_files::write(folder.join("training.csv"), &training)?;
    par_files::write(folder.join("people.csv"), &people)?;
    par_files::write(folder.join("questions.json"), &described)?;
    Ok(denied)
}

/// The training rows, with label and decision.
fn training<'a>(fold: &Fold<'_>, header: impl Iterator<Item = &'a str>) -> Result<Vec<u8>, Error> {
    let Fold { case, model, training, .. } = fold;
    let label = case.columns.label.ok_or(par_data::Error::NoLabel)?;
    let mut lines = Lines::new(header);
    for row in 0..training.rows() {
        let cells = case.columns.cells(training, row);
        let score = model.score(&cells).map_err(|source: RowError| Error::Row {
            place: training.place(row),
            source: Box::new(source),
        })?;
        let accepted = if score >= model.threshold() { "1" } else { "0" };
        lines.add(cells.into_iter().chain([training.cell(row, label).trim(), accepted]));
    }
    Ok(lines.finish())
}

/// The denied people, and how many they are.
fn people<'a>(fold: &Fold<'_>, header: impl Iterator<Item = &'a str>) -> (Vec<u8>, usize) {
    let mut lines = Lines::new(header);
    let denied = fold.denied();
    for &person in &denied {
        let person = &fold.people[person];
        lines.add([person.id.as_str()].into_iter().chain(person.cells()));
    }
    (lines.finish(), denied.len())
}

/// A CSV in memory.
struct Lines(csv::Writer<Vec<u8>>);

impl Lines {
    fn new<'a>(header: impl Iterator<Item = &'a str>) -> Self {
        let mut lines = Self(csv::Writer::from_writer(Vec::new()));
        lines.add(header);
        lines
    }

    fn add<'a>(&mut self, cells: impl Iterator<Item = &'a str>) {
        self.0.write_record(cells).expect("memory can be written, and lines are equally long");
    }

    fn finish(self) -> Vec<u8> {
        self.0.into_inner().expect("memory can be written")
    }
}
