//! How far groups are from everybody else.

use par_plot::{Axis, Chart, Shape, Sign};

use super::tall;
use crate::experiment::Experiment;
use crate::report::interval::Difference;
use crate::report::plot::{Layout, Plot, SIZE};
use crate::report::tables::{Gaps, Group, groups};
use crate::report::view::View;

/// Groups that are drawn, at most: the largest.
const SHOWN: usize = 24;

/// A measure's title, the name of its axis, what it is multiplied by, and the gap.
type Measure = (&'static str, &'static str, f64, fn(&Gaps) -> Option<Difference>);

const MEASURES: [Measure; 5] = [
    ("Denied", "percentage points more often", 100.0, |gaps| gaps.denied),
    ("Recourse is available", "percentage points more often", 100.0, |gaps| gaps.available),
    ("Changes", "features more", 1.0, |gaps| gaps.sparsity),
    ("NLL", "nats more, the rarity of the group included", 1.0, |gaps| gaps.nll),
    ("Distance", "distance more, further to go", 1.0, |gaps| gaps.distance),
];

pub(super) fn plots<'f>(view: &View<'f>, case: &'f str) -> Vec<Plot> {
    let all = groups(view, case);
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|one, other| all[*other].denied.of.total_cmp(&all[*one].denied.of));
    order.truncate(SHOWN);
    order.sort_unstable();
    let shown: Vec<&Group<'f>> = order.into_iter().map(|place| &all[place]).collect();
    let charts =
        MEASURES.iter().filter_map(|measure| Some((measure.0.to_string(), chart(case, &shown, measure)?)));
    let left_out = all.len() - shown.len();
    let mut caption = "Each group against everybody else of the same feature, with 95 % intervals: to the right of the line is \
                       more than the others, filled marks are those whose interval leaves zero out; \
                       where there are too few people for an interval, it says so."
        .to_string();
    if left_out > 0 {
        caption.push_str(&format!(" The {SHOWN} largest groups; {left_out} smaller ones are in the table."));
    }
    let plot = Plot::new(Experiment::Fairness, case, "fairness", "Groups against everybody else", caption);
    plot.charts(charts, Layout::Panels).if_any().into_iter().collect()
}

fn chart(case: &str, groups: &[&Group<'_>], (title, label, scale, gap): &Measure) -> Option<Chart> {
    let gaps: Vec<Option<Difference>> = groups.iter().map(|group| gap(&group.gaps)).collect();
    let ends = gaps.iter().flatten().flat_map(|gap| [scale * gap.low, scale * gap.high]);
    gaps.iter().flatten().next()?;
    let x = Axis::around(label, ends.chain([0.0]), 5);
    let names = groups.iter().map(|group| format!("{}: {}", group.feature, group.name));
    let description = format!("{title} on {case}: every group against everybody else of the same feature");
    let y = Axis::names("", names).reversed();
    let mut chart = Chart::new(&description, (SIZE.0, tall(groups.len())), x, y);
    chart.upright("faint", 0.0);
    for (place, (gap, group)) in gaps.iter().zip(groups).enumerate() {
        let place = place as f64;
        let Some(gap) = gap else {
            chart.label("start plain", (0.0, place), -4.0, "\u{a0}\u{a0}too few");
            continue;
        };
        let class = if gap.is_clear() { "exact" } else { "exact hollow" };
        chart.interval_across("exact", (scale * gap.low, scale * gap.high), place);
        let title = format!("{}: {}", group.feature, group.name);
        chart.mark(class, Shape::Circle, (scale * gap.value, place), &title);
    }
    chart.key("exact", Sign::Mark(Shape::Circle), "zero is outside the interval");
    chart.key("exact hollow", Sign::Mark(Shape::Circle), "zero is inside");
    Some(chart)
}
