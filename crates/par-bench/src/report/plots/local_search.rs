//! What local search does, over all cases.
//!
//! # Paper
//! Q4 and its figure: plausibility, sparsity and similarity before and after.

use par_plot::{Axis, Chart, Sign};

use crate::experiment::Experiment;
use crate::paper;
use crate::report::methods::{GENERATE, PRESET, PUBLISHED, REFINE};
use crate::report::plot::{Layout, Plot, SMALL};
use crate::report::view::View;

/// A mean and its deviation, before and after.
type Pair = [Option<[f64; 2]>; 2];

/// A pair of bars: the classes before and after, and the name of both.
const PAIRS: [(&str, &str, &str); 3] = [
    ("refine hollow", "refine", "ours"),
    ("preset hollow", "preset", "paper's preset"),
    ("published hollow", "published", "published"),
];

pub(super) fn plots(view: &View<'_>) -> Vec<Plot> {
    let measures = [("nll", "NLL, nats"), ("sparsity", "features that change"), ("similarity", "similarity")];
    let charts =
        measures.into_iter().filter_map(|(metric, label)| Some((String::new(), chart(view, metric, label)?)));
    let caption = "Before local search (outlines) and after it (filled), mean and standard deviation over folds. Lower is \
                   better in all three. Ours searches by the circuit's likelihood and may pay for fewer changes; \
                   NLL and similarity are comparable within a pair only: the three are of different circuits, and \
                   published similarity is over the codes of all features, ours over raw numbers.";
    let plot = Plot::new(Experiment::Answers, "", "local-search", "What local search does", caption);
    plot.charts(charts, Layout::Thirds).if_any().into_iter().collect()
}

fn chart(view: &View<'_>, metric: &str, label: &str) -> Option<Chart> {
    let cases: Vec<(&str, [Pair; 3])> = view
        .cases()
        .iter()
        .map(|case| (*case, pairs(view, case, metric)))
        .filter(|(_, [ours, preset, _])| ours.iter().chain(preset).any(Option::is_some))
        .collect();
    if cases.is_empty() {
        return None;
    }
    let all = cases.iter().flat_map(|(_, pairs)| pairs.iter().flatten().flatten());
    let y = Axis::around(label, all.map(|[mean, deviation]| mean + deviation).chain([0.0]), 5);
    let x = Axis::names("", cases.iter().map(|(case, _)| *case));
    let description = format!("{label} before and after local search, case by case");
    let mut chart = Chart::new(&description, SMALL, x, y);
    for (place, (_, pairs)) in cases.iter().enumerate() {
        for (number, (pair, (before, after, name))) in pairs.iter().zip(PAIRS).enumerate() {
            let left = place as f64 - 0.41 + 0.28 * number as f64;
            for (bar, class, from) in [(pair[0], before, left), (pair[1], after, left + 0.13)] {
                let Some([mean, deviation]) = bar else { continue };
                chart.bar(class, (from, from + 0.115), mean);
                chart.interval("", from + 0.0575, ((mean - deviation).max(0.0), mean + deviation));
                chart.key(after, Sign::Bar, name);
            }
        }
    }
    Some(chart)
}

fn pairs(view: &View<'_>, case: &str, metric: &str) -> [Pair; 3] {
    let own = |method: &str| view.spread(case, method, metric).map(|spread| [spread.mean, spread.deviation]);
    let published = |name: &str| {
        let row = paper::benchmark(case)?.published.iter().find(|row| row.method == name)?;
        match metric {
            "nll" => row.nll,
            "sparsity" => row.sparsity,
            _ => row.similarity,
        }
    };
    [[own(GENERATE.key), own(REFINE.key)], PRESET.map(|method| own(method.key)), PUBLISHED.map(published)]
}
