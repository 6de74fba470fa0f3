//! Whether recourse costs some groups more than others.

use crate::experiment::Experiment;
use crate::figures::{Figure, Metric};
use crate::report::interval::{Difference, Sample, Share};
use crate::report::methods::{EXACT, REFINE};
use crate::report::table::{Cell, Number, Row, Table, Unit};
use crate::report::view::View;
use par_plot::text::grouped;

/// People who share what they cannot change: what recourse costs them, and how that differs from everybody else's of
/// the same feature.
#[derive(Clone, Debug)]
pub(crate) struct Group<'f> {
    pub(crate) feature: &'f str,
    pub(crate) name: &'f str,
    pub(crate) denied: Share,
    pub(crate) available: Share,
    /// Within one change, two, and so on.
    within: Vec<Share>,
    sparsity: Sample,
    nll: Sample,
    distance: Sample,
    pub(crate) gaps: Gaps,
}

/// How far a group is from everybody else.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gaps {
    pub(crate) denied: Option<Difference>,
    pub(crate) available: Option<Difference>,
    pub(crate) sparsity: Option<Difference>,
    pub(crate) nll: Option<Difference>,
    pub(crate) distance: Option<Difference>,
}

/// Numbers of changes that are told apart.
const CHANGES: usize = 4;

/// Whose search says within how few changes people can be accepted: the one that proves it, where it was asked.
fn who_is_within<'f>(view: &View<'f>, case: &'f str) -> &'static str {
    if view.named(case, EXACT.key, "within").is_empty() { REFINE.key } else { EXACT.key }
}

/// All groups of a case, feature by feature.
pub(crate) fn groups<'f>(view: &View<'f>, case: &'f str) -> Vec<Group<'f>> {
    let mut all = Vec::new();
    for feature in view.keys(case, REFINE.key, "denied", "feature") {
        let own = |figure: &&&'f Figure| figure.metric.key("feature") == Some(feature);
        let mut names: Vec<&str> = Vec::new();
        for figure in view.named(case, REFINE.key, "denied").iter().filter(own) {
            names.extend(figure.metric.key("group").filter(|name| !names.contains(name)));
        }
        let mut groups: Vec<Group<'f>> =
            names.iter().map(|name| Group::new(view, case, feature, name)).collect();
        let gaps: Vec<Gaps> = (0..groups.len()).map(|place| Gaps::new(&groups, place)).collect();
        groups.iter_mut().zip(gaps).for_each(|(group, gaps)| group.gaps = gaps);
        all.extend(groups);
    }
    all
}

impl<'f> Group<'f> {
    fn new(view: &View<'f>, case: &'f str, feature: &'f str, name: &'f str) -> Self {
        let figures = |metric: &'f str| {
            view.named(case, REFINE.key, metric).iter().copied().filter(move |figure| {
                figure.metric.key("feature") == Some(feature) && figure.metric.key("group") == Some(name)
            })
        };
        let sample = |mean: &'f str, deviation: &'f str| {
            let mut pooled = Sample::default();
            for figure in figures(mean) {
                let Some(mean) = figure.value else { continue };
                let of_fold = |other: &&Figure| other.fold == figure.fold;
                let deviation = figures(deviation).find(of_fold).and_then(|figure| figure.value);
                pooled = pooled.with(Sample::new(figure.over, mean, deviation.unwrap_or(0.0)));
            }
            pooled
        };
        let within = |changes: usize| {
            let metric =
                Metric::at("within", &[("feature", &feature), ("group", &name), ("changes", &changes)]);
            let own = view.named(case, who_is_within(view, case), "within").iter().copied();
            Share::pooled(own.filter(|figure| figure.metric == metric))
        };
        Self {
            feature,
            name,
            denied: Share::pooled(figures("denied")),
            available: Share::pooled(figures("validity")),
            within: (1..=CHANGES).map(within).collect(),
            sparsity: sample("sparsity", "sd_sparsity"),
            nll: sample("nll", "sd_nll"),
            distance: sample("distance", "sd_distance"),
            gaps: Gaps::default(),
        }
    }
}

impl Gaps {
    /// Those of one group to all others of its feature.
    fn new(groups: &[Group<'_>], place: usize) -> Self {
        let others =
            || groups.iter().enumerate().filter(move |(other, _)| *other != place).map(|(_, group)| group);
        let share = |of: fn(&Group<'_>) -> Share| {
            of(&groups[place]).minus(others().map(of).fold(Share::default(), Share::with))
        };
        let mean = |of: fn(&Group<'_>) -> Sample| {
            of(&groups[place]).minus(others().map(of).fold(Sample::default(), Sample::with))
        };
        Self {
            denied: share(|group| group.denied),
            available: share(|group| group.available),
            sparsity: mean(|group| group.sparsity),
            nll: mean(|group| group.nll),
            distance: mean(|group| group.distance),
        }
    }
}

pub(super) fn tables<'f>(view: &View<'f>, case: &'f str) -> Vec<Table> {
    [by_group(view, case), without(view, case)].into_iter().flatten().collect()
}

fn by_group<'f>(view: &View<'f>, case: &'f str) -> Option<Table> {
    let groups = groups(view, case);
    let mut columns: Vec<String> =
        ["group", "people", "denied %", "asked", "available %", "changes", "NLL", "distance"]
            .map(String::from)
            .to_vec();
    columns.extend((1..=CHANGES).map(|changes| format!("within {changes}, %")));
    let row = |group: &Group<'_>| {
        let mut cells = vec![
            Cell::text(grouped(group.denied.of as u64)),
            share(group.denied, group.gaps.denied),
            count(group.available),
            share(group.available, group.gaps.available),
            mean(group.sparsity, group.gaps.sparsity),
            mean(group.nll, group.gaps.nll),
            mean(group.distance, group.gaps.distance),
        ];
        cells.extend(group.within.iter().map(|within| share(*within, None)));
        Row::new(format!("{}: {}", group.feature, group.name), cells)
    };
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let rows = groups.iter().map(row).collect();
    let table = Table::new(Experiment::Fairness, case, "what recourse costs whom", &columns, rows)?;
    let within = match who_is_within(view, case) == EXACT.key {
        true => "by the exact search",
        false => "that refine came upon",
    };
    Some(table.noted([
        "Groups of every feature that nobody can change, over all test rows of all folds; of the denied, at most 2,000 \
         a fold were asked about. Recourse is that of refine. With each figure stand its difference to everybody else of the same feature and a 95 % interval for it, \
         Newcombe's for shares, Welch's with the normal distribution for means of at least ten people, and a star where \
         zero is outside. Of twenty intervals, one leaves it out by chance alone."
            .to_string(),
        format!(
            "Denied: the share of the group's rows that the classifier denies. Available: the share of its denied for \
             whom a recourse was found; within K: one with at most K changes, {within}. Changes, NLL and distance: of \
             those who have one."
        ),
        "NLL is that of the whole row, with what nobody can change: a group that is rare among the accepted \
         has a higher NLL whatever it is told. A difference in NLL is mostly that base rate, and no cost of \
         recourse; changes and distance are."
            .to_string(),
    ]))
}

fn count(share: Share) -> Cell {
    if share.of > 0.0 { Cell::text(grouped(share.of as u64)) } else { Cell::default() }
}

fn share(share: Share, gap: Option<Difference>) -> Cell {
    Cell::number(share.value(), Unit::Percent(1)).noted(gap_text(gap, Unit::Percent(1)))
}

fn mean(sample: Sample, gap: Option<Difference>) -> Cell {
    let mut cell = Cell::number(sample.mean(), Unit::Plain(2)).noted(gap_text(gap, Unit::Plain(2)));
    if let Some(number) = cell.numbers.first_mut() {
        *number = Number { over: Some(sample.count()), ..*number };
    }
    cell
}

/// `+3.1 [−1.0, 7.2]`, with a mark where zero is outside.
fn gap_text(gap: Option<Difference>, unit: Unit) -> String {
    let Some(gap) = gap else { return String::new() };
    let sign = if gap.value >= 0.0 { "+" } else { "" };
    let mark = if gap.is_clear() { " *" } else { "" };
    let [value, low, high] = [gap.value, gap.low, gap.high].map(|number| unit.number(number));
    format!("{sign}{value} [{low}, {high}]{mark}")
}

/// Why some have none, and what stands in their way.
fn without<'f>(view: &View<'f>, case: &'f str) -> Option<Table> {
    let mut rows = Vec::new();
    for (metric, what) in [("none", "none"), ("obstacle", "in the way"), ("needs", "needs")] {
        let mut seen = Vec::new();
        for figure in view.named(case, REFINE.key, metric) {
            if seen.contains(&&figure.metric) {
                continue;
            }
            seen.push(&figure.metric);
            let own = view.named(case, REFINE.key, metric).iter().copied();
            let pooled = Share::pooled(own.filter(|other| other.metric == figure.metric));
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
            let share = Cell::number(pooled.value(), Unit::Percent(2)).noted(counts);
            rows.push(Row::new(format!("{what}: {}", words.join(", ")), vec![Cell::text(limit), share]));
        }
    }
    let columns = ["why", "asked for", "share %"];
    let table = Table::new(Experiment::Fairness, case, "who has no recourse, and why", &columns, rows)?;
    Some(table.noted(["Shares of the denied who were asked about. What nobody met is left out."]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Figures, Sheet};

    #[test]
    fn gaps_are_to_everybody_else_over_all_folds() {
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
                    sheet.number("refine", at("nll"), mean, count);
                    sheet.number("refine", at("sd_nll"), deviation, count);
                }
            }
            all.extend(sheet.into_figures());
        }
        let figures = Figures(all);
        let table = tables(&View::new(&figures), "t").remove(0);
        let cells = &table.rows[0].cells;
        assert_eq!(table.columns, ["group", "people", "denied %", "NLL"], "what nobody measured is left out");
        assert_eq!((table.rows[0].name.as_str(), cells[0].text.as_str()), ("sex: a", "70"));
        assert_eq!((cells[1].text.as_str(), cells[1].note.as_str()), ("80.0", "+20.0 [5.2, 33.4] *"));
        assert_eq!((cells[2].text.as_str(), cells[2].note.as_str()), ("5.00", "+2.00 [0.75, 3.25] *"));
        assert_eq!(table.rows[1].cells[2].note, "−2.00 [−3.25, −0.75] *");
        let note = "NLL is that of the whole row, with what nobody can change";
        assert!(table.notes.iter().any(|told| told.starts_with(note)), "NLL is no cost of recourse");
    }

    #[test]
    fn a_group_that_is_alone_has_no_gap() {
        let mut sheet = Sheet::new("t", "0");
        let at = Metric::at("denied", &[("feature", &"f"), ("group", &"only")]);
        sheet.number("refine", at, 0.5, 10);
        let figures = Figures(sheet.into_figures());
        assert_eq!(tables(&View::new(&figures), "t")[0].rows[0].cells[1].note, "");
    }
}
