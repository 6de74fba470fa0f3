//! From a raw table to codes and back.
mod error;
pub mod schema;
mod suggest;
pub mod table;
pub use error::{CellError, Error};
/// The bin or category of one feature: a position in its domain.
pub type Code = u16;
