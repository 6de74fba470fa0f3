//! Learning a circuit, with every trial shown on a terminal only.

use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use par_circuit::learn::{LearnConfig, Learned, Trial, learn_with_progress};
use par_circuit::{Dataset, Stop};

use crate::circuit_file::{CircuitFile, Member, Provenance};
use crate::rows::Condition;
use crate::variables::Variables;

/// Learns a circuit of the variables; `what` is its name in the progress line.
pub(crate) fn learn(
    what: &str,
    variables: Variables,
    conditions: &[Condition],
    rows: &Dataset,
    valid: Option<&Dataset>,
    config: LearnConfig,
) -> Result<CircuitFile> {
    let spinner =
        ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {msg} {elapsed}")?);
    spinner.set_message(format!("learning {what}"));
    spinner.enable_steady_tick(Duration::from_millis(100));
    let mut progress = |trial: &Trial| {
        let Trial { name, edges, held_out, .. } = trial;
        spinner.println(format!("  {held_out:10.4}  {edges:7} edges  {name}"));
    };
    let learned = learn_with_progress(rows, valid, &config, &mut progress, Stop::never());
    spinner.finish_and_clear();
    let Learned { circuit, held_out, trials } = learned?;

    let members = trials.into_iter().filter(|trial| trial.weight > 0.0);
    let provenance = Provenance {
        program: concat!("par ", env!("CARGO_PKG_VERSION")).to_string(),
        conditions: conditions.iter().map(ToString::to_string).collect(),
        rows: rows.len(),
        valid_rows: valid.map(Dataset::len),
        config,
        members: members.map(|trial| Member { name: trial.name, weight: trial.weight }).collect(),
        held_out,
    };
    Ok(CircuitFile { variables, provenance, circuit })
}
