//! Groups of people: by the codes of a feature, or by the texts of another column.

use par_data::{Batch, Code, Columns, suggest};
use par_model::Model;

use crate::words;

/// A column may have at most so many different texts, if it is no feature.
pub const MOST_GROUPS: usize = 100;

/// People by one column of the table.
pub struct Grouping<'m> {
    /// The column's name.
    pub name: String,
    column: usize,
    /// The model that has it as a feature, and its position there.
    feature: Option<(&'m Model, usize)>,
}

/// A group: its place among those of its column, and its name.
pub(super) type Group = (u32, String);

/// The place of a cell that does not fit its feature: after all codes.
const UNREADABLE: u32 = Code::MAX as u32 + 1;

impl<'m> Grouping<'m> {
    /// People by a column: by its codes in the first model that has it as a feature, otherwise by its texts. `sides`
    /// are models and their columns in the table, `header` the names of its columns.
    ///
    /// # Errors
    /// When the table has no such column: in words, with a suggestion.
    pub fn new(name: &str, header: &[String], sides: [(&'m Model, &Columns); 2]) -> Result<Self, String> {
        let feature = sides.into_iter().find_map(|(model, columns)| {
            let position = model.schema().features().iter().position(|feature| feature.name == name)?;
            Some((model, position, columns.features[position]))
        });
        let name = name.to_string();
        if let Some((model, position, column)) = feature {
            return Ok(Self { name, column, feature: Some((model, position)) });
        }
        match header.iter().position(|column| column.trim() == name) {
            Some(column) => Ok(Self { name, column, feature: None }),
            None => Err(format!("no column `{name}` to group by{}", suggest(&name, header))),
        }
    }

    /// Whether the groups are the texts of a column, of which there may be any number.
    pub(super) fn is_open(&self) -> bool {
        self.feature.is_none()
    }

    /// The group of a row.
    pub(super) fn group(&self, batch: &Batch, row: usize) -> Group {
        let cell = batch.cell(row, self.column);
        let Some((model, position)) = self.feature else { return (0, cell.trim().to_string()) };
        let (feature, domain) =
            (&model.schema().features()[position], &model.discretizer().domains()[position]);
        match model.discretizer().code(position, cell) {
            Ok(code) => (u32::from(code), words::code(feature, domain, code)),
            Err(_) => (UNREADABLE, "cannot be read".to_string()),
        }
    }
}
