//! Gradient-boosted trees that tell two classes apart: logistic loss, histograms, trees of depth 4.
//!
//! Settings are those of scikit-learn's `HistGradientBoostingClassifier(max_depth=4, max_leaf_nodes=None,
//! early_stopping=False)`, so that scores differ only by rounding.

const ROUNDS: usize = 100;
const DEPTH: usize = 4;
const LEARNING_RATE: f64 = 0.1;
const LEAST_ROWS: u32 = 20;
const LEAST_CURVATURE: f64 = 1e-3;
const BINS: usize = 255;

/// Rows of numbers, column after column, and the class of each row.
pub struct Examples {
    /// The columns.
    pub columns: Vec<Vec<f64>>,
    /// The class of each row.
    pub classes: Vec<bool>,
}

/// Trained trees.
pub struct BoostedTrees {
    prior: f64,
    trees: Vec<Node>,
}

/// A node of a tree.
enum Node {
    Leaf(f64),
    /// Rows with at most `threshold` in `column` go to the first child.
    Split {
        column: usize,
        threshold: f64,
        children: Box<[Node; 2]>,
    },
}

impl BoostedTrees {
    /// Trees for the rows at some places, which should be of both classes.
    pub fn fit(examples: &Examples, rows: &[usize]) -> Self {
        let columns: Vec<BinnedColumn> = (0..examples.columns.len())
            .map(|column| BinnedColumn::new(column, &examples.columns[column], rows))
            .filter(|column| !column.thresholds.is_empty())
            .collect();
        let classes: Vec<f64> = rows.iter().map(|&row| f64::from(u8::from(examples.classes[row]))).collect();
        let share = classes.iter().sum::<f64>() / rows.len() as f64;
        let prior = (share / (1.0 - share)).ln();
        let mut scores = vec![prior; rows.len()];
        let mut trees = Vec::with_capacity(ROUNDS);
        let mut places: Vec<usize> = (0..rows.len()).collect();
        for _ in 0..ROUNDS {
            let slopes =
                scores.iter().zip(&classes).map(|(score, class)| Slope::new(*score, *class)).collect();
            let mut grower = Grower { columns: &columns, slopes, scores: &mut scores };
            trees.push(grower.grow(&mut places, 0));
        }
        Self { prior, trees }
    }

    /// The log-odds of the second class for a row with these numbers by column.
    pub fn log_odds(&self, number: impl Fn(usize) -> f64) -> f64 {
        let leaf = |mut node: &Node| loop {
            match node {
                Node::Leaf(value) => return *value,
                Node::Split { column, threshold, children } => {
                    node = &children[usize::from(number(*column) > *threshold)];
                }
            }
        };
        self.prior + self.trees.iter().map(leaf).sum::<f64>()
    }
}

/// A column of the rows to learn from, as bins.
struct BinnedColumn {
    /// Its place among all columns.
    column: usize,
    /// The highest number of each bin but the last.
    thresholds: Vec<f64>,
    bins: Vec<u8>,
}

impl BinnedColumn {
    /// A bin for each different number, or, of more than 255, bins of about as many rows each.
    fn new(column: usize, numbers: &[f64], rows: &[usize]) -> Self {
        let mut sorted: Vec<f64> = rows.iter().map(|&row| numbers[row]).collect();
        sorted.sort_by(f64::total_cmp);
        let mut different = sorted.clone();
        different.dedup();
        let thresholds = if different.len() <= BINS {
            different.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect()
        } else {
            let mut thresholds: Vec<f64> = (1..BINS).map(|bin| quantile(&sorted, bin)).collect();
            thresholds.dedup();
            thresholds
        };
        let bin = |&row: &usize| thresholds.partition_point(|threshold| *threshold < numbers[row]) as u8;
        Self { column, bins: rows.iter().map(bin).collect(), thresholds }
    }
}

/// The number below which `bin` of [`BINS`] equal parts of sorted numbers are; between two numbers their midpoint.
fn quantile(sorted: &[f64], bin: usize) -> f64 {
    let (place, between) = (bin * sorted.len() / BINS, (bin * sorted.len()).is_multiple_of(BINS));
    if between { f64::midpoint(sorted[place - 1], sorted[place]) } else { sorted[place] }
}

/// First and second derivative of the loss by the score.
#[derive(Clone, Copy, Default)]
struct Slope {
    gradient: f64,
    curvature: f64,
}

impl Slope {
    fn new(score: f64, class: f64) -> Self {
        let probability = 1.0 / (1.0 + (-score).exp());
        Self { gradient: probability - class, curvature: probability * (1.0 - probability) }
    }
}

/// The sums of some rows.
#[derive(Clone, Copy, Default)]
struct Sums {
    slope: Slope,
    rows: u32,
}

impl Sums {
    fn add(&mut self, slope: Slope, rows: u32) {
        self.slope.gradient += slope.gradient;
        self.slope.curvature += slope.curvature;
        self.rows += rows;
    }

    fn minus(self, other: Self) -> Self {
        let gradient = self.slope.gradient - other.slope.gradient;
        let curvature = self.slope.curvature - other.slope.curvature;
        Self { slope: Slope { gradient, curvature }, rows: self.rows - other.rows }
    }

    /// How much the best common score of these rows lowers the loss, times two.
    fn gain(self) -> f64 {
        self.slope.gradient.powi(2) / self.slope.curvature
    }

    fn may_be_leaf(self) -> bool {
        self.rows >= LEAST_ROWS && self.slope.curvature >= LEAST_CURVATURE
    }
}

/// Where a node is best split.
struct BestSplit<'a> {
    gain: f64,
    column: &'a BinnedColumn,
    bin: u8,
}

/// Grows one tree.
struct Grower<'a> {
    columns: &'a [BinnedColumn],
    slopes: Vec<Slope>,
    scores: &'a mut [f64],
}

impl<'a> Grower<'a> {
    /// The tree of these rows, which also raises their scores by what it says of them.
    fn grow(&mut self, rows: &mut [usize], depth: usize) -> Node {
        let mut all = Sums::default();
        rows.iter().for_each(|&row| all.add(self.slopes[row], 1));
        let Some(BestSplit { column, bin, .. }) = self.split(rows, all, depth) else {
            let value = -LEARNING_RATE * all.slope.gradient / all.slope.curvature.max(f64::MIN_POSITIVE);
            rows.iter().for_each(|&row| self.scores[row] += value);
            return Node::Leaf(value);
        };
        // Stable, so that sums are added in the same order at every depth.
        rows.sort_by_key(|&row| column.bins[row] > bin);
        let (left, right) = rows.split_at_mut(rows.partition_point(|&row| column.bins[row] <= bin));
        let children = [self.grow(left, depth + 1), self.grow(right, depth + 1)];
        Node::Split {
            column: column.column,
            threshold: column.thresholds[usize::from(bin)],
            children: children.into(),
        }
    }

    fn split(&self, rows: &[usize], all: Sums, depth: usize) -> Option<BestSplit<'a>> {
        if depth == DEPTH || all.rows < 2 * LEAST_ROWS {
            return None;
        }
        let mut best: Option<BestSplit<'a>> = None;
        for column in self.columns {
            let mut bins = [Sums::default(); BINS];
            for &row in rows {
                bins[usize::from(column.bins[row])].add(self.slopes[row], 1);
            }
            let mut left = Sums::default();
            for (bin, sums) in (0..).zip(&bins[..column.thresholds.len()]) {
                left.add(sums.slope, sums.rows);
                let right = all.minus(left);
                if !left.may_be_leaf() || !right.may_be_leaf() {
                    continue;
                }
                let gain = left.gain() + right.gain() - all.gain();
                if gain > best.as_ref().map_or(0.0, |best| best.gain) {
                    best = Some(BestSplit { gain, column, bin });
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two columns of which only their combination tells the classes apart, and one that says nothing.
    fn examples() -> Examples {
        let column = |of: fn(usize) -> usize| (0..400).map(|row| of(row) as f64).collect();
        Examples {
            columns: vec![column(|row| row % 2), column(|row| row / 2 % 2), column(|_| 7)],
            classes: (0..400).map(|row| row % 2 == row / 2 % 2 && row % 10 != 0).collect(),
        }
    }

    #[test]
    fn trees_find_a_combination() {
        let examples = examples();
        let rows: Vec<usize> = (0..400).collect();
        let trees = BoostedTrees::fit(&examples, &rows);
        // Of rows with equal columns, four fifths or all are of the second class; of others none.
        for row in rows {
            let is_equal = row % 2 == row / 2 % 2;
            assert_eq!(trees.log_odds(|column| examples.columns[column][row]) > 0.0, is_equal, "row {row}");
        }
    }

    #[test]
    fn numbers_without_end_have_a_bin_of_their_own() {
        let mut columns = vec![vec![f64::NEG_INFINITY; 50]];
        columns[0].extend((0..50).map(f64::from));
        let examples = Examples { columns, classes: (0..100).map(|row| row < 50).collect() };
        let rows: Vec<usize> = (0..100).collect();
        let trees = BoostedTrees::fit(&examples, &rows);
        let log_odds = |row: usize| trees.log_odds(|column| examples.columns[column][row]);
        assert!(log_odds(0) > 3.0 && log_odds(50) < -3.0);
    }
}
