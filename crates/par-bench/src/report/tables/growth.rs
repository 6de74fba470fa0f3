//! What answers cost, and how that grows.
//!
//! # Paper
//! The runtime of table 1.

use super::after_answered;
use crate::experiment::Experiment;
use crate::figures::Spread;
use crate::report::methods::OURS;
use crate::report::table::{Cell, Row, Table, Unit};
use crate::report::view::View;

/// Along what costs grow.
pub(crate) const AXES: [(&str, &str); 5] = [
    ("rows", "training rows"),
    ("features", "features"),
    ("bins", "bins of a number"),
    ("states", "states of a hidden variable"),
    ("edges", "edges of the circuit"),
];

/// The stage that stands for all of them.
const ALL: &str = "all";

/// Seconds of a fit, over all stages.
pub(crate) fn fit_seconds<'f>(view: &View<'f>, case: &'f str) -> f64 {
    let all = view.spread_at(case, "fit", "seconds", "stage", ALL).map(|spread| spread.mean);
    all.unwrap_or_else(|| stages(view, case).iter().map(|(_, seconds)| seconds).sum())
}

/// Seconds of a fit, by stage.
fn stages<'f>(view: &View<'f>, case: &'f str) -> Vec<(&'f str, f64)> {
    let stages = view.keys(case, "fit", "seconds", "stage");
    let seconds =
        |stage: &&'f str| Some((*stage, view.spread_at(case, "fit", "seconds", "stage", stage)?.mean));
    stages.iter().filter(|stage| **stage != ALL).filter_map(seconds).collect()
}

/// Microseconds of an answer with the machine to itself; else among other folds.
pub(crate) fn time(view: &View<'_>, case: &str, method: &str) -> Option<f64> {
    let alone = view.spread_at(case, method, "time_us", "alone", "1");
    alone.or_else(|| view.spread(case, method, "time_us")).map(|spread| spread.mean)
}

pub(super) fn tables<'f>(view: &View<'f>, case: &'f str) -> Vec<Table> {
    let mut tables: Vec<Table> = [fit(view, case), answers(view, case)].into_iter().flatten().collect();
    tables.extend(AXES.iter().filter_map(|(key, words)| along(view, case, key, words)));
    tables
}

fn fit<'f>(view: &View<'f>, case: &'f str) -> Option<Table> {
    let (stages, total) = (stages(view, case), fit_seconds(view, case));
    let cells = |seconds: f64| {
        let share = (total > 0.0).then(|| seconds / total);
        vec![Cell::number(Some(seconds), Unit::Plain(2)), Cell::number(share, Unit::Percent(0))]
    };
    let mut rows: Vec<Row> =
        stages.iter().map(|(stage, seconds)| Row::new(*stage, cells(*seconds))).collect();
    if rows.len() > 1 {
        rows.push(Row::new(ALL, cells(total)));
    }
    let table =
        Table::new(Experiment::Growth, case, "learning, once", &["stage", "seconds", "share %"], rows)?;
    Some(table.noted(["On all threads, with the machine to itself."]))
}

fn answers<'f>(view: &View<'f>, case: &'f str) -> Option<Table> {
    let mut threads: Vec<&str> = Vec::new();
    for method in OURS {
        for count in view.keys(case, method.key, "rows_per_second", "threads") {
            if !threads.contains(&count) {
                threads.push(count);
            }
        }
    }
    let row = |method: &str| {
        let alone = view.spread_at(case, method, "time_us", "alone", "1");
        let mut cells = vec![Cell::spread(alone, Unit::Time, 0)];
        cells.extend(threads.iter().map(|count| {
            let speed = view.spread_at(case, method, "rows_per_second", "threads", count);
            Cell::spread(speed, Unit::Plain(0), 0)
        }));
        cells
    };
    let mut columns = vec!["method".to_string(), "an answer".to_string()];
    columns.extend(threads.iter().map(|count| match *count {
        "1" => "denied rows a second, 1 thread".to_string(),
        count => format!("{count} threads"),
    }));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let rows = OURS.iter().map(|method| Row::new(method.label, row(method.key))).collect();
    let table = Table::new(Experiment::Growth, case, "answering", &columns, rows)?;
    Some(table.noted(["The median of single answers on one thread, with the machine to itself."]))
}

/// A column of a table of growth: its title, whose figures, of which measure, how they are written.
const COLUMNS: [(&str, &str, &str, Unit); 6] = [
    ("edges of the circuit", "fit", "edges", Unit::Plain(0)),
    ("fit, seconds", "fit", "seconds", Unit::Plain(2)),
    ("generate", "generate", "time_us", Unit::Time),
    ("refine", "refine", "time_us", Unit::Time),
    ("exact", "exact", "time_us", Unit::Time),
    ("exact, proved %", "exact", "optimal", Unit::Percent(0)),
];

fn along<'f>(view: &View<'f>, case: &'f str, key: &'static str, words: &str) -> Option<Table> {
    let series = COLUMNS.map(|(_, method, metric, _)| view.along(case, method, metric, key));
    let mut places: Vec<f64> = series.iter().flatten().map(|point| point.0).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let row = |place: &f64| {
        let at =
            |points: &Vec<(f64, Spread)>| points.iter().find(|point| point.0 == *place).map(|point| point.1);
        let cells = series.iter().zip(COLUMNS).map(|(points, (.., unit))| Cell::spread(at(points), unit, 0));
        // The times of all methods are over the same people.
        let asked = series[2..].iter().find_map(at);
        Row::new(Unit::Plain(0).number(*place), after_answered(asked.as_ref(), cells.collect()))
    };
    let columns: Vec<&str> = [words, "asked"].into_iter().chain(COLUMNS.map(|column| column.0)).collect();
    let rows = places.iter().map(row).collect();
    let table = Table::new(Experiment::Growth, case, &format!("growth with {words}"), &columns, rows)?;
    let stopped = match table.columns.iter().any(|column| column.starts_with("exact, proved")) {
        true => {
            " An exact search that does not end in time is stopped, and its time is less than it would be."
        }
        false => "",
    };
    Some(table.noted([format!("Medians of single answers on one thread.{stopped}")]))
}
