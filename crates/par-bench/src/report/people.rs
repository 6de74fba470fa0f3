//! A few people before and after: parallel coordinates, rotated so that names are readable.

use par_plot::text::decimal;
use par_plot::{Axis, Chart, Shape, Sign};

use super::measured::{Measured, number};
use super::methods::EXACT;
use super::plot::{Plot, SIZE};
use crate::figures::Figure;

/// At most this many people are drawn.
const SHOWN: usize = 4;
/// The longest text of a cell in a plot.
const LONGEST: usize = 90;
const FACTUAL: &str = "factual";

pub(super) fn plot(measured: &Measured<'_>) -> Option<Plot> {
    // One person of every fold, then further ones.
    let mut seen: Vec<(&str, &str, usize)> = Vec::new();
    for figure in measured.named(FACTUAL, "coordinate") {
        let (fold, Some(person)) = (figure.fold.as_str(), figure.metric.key("person")) else { continue };
        if !seen.iter().any(|(own, id, _)| (*own, *id) == (fold, person)) {
            let of_fold = seen.iter().filter(|(own, ..)| *own == fold).count();
            seen.push((fold, person, of_fold));
        }
    }
    seen.sort_by_key(|(_, _, of_fold)| *of_fold);
    let charts = seen.iter().take(SHOWN).filter_map(|(fold, person, _)| {
        let own = |method| -> Vec<&Figure> {
            let of = |figure: &&&Figure| figure.fold == *fold && figure.metric.key("person") == Some(person);
            measured.named(method, "coordinate").iter().filter(of).copied().collect()
        };
        Some((format!("Person {person}"), chart(person, &own(FACTUAL), &own(EXACT.key))?))
    });
    measured.plot("people", &[], charts)
}

fn chart(person: &str, before: &[&Figure], after: &[&Figure]) -> Option<Chart> {
    let names: Vec<&str> = before.iter().filter_map(|figure| figure.metric.key("feature")).collect();
    names.first()?;
    let find = |figures: &[&Figure], name: &str| {
        let figure = figures.iter().find(|figure| figure.metric.key("feature") == Some(name))?;
        Some((figure.value?.clamp(0.0, 1.0), figure.metric.key("cell").unwrap_or_default().to_string()))
    };
    let axes = (Axis::bare("", -0.03, 1.03), Axis::names("", names.iter().copied()).reversed());
    let description = format!("Where person {person} stands on every feature, before and after");
    let mut chart = Chart::new(&description, (SIZE.0, 14.0 + 27.0 * names.len() as f64), axes.0, axes.1);
    let line = |figures: &[&Figure]| -> Vec<(f64, f64)> {
        let at = |(row, name): (usize, &&str)| Some((find(figures, name)?.0, row as f64));
        names.iter().enumerate().filter_map(at).collect()
    };
    let (old, new) = (line(before), line(after));
    chart.line("exact faint", "after", &new);
    // A segment that both lines share is drawn once.
    for pair in old.windows(2).filter(|pair| !new.windows(2).any(|own| own == *pair)) {
        chart.line("dashed faint", "before", pair);
    }
    for (row, name) in names.iter().enumerate() {
        let row = row as f64;
        let (Some((from, cell)), Some((to, new))) = (find(before, name), find(after, name)) else { continue };
        if cell == new {
            chart.mark("exact small", Shape::Square, (to, row), &format!("{name}: {cell}"));
            continue;
        }
        let title = format!("{name}: {cell} → {new}");
        chart.line("exact strong", &title, &[(from, row), (to, row)]);
        chart.mark("hollow", Shape::Circle, (from, row), &title);
        chart.mark("exact", Shape::Square, (to, row), &title);
        chart.note(format!("{name}: {} → {}", short(&cell), short(&new)));
    }
    chart.key("hollow", Sign::Mark(Shape::Circle), "before").key("exact", Sign::Mark(Shape::Square), "after");
    chart.key("exact small", Sign::Mark(Shape::Square), "as it was");
    Some(chart)
}

/// A cell shortened for a plot: rounded, or cut.
fn short(cell: &str) -> String {
    let decimals = cell.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if let Some(number) = number(cell).filter(|number| decimals > 3 && number.abs() >= 0.01) {
        return decimal(number, 3);
    }
    match cell.chars().count() > LONGEST {
        true => cell.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => cell.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_cells_stay_recognizable() {
        let cells = ["0.971792188", "0.00012345", "-1.25", "9th", "1.2.3456", &"x".repeat(91)];
        let short: Vec<String> = cells.iter().map(|cell| short(cell)).collect();
        assert_eq!(short[..5], ["0.972", "0.00012345", "-1.25", "9th", "1.2.3456"]);
        assert_eq!(short[5], "x".repeat(89) + "…");
    }
}
