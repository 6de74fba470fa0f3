//! Text for a terminal: aligned columns and readable numbers.

pub use par_plot::text::{Align, aligned, grouped, printable, printable_lines};

/// Facts with titles, one a line.
#[derive(Debug, Default)]
pub struct Facts(Vec<[String; 2]>);

impl Facts {
    /// Adds a fact.
    pub fn add(&mut self, title: &str, fact: impl Into<String>) {
        self.0.push([title.to_string(), fact.into()]);
    }

    /// All facts, in two columns.
    pub fn text(&self) -> String {
        aligned([Align::Left, Align::Left], &self.0)
    }
}

/// A share of one as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}
