//! Labels beside points that overlap neither each other nor the points, as far as there is room.

use crate::chart::Chart;

/// A label for a point of a chart.
#[derive(Clone, Debug)]
pub struct PointLabel {
    /// The colour of the text.
    pub class: &'static str,
    /// The point.
    pub at: (f64, f64),
    /// The text.
    pub text: String,
}

/// Left, top, right, bottom.
type Bounds = [f64; 4];

/// Writes labels beside their points, at the position that overlaps the others and `lines` least; to the
/// right if possible.
pub fn write(chart: &mut Chart, labels: &[PointLabel], lines: &[&[(f64, f64)]]) {
    let mut taken: Vec<Bounds> = labels.iter().map(|label| around(chart.place(label.at), 6.0)).collect();
    for pair in lines.iter().flat_map(|line| line.windows(2)) {
        let (from, to) = (chart.place(pair[0]), chart.place(pair[1]));
        let along = |step: u32| f64::from(step) / 16.0;
        let at = |step| (from.0 + along(step) * (to.0 - from.0), from.1 + along(step) * (to.1 - from.1));
        taken.extend((0..=16).map(|step| around(at(step), 2.0)));
    }
    for label in labels {
        let (x, y) = chart.place(label.at);
        let width = 6.9 * label.text.chars().count() as f64;
        // Left, top, right and bottom of the text at a position.
        let bounds = |(side, dx, dy): &(f64, f64, f64)| {
            let left = x + side * width + dx;
            [left, y + dy - 11.0, left + width, y + dy + 3.0]
        };
        let covered = |place: &(f64, f64, f64)| {
            let own = bounds(place);
            let shared: f64 = taken.iter().map(|other| overlap(own, *other)).sum();
            1e3 * beyond(own, chart.inside()) + shared
        };
        // A later position in the list has to be clearly better.
        let costs =
            PLACES.iter().enumerate().map(|(rank, place)| (covered(place) + 0.5 * rank as f64, place));
        let best = costs.min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, place)) = best {
            taken.push(bounds(place));
            let (side, dx, dy) = *place;
            let anchor = match side {
                0.0 => " start",
                -1.0 => " end",
                _ => " middle",
            };
            if dy.abs() > 20.0 {
                chart.leader((x, y), (x + dx, y + dy - if dy > 0.0 { 9.0 } else { 0.0 }));
            }
            chart.text(label.class, anchor, (x + dx, y + dy), &label.text);
        }
    }
}

/// Positions of a text: its shift to the left as a negative share of its width, and its offset from the point
/// in pixels. The first of the best is taken.
const PLACES: [(f64, f64, f64); 18] = [
    (0.0, 8.0, 4.0),
    (-1.0, -8.0, 4.0),
    (-0.5, 0.0, -9.0),
    (-0.5, 0.0, 18.0),
    (0.0, 6.0, -7.0),
    (0.0, 6.0, 15.0),
    (-1.0, -6.0, -7.0),
    (-1.0, -6.0, 15.0),
    (0.0, 8.0, -18.0),
    (0.0, 8.0, 27.0),
    (-1.0, -8.0, -18.0),
    (-1.0, -8.0, 27.0),
    (0.0, 14.0, -30.0),
    (0.0, 14.0, 40.0),
    (-1.0, -14.0, -30.0),
    (-1.0, -14.0, 40.0),
    (0.0, 20.0, -42.0),
    (0.0, 20.0, 52.0),
];

fn around((x, y): (f64, f64), reach: f64) -> Bounds {
    [x - reach, y - reach, x + reach, y + reach]
}

/// The area of the overlap of two boxes.
fn overlap(one: Bounds, other: Bounds) -> f64 {
    let width = one[2].min(other[2]) - one[0].max(other[0]);
    let height = one[3].min(other[3]) - one[1].max(other[1]);
    width.max(0.0) * height.max(0.0)
}

/// The distance by which a box extends beyond another.
fn beyond(own: Bounds, frame: Bounds) -> f64 {
    let sides = [frame[0] - own[0], frame[1] - own[1], own[2] - frame[2], own[3] - frame[3]];
    sides.into_iter().map(|side| side.max(0.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;

    /// The boxes of the texts of a chart.
    fn boxes(points: &[(f64, f64)]) -> Vec<Bounds> {
        let axis = || Axis::around("", [0.0, 10.0], 5);
        let mut chart = Chart::new("", (440.0, 280.0), axis(), axis());
        let label = |at: &(f64, f64)| PointLabel { class: "exact", at: *at, text: "name".to_string() };
        write(&mut chart, &points.iter().map(label).collect::<Vec<_>>(), &[]);
        let svg = chart.svg().into_string();
        let attribute = |text: &str, name: &str| -> f64 {
            let rest = text.split(&format!("{name}=\"")).nth(1).expect("the attribute");
            rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
        };
        let bounds = |text: &str| {
            let (x, y, width) = (attribute(text, " x"), attribute(text, " y"), 27.6);
            let left = match text.split('"').next().unwrap_or_default() {
                class if class.ends_with("end") => x - width,
                class if class.ends_with("middle") => x - width / 2.0,
                _ => x,
            };
            [left, y - 11.0, left + width, y + 3.0]
        };
        svg.split("<text class=\"label ").skip(1).map(bounds).collect()
    }

    #[test]
    fn names_of_neighbours_do_not_cover_each_other() {
        let boxes = boxes(&[(5.0, 5.0), (5.0, 5.1), (5.1, 5.0), (5.05, 5.05)]);
        for (place, one) in boxes.iter().enumerate() {
            assert!(boxes[place + 1..].iter().all(|other| overlap(*one, *other) < 1.0), "{boxes:?}");
        }
    }

    #[test]
    fn a_name_at_the_edge_stays_inside() {
        let boxes = boxes(&[(10.0, 5.0)]);
        assert!(boxes[0][2] <= 426.0, "{boxes:?}");
    }
}
