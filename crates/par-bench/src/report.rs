//! The report of a run: tables, charts and a page, made only from figures and published ones.
//!
//! | file                | contents                                                                       |
//! |---------------------|--------------------------------------------------------------------------------|
//! | `report/report.toml` | every experiment: its words, its tables with their measures, its plots        |
//! | `report/description` | the same as types; a table from rows                                          |
//! | `report/answers` …  | an experiment each: which rows its tables have, what its plots draw            |
//! | `report/measured`   | the figures of a case by method and measure                                    |
//! | `report/methods`    | the names and marks of methods                                                 |
//! | `report/table`      | a table, its cells, and both as text                                           |
//! | `report/plot`       | charts with a title, a caption and a file name; marks beside the names of rows |
//! | `report/interval`   | Wilson's, Newcombe's and Welch's intervals                                     |
//! | `report/page`       | the report as one self-contained page                                          |
//!
//! The same figures give the same bytes. Tables and plots without figures are left out.

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
mod peers;
mod people;
mod plot;
mod quality;
mod robustness;
mod settings;
mod table;
mod weights;

use serde::Serialize;

use crate::experiment::Experiment;
use crate::figures::Figures;
use measured::Measured;

pub use plot::Plot;
pub(crate) use plot::slug;
pub use table::{CellNumber, FigureSource, ReportCell, ReportRow, ReportTable};

/// The tables and plots of an experiment for one case.
#[derive(Default)]
struct CaseSection {
    case: String,
    tables: Vec<ReportTable>,
    plots: Vec<Plot>,
}

impl CaseSection {
    /// Keeps the tables and plots that have figures.
    fn new(
        tables: impl IntoIterator<Item = Option<ReportTable>>,
        plots: impl IntoIterator<Item = Option<Plot>>,
    ) -> Self {
        let (tables, plots) = (tables.into_iter().flatten().collect(), plots.into_iter().flatten().collect());
        Self { case: String::new(), tables, plots }
    }
}

/// The tables and plots of an experiment for all cases.
struct ExperimentSection {
    experiment: Experiment,
    across: Vec<Plot>,
    cases: Vec<CaseSection>,
}

impl ExperimentSection {
    fn new(experiment: Experiment, cases: &mut [Measured<'_>]) -> Self {
        let show = match experiment {
            Experiment::Answers => answers::show,
            Experiment::Peers => peers::show,
            Experiment::Ablations => ablations::show,
            Experiment::Weights => weights::show,
            Experiment::Encoder => encoder::show,
            Experiment::Robustness => robustness::show,
            Experiment::Quality => quality::show,
            Experiment::Density => density::show,
            Experiment::Settings => settings::show,
            Experiment::Fairness => fairness::show,
            Experiment::Growth => growth::show,
        };
        let mut shown = Vec::new();
        for measured in cases {
            measured.topic = experiment;
            let own = CaseSection { case: measured.case.to_string(), ..show(measured) };
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
    sections: Vec<ExperimentSection>,
}

/// Tables as JSON.
#[derive(Serialize)]
struct ReportTables {
    tables: Vec<ReportTable>,
}

impl Report {
    /// The report of all figures of a run.
    pub fn new(figures: &Figures) -> Self {
        let mut cases = Measured::by_case(figures);
        let sections =
            Experiment::ALL.map(|experiment| ExperimentSection::new(experiment, &mut cases)).into();
        Self { cases: cases.iter().map(|measured| measured.case.to_string()).collect(), sections }
    }

    /// The tables of an experiment, by case.
    pub fn tables(&self, topic: Experiment) -> Vec<&ReportTable> {
        let own = self.sections.iter().filter(|section| section.experiment == topic);
        own.flat_map(|section| &section.cases).flat_map(|case| &case.tables).collect()
    }

    /// The tables of an experiment as plain text; empty without figures.
    pub fn text(&self, topic: Experiment) -> String {
        let texts: Vec<String> = self.tables(topic).into_iter().map(ReportTable::text).collect();
        texts.join("\n")
    }

    /// The tables of some experiments, as JSON.
    pub fn json(&self, topics: &[Experiment]) -> impl Serialize + use<> {
        ReportTables { tables: topics.iter().flat_map(|&topic| self.tables(topic)).cloned().collect() }
    }

    /// The charts, by experiment.
    pub fn plots(&self) -> impl Iterator<Item = &Plot> {
        self.sections.iter().flat_map(|section| {
            section.across.iter().chain(section.cases.iter().flat_map(|case| &case.plots))
        })
    }

    /// The charts as SVG files: names and contents.
    pub fn svgs(&self) -> Vec<(String, String)> {
        self.plots().flat_map(Plot::files).collect()
    }

    /// The report as an HTML page.
    pub fn html(&self) -> String {
        page::html(&self.cases, &self.sections)
    }
}
