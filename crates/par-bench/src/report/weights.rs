//! Whether the effect of the terms of the paper's loss depends on its weights.

use super::CaseSection;
use super::measured::{FigureKey, Measured};
use super::table::{FigureSource, ReportCell, ReportRow, ReportTable, Unit};
use crate::calibrate::{BAR, misfit_of};
use crate::experiment::weights::CALIBRATION;
use crate::paper::{self, Benchmark};

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    CaseSection::new([table(measured)], [])
}

fn table(measured: &Measured<'_>) -> Option<ReportTable> {
    let frame = measured.frame("weights");
    let benchmark = paper::benchmark(measured.case);
    let misfit = |name: &str| {
        let mean = |measure: &str| {
            let at = FigureKey::new(CALIBRATION, measure, &[("weights", &name)]);
            measured.spread(&at).map(|spread| spread.mean)
        };
        misfit_of(benchmark?, mean)
    };
    let settings = measured.keys(&["paper full/generate"], "validity", "weights");
    let row = |name: &&str| {
        let mut row = frame.row(measured, *name, &FigureKey::new("", "", &[("weights", name)]));
        row.cells[0] = ReportCell::number(misfit(name), Unit::Plain(2));
        row
    };
    let mut rows: Vec<ReportRow> = settings.iter().map(row).collect();
    if rows.is_empty() {
        return None;
    }
    rows.extend(benchmark.map(published));
    let misfits: Vec<f64> = settings.iter().filter_map(|name| misfit(name)).collect();
    let is_fit = |misfit: &f64| *misfit <= BAR;
    let when = match misfits.iter().any(is_fit) {
        _ if misfits.is_empty() => None,
        true => Some("fit"),
        false => Some("none"),
    };
    let fits = misfits.iter().filter(|misfit| is_fit(misfit)).count();
    let with =
        [("bar", Unit::Plain(2).number(BAR)), ("fits", fits.to_string()), ("of", misfits.len().to_string())];
    frame.table(measured, rows, when.as_slice(), &with)
}

/// What is published of the same rows: table 2, and the appendix for those that it lacks.
fn published(benchmark: &Benchmark) -> ReportRow {
    let row = |name: &str| benchmark.ablations.iter().find(|row| row.name == name);
    let validity = |name| ReportCell::published(row(name).map(|row| row.validity), Unit::Percent(0));
    let nll = |name| ReportCell::published(row(name).map(|row| row.nll), Unit::Plain(1));
    let [no_plausibility, nothing] = ["-p+ -p-", "-p+ -p- -validity"];
    let encoder = |text: &dyn Fn(&paper::PublishedEncoder) -> String| {
        ReportCell::text(benchmark.encoder.as_ref().map_or_else(|| "–".to_string(), text))
    };
    let percent = |share: f64| Unit::Percent(0).number(share);
    let cells = vec![
        ReportCell::none(),
        validity("full"),
        nll("full"),
        validity("-validity"),
        validity(no_plausibility),
        nll(no_plausibility),
        validity(nothing),
        nll("-p+"),
        encoder(&|own| own.relative_l1.map(percent).join("–")),
        encoder(&|own| {
            std::iter::once(own.moved).chain(own.moved_most).map(percent).collect::<Vec<_>>().join("–")
        }),
    ];
    ReportRow::new("published", cells).from(FigureSource::Published)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::figures::{Figures, Metric, Sheet};

    /// The published rows of gmsc contradict each other: 1.27 is the least misfit.
    #[test]
    fn the_misfit_of_every_setting_is_shown_and_whether_any_fits() {
        let shown = |validities: &[f64]| {
            let mut sheet = Sheet::new("gmsc-paper", "0");
            for (place, validity) in validities.iter().enumerate() {
                let at = |measure| Metric::at(measure, &[("weights", &place)]);
                sheet.number("paper full/generate", at("validity"), 0.9, 1);
                let row = [("validity", *validity), ("nll", 18.3), ("score", 0.9), ("sparsity", 4.9)];
                for (measure, value) in row.into_iter().chain([("similarity_codes", 1.0)]) {
                    sheet.number(CALIBRATION, at(measure), value, 1);
                }
            }
            let figures = Figures(sheet.into_figures());
            let mut cases = Measured::by_case(&figures);
            cases[0].topic = Experiment::Weights;
            let table = table(&cases[0]).expect("a table");
            let misfits: Vec<String> =
                table.below("misfit").take(validities.len()).map(|(_, cell)| cell.text.clone()).collect();
            (misfits, table.notes.join(" "))
        };
        let (misfits, notes) = shown(&[0.88, 1.0]);
        assert_eq!(misfits, ["1.27", "2.80"]);
        assert!(notes.contains("1 of 2 settings") && notes.contains("2.00"), "{notes}");
        assert!(!notes.contains("No weights were found that fit"));
        assert!(shown(&[1.0]).1.contains("No weights were found that fit"));
    }
}
