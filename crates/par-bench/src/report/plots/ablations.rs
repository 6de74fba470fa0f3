//! What every term of the loss is for, as a map.

use par_plot::{Axis, Chart, Sign};

use crate::experiment::Experiment;
use crate::report::plot::{Layout, Plot};
use crate::report::tables::{Ablation, ablations};
use crate::report::view::View;
use par_plot::text::decimal;

/// A measure, its name, its decimals, what it is multiplied by, and whether more is better.
const MEASURES: [(&str, &str, usize, f64, bool); 5] = [
    ("validity", "validity %", 0, 100.0, true),
    ("nll", "NLL", 1, 1.0, false),
    ("score", "score", 2, 1.0, true),
    ("similarity", "similarity", 1, 1.0, false),
    ("sparsity", "sparsity", 1, 1.0, false),
];
/// Wide enough for the names of measures, and no wider, so that letters are large enough on a phone.
const WIDTH: f64 = 475.0;

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    let mut charts = Vec::new();
    for (preset, whose) in [("paper", "Paper's preset"), ("ours", "Ours")] {
        for (stage, when) in [("generate", "before local search"), ("refine", "after local search")] {
            let mut rows = ablations(view, case, stage);
            rows.retain(|ablation| ablation.preset == preset);
            charts.extend(chart(view, case, &rows).map(|chart| (format!("{whose}, {when}"), chart)));
        }
    }
    let caption = "Rows are generators trained without what their name leaves out, columns are measures. Colour and \
                   triangle are the change against the full objective: orange and ▾ are worse, blue and ▴ are better, \
                   whichever way the number goes. The stronger the colour, the larger the change, in three steps: from \
                   5 %, a third and two thirds of the largest of its column, or of the deviation over folds where \
                   that is larger. White is about the same.";
    let plot = Plot::new(Experiment::Ablations, case, "ablations", "What is lost without a term", caption);
    plot.charts(charts, Layout::Panels).if_any().into_iter().collect()
}

fn chart(view: &View<'_>, case: &str, rows: &[Ablation<'_>]) -> Option<Chart> {
    let full = rows.iter().find(|ablation| ablation.is_full())?;
    let names = rows.iter().map(|ablation| if ablation.is_full() { "full objective" } else { ablation.name });
    let axes = (Axis::names("", MEASURES.map(|measure| measure.1)), Axis::names("", names).reversed());
    let description =
        format!("Measures of generators on {case} that were trained without some terms of the loss");
    let mut chart = Chart::new(&description, (WIDTH, 32.0 + 25.0 * rows.len() as f64), axes.0, axes.1);
    for (column, (metric, _, decimals, scale, more_is_better)) in MEASURES.into_iter().enumerate() {
        let spread = |ablation: &Ablation<'_>| view.spread(case, ablation.method, metric);
        let value = |ablation: &Ablation<'_>| spread(ablation).map(|spread| spread.mean);
        let base = value(full);
        // What folds differ by anyway is no large change.
        let least = spread(full).map_or(0.0, |spread| spread.deviation);
        let gain = |ablation: &Ablation<'_>| {
            let change = value(ablation)? - base?;
            Some(if more_is_better { change } else { -change })
        };
        let largest = rows.iter().filter_map(gain).map(f64::abs).fold(least, f64::max);
        for (row, ablation) in rows.iter().enumerate() {
            let Some(own) = value(ablation) else { continue };
            let share = gain(ablation).filter(|_| largest > 0.0).map_or(0.0, |gain| gain / largest);
            let text = |value: f64| decimal(scale * value, decimals);
            // What reads the same is the same.
            let is_same = base.is_some_and(|base| text(base) == text(own));
            let class = if is_same { "l0" } else { class(share) };
            let text = text(own) + sign(class);
            chart.cell(class, (column as f64, row as f64), &text);
        }
    }
    chart.key("worse l3", Sign::Bar, "▾ much worse").key("worse l1", Sign::Bar, "▾ worse");
    chart.key("better l1", Sign::Bar, "▴ better").key("better l3", Sign::Bar, "▴ much better");
    Some(chart)
}

/// What a colour says, for those who do not see it.
fn sign(class: &str) -> &'static str {
    match class.split(' ').next() {
        Some("worse") => " ▾",
        Some("better") => " ▴",
        _ => "",
    }
}

/// The colour of a change, from −1, the largest that is worse, to 1.
fn class(share: f64) -> &'static str {
    match share {
        share if share < -0.67 => "worse l3",
        share if share < -0.33 => "worse l2",
        share if share < -0.05 => "worse l1",
        share if share <= 0.05 => "l0",
        share if share <= 0.33 => "better l1",
        share if share <= 0.67 => "better l2",
        _ => "better l3",
    }
}
