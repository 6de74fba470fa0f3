//! The space in which rows are compared: ordinary numbers in median absolute deviations, all else as codes.

use par_answer::evaluate::median;
use par_data::{CellError, Code, Discretizer, UNKNOWN};

/// The value of one feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// An ordinary number, in spreads of its column.
    Number(f64),
    /// A category, a special number, or an unknown cell.
    Code(Code),
}

/// A row, in schema order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) values: Vec<Value>,
    pub(crate) codes: Vec<Code>,
}

/// No feature counts for more, so that one absurd number cannot make a mean infinite.
const FARTHEST: f64 = 1e6;

impl Value {
    /// A number and a code. Numbers share a code of their own, codes the number 0.
    fn parts(self) -> (f64, u32) {
        match self {
            Self::Number(number) => (number, u32::MAX),
            Self::Code(code) => (0.0, u32::from(code)),
        }
    }
}

/// Rows to compare with, column after column: a comparison with all of them is a pass over each column.
pub(crate) struct Columns {
    columns: Vec<(Vec<f64>, Vec<u32>)>,
    rows: usize,
}

impl Columns {
    /// The columns of these rows, which have so many features.
    pub(crate) fn new(rows: &[&[Value]], features: usize) -> Self {
        let column = |feature: usize| rows.iter().map(|row| row[feature].parts()).unzip();
        Self { columns: (0..features).map(column).collect(), rows: rows.len() }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// How far a row is from each row, as a sum over features: numbers by their difference in spreads, all else by 1
    /// where it differs. An unknown cell differs from everything except another unknown cell.
    pub(crate) fn distances(&self, own: &[Value], distances: &mut Vec<f64>) {
        distances.clear();
        distances.resize(self.rows, 0.0);
        for (own, (numbers, codes)) in own.iter().zip(&self.columns) {
            let (own_number, own_code) = own.parts();
            for ((distance, number), code) in distances.iter_mut().zip(numbers).zip(codes) {
                let apart = (number - own_number).abs().min(FARTHEST);
                *distance += if *code == own_code { apart } else { 1.0 };
            }
        }
    }
}

/// How cells become values.
pub(crate) struct Space<'m> {
    discretizer: &'m Discretizer,
    units: Vec<Unit>,
}

/// The unit of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    /// Categories have none.
    None,
    /// The median absolute deviation from the median; the standard deviation where that is 0.
    Spread(f64),
    /// All rows have this number. Any other number counts as another code.
    Constant(f64),
}

/// The code of a number in a column that has another one everywhere. No code of a domain is as high.
const OTHER_NUMBER: Code = UNKNOWN - 1;

impl<'m> Space<'m> {
    /// The space whose units are the spreads of these rows.
    ///
    /// # Errors
    /// At the first row with a cell that does not fit its column, with the row's place in `rows`.
    pub(crate) fn new(discretizer: &'m Discretizer, rows: &[&Vec<&str>]) -> Result<Self, (usize, CellError)> {
        let features = discretizer.domains().len();
        let mut numbers: Vec<Vec<f64>> = vec![Vec::new(); features];
        for (place, cells) in rows.iter().enumerate() {
            let codes = discretizer.encode_row(cells).map_err(|error| (place, error))?.into_codes();
            for (feature, numbers) in numbers.iter_mut().enumerate() {
                numbers.extend(ordinary_number(discretizer, feature, cells[feature], codes[feature]));
            }
        }
        Ok(Self { discretizer, units: numbers.into_iter().map(Unit::of).collect() })
    }

    /// The row of these cells.
    ///
    /// # Errors
    /// When a cell does not fit its column.
    pub(crate) fn row(&self, cells: &[&str]) -> Result<Row, CellError> {
        let codes = self.discretizer.encode_row(cells)?.into_codes();
        let value = |feature: usize| {
            let number = ordinary_number(self.discretizer, feature, cells[feature], codes[feature]);
            match (number, self.units[feature]) {
                (Some(number), Unit::Spread(spread)) => Value::Number(number / spread),
                (Some(number), Unit::Constant(constant)) if number == constant => Value::Number(0.0),
                (Some(_), _) => Value::Code(OTHER_NUMBER),
                (None, _) => Value::Code(codes[feature]),
            }
        };
        Ok(Row { values: (0..codes.len()).map(value).collect(), codes })
    }
}

/// The number in a cell, unless it is unknown or a special number.
fn ordinary_number(discretizer: &Discretizer, feature: usize, cell: &str, code: Code) -> Option<f64> {
    let domain = &discretizer.domains()[feature];
    let is_ordinary = code != UNKNOWN && usize::from(code) < domain.ordinary() && domain.summary().is_some();
    is_ordinary.then(|| discretizer.schema().features()[feature].number(cell).ok())?
}

impl Unit {
    fn of(numbers: Vec<f64>) -> Self {
        let Some(&first) = numbers.first() else { return Self::None };
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let variance =
            numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / numbers.len() as f64;
        let is_constant = numbers.iter().all(|number| *number == first);
        let middle = median(numbers.clone()).unwrap_or(first);
        let deviation = median(numbers.into_iter().map(|number| (number - middle).abs()).collect());
        let deviation = deviation.filter(|deviation| *deviation > 0.0).unwrap_or_else(|| variance.sqrt());
        // A spread beyond all bounds would make numbers of nothing out of numbers.
        match deviation.is_finite() && deviation > 0.0 && !is_constant {
            true => Self::Spread(deviation),
            false => Self::Constant(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_the_mad_then_the_standard_deviation_then_nothing() {
        // The median is 3, the deviations from it 2, 1, 0, 1, 97.
        assert_eq!(Unit::of(vec![1.0, 2.0, 3.0, 4.0, 100.0]), Unit::Spread(1.0));
        assert_eq!(Unit::of(vec![0.0, 0.0, 0.0, 4.0]), Unit::Spread(3.0_f64.sqrt()));
        assert_eq!(Unit::of(vec![0.1; 7]), Unit::Constant(0.1));
        assert_eq!(Unit::of(vec![]), Unit::None);
        assert_eq!(Unit::of(vec![-1e308, 0.0, 0.0, 0.0, 1e308]), Unit::Constant(-1e308));
    }

    #[test]
    fn rows_differ_by_numbers_or_by_one() {
        use Value::{Code, Number};
        let cases = [
            (Number(1.0), Number(3.5), 2.5),
            (Number(-1e300), Number(1e300), FARTHEST),
            (Code(1), Code(1), 0.0),
            (Code(1), Code(3), 1.0),
            (Code(UNKNOWN), Code(UNKNOWN), 0.0),
            (Code(UNKNOWN), Number(9.0), 1.0),
            (Number(9.0), Code(UNKNOWN), 1.0),
        ];
        let mut found = Vec::new();
        for (own, other, expected) in cases {
            Columns::new(&[&[other]], 1).distances(&[own], &mut found);
            assert_eq!(found, [expected], "{own:?} and {other:?}");
        }
        let rows = [[Number(0.5), Code(0)], [Number(1.0), Code(2)], [Number(4.0), Code(2)]];
        let rows = Columns::new(&rows.each_ref().map(<[Value; 2]>::as_slice), 2);
        rows.distances(&[Number(1.0), Code(2)], &mut found);
        assert_eq!(found, [1.5, 0.0, 3.0]);
    }
}
