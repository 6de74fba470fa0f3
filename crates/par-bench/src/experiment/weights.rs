//! Whether the effect of the terms of the paper's loss depends on its weights, which the paper does not publish.
//!
//! The settings are the calibrated ones, which come nearest to the published full rows, and the best of them with λ₋ or
//! λ_val four times as large or small; beside them the weights of the preset before it is calibrated, and these with L₋ as
//! heavy as L₊ and more changes free. For each, generators are trained with the complete objective and without the terms
//! of table 2. A claim that holds for some settings and not for others depends on the weights.
//!
//! Not all settings fit. The full row of each is measured again for people as in [`calibrate`], so that its misfit can be
//! told; claims are judged by the settings that fit.
//!
//! # Paper
//! Q2, table 2, and Q3.

use par_circuit::Stop;
use par_fit::with_config;
use par_model::Mean;
use par_model::generator::LossConfig;

use super::ablations::{TrainingPart, Variant, VariantPreset, denied, measured};
use super::encoder::{denied_codes, shifts};
use crate::calibrate::{self, FULL_ROW};
use crate::case::Fold;
use crate::error::Error;
use crate::figures::{Metric, Sheet};
use crate::measures::AnswerMeasures;
use crate::paper;

/// So many of the calibrated settings are compared.
const CALIBRATED: usize = 3;
/// How much larger or smaller a weight is made.
const FACTOR: f64 = 4.0;

/// At most so many people of a fold tell the misfit.
const PEOPLE: usize = 200;
/// The generator with the complete objective, on the people who tell its misfit.
pub(crate) const CALIBRATION: &str = "paper full/calibration";

/// The complete objective, and what table 2 leaves out of it.
const VARIANTS: [&[TrainingPart]; 5] = [
    &[],
    &[TrainingPart::Validity],
    &[TrainingPart::Accepted, TrainingPart::Denied],
    &[TrainingPart::Accepted, TrainingPart::Denied, TrainingPart::Validity],
    &[TrainingPart::Accepted],
];

/// The settings of a case, by name: the calibrated ones, changes of the best, and those of other tables.
fn settings(case: &str) -> Vec<(String, LossConfig)> {
    let presets = paper::benchmark(case).map_or(&[][..], |benchmark| &benchmark.presets);
    let calibrated: Vec<LossConfig> =
        presets.iter().take(CALIBRATED).map(|preset| (*preset).into()).collect();
    let Some(best) = calibrated.first().cloned() else { return Vec::new() };
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
    let calibrated =
        calibrated.into_iter().enumerate().map(|(place, loss)| (format!("calibrated {}", place + 1), loss));
    let plain = LossConfig::paper();
    let heavier = LossConfig { denied: plain.accepted, budget: 5.0, ..plain.clone() };
    let uncalibrated =
        [("uncalibrated".to_string(), plain), ("uncalibrated, λ₋ = λ₊, B = 5".to_string(), heavier)];
    calibrated.chain(others).chain(uncalibrated).collect()
}

/// Measures the variants with every setting, on the denied people of a fold.
pub(super) fn measure(fold: &Fold<'_>, sheet: &mut Sheet) -> Result<(), Error> {
    let settings = settings(&fold.case.name);
    if settings.is_empty() {
        return Ok(());
    }
    let (people, codes) = (denied(fold)?, denied_codes(fold)?);
    let preset = fold.paper()?;
    let training = fold.case.codes(fold.name, preset, &fold.training)?;
    let others = calibrate::people(fold.case, &fold.training, preset, &training, PEOPLE);
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
                let measured = calibrate::measured(&model, &fold.code_units, &others);
                for (name, measure) in FULL_ROW {
                    let mean = Mean::new(measured.iter().map(measure), others.len());
                    sheet.mean(CALIBRATION, at(name), mean);
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_case;

    #[test]
    fn the_full_row_of_every_setting_is_measured_for_people_of_whom_nothing_is_reported() {
        let case = test_case::case(test_case::SCHEMA);
        let case = case.configured_as("credit", case.config.clone());
        let fold = test_case::fold(&case);
        let mut sheet = Sheet::new("credit", "0");
        measure(&fold, &mut sheet).expect("figures");
        let figures = crate::Figures(sheet.into_figures());
        for (name, _) in settings("credit") {
            let mean = |measure: &str| {
                let at = Metric::at(measure, &[("weights", &name)]);
                let spread = figures.spread("credit", CALIBRATION, &at)?;
                assert!(spread.of > fold.people.len(), "{name}: training rows, not factuals");
                Some(spread.mean)
            };
            let benchmark = paper::benchmark("credit").expect("a table");
            assert!(calibrate::misfit_of(benchmark, mean).is_some(), "{name}");
        }
    }
}
