//! Writes answers: as lines of CSV, as JSON, as text.

mod csv;
mod json;
mod text;

pub use self::csv::{COLUMNS, Line, column_name, csv_header, csv_lines, names, renamed};
pub use self::json::{AnswerJson, PointJson};
