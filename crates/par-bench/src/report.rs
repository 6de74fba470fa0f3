//! The report of a run: tables, charts and a page, made from figures and from what is published, and nothing else.
//!
//! | file                | what it holds                                                                  |
//! |---------------------|--------------------------------------------------------------------------------|
//! | `report/report.toml` | every experiment: its words, its tables with their measures, its plots        |
//! | `report/description` | the same as types; a table from rows                                          |
//! | `report/answers` …  | an experiment each: which rows its tables have, what its plots draw            |
//! | `report/measured`   | the figures of a case by method and measure                                    |
//! | `report/methods`    | who answers, and how they look                                                 |
//! | `report/table`      | a table, its cells, and both as text                                           |
//! | `report/plot`       | charts with a title, a caption and a file name; marks beside the names of rows |
//! | `report/interval`   | Wilson's, Newcombe's and Welch's intervals                                     |
//! | `report/page`       | all of it as one page that needs nothing but a browser                         |
//!
//! The same figures give the same bytes. What there are no figures for is left out.

mod ablations;
mod answers;
mod density;
mod description;
mod encoder;
mod fairness;
mod growth;
mod interval;
mod measured;
mod methods;
mod page;
mod pareto;
mod people;
mod plot;
mod quality;
mod robustness;
mod table;

use serde::Serialize;

use crate::experiment::Experiment;
use crate::figures::Figures;
use measured::Measured;

pub use plot::Plot;
pub use table::{Cell, Number, Row, Source, Table};

/// What an experiment has to show of one case.
#[derive(Default)]
struct Shown {
    case: String,
    tables: Vec<Table>,
    plots: Vec<Plot>,
}

impl Shown {
    /// Tables and plots, of which those are absent that there are no figures for.
    fn new(
        tables: impl IntoIterator<Item = Option<Table>>,
        plots: impl IntoIterator<Item = Option<Plot>>,
    ) -> Self {
        let (tables, plots) = (tables.into_iter().flatten().collect(), plots.into_iter().flatten().collect());
        Self { case: String::new(), tables, plots }
    }
}

/// An experiment with all that is shown of it.
struct Section {
    experiment: Experiment,
    across: Vec<Plot>,
    cases: Vec<Shown>,
}

impl Section {
    fn new(experiment: Experiment, cases: &mut [Measured<'_>]) -> Self {
        let show = match experiment {
            Experiment::Answers => answers::show,
            Experiment::Ablations => ablations::show,
            Experiment::Encoder => encoder::show,
            Experiment::Robustness => robustness::show,
            Experiment::Quality => quality::show,
            Experiment::Density => density::show,
            Experiment::Fairness => fairness::show,
            Experiment::Growth => growth::show,
        };
        let mut shown = Vec::new();
        for measured in cases {
            measured.topic = experiment;
            let own = Shown { case: measured.case.to_string(), ..show(measured) };
            if !(own.tables.is_empty() && own.plots.is_empty()) {
                shown.push(own);
            }
        }
        let across = if experiment == Experiment::Answers { answers::local_search(&shown) } else { None };
        Self { experiment, across: across.into_iter().collect(), cases: shown }
    }
}

/// A report of figures.
pub struct Report {
    cases: Vec<String>,
    sections: Vec<Section>,
}

/// Tables, to be read by programs.
#[derive(Serialize)]
struct Numbers {
    tables: Vec<Table>,
}

impl Report {
    /// Of all figures of a run.
    pub fn new(figures: &Figures) -> Self {
        let mut cases = Measured::by_case(figures);
        let sections = Experiment::ALL.map(|experiment| Section::new(experiment, &mut cases)).into();
        Self { cases: cases.iter().map(|measured| measured.case.to_string()).collect(), sections }
    }

    /// The tables of a topic, case by case.
    pub fn tables(&self, topic: Experiment) -> Vec<&Table> {
        let own = self.sections.iter().filter(|section| section.experiment == topic);
        own.flat_map(|section| &section.cases).flat_map(|case| &case.tables).collect()
    }

    /// The same as plain text, for a terminal or a document; empty where there are no figures of the topic.
    pub fn text(&self, topic: Experiment) -> String {
        let texts: Vec<String> = self.tables(topic).into_iter().map(Table::text).collect();
        texts.join("\n")
    }

    /// The tables of some topics, to be read by programs.
    pub fn json(&self, topics: &[Experiment]) -> impl Serialize + use<> {
        Numbers { tables: topics.iter().flat_map(|&topic| self.tables(topic)).cloned().collect() }
    }

    /// The charts, topic by topic.
    pub fn plots(&self) -> impl Iterator<Item = &Plot> {
        self.sections.iter().flat_map(|section| {
            section.across.iter().chain(section.cases.iter().flat_map(|case| &case.plots))
        })
    }

    /// The charts as files of their own: names and texts.
    pub fn svgs(&self) -> Vec<(String, String)> {
        self.plots().flat_map(Plot::files).collect()
    }

    /// The whole of it as a page.
    pub fn html(&self) -> String {
        page::html(&self.cases, &self.sections)
    }
}
