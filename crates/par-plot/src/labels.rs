//! Names beside points that cover neither each other nor the points, as far as there is room.

use crate::chart::Chart;

/// A name for a point of a chart.
#[derive(Clone, Debug)]
pub struct Label {
    /// The colour of the text.
    pub class: &'static str,
    /// The point.
    pub at: (f64, f64),
    /// The text.
    pub text: String,
}

/// Left, top, right, bottom.
type Box = [f64; 4];

/// Writes names beside their points, each where it covers least: to the right if it can be.
pub fn write(chart: &mut Chart, labels: &[Label]) {
    let mut taken: Vec<Box> = labels.iter().map(|label| around(chart.place(label.at))).collect();
    for label in labels {
        let (x, y) = chart.place(label.at);
        let width = 6.5 * label.text.chars().count() as f64;
        let places: Vec<(f64, f64)> =
            PLACES.iter().map(|(side, dx, dy)| (x + side * width + dx, y + dy)).collect();
        let covered = |place: &(f64, f64)| {
            let own = [place.0, place.1 - 11.0, place.0 + width, place.1 + 3.0];
            let outside = beyond(own, chart.inside());
            1e3 * outside + taken.iter().map(|other| overlap(own, *other)).sum::<f64>()
        };
        let best =
            places.into_iter().map(|place| (covered(&place), place)).min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, place)) = best {
            taken.push([place.0, place.1 - 11.0, place.0 + width, place.1 + 3.0]);
            chart.text(label.class, place, &label.text);
        }
    }
}

/// Where a text can begin: a share of its width from the point, and pixels. The first of the best is taken.
const PLACES: [(f64, f64, f64); 12] = [
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
];

fn around((x, y): (f64, f64)) -> Box {
    [x - 6.0, y - 6.0, x + 6.0, y + 6.0]
}

/// The area that two boxes share.
fn overlap(one: Box, other: Box) -> f64 {
    let width = one[2].min(other[2]) - one[0].max(other[0]);
    let height = one[3].min(other[3]) - one[1].max(other[1]);
    width.max(0.0) * height.max(0.0)
}

/// How far a box reaches out of another.
fn beyond(own: Box, frame: Box) -> f64 {
    let sides = [frame[0] - own[0], frame[1] - own[1], own[2] - frame[2], own[3] - frame[3]];
    sides.into_iter().map(|side| side.max(0.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;

    /// Where the texts of a chart begin.
    fn places(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let axis = || Axis::around("", [0.0, 10.0], 5);
        let mut chart = Chart::new("", (440.0, 280.0), axis(), axis());
        let label = |at: &(f64, f64)| Label { class: "start", at: *at, text: "name".to_string() };
        write(&mut chart, &points.iter().map(label).collect::<Vec<_>>());
        let svg = chart.svg().into_string();
        let attribute = |text: &str, name: &str| -> f64 {
            let rest = text.split(&format!("{name}=\"")).nth(1).expect("the attribute");
            rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
        };
        svg.split("<text class=\"label")
            .skip(1)
            .map(|text| (attribute(text, " x"), attribute(text, " y")))
            .collect()
    }

    #[test]
    fn names_of_neighbours_do_not_cover_each_other() {
        let places = places(&[(5.0, 5.0), (5.0, 5.1), (5.1, 5.0), (5.05, 5.05)]);
        let boxes: Vec<Box> = places.iter().map(|(x, y)| [*x, y - 11.0, x + 26.0, y + 3.0]).collect();
        for (place, one) in boxes.iter().enumerate() {
            assert!(boxes[place + 1..].iter().all(|other| overlap(*one, *other) == 0.0), "{places:?}");
        }
    }

    #[test]
    fn a_name_at_the_edge_stays_inside() {
        let places = places(&[(10.0, 5.0)]);
        assert!(places[0].0 + 26.0 <= 426.0, "{places:?}");
    }
}
