//! Whether recourse costs some groups more than others.

use std::fmt::Display;

use par_plot::text::grouped;
use par_plot::{Axis, Chart, Shape, Sign};

use super::CaseSection;
use super::interval::{Difference, Proportion, SampleMoments};
use super::measured::{FigureKey, Measured};
use super::methods::{EXACT, MarkStyle, REFINE};
use super::plot::{Dot, Plot, draw, named};
use super::table::{CellNumber, ReportCell, ReportRow, ReportTable, Unit};

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    let groups = groups(measured);
    let table = by_group(measured, &groups);
    let plot = table.as_ref().and_then(|table| gaps(measured, table, &groups));
    CaseSection::new([table, without(measured)], [plot])
}

/// The cost of recourse for a group.
#[derive(Clone, Debug)]
struct GroupCosts<'f> {
    feature: &'f str,
    name: &'f str,
    denied: Proportion,
    available: Proportion,
    /// Changes, NLL, percentile and distance.
    costs: [SampleMoments; 4],
    /// The share with a way within one change, two, and so on.
    within: Vec<Proportion>,
}

/// `within` is counted for 1 to this many changes.
const CHANGES: usize = 4;

/// The method whose search counts `within`: exact if it was measured, otherwise refine.
fn within_method(measured: &Measured<'_>) -> &'static str {
    if measured.named(EXACT.key, "within").is_empty() { REFINE.key } else { EXACT.key }
}

/// All groups of a case, feature by feature.
fn groups<'f>(measured: &Measured<'f>) -> Vec<GroupCosts<'f>> {
    let mut places: Vec<(&str, &str)> = Vec::new();
    for feature in measured.keys(&[REFINE.key], "denied", "feature") {
        for figure in measured.named(REFINE.key, "denied") {
            let group = figure.metric.key("group").map(|group| (feature, group));
            let is_own = figure.metric.key("feature") == Some(feature);
            places.extend(group.filter(|place| is_own && !places.contains(place)));
        }
    }
    places.into_iter().map(|(feature, name)| GroupCosts::new(measured, feature, name)).collect()
}

impl<'f> GroupCosts<'f> {
    fn new(measured: &Measured<'f>, feature: &'f str, name: &'f str) -> Self {
        let each = |measure: &str| {
            measured.each(&FigureKey::new(REFINE.key, measure, &[("feature", &feature), ("group", &name)]))
        };
        let sample = |mean: &str, deviation: &str| {
            let mut pooled = SampleMoments::default();
            for figure in each(mean) {
                let Some(mean) = figure.value else { continue };
                let own = each(deviation).into_iter().find(|other| other.fold == figure.fold);
                let deviation = own.and_then(|figure| figure.value).unwrap_or(0.0);
                pooled = pooled.with(SampleMoments::new(figure.over, mean, deviation));
            }
            pooled
        };
        let within = |changes: usize| {
            let keys: [(&str, &dyn Display); 3] =
                [("feature", &feature), ("group", &name), ("changes", &changes)];
            Proportion::pooled(measured.each(&FigureKey::new(within_method(measured), "within", &keys)))
        };
        Self {
            feature,
            name,
            denied: Proportion::pooled(each("denied")),
            available: Proportion::pooled(each("validity")),
            costs: [
                ("sparsity", "sd_sparsity"),
                ("conditional_nll", "sd_conditional_nll"),
                ("percentile", "sd_percentile"),
                ("distance", "sd_distance"),
            ]
            .map(|(mean, deviation)| sample(mean, deviation)),
            within: (1..=CHANGES).map(within).collect(),
        }
    }
}

fn by_group(measured: &Measured<'_>, groups: &[GroupCosts<'_>]) -> Option<ReportTable> {
    let rows = groups.iter().enumerate().map(|(place, group)| {
        let of_feature =
            |(other, own): &(usize, &GroupCosts<'_>)| *other != place && own.feature == group.feature;
        let others = || groups.iter().enumerate().filter(of_feature).map(|(_, own)| own);
        let share = |of: fn(&GroupCosts<'_>) -> Proportion| {
            let gap = of(group).minus(others().map(of).fold(Proportion::default(), Proportion::with));
            with_gap(ReportCell::number(of(group).value(), Unit::Percent(1)), gap, Unit::Percent(1))
        };
        let cost = |of: usize| {
            let sample = group.costs[of];
            let gap = sample
                .minus(others().map(|own| own.costs[of]).fold(SampleMoments::default(), SampleMoments::with));
            let mut cell = with_gap(ReportCell::number(sample.mean(), Unit::Plain(2)), gap, Unit::Plain(2));
            if let Some(number) = cell.numbers.first_mut() {
                *number = CellNumber { over: Some(sample.count()), ..*number };
            }
            cell
        };
        let asked = match group.available.of {
            of if of > 0.0 => ReportCell::text(grouped(of as u64)),
            _ => ReportCell::default(),
        };
        let people = ReportCell::text(grouped(group.denied.of as u64));
        let mut cells = vec![
            people,
            share(|own| own.denied),
            asked,
            share(|own| own.available),
            cost(0),
            cost(1),
            cost(2),
            cost(3),
        ];
        cells.extend(group.within.iter().map(|within| ReportCell::number(within.value(), Unit::Percent(1))));
        ReportRow::new(format!("{}: {}", group.feature, group.name), cells)
    });
    let within = match within_method(measured) == EXACT.key {
        true => "by the exact search",
        false => "that refine found",
    };
    let with = [("within", within.to_string())];
    measured.frame("groups").table(measured, rows.collect(), &[], &with)
}

/// Notes a group's gap to all others in a cell: `+3.1 [−1.0, 7.2]`, with a star if zero is outside.
fn with_gap(cell: ReportCell, gap: Option<Difference>, unit: Unit) -> ReportCell {
    let Some(own) = gap else { return cell };
    let sign = if own.value >= 0.0 { "+" } else { "" };
    let mark = if own.is_clear() { " *" } else { "" };
    let [value, low, high] = [own.value, own.low, own.high].map(|number| unit.number(number));
    ReportCell { gap, ..cell.noted(format!("{sign}{value} [{low}, {high}]{mark}")) }
}

/// At most this many groups are drawn, the largest.
const SHOWN: usize = 24;

/// Head, title, axis and scale of each measure.
const MEASURES: [(&str, &str, &str, f64); 5] = [
    ("denied %", "Denied", "percentage points more often", 100.0),
    ("available %", "Recourse is available", "percentage points more often", 100.0),
    ("changes", "Changes", "features more", 1.0),
    ("NLL given the person", "NLL given the person", "nats more", 1.0),
    ("distance", "Distance", "distance more, further to go", 1.0),
];

/// The gap of each group to all others.
fn gaps(measured: &Measured<'_>, table: &ReportTable, groups: &[GroupCosts<'_>]) -> Option<Plot> {
    let mut shown: Vec<usize> = (0..groups.len()).collect();
    shown.sort_by(|one, other| groups[*other].denied.of.total_cmp(&groups[*one].denied.of));
    shown.truncate(SHOWN);
    shown.sort_unstable();
    let charts = MEASURES.into_iter().filter_map(|(head, title, label, scale)| {
        let cells: Vec<(&ReportRow, &ReportCell)> = table.below(head).collect();
        let own: Vec<(&ReportRow, Option<Difference>)> =
            shown.iter().filter_map(|place| cells.get(*place)).map(|(row, cell)| (*row, cell.gap)).collect();
        Some((title.to_string(), chart(&format!("{title} on {}", table.case), &own, label, scale)?))
    });
    let left_out = groups.len() - shown.len();
    let more = match left_out {
        0 => String::new(),
        _ => format!(" The {SHOWN} largest groups; {left_out} smaller ones are in the table."),
    };
    measured.plot("fairness", &[("more", more)], charts)
}

fn chart(what: &str, rows: &[(&ReportRow, Option<Difference>)], label: &str, scale: f64) -> Option<Chart> {
    let ends: Vec<f64> =
        rows.iter().filter_map(|row| row.1).flat_map(|gap| [scale * gap.low, scale * gap.high]).collect();
    ends.first()?;
    let x = Axis::around(label, ends.into_iter().chain([0.0]), 5);
    let description = format!("{what}: every group against all others of the same feature");
    let marks = rows.iter().enumerate().filter_map(|(line, (row, gap))| {
        let gap = (*gap)?;
        let look = MarkStyle { shape: Shape::Circle, is_hollow: !gap.is_clear(), ..EXACT.look };
        let ends = Some((scale * gap.low, scale * gap.high));
        Some(Dot { line, look, at: scale * gap.value, ends, title: row.name.clone() })
    });
    let mut chart = named(&description, x, rows.iter().map(|(row, _)| &row.name));
    chart.vertical_line("faint", 0.0);
    draw(&mut chart, marks);
    for (line, _) in rows.iter().enumerate().filter(|(_, (_, gap))| gap.is_none()) {
        chart.label("start plain", (0.0, line as f64), -4.0, "\u{a0}\u{a0}too few");
    }
    chart.key("exact", Sign::Mark(Shape::Circle), "zero is outside the interval");
    chart.key("exact hollow", Sign::Mark(Shape::Circle), "zero is inside");
    Some(chart)
}

/// The reasons and obstacles of people without recourse.
fn without(measured: &Measured<'_>) -> Option<ReportTable> {
    let mut rows = Vec::new();
    for (measure, what) in [("none", "none"), ("obstacle", "in the way"), ("needs", "needs")] {
        let mut seen = Vec::new();
        for figure in measured.named(REFINE.key, measure) {
            if seen.contains(&&figure.metric) {
                continue;
            }
            seen.push(&figure.metric);
            let own = measured.named(REFINE.key, measure).iter().copied();
            let pooled = Proportion::pooled(own.filter(|other| other.metric == figure.metric));
            if pooled.yes == 0.0 {
                continue;
            }
            let keys = figure.metric.keys.iter().filter(|(key, _)| key != "budget");
            let words: Vec<String> = keys
                .map(|(key, value)| match key.as_str() {
                    "changes" => format!("{value} changes"),
                    _ => value.replace('_', " "),
                })
                .collect();
            let limit = match figure.metric.key("budget") {
                Some(most) => format!("at most {most} change{}", if most == "1" { "" } else { "s" }),
                None => "no limit".to_string(),
            };
            let counts = format!("{} of {}", grouped(pooled.yes as u64), grouped(pooled.of as u64));
            let share = ReportCell::number(pooled.value(), Unit::Percent(2)).noted(counts);
            rows.push(ReportRow::new(
                format!("{what}: {}", words.join(", ")),
                vec![ReportCell::text(limit), share],
            ));
        }
    }
    measured.frame("without").table(measured, rows, &[], &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::figures::{Figures, Metric, Sheet};

    fn shown(figures: &Figures) -> CaseSection {
        let mut cases = Measured::by_case(figures);
        cases[0].topic = Experiment::Fairness;
        show(&cases[0])
    }

    #[test]
    fn gaps_are_to_all_others_over_all_folds() {
        let mut all = Vec::new();
        // By hand: 56 of 70 against 48 of 80, and 25 people with 5 ± 2 against 36 with 3 ± 3.
        for (fold, shares) in [("0", [(26, 30), (28, 40)]), ("1", [(30, 40), (20, 40)])] {
            let mut sheet = Sheet::new("t", fold);
            for (group, (yes, of)) in ["a", "b"].iter().zip(shares) {
                let at = |name| Metric::at(name, &[("feature", &"sex"), ("group", group)]);
                sheet.number("refine", at("denied"), f64::from(yes) / f64::from(of), of as usize);
                if fold == "0" {
                    let (count, mean, deviation) =
                        if *group == "a" { (25, 5.0, 2.0) } else { (36, 3.0, 3.0) };
                    sheet.number("refine", at("conditional_nll"), mean, count);
                    sheet.number("refine", at("sd_conditional_nll"), deviation, count);
                }
            }
            all.extend(sheet.into_figures());
        }
        let figures = Figures(all);
        let table = shown(&figures).tables.remove(0);
        let cells = &table.rows[0].cells;
        assert_eq!(
            table.columns,
            ["group", "people", "denied %", "NLL given the person"],
            "columns without figures are left out"
        );
        assert_eq!((table.rows[0].name.as_str(), cells[0].text.as_str()), ("sex: a", "70"));
        assert_eq!((cells[1].text.as_str(), cells[1].note.as_str()), ("80.0", "+20.0 [5.2, 33.4] *"));
        assert_eq!((cells[2].text.as_str(), cells[2].note.as_str()), ("5.00", "+2.00 [0.75, 3.25] *"));
        assert_eq!(table.rows[1].cells[2].note, "−2.00 [−3.25, −0.75] *");
        let note = "NLL and percentile are those of what changes, given what nobody can change";
        assert!(table.notes.iter().any(|text| text.starts_with(note)), "NLL is not a cost of recourse");
    }

    #[test]
    fn a_single_group_has_no_gap() {
        let mut sheet = Sheet::new("t", "0");
        let at = Metric::at("denied", &[("feature", &"f"), ("group", &"only")]);
        sheet.number("refine", at, 0.5, 10);
        let figures = Figures(sheet.into_figures());
        assert_eq!(shown(&figures).tables[0].rows[0].cells[1].note, "");
    }
}
