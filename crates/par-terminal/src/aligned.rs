//! Text for a terminal: columns that line up, and numbers that can be read.

pub use par_plot::text::{Side, aligned, grouped};

/// Titled facts, one a line.
#[derive(Debug, Default)]
pub struct Facts(Vec<[String; 2]>);

impl Facts {
    /// Adds one.
    pub fn add(&mut self, title: &str, fact: impl Into<String>) {
        self.0.push([title.to_string(), fact.into()]);
    }

    /// All of them, in two columns.
    pub fn text(&self) -> String {
        aligned([Side::Left, Side::Left], &self.0)
    }
}

/// A share of one as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}
