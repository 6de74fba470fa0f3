//! From a table to codes and back, and the constraints on a person's changes.
//!
//! | step | module          | takes                                | gives                            |
//! |------|-----------------|--------------------------------------|----------------------------------|
//! | 1    | [`table`]       | a CSV or Parquet file                | [`Batch`]es of text cells        |
//! | 2    | [`schema`]      | a TOML file                          | [`Schema`]: meaning, constraints |
//! | 3    | [`discretizer`] | the schema and the training rows     | [`Discretizer`]: cells ↔ codes   |
//! | 4    | [`coverage`]    | other rows, encoded                  | [`Coverage`] by the bins         |
//! | 5    | [`constraints`] | the schema's constraints, in codes   | [`Mask`]: codes of legal rows    |
//! | 6    | [`candidates`]  | one row and its [`Wishes`]           | [`Candidates`]: values to search |
//!
//! [`german_credit`] is a table to try it on:
//!
//! ```
//! use par_data::{Constraints, Discretizer, DiscretizerConfig, OwnRow, Reach, Wishes, german_credit};
//!
//! let schema = german_credit::schema();
//! let table = german_credit::table();
//! let columns = schema.columns(table.origin(), table.columns())?;
//! let discretizer = Discretizer::fit(&schema, &columns, table.batches(256), &DiscretizerConfig::default())?;
//!
//! let batch = german_credit::table().batches(1).next().expect("a first row")?;
//! let encoded = discretizer.encode(&columns, &batch)?;
//! let (duration, amount) = (schema.position("Duration")?, schema.position("Credit amount")?);
//! assert_eq!(batch.cell(0, columns.features[amount]), "1169");
//!
//! // What this person may change, who keeps the duration of the loan. The schema forbids a larger loan.
//! let cells = columns.cells(&batch, 0);
//! let own = OwnRow::new(&discretizer, &cells, encoded.into_codes());
//! let wishes = Wishes { locks: &[duration], ..Wishes::default() };
//! let constraints = Constraints::new(&discretizer);
//! let candidates = constraints.candidates(&own, &wishes, Reach::Codes);
//! assert!(!candidates.is_free(duration));
//! assert!(candidates.of(amount)[1..].iter().all(|candidate| candidate.number < 1169.0));
//!
//! // A row is one candidate of each feature; its own is the first.
//! let mut row = candidates.durations()[0].row.clone();
//! row[amount] = 1;
//! assert!(candidates.settle(&mut row) && candidates.keeps_relations(&row));
//! assert!(candidates.effort(&row) > 0.0);
//! # Ok::<(), par_data::Error>(())
//! ```

pub mod candidates;
pub mod constraints;
pub mod coverage;
pub mod discretizer;
pub mod german_credit;
pub mod schema;
pub mod table;

mod decimals;
mod error;
mod suggest;

pub use candidates::{Candidate, Candidates, Choice, Duration, OwnRow, Reach, TowardOwn, Wishes};
pub use constraints::{Constraints, LimitError, Limits, Mask, Restriction};
pub use coverage::Coverage;
pub use discretizer::{
    Discretizer, DiscretizerConfig, Domain, DomainSurvey, Encoded, Novelty, RawTerm, ValueMasses,
};
pub use error::{CellError, Error};
pub use schema::{Columns, Feature, Label, Permitted, Schema, SchemaError};
pub use suggest::{found_instead, suggest};
pub use table::{Batch, RowSample, Table, TableOptions};

/// The bin or category of one feature: a position in its [`Domain`]. Feature positions are `usize`, so that
/// the two cannot be confused.
pub type Code = u16;

/// The code of a missing cell, or of a category that training did not see.
pub const UNKNOWN: Code = Code::MAX;
