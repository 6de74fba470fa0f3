//! Nearest neighbours by comparing with every row, and the local outlier factor.

use par_circuit::threads;

use crate::space::{Columns, Row, Value};

/// Neighbours behind the local outlier factor.
const NEIGHBOURS: usize = 20;

/// Neighbours whose mean distance is reported.
const NEAREST: usize = 5;

/// Rows whose local outlier factor is higher are outliers: scikit-learn's `contamination="auto"`, as in the paper that
/// defined the factor.
const OUTLIER: f64 = 1.5;

/// What scikit-learn adds to a reachability, so that the density of repeated rows is finite.
const LEAST_REACHABILITY: f64 = 1e-10;

/// A neighbour: its distance, and its place among the rows.
type Neighbour = (f64, usize);

/// How a row lies among its neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Surroundings {
    /// The mean distance of the five nearest rows.
    pub(crate) distance: f64,
    /// The local outlier factor: how much denser its neighbours lie than the row itself.
    pub(crate) outlier_factor: f64,
}

impl Surroundings {
    pub(crate) fn is_outlier(self) -> bool {
        self.outlier_factor > OUTLIER
    }
}

/// Rows and how they lie among each other.
pub(crate) struct Neighbourhood {
    rows: Columns,
    /// The neighbours of each row, without itself, the nearest first.
    neighbours: Vec<Vec<Neighbour>>,
    /// The local reachability density of each row.
    densities: Vec<f64>,
}

impl Neighbourhood {
    pub(crate) fn new(rows: &[Row]) -> Self {
        let features = rows.first().map_or(0, |row| row.values.len());
        let values: Vec<&[Value]> = rows.iter().map(|row| row.values.as_slice()).collect();
        let columns = Columns::new(&values, features);
        let neighbours = threads::map_with(rows.iter().enumerate(), Vec::new, |distances, (own, row)| {
            columns.distances(&row.values, distances);
            nearest(distances, Some(own))
        });
        let mut all = Self { rows: columns, neighbours, densities: Vec::new() };
        all.densities = all.neighbours.iter().map(|neighbours| all.density(neighbours)).collect();
        all
    }

    /// How new rows lie among the rows.
    pub(crate) fn of(&self, new: &[&Row]) -> Vec<Surroundings> {
        threads::map_with(new, Vec::new, |distances, row| {
            self.rows.distances(&row.values, distances);
            let neighbours = nearest(distances, None);
            self.surroundings(&neighbours, self.density(&neighbours))
        })
    }

    /// How each row lies among the others.
    pub(crate) fn own(&self) -> Vec<Surroundings> {
        let rows = self.neighbours.iter().zip(&self.densities);
        rows.map(|(neighbours, density)| self.surroundings(neighbours, *density)).collect()
    }

    fn surroundings(&self, neighbours: &[Neighbour], density: f64) -> Surroundings {
        let of_neighbours = mean(neighbours.iter().map(|&(_, row)| self.densities[row]));
        let nearest = neighbours.iter().take(NEAREST).map(|&(distance, _)| distance);
        Surroundings { distance: mean(nearest), outlier_factor: of_neighbours / density }
    }

    fn density(&self, neighbours: &[Neighbour]) -> f64 {
        let farthest = |row: usize| self.neighbours[row].last().map_or(0.0, |&(distance, _)| distance);
        let reachability = mean(neighbours.iter().map(|&(distance, row)| distance.max(farthest(row))));
        1.0 / (reachability + LEAST_REACHABILITY)
    }
}

/// The nearest rows by their distances, the nearest first; of equally near ones the first.
fn nearest(distances: &[f64], except: Option<usize>) -> Vec<Neighbour> {
    let mut nearest: Vec<Neighbour> = Vec::with_capacity(NEIGHBOURS + 1);
    let mut limit = f64::INFINITY;
    for (place, &distance) in distances.iter().enumerate() {
        if distance < limit && Some(place) != except {
            let after = nearest.partition_point(|neighbour| neighbour.0 <= distance);
            nearest.insert(after, (distance, place));
            nearest.truncate(NEIGHBOURS);
            limit = nearest.get(NEIGHBOURS - 1).map_or(f64::INFINITY, |last| last.0);
        }
    }
    nearest
}

/// The mean of at least one number.
fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = numbers.len() as f64;
    numbers.sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: f64) -> Row {
        Row { values: vec![Value::Number(number)], codes: Vec::new() }
    }

    #[test]
    fn the_nearest_come_first_and_equally_near_ones_in_their_order() {
        let distances = [3.0, 1.0, 1.0, 0.0];
        assert_eq!(nearest(&distances, None), [(0.0, 3), (1.0, 1), (1.0, 2), (3.0, 0)]);
        assert_eq!(nearest(&distances, Some(3)), [(1.0, 1), (1.0, 2), (3.0, 0)]);
        let many: Vec<f64> = (0..100).map(|row| f64::from(row * 7 % 100)).collect();
        assert!(nearest(&many, None).iter().map(|of| of.0).eq((0..20).map(f64::from)));
    }

    #[test]
    fn a_row_far_from_all_others_is_an_outlier() {
        let rows: Vec<Row> = (0..100).map(|number| row(f64::from(number))).collect();
        let rows = Neighbourhood::new(&rows);
        let found = rows.of(&[&row(50.0), &row(200.0)]);
        // 50 itself, and twice 49 and 51, 48 and 52.
        assert_eq!(found[0].distance, (0.0 + 1.0 + 1.0 + 2.0 + 2.0) / 5.0);
        assert_eq!(found[1].distance, 103.0);
        assert_eq!(found.iter().map(|row| row.is_outlier()).collect::<Vec<_>>(), [false, true]);
        let own = rows.own();
        assert_eq!(own[50].distance, (1.0 + 1.0 + 2.0 + 2.0 + 3.0) / 5.0);
        assert!(own.iter().all(|row| !row.is_outlier()));
    }

    #[test]
    fn repeated_rows_have_a_finite_density() {
        let rows: Vec<Row> = (0..60).map(|_| row(1.0)).collect();
        let rows = Neighbourhood::new(&rows);
        let found = rows.of(&[&row(1.0), &row(2.0)]);
        assert_eq!(found[0], Surroundings { distance: 0.0, outlier_factor: 1.0 });
        assert!(found[1].is_outlier() && found[1].outlier_factor.is_finite());
    }
}
