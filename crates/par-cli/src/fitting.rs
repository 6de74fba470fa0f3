//! The progress of a fit, shown on a terminal only.

use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use par_fit::Stage;

use crate::aligned::grouped;
use crate::progress;
use crate::rows::ExpectedRows;

/// Shows the stage that a fit has reached.
pub(crate) struct FitSpinner {
    spinner: ProgressBar,
    /// About how many rows there are to read.
    expected: ExpectedRows,
}

impl FitSpinner {
    /// `what` is the name of the model.
    pub(crate) fn new(what: &str) -> Result<Self> {
        let spinner =
            ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {msg} {elapsed}")?);
        spinner.set_message(format!("fitting {what}"));
        spinner.enable_steady_tick(Duration::from_millis(100));
        Ok(Self { spinner, expected: ExpectedRows::default() })
    }

    /// The same, with the time that reading so many rows takes.
    pub(crate) fn of_rows(self, expected: ExpectedRows) -> Self {
        Self { expected, ..self }
    }

    pub(crate) fn show(&self, stage: Stage<'_>) {
        let spinner = &self.spinner;
        match stage {
            Stage::Reading(rows) => {
                let elapsed = spinner.elapsed().as_secs_f64();
                let text = progress::text(rows, self.expected.rows(), elapsed);
                spinner.set_message(format!("reading, {text}"));
            }
            Stage::Read(rows) => {
                spinner.println(format!("  {} rows to learn from", grouped(rows)));
                spinner.set_message("classifier");
            }
            Stage::Classifier(epoch, losses) => {
                let loss = losses.validation.unwrap_or(losses.training);
                spinner.set_message(format!("classifier, epoch {epoch}, loss {loss:.4}"));
            }
            Stage::Version(version) => spinner.set_message(format!("version {version} of the classifier")),
            Stage::Circuit(class, trial) => {
                let (held_out, edges, name) = (trial.held_out, grouped(trial.edges), &trial.name);
                spinner.println(format!(
                    "  circuit of the {class}: {held_out:.4} nats a row, {edges} edges, {name}"
                ));
                spinner.set_message("circuits");
            }
            Stage::Pool(rows) => {
                spinner.println(format!("  {} accepted rows drawn", grouped(rows)));
                spinner.set_message("examples for the generator");
            }
            Stage::Generator(progress) => {
                let (step, steps) = (grouped(progress.step), grouped(progress.steps));
                spinner.set_message(format!("generator, step {step} of {steps}"));
            }
            _ => {}
        }
    }

    pub(crate) fn finish(self) {
        self.spinner.finish_and_clear();
    }
}
