//! Whether the classifier means its probabilities.

use par_plot::{Axis, Chart, Shape, Sign};

use crate::experiment::Experiment;
use crate::figures::Figure;
use crate::report::interval::Share;
use crate::report::plot::{Plot, SIZE};
use crate::report::view::View;
use par_plot::text::{grouped, share};

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    let axes = (Axis::shares("mean score in the bin"), Axis::shares("accepted in truth"));
    let description = format!("The share of accepted rows by the classifier's score on {case}");
    let mut chart = Chart::new(&description, (SIZE.0, 320.0), axes.0, axes.1);
    chart.line("dashed faint", "", &[(0.0, 0.0), (1.0, 1.0)]);
    let mut points = Vec::new();
    for bin in view.keys(case, "classifier", "calibration", "bin") {
        let own = |metric: &'f str| {
            let of = move |figure: &&Figure| figure.metric.key("bin") == Some(bin);
            view.named(case, "classifier", metric).iter().copied().filter(of)
        };
        let observed = Share::pooled(own("calibration"));
        let predicted = own("predicted").filter_map(|figure| Some((figure.value?, figure.over as f64)));
        let (sum, rows) =
            predicted.fold((0.0, 0.0), |(sum, rows), (value, over)| (sum + value * over, rows + over));
        let (Some(height), Some(ends)) = (observed.value(), observed.wilson()) else { continue };
        if rows > 0.0 {
            points.push((sum / rows, height, ends, observed.of));
        }
    }
    if points.is_empty() {
        return Vec::new();
    }
    let line: Vec<(f64, f64)> = points.iter().map(|point| (point.0, point.1)).collect();
    chart.line("exact", "", &line);
    for (score, height, ends, rows) in points {
        chart.interval("exact", score, ends);
        let title = format!("{} of {} rows", share(Some(height)), grouped(rows as u64));
        chart.mark("exact", Shape::Circle, (score, height), &title);
    }
    chart.key("exact", Sign::Mark(Shape::Circle), "test rows of all folds, 95 % interval");
    chart.key("dashed faint", Sign::Line, "as it should be");
    let caption = "Test rows of all folds in bins of the classifier's score. On the diagonal, a score of 70 % is right for 70 \
                   of 100; intervals are Wilson's.";
    vec![
        Plot::new(Experiment::Quality, case, "calibration", "Classifier: calibration", caption)
            .chart("", chart),
    ]
}
