//! The report of a run: tables, charts and a page, made from figures and from what is published, and nothing else.
//!
//! | file                | what it holds                                                    |
//! |---------------------|------------------------------------------------------------------|
//! | `report/view`       | figures by case, method and measure                              |
//! | `report/methods`    | who answers, and how they look                                   |
//! | `report/table`      | a table before it is text or a page                              |
//! | `report/tables/…`   | the tables, a file a topic                                       |
//! | `report/plot`       | charts with a title, a caption and a file name                   |
//! | `report/plots/…`    | the charts, a file each                                          |
//! | `report/interval`   | Wilson's, Newcombe's and Welch's intervals                       |
//! | `report/text`       | tables as plain text                                             |
//! | `report/page`       | all of it as one page that needs nothing but a browser           |
//!
//! The same figures give the same bytes. What there are no figures for is left out.

mod interval;
mod methods;
mod page;
mod plot;
mod plots;
mod table;
mod tables;
mod text;
mod view;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::experiment::Experiment;
use crate::figures::Figures;

pub use plot::Plot;
pub use table::{Cell, Number, Row, Source, Table};

/// A report of figures.
pub struct Report<'f> {
    view: view::View<'f>,
}

/// Tables, to be read by programs.
#[derive(Serialize)]
struct Numbers {
    tables: Vec<Table>,
}

impl<'f> Report<'f> {
    /// Of all figures of a run.
    pub fn new(figures: &'f Figures) -> Self {
        Self { view: view::View::new(figures) }
    }

    /// The tables of a topic, case by case.
    pub fn tables(&self, topic: Experiment) -> Vec<Table> {
        tables::tables(&self.view, topic)
    }

    /// The same as plain text, for a terminal or a document; empty where there are no figures of the topic.
    pub fn text(&self, topic: Experiment) -> String {
        let texts: Vec<String> = self.tables(topic).iter().map(text::table).collect();
        texts.join("\n")
    }

    /// The tables of some topics, to be read by programs.
    pub fn json(&self, topics: &[Experiment]) -> impl Serialize + use<> {
        Numbers { tables: topics.iter().flat_map(|&topic| self.tables(topic)).collect() }
    }

    /// The charts, topic by topic.
    pub fn plots(&self) -> Vec<Plot> {
        plots::plots(&self.view)
    }

    /// The charts as files of their own: names and texts.
    pub fn svgs(&self) -> Vec<(String, String)> {
        self.plots().iter().flat_map(Plot::files).collect()
    }

    /// The whole of it as a page.
    pub fn html(&self) -> String {
        let tables: Vec<Table> = Experiment::ALL.into_iter().flat_map(|topic| self.tables(topic)).collect();
        page::html(self.view.cases(), &tables, &self.plots())
    }
}
