//! From a table to codes and back, and the constraints on a person's changes.
//!
//! | step | module          | takes                                | gives                            |
//! |------|-----------------|--------------------------------------|----------------------------------|
//! | 1    | [`table`]       | a CSV or Parquet file                | [`Batch`]es of text cells        |
//! | 2    | [`schema`]      | a TOML file                          | [`Schema`]: meaning, constraints |
//! | 3    | [`discretizer`] | the schema and the training rows     | [`Discretizer`]: cells ↔ codes   |
//! | 4    | [`coverage`]    | other rows, encoded                  | [`Coverage`] by the bins         |
//! | 5    | [`constraints`] | one row's codes, locks and [`Limits`] | [`Mask`]: the legal rows         |
//!
//! [`german_credit`] is a table to try it on:
//!
//! ```
//! use par_data::{Constraints, Discretizer, DiscretizerConfig, german_credit};
//!
//! let schema = german_credit::schema();
//! let table = german_credit::table();
//! let columns = schema.columns(table.origin(), table.columns())?;
//! let discretizer = Discretizer::fit(&schema, &columns, table.batches(256), &DiscretizerConfig::default())?;
//!
//! let batch = german_credit::table().batches(1).next().expect("a first row")?;
//! let encoded = discretizer.encode(&columns, &batch)?;
//! let person = encoded.codes();
//! let (duration, amount) = (schema.position("Duration")?, schema.position("Credit amount")?);
//! assert_eq!(batch.cell(0, columns.features[amount]), "1169");
//!
//! // The schema forbids a larger loan, and this person locks its duration.
//! let constraints = Constraints::new(&discretizer);
//! let mask = constraints.mask(person, &[duration]);
//! assert!(mask.allows(amount, person[amount] - 1) && !mask.allows(amount, person[amount] + 1));
//! assert!(!mask.is_free(duration));
//!
//! // The argmax over legal rows is legal, also when all logits are equal.
//! let logits = vec![0.0; constraints.codes()];
//! assert!(mask.is_legal(&mask.argmax(&logits)));
//!
//! // Two codes up is an interval of months; the number nearest to this person's 6 is 12.
//! let duration_cell = batch.cell(0, columns.features[duration]);
//! let decoded = discretizer.decode(duration, person[duration] + 2, person[duration], duration_cell);
//! assert_eq!((duration_cell, decoded.text()), ("6", "12"));
//! # Ok::<(), par_data::Error>(())
//! ```

pub mod constraints;
pub mod coverage;
pub mod discretizer;
pub mod german_credit;
pub mod schema;
pub mod table;

mod error;
mod suggest;

pub use constraints::{Constraints, LimitError, Limits, Mask, Restriction};
pub use coverage::Coverage;
pub use discretizer::{Decoded, Discretizer, DiscretizerConfig, Domain, Encoded, Novelty};
pub use error::{CellError, Error};
pub use schema::{Columns, Feature, Label, Permitted, Schema, SchemaError};
pub use suggest::{found_instead, suggest};
pub use table::{Batch, Table, TableOptions};

/// The bin or category of one feature: a position in its [`Domain`]. Feature positions are `usize`, so that
/// the two cannot be confused.
pub type Code = u16;

/// The code of a missing cell, or of a category that training did not see.
pub const UNKNOWN: Code = Code::MAX;
