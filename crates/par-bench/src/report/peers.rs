//! What methods of others answer to the same questions.

use par_plot::text::grouped;

use super::CaseSection;
use super::interval::Proportion;
use super::measured::{FigureKey, Measured};
use super::methods::{MarkStyle, OTHERWISE_SET, OURS, PEER, PRESET};
use super::table::{ReportRow, ReportTable};
use crate::experiment::peers::{
    DEFAULT_ORDER, INFEASIBLE, LICE_LEFT_OUT, LICE_PEOPLE, NEAREST_VALUES, OUT_OF_TIME, PEOPLE, PREFIX,
    RECORDED,
};
use crate::peers::LICE_SECONDS;

/// How the names of LiCE's variants start.
const LICE: &str = "LiCE";

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    CaseSection::new([table(measured)], [])
}

/// A row for every method, in the order in which they were measured.
fn table(measured: &Measured<'_>) -> Option<ReportTable> {
    let frame = measured.frame("peers");
    let methods = || measured.methods.iter().filter_map(|key| Some((*key, key.strip_prefix(PREFIX)?)));
    let rows: Vec<ReportRow> = methods()
        .map(|(key, name)| {
            let (label, look) = named(name);
            frame.row(measured, label, &FigureKey::method(key)).drawn(look)
        })
        .collect();
    let denied = Proportion::pooled(measured.named(PEOPLE, "denied").iter().copied());
    let notes = [
        ("nearest-values", NEAREST_VALUES),
        ("default-order", DEFAULT_ORDER),
        ("recorded", RECORDED),
        ("lice", LICE),
    ];
    let holds = |start: &str| methods().any(|(_, name)| name.starts_with(start));
    let mut when: Vec<&str> =
        notes.into_iter().filter(|(_, start)| holds(start)).map(|(note, _)| note).collect();
    if !measured.named(PEOPLE, LICE_LEFT_OUT).is_empty() {
        when.push("lice-left-out");
    }
    let unanswered: Vec<String> = methods()
        .filter(|(_, name)| name.starts_with(LICE))
        .map(|(key, name)| {
            let of = |metric: &str| Proportion::pooled(measured.named(key, metric).iter().copied());
            let (infeasible, late) = (of(INFEASIBLE), of(OUT_OF_TIME));
            format!("{name}: {} for whom there is no such row, {} out of time", infeasible.yes, late.yes)
        })
        .collect();
    let with = [
        ("denied", grouped(denied.yes as u64)),
        ("lice", LICE_PEOPLE.to_string()),
        ("seconds", LICE_SECONDS.to_string()),
        ("unanswered", unanswered.join("; ")),
    ];
    frame.table(measured, rows, &when, &with)
}

/// The label of a method and its mark.
fn named(name: &str) -> (String, MarkStyle) {
    let own = OURS.iter().chain(&OTHERWISE_SET).chain(&PRESET).find(|own| own.key == name);
    match (own, name.strip_prefix(RECORDED)) {
        (Some(own), _) => (own.label.to_string(), own.look),
        (None, Some(recorded)) => (format!("{recorded}, recorded"), PEER),
        (None, None) => (name.to_string(), PEER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::figures::{Figures, Sheet};

    #[test]
    fn methods_are_named_and_notes_are_of_those_that_were_asked() {
        let mut sheet = Sheet::new("t", "0");
        sheet.number("refine", "validity", 1.0, 4);
        sheet.number("peers/people", "denied", 0.25, 16);
        let table = |sheet: &Sheet| {
            let figures = Figures(sheet.clone().into_figures());
            let mut cases = Measured::by_case(&figures);
            cases[0].topic = Experiment::Peers;
            table(&cases[0])
        };
        assert!(table(&sheet).is_none(), "figures of another experiment are no rows");
        for method in ["refine", "paper/refine", "NICE", "recorded/VAE"] {
            sheet.number(&format!("{PREFIX}{method}"), "validity", 1.0, 4);
        }
        let shown = table(&sheet).expect("a table");
        let names: Vec<&str> = shown.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["refine", "paper's preset, PAR (+LS)", "NICE", "VAE, recorded"]);
        assert!(shown.notes[0].contains("the 4 people whom our classifier denies"), "{:?}", shown.notes);
        assert!(shown.notes.iter().any(|note| note.starts_with("Recorded answers")));
        assert!(!shown.notes.iter().any(|note| note.starts_with("LiCE") || note.starts_with("Refine")));
        let mut otherwise_set = sheet.clone();
        for prefix in [NEAREST_VALUES, DEFAULT_ORDER] {
            otherwise_set.number(&format!("{PREFIX}{prefix}refine"), "validity", 1.0, 4);
        }
        let shown = table(&otherwise_set).expect("a table");
        let last: Vec<&str> = shown.rows[4..].iter().map(|row| row.name.as_str()).collect();
        assert_eq!(last, ["refine, nearest values", "refine, default order"]);
        for name in last {
            let start = name.replacen('r', "R", 1);
            assert!(shown.notes.iter().any(|note| note.starts_with(&start)), "{:?}", shown.notes);
        }
        let mut left_out = sheet.clone();
        left_out.number(PEOPLE, LICE_LEFT_OUT, 1.0, 1);
        assert!(
            table(&left_out).expect("a table").notes.iter().any(|note| note.starts_with("LiCE is left out"))
        );
        sheet.number("peers/LiCE (median)", "validity", 1.0, 4);
        sheet.number("peers/LiCE (median)", INFEASIBLE, 0.75, 4);
        sheet.number("peers/LiCE (median)", OUT_OF_TIME, 0.25, 4);
        let shown = table(&sheet).expect("a table");
        let note = shown.notes.iter().find(|note| note.starts_with("LiCE is asked about the first 5 denied"));
        assert!(
            note.expect("a note").ends_with("LiCE (median): 3 for whom there is no such row, 1 out of time."),
            "{note:?}"
        );
    }
}
