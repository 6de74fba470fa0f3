//! The quality of bins, classifier, circuits and generator, on the held-out rows of the fold.
//!
//! # Paper
//! Appendix, "Bin Coverage and Bin Fidelity" and "Threshold Selection for GMSC". A row that the model cannot read
//! counts as out of domain in its unseen cells, and is left out of the other measures.

use par_circuit::{Circuit, Code, Stop};
use par_data::Batch;
use par_fit::ModelBuilder;
use par_fit::classifier::{ClassifierError, accuracy, auc, brier, calibration, calibration_error};
use par_model::card::LossTerms;
use par_model::{Card, Mean};

use crate::case::{Fold, LabelledRows, in_parts};
use crate::error::Error;
use crate::figures::{Metric, Sheet};

/// Bins of the calibration curve.
const CALIBRATION_BINS: usize = 10;

/// Measures a fold's model on the fold's rows.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    bins(fold, sheet)?;
    let test = fold.labelled(&fold.test)?;
    classifier(fold, &test, sheet)?;
    let model = &fold.model;
    circuit("circuit of the accepted", model.accepted(), &test, true, sheet);
    circuit("circuit of the denied", model.denied(), &test, false, sheet);
    curves(model.card(), sheet);
    Ok(())
}

/// Coverage of cells and fidelity of rows.
fn bins(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let discretizer = fold.model.discretizer();
    let encoded = discretizer.encode(&fold.case.columns, &fold.test)?;
    let features = discretizer.domains().len();
    let rows = fold.test.rows() + fold.unread.rows();
    let outside: u64 = encoded.coverage().outside().iter().sum();
    let inside = fold.test.rows() * features - outside as usize + cells_inside(fold, &fold.unread);
    let rows_inside = encoded.coverage().fidelity().unwrap_or(0.0) * fold.test.rows() as f64;
    let share = |part: f64, of: usize| Mean { mean: (of > 0).then(|| part / of as f64), over: of, of };
    sheet.mean("bins", "coverage", share(inside as f64, rows * features));
    sheet.mean("bins", "fidelity", share(rows_inside, rows));
    Ok(())
}

/// The number of cells of unreadable rows that are inside their domains.
fn cells_inside(fold: &Fold<'_>, rows: &Batch) -> usize {
    let Fold { case, model, .. } = fold;
    // A readable row, into which the cells are put one at a time.
    let Some(known) = (fold.test.rows() > 0).then(|| case.person(&fold.test, 0)) else { return 0 };
    let is_inside = |place: usize, cell: &str| {
        let mut cells = known.cells();
        cells[place] = cell;
        let encoded = model.discretizer().encode_row(&cells);
        encoded.is_ok_and(|encoded| encoded.coverage().outside()[place] == 0)
    };
    let inside = |row: usize| {
        let cells = case.columns.features.iter().map(|&column| rows.cell(row, column)).enumerate();
        cells.filter(|(place, cell)| is_inside(*place, cell)).count()
    };
    (0..rows.rows()).map(inside).sum()
}

fn classifier(fold: &Fold<'_>, test: &LabelledRows, sheet: &mut Sheet) -> Result<(), Error> {
    let Fold { case, model, .. } = fold;
    let training = fold.training.rows();
    sheet.number("classifier", "threshold", model.threshold(), training);
    let youden = ModelBuilder::new(case.schema.clone(), case.config.clone()).youden(
        &case.columns,
        || Ok(in_parts(&fold.training)),
        Stop::never(),
    );
    match youden {
        Ok(youden) => sheet.number("classifier", "youden", youden, training),
        // The training part may be of one class; then there is no threshold to choose.
        Err(par_fit::Error::Classifier(ClassifierError::OneClass { .. })) => {
            sheet.mean("classifier", "youden", Mean { mean: None, over: 0, of: training });
        }
        Err(source) => return Err(case.fit_error(fold.name, source)),
    }
    let scores: Vec<f64> = test.rows.rows().map(|row| model.probability(row)).collect();
    let rows = scores.len();
    let accepted = &test.accepted;
    let curve = calibration(&scores, accepted, CALIBRATION_BINS);
    let measures = [
        ("auc", auc(&scores, accepted)),
        ("accuracy", accuracy(&scores, accepted, model.threshold())),
        ("brier", brier(&scores, accepted)),
        ("calibration_error", calibration_error(&curve)),
    ];
    for (name, mean) in measures {
        sheet.mean("classifier", name, Mean { mean, over: rows, of: rows });
    }
    for (number, bin) in curve.iter().enumerate() {
        let at = |name| Metric::at(name, &[("bin", &number)]);
        sheet.mean("classifier", at("calibration"), Mean { mean: bin.observed, over: bin.rows, of: rows });
        sheet.mean("classifier", at("predicted"), Mean { mean: bin.predicted, over: bin.rows, of: rows });
    }
    Ok(())
}

/// A class's circuit, on the rows of that class.
fn circuit(name: &str, circuit: &Circuit, test: &LabelledRows, class: bool, sheet: &mut Sheet) {
    let own = test.rows.rows().zip(&test.accepted).filter(|(_, accepted)| **accepted == class);
    let codes: Vec<Code> = own.flat_map(|(row, _)| row).copied().collect();
    let log_probs = circuit.evaluator().log_probs(&codes);
    let rows = log_probs.len();
    sheet.mean(name, "log_likelihood", Mean::new(log_probs.into_iter(), rows));
    sheet.number(name, "edges", circuit.edges() as f64, 1);
    sheet.number(name, "parameters", circuit.parameters() as f64, 1);
}

/// Adds the learning curves.
fn curves(card: &Card, sheet: &mut Sheet) {
    for (pass, epoch) in card.classifier.epochs.iter().enumerate() {
        let number = pass + 1;
        let at = |rows: &str| Metric::at("loss", &[("pass", &number), ("rows", &rows)]);
        sheet.number("classifier", at("training"), epoch.training, 1);
        if let Some(validation) = epoch.validation {
            sheet.number("classifier", at("validation"), validation, 1);
        }
    }
    let history = &card.generator;
    for point in &history.points {
        if let Some(held_out) = &point.held_out {
            let at = Metric::at("valid", &[("step", &point.step)]);
            sheet.number("generator", at, held_out.valid, history.held_out);
        }
        let LossTerms { total, validity, proximity, accepted, denied, sparsity, entropy, teaching } =
            point.loss;
        let terms = [
            ("total", total),
            ("validity", validity),
            ("proximity", proximity),
            ("accepted", accepted),
            ("denied", denied),
            ("sparsity", sparsity),
            ("entropy", entropy),
            ("teaching", teaching),
        ];
        for (term, value) in terms {
            let at = Metric::at("loss", &[("step", &point.step), ("term", &term)]);
            sheet.number("generator", at, value, 1);
        }
    }
}
