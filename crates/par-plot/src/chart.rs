//! SVG charts: lines, bars, marks, intervals and cells between two axes, with a key below. Colours are CSS
//! classes; shapes and dashes repeat their meaning for readers who cannot tell colours apart.

use crate::axis::{Axis, AxisKind};
use crate::markup::Markup;
use crate::page;
use crate::text::{without_sign_of_zero, wrapped};

/// Width of one character of a tick's text.
pub(crate) const CHARACTER: f64 = 6.9;
/// Width of one character of a name, which has wider letters than numbers.
const LETTER: f64 = 7.6;
/// Longest name on an axis, in characters.
const LONGEST: usize = 26;
/// Space at the right of the axes.
const MARGIN: f64 = 14.0;
/// The height of a line of the key.
const KEY_LINE: f64 = 19.0;
/// The space between two charts of a stack.
const STACK_GAP: f64 = 18.0;
/// The height of a line of a note.
const NOTE_LINE: f64 = 17.0;

/// A chart that is being drawn. Later elements cover earlier ones.
#[derive(Clone, Debug)]
pub struct Chart {
    width: f64,
    height: f64,
    /// The position where the axes cross.
    left: f64,
    bottom: f64,
    top: f64,
    x: Axis,
    y: Axis,
    description: String,
    marks: Markup,
    key: Vec<(&'static str, Sign, String)>,
    notes: Vec<String>,
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// ●
    Circle,
    /// ■
    Square,
    /// ◆
    Diamond,
    /// ▲
    Triangle,
    /// ▼
    Pointer,
    /// ✕
    Cross,
}

/// The symbol before a text of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A mark of this shape.
    Mark(Shape),
    /// A line, dashed if its class says so.
    Line,
    /// A bar.
    Bar,
}

impl Chart {
    /// An empty chart. Screen readers read the description.
    pub fn new(description: &str, (width, height): (f64, f64), x: Axis, y: Axis) -> Self {
        let length = |(_, text): &(f64, String)| text.chars().count().min(LONGEST);
        let longest = y.ticks.iter().map(length).max().unwrap_or(0);
        let character = if y.kind == AxisKind::Names { LETTER } else { CHARACTER };
        let top = if y.label.is_empty() { 10.0 } else { 30.0 };
        let bottom = match (x.ticks.is_empty(), x.label.is_empty()) {
            (true, true) => height - 4.0,
            (false, false) => height - 40.0,
            _ => height - 20.0,
        };
        Self {
            width,
            height,
            left: 8.0 + character * longest as f64,
            bottom,
            top,
            x,
            y,
            description: description.to_string(),
            marks: Markup::default(),
            key: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The description for screen readers.
    pub fn description(&self) -> &str {
        &self.description
    }

    pub(crate) fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x(x), self.y(y))
    }

    /// Left, top, right and bottom of the area between the axes.
    pub(crate) fn inside(&self) -> [f64; 4] {
        [self.left, self.top, self.width - MARGIN, self.bottom]
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.width - MARGIN - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.y.share(value) * (self.bottom - self.top)
    }

    /// A line through points, from left to right.
    pub fn line(&mut self, class: &'static str, title: &str, points: &[(f64, f64)]) -> &mut Self {
        let mut path = String::new();
        for (position, &(x, y)) in points.iter().enumerate() {
            let command = if position == 0 { 'M' } else { 'L' };
            path.push_str(&format!("{command}{} {}", number(self.x(x)), number(self.y(y))));
        }
        self.marks.raw("<path class=\"line ").raw(class).raw("\" d=\"").text(path);
        self.end("path", title)
    }

    /// A point.
    pub fn point(&mut self, class: &'static str, at: (f64, f64)) -> &mut Self {
        self.mark(class, Shape::Circle, at, "")
    }

    /// A mark; its title is shown as a tooltip. With the class `hollow` it is an outline.
    pub fn mark(&mut self, class: &'static str, shape: Shape, at: (f64, f64), title: &str) -> &mut Self {
        let at = self.place(at);
        self.marks.raw("<path class=\"mark ").raw(class).raw("\" d=\"").text(outline(shape, at));
        self.end("path", title)
    }

    /// A bar between two values of the horizontal axis.
    pub fn bar(&mut self, class: &'static str, (from, to): (f64, f64), height: f64) -> &mut Self {
        let (left, right) = (self.x(from), self.x(to));
        let top = self.y(height).min(self.bottom);
        self.rectangle("<rect class=\"bar ", class, [left, top, right, self.bottom]);
        self.marks.raw("\" rx=\"1.5\"/>");
        self
    }

    /// A bar between two values of the horizontal axis, at a name of the vertical one.
    pub fn horizontal_bar(&mut self, class: &'static str, (from, to): (f64, f64), y: f64) -> &mut Self {
        let [one, other] = [self.y(y - 0.34), self.y(y + 0.34)];
        let sides = [self.x(from), one.min(other), self.x(to), one.max(other)];
        self.rectangle("<rect class=\"bar ", class, sides);
        self.marks.raw("\" rx=\"1.5\"/>");
        self
    }

    /// A cell of a heat map, at the position of a name on each axis, with a text.
    pub fn cell(&mut self, class: &'static str, (x, y): (f64, f64), text: &str) -> &mut Self {
        let [left, right] = [self.x(x - 0.5), self.x(x + 0.5)];
        let [one, other] = [self.y(y - 0.5), self.y(y + 0.5)];
        let inner = [left + 1.0, one.min(other) + 1.0, right - 1.0, one.max(other) - 1.0];
        self.rectangle("<rect class=\"paper", "", inner);
        self.marks.raw("\"/>");
        self.rectangle("<rect class=\"cell ", class, inner);
        let (x, y) = self.place((x, y));
        self.marks.raw("\"/><text class=\"value middle\" x=\"").text(number(x)).raw("\" y=\"");
        self.marks.text(number(y + 4.0)).element("\">", text, "</text>");
        self
    }

    fn rectangle(&mut self, open: &'static str, class: &'static str, [left, top, right, bottom]: [f64; 4]) {
        self.marks.raw(open).raw(class).raw("\" x=\"").text(number(left)).raw("\" y=\"").text(number(top));
        self.marks.raw("\" width=\"").text(number((right - left).max(0.0)));
        self.marks.raw("\" height=\"").text(number((bottom - top).max(0.0)));
    }

    /// A vertical interval.
    pub fn interval(&mut self, class: &'static str, x: f64, (low, high): (f64, f64)) -> &mut Self {
        let (x, low, high) = (self.x(x), self.y(low), self.y(high));
        let (from, to) = (number(x - 3.0), number(x + 3.0));
        let (x, low, high) = (number(x), number(low), number(high));
        let path = format!("M{from} {low}L{to} {low}M{x} {low}L{x} {high}M{from} {high}L{to} {high}");
        self.marks.raw("<path class=\"interval ").raw(class).raw("\" d=\"").text(path);
        self.end("path", "")
    }

    /// A horizontal interval.
    pub fn horizontal_interval(&mut self, class: &'static str, (low, high): (f64, f64), y: f64) -> &mut Self {
        let (low, high, y) = (self.x(low), self.x(high), self.y(y));
        let (from, to) = (number(y - 3.0), number(y + 3.0));
        let (low, high, y) = (number(low), number(high), number(y));
        let path = format!("M{low} {from}L{low} {to}M{low} {y}L{high} {y}M{high} {from}L{high} {to}");
        self.marks.raw("<path class=\"interval ").raw(class).raw("\" d=\"").text(path);
        self.end("path", "")
    }

    /// Closes an element, with its title as a tooltip if it has one.
    fn end(&mut self, element: &'static str, title: &str) -> &mut Self {
        if title.is_empty() {
            self.marks.raw("\"/>");
        } else {
            self.marks.element("\"><title>", title, "</title></").raw(element).raw(">");
        }
        self
    }

    /// A horizontal line across the chart.
    pub fn horizontal_line(&mut self, class: &'static str, y: f64) -> &mut Self {
        let (low, high) = self.x.range();
        self.line(class, "", &[(low, y), (high, y)])
    }

    /// A vertical line across the chart.
    pub fn vertical_line(&mut self, class: &'static str, x: f64) -> &mut Self {
        let (low, high) = self.y.range();
        self.line(class, "", &[(x, low), (x, high)])
    }

    /// Text at a point: `class` may hold `start`, `middle` or `end`, and its colour.
    pub fn label(&mut self, class: &'static str, at: (f64, f64), above: f64, text: &str) -> &mut Self {
        let (x, y) = self.place(at);
        self.text(class, "", (x, y - above), text)
    }

    /// Text at a position in pixels, which is its start, middle or end.
    pub(crate) fn text(
        &mut self,
        class: &'static str,
        side: &'static str,
        (x, y): (f64, f64),
        text: &str,
    ) -> &mut Self {
        self.marks
            .raw("<text class=\"label ")
            .raw(class)
            .raw(side)
            .raw("\" x=\"")
            .text(number(x))
            .raw("\" y=\"");
        self.marks.text(number(y)).element("\">", text, "</text>");
        self
    }

    /// A thin line between two positions in pixels, from a point to its name.
    pub(crate) fn leader(&mut self, from: (f64, f64), to: (f64, f64)) {
        rule(&mut self.marks, "<path class=\"leader\" d=\"", from, to);
    }

    /// Adds an entry to the key; repeated entries are ignored.
    pub fn key(&mut self, class: &'static str, sign: Sign, text: &str) -> &mut Self {
        let entry = (class, sign, text.to_string());
        if !self.key.contains(&entry) {
            self.key.push(entry);
        }
        self
    }

    /// Adds a sentence below the key, wrapped.
    pub fn note(&mut self, text: impl Into<String>) -> &mut Self {
        self.notes.push(text.into());
        self
    }

    /// The SVG element, for a page.
    pub fn svg(&self) -> Markup {
        let mut svg = Markup::default();
        svg.raw("<svg viewBox=\"0 0 ").text(number(self.width)).raw(" ").text(number(self.full_height()));
        svg.raw("\" role=\"img\" aria-label=\"").text(&self.description).raw("\">");
        svg.add(&self.inner()).raw("</svg>");
        svg
    }

    /// A complete SVG file with its style, on white.
    pub fn file(&self) -> String {
        document(&self.description, (self.width, self.full_height()), &self.inner())
    }

    fn full_height(&self) -> f64 {
        let lines = self.note_lines().len() as f64;
        self.key_end() + NOTE_LINE * lines + if lines > 0.0 { 6.0 } else { 0.0 }
    }

    /// The lower end of the key, where the notes start.
    fn key_end(&self) -> f64 {
        let lines = self.key_places().last().map_or(0.0, |(_, line)| line + 1.0);
        self.height + KEY_LINE * lines + if lines > 0.0 { 6.0 } else { 0.0 }
    }

    /// The lines of the notes, each with whether it continues the line before.
    fn note_lines(&self) -> Vec<(bool, String)> {
        let lines = |note: &String| -> Vec<(bool, String)> {
            let text = wrapped(note, "", (self.width / LETTER) as usize);
            text.lines().enumerate().map(|(place, line)| (place > 0, line.to_string())).collect()
        };
        self.notes.iter().flat_map(lines).collect()
    }

    /// The positions of the key's entries: from the left, in lines.
    fn key_places(&self) -> Vec<(f64, f64)> {
        let (mut left, mut line) = (0.0, 0.0);
        let mut places = Vec::new();
        for (_, _, text) in &self.key {
            let width = 38.0 + 6.8 * text.chars().count() as f64;
            if left > 0.0 && left + width - 16.0 > self.width {
                (left, line) = (0.0, line + 1.0);
            }
            places.push((left, line));
            left += width;
        }
        places
    }

    fn inner(&self) -> Markup {
        let mut svg = Markup::default();
        for (value, text) in &self.y.ticks {
            let y = self.y(*value);
            rule(&mut svg, "<path class=\"grid\" d=\"", (self.left, y), (self.width - MARGIN, y));
            cut_text(&mut svg, "<text class=\"tick end\" x=\"", (self.left - 7.0, y + 4.0), text, LONGEST);
        }
        let room = match self.x.kind {
            AxisKind::Names => ((self.x(1.0) - self.x(0.0)).abs() / 6.3) as usize,
            AxisKind::Linear | AxisKind::Logarithmic => LONGEST,
        };
        let mut end = f64::NEG_INFINITY;
        for (value, text) in &self.x.ticks {
            let at = (self.x(*value), self.bottom + 17.0);
            if self.x.kind == AxisKind::Logarithmic && !text.is_empty() {
                rule(&mut svg, "<path class=\"grid\" d=\"", (at.0, self.top), (at.0, self.bottom));
            }
            // A text that would overlap the one before it is left out.
            let half = 3.3 * text.chars().count().min(room.max(3)) as f64;
            if at.0 - half > end {
                cut_text(&mut svg, "<text class=\"tick middle\" x=\"", at, text, room.max(3));
                end = at.0 + half + 4.0;
            }
        }
        let axis = ((self.left, self.bottom), (self.width - MARGIN, self.bottom));
        rule(&mut svg, "<path class=\"axis\" d=\"", axis.0, axis.1);
        cut_text(&mut svg, "<text class=\"name start\" x=\"", (0.0, 12.0), &self.y.label, usize::MAX);
        let end = (self.width - MARGIN, self.height - 4.0);
        cut_text(&mut svg, "<text class=\"name end\" x=\"", end, &self.x.label, usize::MAX);
        svg.add(&self.marks);
        for ((class, sign, text), (left, line)) in self.key.iter().zip(self.key_places()) {
            let y = self.height + 12.0 + KEY_LINE * line;
            match sign {
                Sign::Mark(shape) => {
                    svg.raw("<path class=\"mark ").raw(class).raw("\" d=\"");
                    svg.text(outline(*shape, (left + 8.0, y))).raw("\"/>");
                }
                Sign::Line => {
                    svg.raw("<path class=\"line ").raw(class).raw("\" d=\"M").text(number(left)).raw(" ");
                    svg.text(number(y)).raw("l16 0\"/>");
                }
                Sign::Bar => {
                    svg.raw("<rect class=\"bar ").raw(class).raw("\" x=\"").text(number(left)).raw("\" y=\"");
                    svg.text(number(y - 5.0)).raw("\" width=\"16\" height=\"10\" rx=\"1.5\"/>");
                }
            }
            cut_text(&mut svg, "<text class=\"entry start\" x=\"", (left + 22.0, y + 4.0), text, usize::MAX);
        }
        for (place, (goes_on, line)) in self.note_lines().iter().enumerate() {
            let at = (if *goes_on { 14.0 } else { 0.0 }, self.key_end() + 13.0 + NOTE_LINE * place as f64);
            cut_text(&mut svg, "<text class=\"entry start\" x=\"", at, line, usize::MAX);
        }
        svg
    }
}

/// Charts one above the other, as a complete SVG file with its style, on white.
pub fn stacked(description: &str, charts: &[Chart]) -> String {
    let mut body = Markup::default();
    let (mut width, mut height) = (0.0_f64, 0.0);
    for (place, chart) in charts.iter().enumerate() {
        height += if place > 0 { STACK_GAP } else { 0.0 };
        body.raw("<g transform=\"translate(0 ")
            .text(number(height))
            .raw(")\">")
            .add(&chart.inner())
            .raw("</g>\n");
        (width, height) = (width.max(chart.width), height + chart.full_height());
    }
    document(description, (width, height), &body)
}

/// A complete SVG file of a size, with a margin.
fn document(description: &str, (width, height): (f64, f64), body: &Markup) -> String {
    let (width, height) = (number(width + 16.0), number(height + 16.0));
    let mut svg = Markup::default();
    svg.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"");
    svg.raw(" viewBox=\"-8 -8 ").text(&width).raw(" ").text(&height).raw("\" width=\"").text(&width);
    svg.raw("\" height=\"").text(&height).element("\" role=\"img\">\n<title>", description, "</title>\n");
    svg.element(
        "<style>\n",
        page::chart_style(),
        "</style>\n<rect class=\"paper\" x=\"-8\" y=\"-8\" width=\"",
    );
    svg.text(&width).raw("\" height=\"").text(&height).raw("\"/>\n").add(body).raw("\n</svg>\n");
    svg.into_string()
}

/// The path of a shape around a point.
fn outline(shape: Shape, (x, y): (f64, f64)) -> String {
    let corners: &[(f64, f64)] = match shape {
        Shape::Circle => {
            return format!("M{} {}a4.2 4.2 0 1 0 8.4 0a4.2 4.2 0 1 0 -8.4 0z", number(x - 4.2), number(y));
        }
        Shape::Square => &[(-3.8, -3.8), (3.8, -3.8), (3.8, 3.8), (-3.8, 3.8)],
        Shape::Diamond => &[(0.0, -5.4), (5.4, 0.0), (0.0, 5.4), (-5.4, 0.0)],
        Shape::Triangle => &[(0.0, -5.0), (5.0, 4.0), (-5.0, 4.0)],
        Shape::Pointer => &[(0.0, 5.0), (5.0, -4.0), (-5.0, -4.0)],
        Shape::Cross => &[
            (-4.8, -3.0),
            (-3.0, -4.8),
            (0.0, -1.8),
            (3.0, -4.8),
            (4.8, -3.0),
            (1.8, 0.0),
            (4.8, 3.0),
            (3.0, 4.8),
            (0.0, 1.8),
            (-3.0, 4.8),
            (-4.8, 3.0),
            (-1.8, 0.0),
        ],
    };
    let point = |(dx, dy): &(f64, f64)| format!("{} {}", number(x + dx), number(y + dy));
    format!("M{}z", corners.iter().map(point).collect::<Vec<_>>().join("L"))
}

fn rule(svg: &mut Markup, open: &'static str, from: (f64, f64), to: (f64, f64)) {
    svg.raw(open).raw("M").text(number(from.0)).raw(" ").text(number(from.1));
    svg.raw("L").text(number(to.0)).raw(" ").text(number(to.1)).raw("\"/>");
}

/// A text, cut to `room` characters; a cut text is shown in full as a tooltip.
fn cut_text(svg: &mut Markup, open: &'static str, at: (f64, f64), text: &str, room: usize) {
    if text.is_empty() {
        return;
    }
    svg.raw(open).text(number(at.0)).raw("\" y=\"").text(number(at.1));
    if text.chars().count() <= room {
        svg.element("\">", text, "</text>");
    } else {
        let cut: String = text.chars().take(room.saturating_sub(1)).collect();
        svg.element("\">", cut.trim_end(), "…").element("<title>", text, "</title></text>");
    }
}

/// A score before and after, on a line with a mark at the threshold.
pub fn score_change(description: &str, before: f64, after: f64, threshold: f64) -> Markup {
    let x = |probability: f64| number(6.0 + 288.0 * probability);
    let mut svg = Markup::default();
    svg.raw("<svg class=\"across\" viewBox=\"0 0 300 22\" role=\"img\" aria-label=\"").text(description);
    svg.raw("\"><path class=\"track\" d=\"M6 11L294 11\"/><path class=\"gate\" d=\"M").text(x(threshold));
    svg.raw(" 2L").text(x(threshold)).raw(" 20\"/><path class=\"line exact\" d=\"M").text(x(before));
    svg.raw(" 11L").text(x(after)).raw(" 11\"/><circle class=\"from\" cx=\"").text(x(before));
    svg.raw("\" cy=\"11\" r=\"4.5\"/><circle class=\"mark exact\" cx=\"").text(x(after));
    svg.raw("\" cy=\"11\" r=\"5.5\"/></svg>");
    svg
}

/// A coordinate, to a tenth; NaN and numbers far off the page are moved to the edge.
fn number(value: f64) -> String {
    let value = if value.is_finite() { value.clamp(-1e5, 1e5) } else { 0.0 };
    let text = format!("{value:.1}");
    without_sign_of_zero(text.strip_suffix(".0").unwrap_or(&text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let axes = (Axis::around("step", [0.0, 10.0], 2), Axis::shares("valid"));
        Chart::new("a \"test\"", (200.0, 100.0), axes.0, axes.1)
    }

    #[test]
    fn coordinates_are_short_and_have_no_negative_zero() {
        assert_eq!([0.0, -0.04, 12.0, 12.34, -1.05].map(number), ["0", "0", "12", "12.3", "-1.1"]);
        assert_eq!([f64::NAN, f64::INFINITY, 1e300].map(number), ["0", "0", "100000"]);
    }

    #[test]
    fn a_chart_has_its_description_and_places_its_marks() {
        let svg = chart().line("exact", "Ann", &[(0.0, 0.0), (10.0, 1.0)]).svg().into_string();
        assert!(
            svg.starts_with("<svg viewBox=\"0 0 200 100\" role=\"img\" aria-label=\"a &quot;test&quot;\">"),
            "{svg}"
        );
        assert!(
            svg.contains("<path class=\"line exact\" d=\"M42.5 60L186 30\"><title>Ann</title></path>"),
            "{svg}"
        );
    }

    #[test]
    fn intervals_have_ends_and_cells_have_texts() {
        let mut chart = chart();
        chart.interval("exact", 0.0, (0.0, 1.0)).horizontal_interval("exact", (0.0, 10.0), 1.0);
        let svg = chart.svg().into_string();
        assert!(svg.contains("d=\"M39.5 60L45.5 60M42.5 60L42.5 30M39.5 30L45.5 30\""), "{svg}");
        assert!(svg.contains("d=\"M42.5 27L42.5 33M42.5 30L186 30M186 27L186 33\""), "{svg}");
        let axes = (Axis::names("", ["a", "b"]), Axis::names("", [""]).reversed());
        let svg = Chart::new("map", (200.0, 100.0), axes.0, axes.1).cell("worse l3", (1.0, 0.0), "<1>").svg();
        let svg = svg.into_string();
        assert!(svg.contains("<rect class=\"cell worse l3\" x=\"98\" y=\"11\" width=\"87\" height=\"68\"/>"));
        assert!(svg.contains("<text class=\"value middle\" x=\"141.5\" y=\"49\">&lt;1&gt;</text>"), "{svg}");
    }

    #[test]
    fn a_horizontal_bar_lies_at_its_name_and_charts_of_a_stack_below_each_other() {
        let axes = (Axis::around("", [0.0, 4.0], 4), Axis::names("", ["a", "b"]).reversed());
        let mut chart = Chart::new("bars", (200.0, 100.0), axes.0, axes.1);
        chart.horizontal_bar("exact", (0.0, 2.0), 1.0);
        let svg = stacked("two", &[chart.clone(), chart]);
        let bar =
            "<rect class=\"bar exact\" x=\"15.6\" y=\"50.6\" width=\"85.2\" height=\"23.8\" rx=\"1.5\"/>";
        assert_eq!(svg.matches(bar).count(), 2, "{svg}");
        assert!(
            svg.contains("<g transform=\"translate(0 118)\">") && svg.contains("height=\"234\""),
            "{svg}"
        );
    }

    #[test]
    fn the_key_stands_below_in_as_many_lines_as_it_needs() {
        let mut chart = chart();
        chart.key("exact", Sign::Line, "short").key("exact", Sign::Line, "short");
        assert!(chart.svg().into_string().starts_with("<svg viewBox=\"0 0 200 125\""));
        chart.key("refine", Sign::Mark(Shape::Diamond), "a longer text").key("", Sign::Bar, "bar");
        let svg = chart.svg().into_string();
        assert!(svg.starts_with("<svg viewBox=\"0 0 200 144\""), "{svg}");
        assert_eq!(svg.matches("class=\"entry start\"").count(), 3);
    }

    #[test]
    fn notes_stand_below_the_key_and_are_wrapped_not_cut() {
        let mut chart = chart();
        chart.key("exact", Sign::Line, "short").note("one").note("Job: unskilled and resident → skilled");
        let svg = chart.svg().into_string();
        assert!(svg.starts_with("<svg viewBox=\"0 0 200 182\""), "{svg}");
        assert!(svg.contains("x=\"0\" y=\"138\">one</text>"), "{svg}");
        assert!(svg.contains("x=\"14\" y=\"172\">resident → skilled</text>"), "{svg}");
    }

    #[test]
    fn every_shape_is_another_path() {
        let shapes =
            [Shape::Circle, Shape::Square, Shape::Diamond, Shape::Triangle, Shape::Pointer, Shape::Cross];
        let paths: std::collections::BTreeSet<String> =
            shapes.map(|shape| outline(shape, (10.0, 10.0))).into_iter().collect();
        assert_eq!(paths.len(), 6);
    }

    #[test]
    fn long_names_are_cut_and_shown_in_a_tooltip() {
        let name = "x".repeat(40);
        let axes = (Axis::shares("share"), Axis::names("", [name.as_str()]));
        let svg = Chart::new("", (300.0, 60.0), axes.0, axes.1).svg().into_string();
        assert!(svg.contains(&format!(">{}…<title>{name}</title></text>", "x".repeat(25))), "{svg}");
    }

    #[test]
    fn a_file_has_its_colours_and_needs_no_page() {
        let file = chart().line("exact", "", &[(0.0, 0.0), (10.0, 1.0)]).file();
        assert!(file.starts_with("<?xml") && file.ends_with("</svg>\n"), "{file}");
        assert!(file.contains("<title>a &quot;test&quot;</title>") && file.contains("#0b5f9e"), "{file}");
        assert!(!file.contains("var("), "{file}");
    }
}
