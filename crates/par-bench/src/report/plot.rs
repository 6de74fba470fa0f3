//! A group of charts with a title, a caption and a file name.

use par_plot::{Axis, Chart, Markup, page};
use serde::Deserialize;

use super::methods::MarkStyle;
use crate::experiment::Experiment;

/// A chart on half a page: about as wide as a phone's screen, so that letters keep their size there.
pub(super) const SIZE: (f64, f64) = (440.0, 280.0);
/// A chart on a third of a page.
pub(super) const SMALL: (f64, f64) = (360.0, 230.0);

/// A group of charts.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Its experiment.
    pub topic: Experiment,
    /// The case; empty for all cases.
    pub case: String,
    /// Its name in file names: `pareto`.
    pub name: &'static str,
    /// Its title.
    pub title: String,
    /// How to read it, and what it does not say.
    pub caption: String,
    /// The charts with their titles; the title of a single chart is empty.
    pub charts: Vec<(String, Chart)>,
    pub(super) layout: PlotLayout,
}

/// The arrangement of charts.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PlotLayout {
    /// One above the other, on half a page.
    #[default]
    Stack,
    /// Two side by side, over the whole width.
    Panels,
    /// Three side by side.
    Thirds,
}

impl Plot {
    /// A figure of a page.
    pub(super) fn figure(&self) -> Markup {
        let mut body = Markup::default();
        body.raw(match self.layout {
            PlotLayout::Stack => "<div>\n",
            PlotLayout::Panels => "<div class=\"plots\">\n",
            PlotLayout::Thirds => "<div class=\"plots thirds\">\n",
        });
        for (title, chart) in &self.charts {
            body.raw("<div class=\"plot\">");
            if !title.is_empty() {
                body.element("<h4>", title, "</h4>");
            }
            body.add(&chart.svg()).raw("</div>\n");
        }
        body.raw("</div>");
        let open = match self.layout {
            PlotLayout::Stack => "<figure>",
            PlotLayout::Panels | PlotLayout::Thirds => "<figure class=\"wide\">",
        };
        page::figure(open, &self.title, &self.caption, &body)
    }

    /// Each chart as a file: its name and its text.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        let stem = match self.case.as_str() {
            "" => self.name.to_string(),
            case => format!("{}-{}", slug(case), self.name),
        };
        let name = |place: usize| match self.charts.len() {
            1 => format!("{stem}.svg"),
            _ => format!("{stem}-{}.svg", place + 1),
        };
        self.charts.iter().enumerate().map(|(place, (_, chart))| (name(place), chart.file())).collect()
    }
}

/// A single chart without a title.
pub(super) fn alone(chart: Chart) -> [(String, Chart); 1] {
    [(String::new(), chart)]
}

/// A mark in the row of a name.
pub(super) struct Dot {
    /// The index of the name.
    pub(super) line: usize,
    pub(super) look: MarkStyle,
    pub(super) at: f64,
    pub(super) ends: Option<(f64, f64)>,
    /// The tooltip.
    pub(super) title: String,
}

/// A chart with a row for every name.
pub(super) fn named(description: &str, x: Axis, names: impl Iterator<Item = impl Into<String>>) -> Chart {
    let names: Vec<String> = names.map(Into::into).collect();
    let size = (SIZE.0, 56.0 + 22.0 * names.len() as f64);
    Chart::new(description, size, x, Axis::names("", names).reversed())
}

/// Draws marks in the rows of names.
pub(super) fn draw(chart: &mut Chart, dots: impl IntoIterator<Item = Dot>) {
    for Dot { line, look, at, ends, title } in dots {
        let line = line as f64;
        if let Some(ends) = ends {
            chart.horizontal_interval(look.colour.line, ends, line);
        }
        chart.mark(look.class(), look.shape, (at, line), &title);
    }
}

/// A name for files and URLs: letters, digits and dashes, with a checksum if characters were replaced.
pub(crate) fn slug(name: &str) -> String {
    let safe = |character: char| if character.is_ascii_alphanumeric() { character } else { '-' };
    let slug: String = name.chars().take(40).map(safe).collect();
    match slug == name && !slug.is_empty() {
        true => slug,
        false => format!("{}-{:08x}", slug.trim_matches('-'), crc32fast::hash(name.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_a_safe_file_name() {
        assert_eq!(slug("gmsc-paper"), "gmsc-paper");
        let odd = ["../../etc", "a b", "a_b", "", "<script>"].map(slug);
        for slug in &odd {
            assert!(
                slug.chars().all(|character| character.is_ascii_alphanumeric() || character == '-'),
                "{slug}"
            );
        }
        assert_ne!(odd[1], odd[2]);
        assert_eq!(odd[3], "-00000000");
    }
}
