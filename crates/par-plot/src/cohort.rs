//! Many people: which features their ways change, and how groups of them fare.

use crate::axis::Axis;
use crate::chart::{Chart, Shape, Sign, stacked};
use crate::text::{decimal, grouped, share};

const WIDTH: f64 = 520.0;
const ROW_HEIGHT: f64 = 24.0;

/// How many people change a feature, and in which direction.
#[derive(Clone, Debug)]
pub struct FeatureChanges {
    /// Its name.
    pub feature: String,
    /// For how many it rises, falls and becomes another category.
    pub counts: [usize; 3],
}

/// The directions of `FeatureChanges`, with their colours.
const DIRECTIONS: [(&str, &str); 3] =
    [("exact", "rises"), ("generate", "falls"), ("refine", "becomes another category")];

/// A bar for each feature, divided by direction; `people` is how many people have a way.
pub fn changes(people: usize, features: &[FeatureChanges]) -> Chart {
    let total = |own: &FeatureChanges| own.counts.iter().sum::<usize>();
    let most = features.iter().map(total).max().unwrap_or(1).max(1) as f64;
    // Room for the text beside the longest bar.
    let x = Axis::around("people", [0.0, 1.3 * most], 6);
    let names = features.iter().map(|own| own.feature.clone());
    let y = Axis::names(&format!("What {} people change", grouped(people)), names).reversed();
    let height = 70.0 + ROW_HEIGHT * features.len().max(1) as f64;
    let mut chart = Chart::new("How many people change each feature", (WIDTH, height), x, y);
    for (row, own) in features.iter().enumerate() {
        let mut from = 0.0;
        for ((class, _), count) in DIRECTIONS.into_iter().zip(own.counts).filter(|(_, count)| *count > 0) {
            chart.horizontal_bar(class, (from, from + count as f64), row as f64);
            from += count as f64;
        }
        let text = format!("{} ({})", grouped(total(own)), share(Some(from / people.max(1) as f64)));
        chart.label("start plain", (from + 0.02 * most, row as f64), -4.0, &text);
    }
    for (direction, (class, words)) in DIRECTIONS.into_iter().enumerate() {
        if features.iter().any(|own| own.counts[direction] > 0) {
            chart.key(class, Sign::Bar, words);
        }
    }
    chart
}

/// How a group fares; each measure with the ends of its interval.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// The denied people in it.
    pub denied: usize,
    /// The share of them who have a way.
    pub with_way: [f64; 3],
    /// The mean effort of their first ways, if there are any.
    pub effort: Option<[f64; 3]>,
}

/// The share with a way and the mean effort of each group, one chart above the other.
pub fn groups(groups: &[Group]) -> String {
    let names = |title: &str| {
        let name = |group: &Group| format!("{} ({} denied)", group.name, grouped(group.denied));
        Axis::names(title, groups.iter().map(name)).reversed()
    };
    let height = 54.0 + ROW_HEIGHT * groups.len().max(1) as f64;
    let size = (WIDTH, height);
    let title = "Denied people who have a way";
    let mut ways = Chart::new(title, size, Axis::shares(""), names(title));
    let title = "Mean effort of their first way";
    let ends = groups.iter().filter_map(|group| group.effort).flatten();
    let x = Axis::around("", ends.chain([0.0]), 6);
    let mut efforts = Chart::new(title, size, x, names(title));
    for (row, group) in groups.iter().enumerate() {
        let [middle, low, high] = group.with_way;
        dot(&mut ways, row, [middle, low, high], &share(Some(middle)));
        if let Some([middle, low, high]) = group.effort {
            dot(&mut efforts, row, [middle, low, high], &decimal(middle, 1));
        }
    }
    efforts.note("Lines are intervals of 95 %.");
    stacked("How groups of denied people fare", &[ways, efforts])
}

fn dot(chart: &mut Chart, row: usize, [middle, low, high]: [f64; 3], text: &str) {
    let row = row as f64;
    chart.horizontal_interval("exact", (low, high), row);
    chart.mark("exact", Shape::Circle, (middle, row), text);
    chart.label("middle light", (middle, row), 7.0, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_divided_by_direction_and_says_how_many() {
        let features = [FeatureChanges { feature: "Duration".into(), counts: [1, 3, 0] }];
        let svg = changes(8, &features).svg().into_string();
        assert!(svg.contains(">4 (50 %)</text>"), "{svg}");
        assert!(svg.contains(">rises</text>") && !svg.contains("becomes"), "{svg}");
        changes(0, &[]);
    }

    #[test]
    fn a_group_without_a_way_has_no_effort() {
        let group = Group { name: "a".into(), denied: 3, with_way: [0.0, 0.0, 0.5], effort: None };
        let svg = groups(&[group]);
        assert_eq!(svg.matches("class=\"mark exact\"").count(), 1, "{svg}");
        assert_eq!(svg.matches(">a (3 denied)</text>").count(), 2, "{svg}");
    }
}
