//! Charts as SVG: axes with round ticks, lines, bars and points. Colours are classes that the page styles.

use std::ops::RangeInclusive;

use crate::markup::Markup;

/// Room for a tick's text, for one character of it.
const CHARACTER: f64 = 6.9;

/// One side of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    label: String,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Round numbers around all values; between 0 and 1 when there are none.
    pub fn around(label: &str, values: impl IntoIterator<Item = f64>, about: usize) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (mut low, mut high) = finite
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = (0.0, 1.0);
        } else if high - low <= low.abs() * 1e-9 {
            let room = if low == 0.0 { 1.0 } else { low.abs() / 10.0 };
            (low, high) = (low - room, high + room);
        }
        let step = step(low, high, about);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        let text = |tick: f64| tick_text(tick, step);
        Self { label: label.to_string(), low, high, ticks: with_texts(ticks(low, high, step), text) }
    }

    /// Shares of one, as percentages.
    pub fn shares(label: &str) -> Self {
        let text = |tick: f64| format!("{:.0} %", 100.0 * tick);
        let ticks = with_texts(ticks(0.0, 1.0, 0.25), text);
        Self { label: label.to_string(), low: 0.0, high: 1.0, ticks }
    }

    /// Whole numbers, each with room for a bar.
    pub fn counts(label: &str, counts: RangeInclusive<usize>) -> Self {
        let (low, high) = (*counts.start() as f64 - 0.5, *counts.end() as f64 + 0.5);
        let ticks = counts.map(|count| (count as f64, count.to_string())).collect();
        Self { label: label.to_string(), low, high, ticks }
    }

    /// Ticks at both ends alone.
    pub fn ends(mut self) -> Self {
        if self.ticks.len() > 2 {
            self.ticks.drain(1..self.ticks.len() - 1);
        }
        self
    }

    /// From where to where it goes.
    pub fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

/// A chart that is being drawn. What is added later covers what was added before.
#[derive(Clone, Debug)]
pub struct Chart {
    width: f64,
    height: f64,
    /// Where the axes cross.
    left: f64,
    bottom: f64,
    top: f64,
    x: Axis,
    y: Axis,
    description: String,
    marks: Markup,
}

impl Chart {
    /// An empty chart. The description is what a person hears who cannot see it.
    pub fn new(description: &str, (width, height): (f64, f64), x: Axis, y: Axis) -> Self {
        let longest = y.ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
        let top = if y.label.is_empty() { 10.0 } else { 30.0 };
        let bottom = match (x.ticks.is_empty(), x.label.is_empty()) {
            (true, _) => height - 4.0,
            (_, true) => height - 20.0,
            _ => height - 40.0,
        };
        Self {
            width,
            height,
            left: 8.0 + CHARACTER * longest as f64,
            bottom,
            top,
            x,
            y,
            description: description.to_string(),
            marks: Markup::default(),
        }
    }

    fn x(&self, value: f64) -> f64 {
        let right = self.width - 14.0;
        self.left + (value - self.x.low) / (self.x.high - self.x.low) * (right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - (value - self.y.low) / (self.y.high - self.y.low) * (self.bottom - self.top)
    }

    /// A line through points, from left to right.
    pub fn line(&mut self, class: &'static str, title: &str, points: &[(f64, f64)]) -> &mut Self {
        let mut path = String::new();
        for (position, &(x, y)) in points.iter().enumerate() {
            let command = if position == 0 { 'M' } else { 'L' };
            path.push_str(&format!("{command}{} {}", number(self.x(x)), number(self.y(y))));
        }
        self.marks.raw("<path class=\"line ").raw(class).raw("\" d=\"").text(path).raw("\">");
        if !title.is_empty() {
            self.marks.element("<title>", title, "</title>");
        }
        self.marks.raw("</path>");
        self
    }

    /// A point.
    pub fn point(&mut self, class: &'static str, (x, y): (f64, f64)) -> &mut Self {
        let (x, y) = (number(self.x(x)), number(self.y(y)));
        self.marks.raw("<circle class=\"point ").raw(class).raw("\" cx=\"").text(x).raw("\" cy=\"").text(y);
        self.marks.raw("\" r=\"4\"/>");
        self
    }

    /// A bar on the horizontal axis, from one of its values to another.
    pub fn bar(&mut self, class: &'static str, (from, to): (f64, f64), height: f64) -> &mut Self {
        let (left, right) = (self.x(from), self.x(to));
        let top = self.y(height);
        self.marks.raw("<rect class=\"bar ").raw(class).raw("\" x=\"").text(number(left)).raw("\" y=\"");
        self.marks.text(number(top)).raw("\" width=\"").text(number((right - left).max(0.0)));
        self.marks.raw("\" height=\"").text(number((self.bottom - top).max(0.0))).raw("\" rx=\"1.5\"/>");
        self
    }

    /// A line across the chart at a height.
    pub fn level(&mut self, class: &'static str, y: f64) -> &mut Self {
        let (low, high) = self.x.range();
        self.line(class, "", &[(low, y), (high, y)])
    }

    /// A line from bottom to top.
    pub fn upright(&mut self, class: &'static str, x: f64) -> &mut Self {
        let (low, high) = self.y.range();
        self.line(class, "", &[(x, low), (x, high)])
    }

    /// Text at a point: `class` may hold `start`, `middle` or `end`, and its colour.
    pub fn label(&mut self, class: &'static str, (x, y): (f64, f64), above: f64, text: &str) -> &mut Self {
        let (x, y) = (number(self.x(x)), number(self.y(y) - above));
        self.marks.raw("<text class=\"label ").raw(class).raw("\" x=\"").text(x).raw("\" y=\"").text(y);
        self.marks.element("\">", text, "</text>");
        self
    }

    /// The whole of it.
    pub fn svg(&self) -> Markup {
        let mut svg = Markup::default();
        svg.raw("<svg viewBox=\"0 0 ").text(number(self.width)).raw(" ").text(number(self.height));
        svg.raw("\" role=\"img\" aria-label=\"").text(&self.description).raw("\">");
        for (value, text) in &self.y.ticks {
            let y = self.y(*value);
            rule(&mut svg, "<path class=\"grid\" d=\"", (self.left, y), (self.width - 14.0, y));
            words(&mut svg, "<text class=\"tick end\" x=\"", (self.left - 7.0, y + 4.0), text);
        }
        for (value, text) in &self.x.ticks {
            words(&mut svg, "<text class=\"tick middle\" x=\"", (self.x(*value), self.bottom + 17.0), text);
        }
        let axis = ((self.left, self.bottom), (self.width - 14.0, self.bottom));
        rule(&mut svg, "<path class=\"axis\" d=\"", axis.0, axis.1);
        words(&mut svg, "<text class=\"name start\" x=\"", (0.0, 12.0), &self.y.label);
        words(
            &mut svg,
            "<text class=\"name end\" x=\"",
            (self.width - 14.0, self.height - 4.0),
            &self.x.label,
        );
        svg.add(&self.marks).raw("</svg>");
        svg
    }
}

fn rule(svg: &mut Markup, open: &'static str, from: (f64, f64), to: (f64, f64)) {
    svg.raw(open).raw("M").text(number(from.0)).raw(" ").text(number(from.1));
    svg.raw("L").text(number(to.0)).raw(" ").text(number(to.1)).raw("\"/>");
}

fn words(svg: &mut Markup, open: &'static str, at: (f64, f64), text: &str) {
    if !text.is_empty() {
        svg.raw(open).text(number(at.0)).raw("\" y=\"").text(number(at.1)).element("\">", text, "</text>");
    }
}

/// From where a probability was to where it is, on a line with a mark at the threshold.
pub fn way_across(description: &str, before: f64, after: f64, threshold: f64) -> Markup {
    let x = |probability: f64| number(6.0 + 288.0 * probability);
    let mut svg = Markup::default();
    svg.raw("<svg class=\"across\" viewBox=\"0 0 300 22\" role=\"img\" aria-label=\"").text(description);
    svg.raw("\"><path class=\"track\" d=\"M6 11L294 11\"/><path class=\"gate\" d=\"M").text(x(threshold));
    svg.raw(" 2L").text(x(threshold)).raw(" 20\"/><path class=\"line exact\" d=\"M").text(x(before));
    svg.raw(" 11L").text(x(after)).raw(" 11\"/><circle class=\"from\" cx=\"").text(x(before));
    svg.raw("\" cy=\"11\" r=\"4.5\"/><circle class=\"point exact\" cx=\"").text(x(after));
    svg.raw("\" cy=\"11\" r=\"5.5\"/></svg>");
    svg
}

/// The round step, 1, 2 or 5 times a power of ten, that makes about so many ticks, or fewer.
fn step(low: f64, high: f64, about: usize) -> f64 {
    let least = (high - low) / about.max(1) as f64;
    let power = 10_f64.powf(least.log10().floor());
    // A step that is round but for the last digit of the division counts as round.
    let fits = |factor: &f64| factor * power >= least * (1.0 - 1e-9);
    [1.0, 2.0, 5.0].into_iter().find(fits).unwrap_or(10.0) * power
}

/// The multiples of a step from one number to another.
fn ticks(low: f64, high: f64, step: f64) -> Vec<f64> {
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|tick| tick as f64 * step).collect()
}

fn with_texts(ticks: Vec<f64>, text: impl Fn(f64) -> String) -> Vec<(f64, String)> {
    ticks.into_iter().map(|tick| (tick, text(tick))).collect()
}

/// As many decimals as the step has.
fn tick_text(tick: f64, step: f64) -> String {
    let decimals = usize::try_from(-(step.log10() + 1e-9).floor() as i32).unwrap_or(0);
    decimal(tick, decimals)
}

/// A number for a reader, with a minus as it is set in print.
pub fn decimal(value: f64, decimals: usize) -> String {
    without_sign_of_zero(format!("{value:.decimals$}")).replace('-', "−")
}

/// A coordinate, to a tenth.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    without_sign_of_zero(text.strip_suffix(".0").unwrap_or(&text).to_string())
}

fn without_sign_of_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|digit| matches!(digit, '0' | '.')) => digits.to_string(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_enclose_the_values() {
        for (values, about, expected) in [
            ([0.0, 1.0], 5, vec!["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
            ([0.3, 0.7], 2, vec!["0.2", "0.4", "0.6", "0.8"]),
            ([-21.3, -14.9], 4, vec!["−22", "−20", "−18", "−16", "−14"]),
            ([-0.02, 0.02], 2, vec!["−0.02", "0.00", "0.02"]),
            ([1.0, 1000.0], 4, vec!["0", "500", "1000"]),
            ([3e-7, 9e-7], 3, vec!["0.0000002", "0.0000004", "0.0000006", "0.0000008", "0.0000010"]),
        ] {
            let axis = Axis::around("", values, about);
            assert_eq!(texts(&axis), expected);
            assert!(axis.low <= values[0] && axis.high >= values[1]);
        }
    }

    #[test]
    fn an_axis_has_room_even_for_one_value_or_none() {
        for values in [vec![], vec![0.0], vec![-3.0, -3.0], vec![f64::NAN, 7.0], vec![1e12]] {
            let axis = Axis::around("", values, 4);
            assert!(axis.low < axis.high && axis.ticks.len() >= 2, "{axis:?}");
            assert!(axis.low.is_finite() && axis.high.is_finite(), "{axis:?}");
        }
    }

    #[test]
    fn counts_have_a_tick_each_and_shares_are_percentages() {
        assert_eq!(texts(&Axis::counts("", 1..=4)), ["1", "2", "3", "4"]);
        assert_eq!(texts(&Axis::shares("")), ["0 %", "25 %", "50 %", "75 %", "100 %"]);
        assert_eq!(texts(&Axis::shares("").ends()), ["0 %", "100 %"]);
    }

    #[test]
    fn coordinates_are_short_and_have_no_negative_zero() {
        assert_eq!([0.0, -0.04, 12.0, 12.34, -1.05].map(number), ["0", "0", "12", "12.3", "-1.1"]);
    }

    #[test]
    fn a_chart_says_what_it_shows_and_places_its_marks() {
        let axes = (Axis::around("step", [0.0, 10.0], 2), Axis::shares("valid"));
        let mut chart = Chart::new("a \"test\"", (200.0, 100.0), axes.0, axes.1);
        let svg = chart.line("exact", "Ann", &[(0.0, 0.0), (10.0, 1.0)]).svg().into_string();
        assert!(
            svg.starts_with("<svg viewBox=\"0 0 200 100\" role=\"img\" aria-label=\"a &quot;test&quot;\">"),
            "{svg}"
        );
        assert!(
            svg.contains("<path class=\"line exact\" d=\"M42.5 60L186 30\"><title>Ann</title></path>"),
            "{svg}"
        );
    }
}
