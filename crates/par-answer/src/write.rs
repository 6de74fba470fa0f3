//! Writes answers as CSV, JSON or text.

mod csv;
mod json;
mod text;

pub use self::csv::{COLUMNS, Line, column_name, csv_header, csv_lines, names, renamed};
pub use self::json::{AnswerJson, PointJson};
