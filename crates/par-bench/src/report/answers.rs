//! The quality of answers, beside published figures.
//!
//! # Paper
//! Table 1; Q4 and its figure.

use par_plot::distributions::{Series, histograms, tallies};
use par_plot::text::{duration, grouped};
use par_plot::{Axis, Chart, Shape, Sign};

use super::interval::Proportion;
use super::measured::{FigureKey, Measured};
use super::methods::{
    EXACT, FRONTIER, GENERATE, MarkStyle, OURS, PRESET, PUBLISHED, PUBLISHED_LOOK, REFINE, peers,
};
use super::plot::{Dot, Plot, SIZE, SMALL, alone, draw, named};
use super::table::{CellNumber, FigureSource, ReportCell, ReportRow, ReportTable, Unit};
use super::{CaseSection, description, pareto, people};
use crate::experiment::Experiment;
use crate::paper::{self, Benchmark, Published};

/// Heads of table 1.
pub(super) const NLL: &str = "NLL";
pub(super) const SPARSITY: &str = "sparsity";
const SIMILARITY: &str = "similarity, codes";
const TIME: &str = "time, median / mean / p99";
/// At most this many rows of the frontier.
const CHANGES: usize = 4;

/// The name of a published row of table 1.
pub(super) fn published_name(method: &str) -> String {
    format!("{method}, published")
}

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    let table = table(measured);
    let plots = [
        table.as_ref().and_then(|table| pareto::plot(measured, table)),
        table.as_ref().and_then(|table| timings(measured, table)),
        likelihoods(measured),
        changes(measured),
        people::plot(measured),
    ];
    CaseSection::new([table], plots)
}

fn table(measured: &Measured<'_>) -> Option<ReportTable> {
    let (frame, benchmark, peers) =
        (measured.frame("answers"), paper::benchmark(measured.case), peers(measured));
    let mut rows = Vec::new();
    for method in OURS.iter().chain(&PRESET).chain(&peers) {
        rows.push(frame.row(measured, method.label, &FigureKey::method(method.key)).drawn(method.look));
    }
    let frontier = (1..=CHANGES).map(|changes| {
        let name =
            format!("{}, at most {changes} change{}", EXACT.label, if changes == 1 { "" } else { "s" });
        frame.row(measured, name, &FigureKey::new(FRONTIER, "", &[("changes", &changes)])).sparse()
    });
    rows.splice(OURS.len()..OURS.len(), frontier);
    if let Some(benchmark) = benchmark {
        rows.extend(benchmark.published.iter().map(published));
        rows.push(aims(measured, benchmark));
    }
    let count = |name: &str| Proportion::pooled(measured.named("people", name).iter().copied());
    let (denied, possible, readable) = (count("denied"), count("possible"), count("readable"));
    let unread = match readable.of - readable.yes {
        0.0 => String::new(),
        unread => format!(
            " {} more have a value that no training row has, and are left out.",
            grouped(unread as u64)
        ),
    };
    let holds = [
        ("denied", denied.of > 0.0),
        ("preset", measured.mean(PRESET[0].key, "nll").is_some()),
        ("peers", !peers.is_empty()),
        ("published", benchmark.is_some_and(|benchmark| !benchmark.published.is_empty())),
    ];
    let when: Vec<&str> = holds.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect();
    let with = [
        ("asked", grouped(denied.of as u64)),
        ("denied", grouped(denied.yes as u64)),
        ("possible", grouped(possible.yes as u64)),
        ("unread", unread),
        ("benchmark", benchmark.map_or_else(String::new, |benchmark| benchmark.note.clone())),
    ];
    frame.table(measured, rows, &when, &with)
}

fn published(row: &Published) -> ReportRow {
    let share = |share: Option<f64>, decimals| ReportCell::number(share, Unit::Percent(decimals));
    let pair = |pair| ReportCell::published(pair, Unit::Plain(2));
    // PAR's similarity is over codes, that of the others over raw numbers.
    let in_codes = PUBLISHED.contains(&row.method.as_str());
    let similarity = |is_own: bool| if is_own { pair(row.similarity) } else { ReportCell::default() };
    let cells = vec![
        ReportCell::default(),
        share(Some(row.validity), 2),
        share(Some(row.actionability), 1),
        share(row.causality, 1),
        pair(row.nll),
        similarity(in_codes),
        similarity(!in_codes),
        pair(row.sparsity),
        ReportCell::none(),
        ReportCell::none(),
        ReportCell::none(),
        ReportCell::number(Some(1e6 * row.seconds), Unit::Time),
    ];
    ReportRow::new(published_name(&row.method), cells).from(FigureSource::Published).drawn(PUBLISHED_LOOK)
}

/// The aims of `refine`, and whether they are met.
fn aims(measured: &Measured<'_>, Benchmark { aims, .. }: &Benchmark) -> ReportRow {
    let aim = |name: &str, most: f64| {
        let met = measured.mean(REFINE.key, name).map(|mean| mean <= most);
        let text = format!("≤ {}", Unit::Plain(1).number(most));
        ReportCell { met, numbers: vec![CellNumber::plain(most)], ..ReportCell::text(text) }
    };
    let mut cells = vec![ReportCell::default(); 12];
    (cells[4], cells[6], cells[7]) =
        (aim("nll", aims.nll), aim("similarity", aims.similarity), aim("sparsity", aims.sparsity));
    ReportRow::new("aims for refine", cells).from(FigureSource::Aim)
}

/// The time of an answer by method, on a logarithmic axis.
fn timings(measured: &Measured<'_>, table: &ReportTable) -> Option<Plot> {
    let rows: Vec<(&ReportRow, f64)> =
        table.below(TIME).filter_map(|(row, cell)| Some((row, cell.mean()?))).collect();
    rows.iter().find(|(row, _)| row.source == FigureSource::Measured)?;
    let text = |time: f64| match time {
        time if time < 1e6 => duration(Some(time)).replace(".0 ms", " ms"),
        time => format!("{:.0} s", time / 1e6),
    };
    let x = Axis::logarithmic("median time of an answer", rows.iter().map(|row| row.1), text);
    let marks = rows.iter().enumerate().map(|(line, (row, at))| {
        let title = format!("{}: {}", row.name, duration(Some(*at)));
        Dot { line, look: row.look, at: *at, ends: None, title }
    });
    let description = format!("How long an answer takes on {}, by method, on a logarithmic axis", table.case);
    let mut chart = named(&description, x, rows.iter().map(|(row, _)| &row.name));
    draw(&mut chart, marks);
    if rows.iter().any(|(row, _)| row.source == FigureSource::Published) {
        chart.key(REFINE.look.class(), Sign::Mark(Shape::Circle), "measured here");
        chart.key(PUBLISHED_LOOK.class(), Sign::Mark(Shape::Circle), "published, other machines");
    }
    measured.plot("timings", &[], alone(chart))
}

/// A measure of each person, for each of our methods.
fn by_person(measured: &Measured<'_>, measure: &str) -> Option<Vec<Series>> {
    let series = OURS.map(|method| {
        let own = measured.named(method.key, measure).iter();
        let values = own.filter(|figure| figure.metric.key("person").is_some());
        Series {
            class: method.look.class(),
            name: method.label.to_string(),
            values: values.filter_map(|figure| figure.value).collect(),
        }
    });
    let series: Vec<Series> = series.into_iter().filter(|series| !series.values.is_empty()).collect();
    (!series.is_empty()).then_some(series)
}

fn likelihoods(measured: &Measured<'_>) -> Option<Plot> {
    let series = by_person(measured, "nll")?;
    let charts = histograms("NLL of the recourse, nats; lower is more plausible", SIZE.0, &series);
    measured.plot("nll", &[], charts.into_iter().flat_map(alone))
}

fn changes(measured: &Measured<'_>) -> Option<Plot> {
    let series = by_person(measured, "sparsity")?;
    let answered = series.iter().map(|series| series.values.len()).max().unwrap_or(0);
    let denied: usize =
        measured.each(&FigureKey::new(EXACT.key, "validity", &[])).iter().map(|figure| figure.of).sum();
    let chart = tallies("changes", "people", SIZE, denied.max(answered), &series);
    measured.plot("changes", &[], alone(chart))
}

/// Bars before and after local search: their rows in table 1, their mark, and their name.
fn pairs() -> [([String; 2], MarkStyle, &'static str); 3] {
    [
        ([GENERATE, REFINE].map(|method| method.label.to_string()), REFINE.look, "ours"),
        (PRESET.map(|method| method.label.to_string()), PRESET[1].look, "paper's preset"),
        (PUBLISHED.map(published_name), PUBLISHED_LOOK, "published"),
    ]
}

/// A mean and its deviation, before and after, of each of [`pairs`].
type Pairs = [[Option<[f64; 2]>; 2]; 3];

/// The effect of local search, over all cases.
pub(super) fn local_search(cases: &[CaseSection]) -> Option<Plot> {
    let measures = [(NLL, "NLL, nats"), (SPARSITY, "features that change"), (SIMILARITY, SIMILARITY)];
    let charts =
        measures.into_iter().filter_map(|(head, label)| Some((String::new(), bars(cases, head, label)?)));
    description::plot(Experiment::Answers, "", "local-search", &[], charts)
}

fn bars(cases: &[CaseSection], head: &str, label: &str) -> Option<Chart> {
    let values = |table: &ReportTable| {
        pairs().map(|(names, ..)| {
            names.map(|name| {
                table.below(head).find(|(row, _)| row.name == name).and_then(|(_, cell)| cell.pair())
            })
        })
    };
    let tables =
        cases.iter().flat_map(|shown| &shown.tables).map(|table| (table.case.as_str(), values(table)));
    let cases: Vec<(&str, Pairs)> =
        tables.filter(|(_, [ours, preset, _])| ours.iter().chain(preset).any(Option::is_some)).collect();
    cases.first()?;
    let all = cases.iter().flat_map(|(_, pairs)| pairs.iter().flatten().flatten());
    let y = Axis::around(label, all.map(|[mean, deviation]| mean + deviation).chain([0.0]), 5);
    let x = Axis::names("", cases.iter().map(|(case, _)| *case));
    let description = format!("{label} before and after local search, case by case");
    let mut chart = Chart::new(&description, SMALL, x, y);
    for (place, (_, values)) in cases.iter().enumerate() {
        for (number, (pair, (_, look, name))) in values.iter().zip(pairs()).enumerate() {
            let left = place as f64 - 0.41 + 0.28 * number as f64;
            let classes = [(look.colour.hollow, left), (look.colour.line, left + 0.13)];
            for (bar, (class, from)) in pair.iter().zip(classes) {
                let Some([mean, deviation]) = *bar else { continue };
                chart.bar(class, (from, from + 0.115), mean);
                chart.interval("", from + 0.0575, ((mean - deviation).max(0.0), mean + deviation));
                chart.key(look.colour.line, Sign::Bar, name);
            }
        }
    }
    Some(chart)
}

#[cfg(test)]
mod tests {
    use par_model::Mean;

    use super::*;
    use crate::figures::{Figures, Sheet};

    fn credit() -> Figures {
        let mut all = Vec::new();
        for (fold, nll, over) in [("0", 17.0, 20), ("1", 18.0, 18)] {
            let mut sheet = Sheet::new("credit", fold);
            sheet.mean("people", "denied", Mean { mean: Some(0.2), over: 100, of: 100 });
            sheet.mean("people", "possible", Mean { mean: Some(0.95), over: 20, of: 20 });
            sheet.mean("refine", "validity", Mean { mean: Some(1.0), over: 20, of: 20 });
            sheet.mean("refine", "nll", Mean { mean: Some(nll), over, of: 20 });
            sheet.mean("refine", "sparsity", Mean { mean: Some(3.5), over, of: 20 });
            sheet.distribution("refine", "gap", vec![0.0, 0.0, 0.12], 20);
            sheet.distribution("refine", "time_us", vec![108.0, 108.0, 114.0], 20);
            sheet.mean("paper/refine", "similarity", Mean { mean: Some(1.01), over, of: 20 });
            sheet.mean("paper/refine", "similarity_codes", Mean { mean: Some(5.53), over, of: 20 });
            sheet.mean("LiCE_median", "validity", Mean { mean: Some(0.3), over: 20, of: 20 });
            sheet.mean("LiCE_median", "score", Mean { mean: Some(0.4), over: 9, of: 20 });
            all.extend(sheet.into_figures());
        }
        Figures(all)
    }

    #[test]
    fn table_1_has_own_and_published_rows_and_shows_whether_aims_are_met() {
        let figures = credit();
        let table = table(&Measured::by_case(&figures)[0]).expect("a table");
        let row = |name: &str| table.rows.iter().find(|row| row.name == name).expect("a row");
        let texts = |name: &str| row(name).cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>();
        assert_eq!(
            texts("refine"),
            [
                "38 of 40",
                "100.00 ± 0.00",
                "–",
                "–",
                "17.50 ± 0.71",
                "–",
                "–",
                "3.50 ± 0.00",
                "–",
                "0.00 / 0.04 / 0.12",
                "108 µs / 110 µs / 114 µs"
            ]
        );
        assert!(row("refine").cells.iter().all(|cell| cell.note.is_empty()));
        assert_eq!(texts("LiCE_median")[8], "0.40 ± 0.00");
        assert_eq!(texts("PAR (+LS), published")[4], "18.91 ± 0.75");
        let aims = row("aims for refine");
        assert_eq!((aims.cells[4].text.as_str(), aims.cells[4].met), ("≤ 17.8", Some(true)));
        assert_eq!((aims.cells[7].met, aims.cells[6].met), (Some(false), None));
        assert!(
            table.notes.iter().any(|note| note.contains("denies 40; for 38 of these")),
            "{:?}",
            table.notes
        );
        assert!(table.notes.iter().any(|note| note.contains("transfers")));
        // Like beside like: the published similarity of PAR is over codes, that of the others over raw numbers.
        assert_eq!(texts("paper's preset, PAR (+LS)")[5..7], ["5.53 ± 0.00", "1.01 ± 0.00"]);
        assert_eq!(texts("PAR (+LS), published")[5..7], ["6.00 ± 1.56", ""]);
        assert_eq!(texts("LiCE, published")[5..7], ["", "0.47 ± 0.06"]);
    }

    #[test]
    fn another_table_has_no_published_rows() {
        let mut figures = credit();
        figures.0.iter_mut().for_each(|figure| figure.table = "mine".to_string());
        let table = table(&Measured::by_case(&figures)[0]).expect("a table");
        assert!(table.rows.iter().all(|row| row.source == FigureSource::Measured));
        assert!(!table.notes.iter().any(|note| note.contains("Published")));
    }
}
