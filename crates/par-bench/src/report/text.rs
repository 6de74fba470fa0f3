//! Tables as plain text, for terminals and for documents.

use par_plot::text::{Side, aligned, wrapped};

use super::table::{Cell, Table};

/// Notes are wrapped at this many characters.
const WIDTH: usize = 110;

/// A table as lines: its title, its rows, its notes.
pub(crate) fn table(table: &Table) -> String {
    let mut rows = vec![table.columns.clone()];
    for row in &table.rows {
        rows.push(std::iter::once(row.name.clone()).chain(row.cells.iter().map(cell)).collect());
    }
    let mut text = format!("{}: {}", table.case, table.title).replace(char::is_control, " ");
    text.push('\n');
    text.push_str(&aligned([Side::Left, Side::Right], &rows));
    for note in &table.notes {
        text.push_str(&wrapped(note, "  ", WIDTH));
    }
    text
}

fn cell(cell: &Cell) -> String {
    let mut text = cell.text.clone();
    if let Some(met) = cell.met {
        text.push_str(if met { ", met" } else { ", missed" });
    }
    if !cell.note.is_empty() {
        text.push_str(&format!(" ({})", cell.note));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::report::table::Row;

    #[test]
    fn a_table_lines_up_and_its_notes_follow() {
        let met = Cell { met: Some(true), ..Cell::text("≤ 10") };
        let rows = vec![
            Row::new("refine", vec![Cell::text("9.40 ± 0.37").noted("3 of 4"), Cell::text("0.1")]),
            Row::new("aim", vec![met, Cell::default()]),
        ];
        let built = Table::new(Experiment::Answers, "cre\ndit", "answers", &["method", "NLL", "gap"], rows);
        let built = built.expect("a table").noted(["What differs.", ""]);
        assert_eq!(
            table(&built),
            "cre dit: answers\n  method                   NLL  gap\n  refine  9.40 ± 0.37 (3 of 4)  0.1\n  \
             aim                ≤ 10, met\n  What differs.\n"
        );
    }
}
