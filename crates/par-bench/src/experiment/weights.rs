//! Whether the effect of the terms of the paper's loss depends on its weights, which the paper does not publish.
//!
//! The settings are the calibrated ones, which all fit the published full rows, and the best of them with λ₋ or λ_val
//! four times as large or small. For each, generators are trained with the complete objective and without the terms of
//! table 2. A claim that holds for some settings and not for others depends on the weights.
//!
//! # Paper
//! Q2, table 2, and Q3.

use par_circuit::Stop;
use par_fit::with_config;
use par_model::Mean;
use par_model::generator::LossConfig;

use super::ablations::{TrainingPart, Variant, VariantPreset, denied, measured};
use super::encoder::{denied_codes, shifts};
use crate::case::Fold;
use crate::error::Error;
use crate::figures::{Metric, Sheet};
use crate::measures::AnswerMeasures;
use crate::paper;

/// So many of the calibrated settings are compared.
const FITS: usize = 3;
/// How much larger or smaller a weight is made.
const FACTOR: f64 = 4.0;

/// The complete objective, and what table 2 leaves out of it.
const VARIANTS: [&[TrainingPart]; 5] = [
    &[],
    &[TrainingPart::Validity],
    &[TrainingPart::Accepted, TrainingPart::Denied],
    &[TrainingPart::Accepted, TrainingPart::Denied, TrainingPart::Validity],
    &[TrainingPart::Accepted],
];

/// The settings of a case, by name: the calibrated ones, and changes of the best.
fn settings(case: &str) -> Vec<(String, LossConfig)> {
    let presets = paper::benchmark(case).map_or(&[][..], |benchmark| &benchmark.presets);
    let fits: Vec<LossConfig> = presets.iter().take(FITS).map(|preset| (*preset).into()).collect();
    let Some(best) = fits.first().cloned() else { return Vec::new() };
    let scaled = |name: &str, field: fn(&mut LossConfig) -> &mut f64| {
        [(format!("{name} × {FACTOR}"), FACTOR), (format!("{name} / {FACTOR}"), 1.0 / FACTOR)].map(
            |(name, factor)| {
                let mut loss = best.clone();
                *field(&mut loss) *= factor;
                (name, loss)
            },
        )
    };
    let others =
        scaled("λ₋", |loss| &mut loss.denied).into_iter().chain(scaled("λ_val", |loss| &mut loss.validity));
    let fits = fits.into_iter().enumerate().map(|(place, loss)| (format!("fit {}", place + 1), loss));
    fits.chain(others).collect()
}

/// Measures the variants with every setting, on the denied people of a fold.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let settings = settings(&fold.case.name);
    if settings.is_empty() {
        return Ok(());
    }
    let (people, codes) = (denied(fold)?, denied_codes(fold)?);
    let preset = fold.paper()?;
    for (name, loss) in settings {
        for without in VARIANTS {
            let variant = Variant { preset: VariantPreset::Paper, without };
            let mut full = preset.config().clone();
            full.generator.loss = loss.clone();
            let model = with_config(preset, variant.config(&full), &mut |_| {}, Stop::never())
                .map_err(|source| fold.case.fit_error(fold.name, source))?;
            let at = |measure| Metric::at(measure, &[("weights", &name)]);
            let method = format!("{}/generate", variant.name());
            let [proposed, _] = measured(fold, &model, &people)?;
            let proposed: Vec<AnswerMeasures> = proposed.into_iter().flatten().collect();
            let valid = proposed.iter().map(|measured| measured.valid);
            sheet.mean(&method, at("validity"), Mean::share(valid, proposed.len()));
            let nll = proposed.iter().map(|measured| measured.nll);
            sheet.mean(&method, at("nll"), Mean::new(nll, proposed.len()));
            if without.is_empty() {
                let shifts = shifts(&model, &codes);
                let relative = shifts.iter().map(|shift| shift.relative_l1);
                sheet.mean("paper/encoder", at("relative_l1"), Mean::new(relative, codes.len()));
                let moved = shifts.iter().map(|shift| shift.moved);
                sheet.mean("paper/encoder", at("moved"), Mean::new(moved, codes.len()));
            }
        }
    }
    Ok(())
}
