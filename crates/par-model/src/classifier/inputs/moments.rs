//! Means and deviations of training rows.

use std::sync::Arc;

use par_data::schema::parse_number;
use par_data::{Batch, CellError, Columns, Error, Feature, Schema};

use super::column::{Column, Form, Plain};

/// Mean and squared deviations of the numbers so far, after Welford.
#[derive(Clone, Copy, Default)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, number: f64) {
        self.count += 1;
        let from_old = number - self.mean;
        self.mean += from_old / self.count as f64;
        self.squares += from_old * (number - self.mean);
    }

    /// 1 for a constant column, as in scikit-learn.
    fn deviation(&self) -> f64 {
        let deviation = (self.squares / self.count as f64).sqrt();
        if deviation > 0.0 { deviation } else { 1.0 }
    }
}

/// The number in a cell that is not missing, if single precision holds it; `None` for an unknown category.
pub(super) fn number(feature: &Feature, cell: &str) -> Result<Option<f64>, CellError> {
    match parse_number(cell).filter(|number| number.abs() <= f64::from(f32::MAX)) {
        None if feature.kind.is_numeric() || !feature.missing => {
            Err(CellError::NotANumber { column: feature.name.clone(), found: cell.to_string() })
        }
        number => Ok(number),
    }
}

/// Fills in absent means and deviations from the rows.
pub(super) fn fill_in<'a>(
    entries: impl Iterator<Item = &'a mut Column>,
    schema: &Schema,
    columns: &Columns,
    batches: impl IntoIterator<Item = Result<Batch, Error>>,
) -> Result<(), Error> {
    let mut open = Vec::new();
    for Column { feature, form, missing } in entries {
        if let Form::Standardize { mean, deviation } = form
            && (mean.is_none() || deviation.is_none())
        {
            let filler = match missing {
                Some(Plain::Number(number)) => Some(*number),
                _ => None,
            };
            open.push((schema.position(feature)?, filler, Moments::default(), mean, deviation));
        }
    }
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        rows += batch.rows() as u64;
        for (position, filler, moments, ..) in &mut open {
            let feature = &schema.features()[*position];
            for row in 0..batch.rows() {
                let cell = batch.cell(row, columns.features[*position]);
                let number = match schema.is_missing(feature, cell.trim()) {
                    Ok(true) => Ok(*filler),
                    Ok(false) => number(feature, cell).map(|number| number.or(*filler)),
                    Err(error) => Err(error),
                };
                let number = number.map_err(|source| Error::Cell { place: batch.place(row), source })?;
                number.into_iter().for_each(|number| moments.add(number));
            }
        }
    }
    if rows == 0 {
        return Err(Error::NoRows { origin: Arc::clone(&columns.origin) });
    }
    for (position, _, moments, mean, deviation) in open {
        if moments.count == 0 {
            let column = schema.features()[position].name.clone();
            return Err(Error::AllMissing { origin: Arc::clone(&columns.origin), column, rows });
        }
        mean.get_or_insert(moments.mean);
        deviation.get_or_insert(moments.deviation());
    }
    Ok(())
}
