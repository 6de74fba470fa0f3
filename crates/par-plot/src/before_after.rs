//! One person before and after a way, feature by feature, among other people.

use crate::axis::Axis;
use crate::chart::{Chart, Shape, Sign, stacked};
use crate::text::grouped;

const WIDTH: f64 = 520.0;
/// Characters of a title that fit above a chart.
const LONGEST_TITLE: usize = 72;
/// Bars of a histogram.
const BINS: usize = 24;
/// Categories that are drawn; further ones are summed up.
const CATEGORIES: usize = 8;
/// The height of the bar of a category, with its space.
const BAR_HEIGHT: f64 = 22.0;

/// A feature that changes, and how the people have it.
#[derive(Clone, Debug)]
pub struct ChangedFeature {
    /// Its title, such as `Duration: 48 → 24 months`.
    pub title: String,
    /// The people and the person.
    pub values: Values,
}

/// The values of a feature: the person's before and after, and those of the people.
#[derive(Clone, Debug)]
pub enum Values {
    /// Numbers.
    Numbers {
        /// The person's number, if it is known.
        before: Option<f64>,
        /// The person's number after the change.
        after: f64,
        /// The numbers of the people.
        people: Vec<f64>,
    },
    /// Categories, in the order in which they are drawn.
    Categories {
        /// How many people have each.
        counts: Vec<(String, usize)>,
        /// The place of the person's category, if it is known.
        before: Option<usize>,
        /// The place of the person's category after the change.
        after: usize,
    },
}

/// A chart for each feature, one above the other. `people` says who they are, such as `700 accepted people`.
pub fn before_after(description: &str, people: &str, features: &[ChangedFeature]) -> String {
    let mut charts: Vec<Chart> = features.iter().map(|feature| chart(feature, people)).collect();
    if let Some(last) = charts.last_mut() {
        last.key("published faint", Sign::Bar, people);
        last.key("peer hollow", Sign::Mark(Shape::Circle), "before");
        last.key("exact", Sign::Mark(Shape::Diamond), "after");
    }
    stacked(description, &charts)
}

fn chart(feature: &ChangedFeature, people: &str) -> Chart {
    let mut title: String = feature.title.chars().take(LONGEST_TITLE).collect();
    if title.len() < feature.title.len() {
        title.push('…');
    }
    match &feature.values {
        Values::Numbers { before, after, people: values } => {
            histogram(&title, people, *before, *after, values)
        }
        Values::Categories { counts, before, after } => categories(&title, people, counts, *before, *after),
    }
}

/// A histogram of all but the most extreme hundredth at either end, which a long tail would hide.
fn histogram(title: &str, people: &str, before: Option<f64>, after: f64, values: &[f64]) -> Chart {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at =
        |share: f64| sorted.get((share * sorted.len().saturating_sub(1) as f64).round() as usize).copied();
    let shown = [at(0.01), at(0.99), before, Some(after)];
    let x = Axis::around("", shown.into_iter().flatten(), 8);
    let (low, high) = x.range();
    let step = (high - low) / BINS as f64;
    let mut bins = [0_usize; BINS];
    let inside: Vec<f64> = sorted.into_iter().filter(|value| (low..=high).contains(value)).collect();
    for value in &inside {
        bins[(((value - low) / step) as usize).min(BINS - 1)] += 1;
    }
    let highest = bins.iter().max().copied().unwrap_or(0).max(1) as f64;
    // A third more, for the marks above the bars.
    let y = Axis::bare(title, 0.0, 1.34 * highest);
    let mut chart = Chart::new(&format!("{title}, among {people}"), (WIDTH, 150.0), x, y);
    for (bin, count) in bins.into_iter().enumerate().filter(|(_, count)| *count > 0) {
        let left = low + bin as f64 * step;
        chart.bar("published faint", (left + 0.04 * step, left + 0.96 * step), count as f64);
    }
    let level = 1.2 * highest;
    if let Some(before) = before {
        chart.line("exact thin", "", &[(before, level), (after, level)]);
        chart.line("peer dashed faint", "", &[(before, 0.0), (before, level)]);
        chart.mark("peer hollow", Shape::Circle, (before, level), "before");
    }
    chart.line("exact", "", &[(after, 0.0), (after, level)]);
    chart.mark("exact", Shape::Diamond, (after, level), "after");
    let outside = values.len() - inside.len();
    if outside > 0 {
        chart.note(format!("{} of them lie outside.", grouped(outside)));
    }
    chart
}

fn categories(
    title: &str,
    people: &str,
    counts: &[(String, usize)],
    before: Option<usize>,
    after: usize,
) -> Chart {
    let total = counts.iter().map(|(_, count)| count).sum::<usize>().max(1) as f64;
    let mut by_count: Vec<usize> = (0..counts.len()).collect();
    let is_own = |place: usize| place == after || Some(place) == before;
    by_count.sort_by_key(|&place| (!is_own(place), std::cmp::Reverse(counts[place].1)));
    let mut shown: Vec<usize> = by_count.iter().copied().take(CATEGORIES).collect();
    shown.sort_unstable();
    let others = &by_count[shown.len()..];
    let mut bars: Vec<(String, usize, Option<usize>)> =
        shown.iter().map(|&place| (counts[place].0.clone(), counts[place].1, Some(place))).collect();
    if !others.is_empty() {
        let sum = others.iter().map(|&place| counts[place].1).sum();
        bars.push((format!("{} others", others.len()), sum, None));
    }
    let x = Axis::shares("");
    let y = Axis::names(title, bars.iter().map(|(name, ..)| name.clone())).reversed();
    let height = 54.0 + BAR_HEIGHT * bars.len() as f64;
    let mut chart = Chart::new(&format!("{title}, among {people}"), (WIDTH, height), x, y);
    for (row, (_, count, place)) in bars.iter().enumerate() {
        let (row, share) = (row as f64, *count as f64 / total);
        chart.horizontal_bar("published faint", (0.0, share), row);
        let is_after = *place == Some(after);
        if is_after {
            chart.mark("exact", Shape::Diamond, (share, row), "after");
        } else if place.is_some() && *place == before {
            chart.mark("peer hollow", Shape::Circle, (share, row), "before");
        }
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(before: Option<f64>, after: f64, people: Vec<f64>) -> ChangedFeature {
        ChangedFeature { title: "Age".into(), values: Values::Numbers { before, after, people } }
    }

    #[test]
    fn a_number_is_marked_before_and_after_above_the_people() {
        let svg = before_after("", "3 people", &[numbers(Some(1.0), 2.0, vec![1.0, 2.0, 2.0])]);
        assert_eq!(svg.matches("<title>before</title>").count(), 1, "{svg}");
        assert_eq!(svg.matches("<title>after</title>").count(), 1, "{svg}");
        assert_eq!(svg.matches("class=\"bar published faint\"").count(), 3, "two, and one in the key: {svg}");
        let unknown = before_after("", "", &[numbers(None, 2.0, Vec::new())]);
        assert!(!unknown.contains("<title>before</title>"), "{unknown}");
    }

    #[test]
    fn a_long_tail_does_not_flatten_the_rest_and_is_counted() {
        let mut people = vec![1.0; 200];
        people.push(1e9);
        let svg = before_after("", "", &[numbers(Some(1.0), 2.0, people)]);
        assert!(svg.contains("1 of them lie outside."), "{svg}");
    }

    #[test]
    fn rare_categories_are_summed_up_but_never_the_persons_own() {
        let counts: Vec<(String, usize)> = (0..12).map(|place| (format!("c{place}"), 100 - place)).collect();
        let values = Values::Categories { counts, before: Some(11), after: 10 };
        let svg = before_after("", "", &[ChangedFeature { title: "Job".into(), values }]);
        assert!(svg.contains(">c11</text>") && svg.contains(">c10</text>"), "{svg}");
        assert!(svg.contains(">4 others</text>") && !svg.contains(">c7</text>"), "{svg}");
    }
}
