//! How good answers are, beside what is published.
//!
//! # Paper
//! Table 1.

use super::{SIMILARITY, after_answered, answered, measures, over_folds};
use crate::experiment::Experiment;
use crate::figures::Spread;
use crate::paper::{self, Aims, Published};
use crate::report::interval::Share;
use crate::report::methods::{EXACT, FRONTIER, Method, OURS, PRESET, REFINE, peers};
use crate::report::table::{Cell, Number, Row, Source, Table, Unit};
use crate::report::view::View;
use par_plot::text::grouped;

const COLUMNS: [&str; 12] = [
    "method",
    "answered",
    "validity %",
    "actionability %",
    "causality %",
    "NLL",
    "similarity",
    "sparsity",
    "score",
    "gap, median / mean",
    "proved %",
    "time",
];
/// Rows of the frontier, at most.
const CHANGES: usize = 4;

pub(super) fn tables<'f>(view: &View<'f>, case: &'f str) -> Vec<Table> {
    let benchmark = paper::benchmark(case);
    let peers = peers(view, case);
    let row = |method: &Method<'_>| Row::new(method.label, cells(view, case, method.key));
    let mut rows: Vec<Row> = OURS.iter().map(row).collect();
    rows.extend((1..=CHANGES).map(|changes| frontier(view, case, changes)));
    rows.extend(PRESET.iter().chain(&peers).map(row));
    if let Some(benchmark) = benchmark {
        rows.extend(benchmark.published.iter().map(published));
        rows.push(aims(view, case, &benchmark.aims));
    }
    let table = Table::new(Experiment::Answers, case, "how good the answers are", &COLUMNS, rows);
    let is_published = benchmark.is_some_and(|benchmark| !benchmark.published.is_empty());
    let notes = notes(view, case, !peers.is_empty(), is_published);
    let note = benchmark.map_or("", |benchmark| benchmark.note.as_str()).to_string();
    table.map(|table| table.noted(notes).noted([note])).into_iter().collect()
}

fn cells(view: &View<'_>, case: &str, method: &str) -> Vec<Cell> {
    let shares = [("validity", 2), ("actionability", 1), ("causality", 1)];
    let shares = shares.map(|(name, decimals)| (name, Unit::Percent(decimals)));
    let means = ["nll", "similarity", "sparsity", "score"].map(|name| (name, Unit::Plain(2)));
    let mut cells = measures(view, case, method, &[&shares[..], &means[..]].concat());
    cells.push(gap(view.spread(case, method, "median_gap"), view.spread(case, method, "gap")));
    let last = [("optimal", Unit::Percent(1)), ("time_us", Unit::Time)];
    cells.extend(measures(view, case, method, &last));
    after_answered(answered(view, case, method).as_ref(), cells)
}

fn gap(median: Option<Spread>, mean: Option<Spread>) -> Cell {
    let (Some(median), Some(mean)) = (median, mean) else { return Cell::none() };
    let write = |spread: Spread| Unit::Plain(2).number(spread.mean);
    let text = format!("{} / {}", write(median), write(mean));
    Cell { numbers: vec![median.into(), mean.into()], ..Cell::text(text) }
}

/// The best with at most so many changes.
fn frontier(view: &View<'_>, case: &str, changes: usize) -> Row {
    let at = |name: &str, unit| {
        let spread = view.spread_at(case, FRONTIER, name, "changes", &changes.to_string());
        Cell::spread(spread, unit, view.folds(case))
    };
    let mut cells = vec![Cell::default(); COLUMNS.len() - 1];
    cells[1] = at("validity", Unit::Percent(2));
    cells[4] = at("nll", Unit::Plain(2));
    if let Some(nll) = view.spread_at(case, FRONTIER, "nll", "changes", &changes.to_string()) {
        cells[0] = Cell::text(format!("{} of {}", grouped(nll.over), grouped(nll.of)));
        cells[4].note.clear();
    }
    let changes = if changes == 1 { "1 change".to_string() } else { format!("{changes} changes") };
    Row::new(format!("{}, at most {changes}", EXACT.label), cells)
}

fn published(row: &Published) -> Row {
    let share = |share: Option<f64>, decimals| Cell::number(share, Unit::Percent(decimals));
    let pair = |pair| Cell::published(pair, Unit::Plain(2));
    let mut cells = vec![
        Cell::default(),
        share(Some(row.validity), 2),
        share(Some(row.actionability), 1),
        share(row.causality, 1),
    ];
    cells.extend([pair(row.nll), pair(row.similarity), pair(row.sparsity)]);
    cells.extend([Cell::none(), Cell::none(), Cell::none()]);
    cells.push(Cell::number(Some(1e6 * row.seconds), Unit::Time));
    Row { source: Source::Published, ..Row::new(format!("{}, published", row.method), cells) }
}

/// What `refine` aims at, and whether it is there.
fn aims(view: &View<'_>, case: &str, aims: &Aims) -> Row {
    let aim = |name: &str, most: f64| {
        let met = view.spread(case, REFINE.key, name).map(|spread| spread.mean <= most);
        let text = format!("≤ {}", Unit::Plain(1).number(most));
        Cell { met, numbers: vec![Number::plain(most)], ..Cell::text(text) }
    };
    let mut cells = vec![Cell::default(); COLUMNS.len() - 1];
    (cells[4], cells[5], cells[6]) =
        (aim("nll", aims.nll), aim("similarity", aims.similarity), aim("sparsity", aims.sparsity));
    Row { source: Source::Aim, ..Row::new("aims for refine", cells) }
}

fn notes<'f>(view: &View<'f>, case: &'f str, has_peers: bool, is_published: bool) -> Vec<String> {
    let mut notes = vec![format!(
        "{} Validity is over all denied people, everything else over those who are answered, where it does not say \
         otherwise. Gap: nats to the best row \
         with as many changes that the exact search knows. Proved: the share of which it is proved that no row with \
         as many changes is likelier. Time: the median of single answers, mean over folds.",
        over_folds(view.folds(case))
    )];
    let count = |name: &str| Share::pooled(view.named(case, "people", name).iter().copied());
    let (denied, possible, readable) = (count("denied"), count("possible"), count("readable"));
    if denied.of > 0.0 {
        let unread = match readable.of - readable.yes {
            0.0 => String::new(),
            unread => format!(
                " {} more cannot be read, for a value that no training row has, and are left out.",
                grouped(unread as u64)
            ),
        };
        notes.push(format!(
            "Of {} people who are asked about, our classifier denies {}; for {} of these there is a recourse.{unread}",
            grouped(denied.of as u64),
            grouped(denied.yes as u64),
            grouped(possible.yes as u64)
        ));
    }
    if view.spread(case, PRESET[0].key, "nll").is_some() {
        notes.push(
            "The paper's preset has the same bins and classifier as the rows above it, but LearnSPN circuits as in \
             the paper, so its NLL and gaps are those of another p⁺ and not to be compared with them."
                .to_string(),
        );
    }
    if has_peers {
        notes.push(
            "Peers' answers were made by their own programs against other classifiers, in raw values and in both \
             directions, and are scored here by our bins, classifier and circuit: their validity says how well an \
             answer transfers, not how well a method met its own goal, and their other measures are also over answers \
             that our classifier denies. Their times are from other machines."
                .to_string(),
        );
    }
    if is_published {
        notes.push(
            "Published rows are the paper's, with its own classifier, which is not published, other denied people \
             and its own LearnSPN circuits; ours are the sampled rows of the same folds that our classifier denies, \
             with as many bins as the published figures fit. The published NLL of the baselines is that of raw values \
             under the models of LiCE and never comparable to that of bins; that of PAR is of bins. Published \
             actionability counts people without an answer as ones that cannot act."
                .to_string(),
        );
        notes.push(SIMILARITY.to_string());
        notes.push(
            "Our times are those of one thread while the other cores are busy with other folds; published ones were \
             measured on other machines."
                .to_string(),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Figures, Sheet};
    use par_recourse::Mean;

    fn credit() -> Figures {
        let mut all = Vec::new();
        for (fold, nll, over) in [("0", 17.0, 20), ("1", 18.0, 18)] {
            let mut sheet = Sheet::new("credit", fold);
            sheet.mean("people", "denied", Mean { mean: Some(0.2), over: 100, of: 100 });
            sheet.mean("people", "possible", Mean { mean: Some(0.95), over: 20, of: 20 });
            sheet.mean("refine", "validity", Mean { mean: Some(1.0), over: 20, of: 20 });
            sheet.mean("refine", "nll", Mean { mean: Some(nll), over, of: 20 });
            sheet.mean("refine", "sparsity", Mean { mean: Some(3.5), over, of: 20 });
            sheet.mean("refine", "gap", Mean { mean: Some(0.04), over, of: 20 });
            sheet.mean("refine", "median_gap", Mean { mean: Some(0.0), over, of: 20 });
            sheet.mean("refine", "time_us", Mean { mean: Some(108.0), over, of: 20 });
            sheet.mean("LiCE_median", "validity", Mean { mean: Some(0.3), over: 20, of: 20 });
            sheet.mean("LiCE_median", "score", Mean { mean: Some(0.4), over: 9, of: 20 });
            all.extend(sheet.into_figures());
        }
        Figures(all)
    }

    #[test]
    fn table_1_has_our_rows_beside_the_published_and_says_whether_aims_are_met() {
        let figures = credit();
        let table = tables(&View::new(&figures), "credit").remove(0);
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
                "3.50 ± 0.00",
                "–",
                "0.00 / 0.04",
                "108 µs"
            ]
        );
        assert!(row("refine").cells.iter().all(|cell| cell.note.is_empty()));
        assert_eq!(texts("LiCE_median")[7], "0.40 ± 0.00");
        assert_eq!(texts("PAR (+LS), published")[4], "18.91 ± 0.75");
        let aims = row("aims for refine");
        assert_eq!((aims.cells[4].text.as_str(), aims.cells[4].met), ("≤ 17.8", Some(true)));
        assert_eq!((aims.cells[6].met, aims.cells[5].met), (Some(false), None));
        assert!(
            table.notes.iter().any(|note| note.contains("denies 40; for 38 of these")),
            "{:?}",
            table.notes
        );
        assert!(table.notes.iter().any(|note| note.contains("transfers")));
        assert!(table.notes.iter().any(|note| note == SIMILARITY), "published similarity is another measure");
    }

    #[test]
    fn another_table_has_no_published_rows() {
        let mut figures = credit();
        figures.0.iter_mut().for_each(|figure| figure.table = "mine".to_string());
        let table = tables(&View::new(&figures), "mine").remove(0);
        assert!(table.rows.iter().all(|row| row.source == Source::Measured));
        assert!(!table.notes.iter().any(|note| note.contains("Published")));
    }
}
