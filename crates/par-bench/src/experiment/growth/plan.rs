//! Which sizes are measured, and one of them: a fit, then answers.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use par_circuit::Stop;
use par_data::{Batch, Columns, Schema, Table, TableOptions};
use par_fit::ModelBuilder;
use par_model::{Config, Model, Order};
use serde::Serialize;

use super::asked;
use super::fitting::StageTimes;
use super::memory;
use crate::case::{Case, by_likelihood};
use crate::error::Error;
use crate::experiment::fairness::evenly_spaced;
use crate::factors::FactorTable;
use crate::figures::{Metric, Sheet};

/// The sizes of random tables, and how long each may take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GrowthPlan {
    /// The numbers of columns.
    pub columns: Vec<usize>,
    /// The numbers of training rows; every one with every number of columns.
    pub rows: Vec<usize>,
    /// At most so many denied people are asked about at a size.
    pub people: usize,
    /// At most so many nodes of an exact search.
    pub nodes: usize,
    /// No person is asked about after so many seconds of answers at a size.
    pub seconds: u64,
    /// A fit ends after so many seconds.
    pub fit_seconds: u64,
    /// Whether nobody is asked about.
    pub fit_only: bool,
    /// Which way comes first: by likelihood, without margin and floor, as in the other experiments, or as by default.
    pub order: Order,
    /// Whether tables with folds are measured along curves of rows, bins and circuits, not as one size.
    pub curves: bool,
}

impl Default for GrowthPlan {
    /// What a run of all experiments measures.
    fn default() -> Self {
        Self {
            columns: vec![10, 20, 50],
            rows: vec![10_000],
            people: 100,
            nodes: 2000,
            seconds: 60,
            fit_seconds: 600,
            fit_only: false,
            order: Order::Likelihood,
            curves: true,
        }
    }
}

/// Rows after the training rows, of which the denied are asked about.
const TEST_ROWS: u64 = if cfg!(test) { 200 } else { 4000 };
/// Rows are passed to a fit in batches of this size, as by `par fit`.
const ROWS_AT_ONCE: usize = 8192;
/// The seed of random tables.
const SEED: u64 = 0;

/// A number of columns and of training rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// Beside the decision.
    pub columns: usize,
    /// To learn from.
    pub rows: usize,
}

impl TableSize {
    fn metric(self, name: &str, key: Option<(&str, &str)>) -> Metric {
        let mut metric = Metric::at(name, &[("columns", &self.columns), ("rows", &self.rows)]);
        metric.keys.extend(key.map(|(key, value)| (key.to_string(), value.to_string())));
        metric
    }
}

impl GrowthPlan {
    /// The sizes, the smallest first.
    pub fn sizes(&self) -> Vec<TableSize> {
        let sizes = self
            .rows
            .iter()
            .flat_map(|&rows| self.columns.iter().map(move |&columns| TableSize { columns, rows }));
        let mut sizes: Vec<TableSize> = sizes.collect();
        sizes.sort_by_key(|size| (size.rows, size.columns));
        sizes.dedup();
        sizes
    }

    /// The configuration of a model, with answers in this order and a limit on exact searches.
    fn config(&self, mut config: Config) -> Config {
        match self.order {
            Order::Likelihood => config = by_likelihood(config),
            // Cases are configured for the order by likelihood.
            Order::Balanced => {
                let answers = Config::default().answers;
                config.answers.order = Order::Balanced;
                config.answers.margin = answers.margin;
                config.answers.min_percentile = answers.min_percentile;
            }
        }
        config.answers.nodes = self.nodes;
        config
    }

    /// Measures a random table, which is written into `folder` meanwhile.
    ///
    /// # Errors
    /// When the table cannot be written, or a model cannot be fitted.
    pub(crate) fn measure(&self, size: TableSize, folder: &Path, sheet: &mut Sheet) -> Result<(), Error> {
        let factors = FactorTable::new(size.columns, SEED);
        let file = TableFile::write(&factors, size.rows as u64, folder)?;
        let open = || Table::open(&file.path, &TableOptions::default());
        let schema = factors.schema();
        let columns = schema.columns(open()?.origin(), open()?.columns())?;
        let batches = || Ok(open()?.batches(ROWS_AT_ONCE));
        let config = self.config(Config::default());
        let name = format!("{} columns, {} rows", size.columns, size.rows);
        let failed =
            |source| Error::Fit { case: super::SYNTHETIC.into(), fold: name, source: Box::new(source) };
        let model = self.fit(size, &schema, config, &columns, batches, sheet).map_err(failed)?;
        let Some(model) = model.filter(|_| !self.fit_only) else { return Ok(()) };
        drop(file);
        let first = size.rows as u64;
        let test = factors.table(first..first + TEST_ROWS).into_batch()?;
        let people: Vec<Vec<&str>> = (0..test.rows()).map(|row| columns.cells(&test, row)).collect();
        self.answers(size, &model, &people, sheet);
        Ok(())
    }

    /// Measures the first fold of a case as one size.
    pub(super) fn measure_case(&self, case: &Case, sheet: &mut Sheet) -> Result<(), Error> {
        let Some(fold) = case.folds().first() else { return Ok(()) };
        let (training, test) = (case.training(fold), case.test(fold));
        let size = TableSize { columns: case.schema.features().len(), rows: training.rows() };
        let config = self.config(case.config.clone());
        let rows = || Ok(crate::case::in_parts(&training));
        let model = self
            .fit(size, &case.schema, config, &case.columns, rows, sheet)
            .map_err(|source| case.fit_error(fold, source))?;
        let Some(model) = model.filter(|_| !self.fit_only) else { return Ok(()) };
        let people = case.people(&test);
        let people: Vec<Vec<&str>> = people.iter().map(crate::case::Factual::cells).collect();
        self.answers(size, &model, &people, sheet);
        Ok(())
    }

    /// Fits a model; `None` if that takes too long.
    fn fit<B: IntoIterator<Item = Result<Batch, par_data::Error>>>(
        &self,
        size: TableSize,
        schema: &Schema,
        config: Config,
        columns: &Columns,
        open: impl Fn() -> Result<B, par_data::Error>,
        sheet: &mut Sheet,
    ) -> Result<Option<Model>, par_fit::Error> {
        memory::reset();
        let started = Instant::now();
        let is_over = || started.elapsed() > Duration::from_secs(self.fit_seconds);
        let mut spent = StageTimes::start();
        let builder = ModelBuilder::new(schema.clone(), config);
        let model = builder.fit_rows(columns, open, &mut |stage| spent.on(&stage), Stop::when(&is_over));
        let at = |name: &str| size.metric(name, None);
        if let Some(megabytes) = memory::peak() {
            sheet.number("fit", at("memory_mb"), megabytes, 1);
        }
        match model {
            Ok(model) => {
                spent.end();
                let by_stage = |name: &str, stage: &str| size.metric(name, Some(("stage", stage)));
                spent.write(&model, size.rows, by_stage, sheet);
                sheet.number("fit", at("edges"), model.accepted().edges() as f64, 1);
                Ok(Some(model))
            }
            Err(par_fit::Error::Stopped(_)) => {
                sheet.number("fit", at("stopped"), started.elapsed().as_secs_f64(), size.rows);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Asks about denied people: some of them, evenly from those who are nearly accepted to those who are far from it.
    fn answers(&self, size: TableSize, model: &Model, people: &[Vec<&str>], sheet: &mut Sheet) {
        let mut denied: Vec<(f64, &Vec<&str>)> = people
            .iter()
            .filter_map(|cells| Some((model.score(cells).ok()?, cells)))
            .filter(|(score, _)| !model.scale().reaches(*score, model.threshold()))
            .collect();
        denied.sort_by(|one, other| one.0.total_cmp(&other.0));
        let places = scattered(&evenly_spaced(&(0..denied.len()).collect::<Vec<_>>(), self.people));
        let chosen: Vec<Vec<&str>> = places.into_iter().map(|place| denied[place].1.clone()).collect();
        memory::reset();
        let asked = match chosen.is_empty() {
            true => Vec::new(),
            false => asked::ask(model, &chosen, Duration::from_secs(self.seconds)),
        };
        if let Some(megabytes) = memory::peak() {
            sheet.number("answers", size.metric("memory_mb", None), megabytes, 1);
        }
        let at =
            |name: &str, needed: Option<&str>| size.metric(name, needed.map(|needed| ("needed", needed)));
        asked::write(&asked, denied.len(), at, sheet);
    }
}

/// The same in another order, so that the first few of an ordered list are spread over all of it.
fn scattered(list: &[usize]) -> Vec<usize> {
    // Steps near the golden section; coprime, so that every place is met once.
    let count = list.len();
    let step = (0..count).map(|more| (count * 618).div_ceil(1000) + more).find(|step| gcd(*step, count) == 1);
    let step = step.unwrap_or(1);
    (0..count).map(|place| list[place * step % count]).collect()
}

fn gcd(one: usize, other: usize) -> usize {
    if other == 0 { one } else { gcd(other, one % other) }
}

/// A table in a file, which is removed in the end.
struct TableFile {
    path: PathBuf,
}

impl TableFile {
    fn write(factors: &FactorTable, rows: u64, folder: &Path) -> Result<Self, Error> {
        let path = folder.join(format!("factors-{}.csv", std::process::id()));
        let failed = |source| Error::Write(par_files::Error::Write { path: path.clone(), source });
        let file = Self { path: path.clone() };
        let mut writer = BufWriter::new(File::create(&path).map_err(failed)?);
        factors.write(0..rows, &mut writer).and_then(|()| writer.flush()).map_err(failed)?;
        Ok(file)
    }
}

impl Drop for TableFile {
    fn drop(&mut self) {
        // A leftover does no harm: the folder of an interrupted run is removed when it is complete.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Figures;

    fn tiny() -> GrowthPlan {
        GrowthPlan { columns: vec![4], rows: vec![400], people: 5, nodes: 50, ..GrowthPlan::default() }
    }

    fn measured(plan: &GrowthPlan) -> Figures {
        let mut sheet = Sheet::new(super::super::SYNTHETIC, "");
        let folder = tempfile::tempdir().expect("a folder");
        for size in plan.sizes() {
            plan.measure(size, folder.path(), &mut sheet).expect("figures");
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "tables are removed");
        Figures(sheet.into_figures())
    }

    fn value(figures: &Figures, method: &str, metric: &str) -> Option<f64> {
        let metric: Metric = metric.parse().expect("a metric");
        Some(figures.spread(super::super::SYNTHETIC, method, &metric)?.mean)
    }

    #[test]
    fn a_size_has_times_validity_gaps_stages_and_memory() {
        let figures = measured(&tiny());
        let at = "columns=4; rows=400";
        for method in ["generate", "refine", "exact"] {
            let times = ["time_us", "time_us_mean", "time_us_p99", "time_us_max"];
            let times = times.map(|name| value(&figures, method, &format!("{name}@{at}")).expect(name));
            assert!(times[0] > 0.0 && times[0] <= times[2] && times[2] <= times[3], "{times:?}");
            assert!(value(&figures, method, &format!("validity@{at}")).is_some());
        }
        assert_eq!(value(&figures, "exact", &format!("gap_nats@{at}")), Some(0.0));
        assert_eq!(value(&figures, "exact", &format!("validity@{at}")), Some(1.0));
        assert!(value(&figures, asked::ANY, &format!("known@{at}")).is_some());
        let stages: f64 = super::super::fitting::STAGES
            .iter()
            .map(|stage| value(&figures, "fit", &format!("seconds@{at}; stage={stage}")).expect(stage))
            .sum();
        let all = value(&figures, "fit", &format!("seconds@{at}; stage=all")).expect("all");
        assert!((stages - all).abs() < 1e-6);
        let needed = figures.named(super::super::SYNTHETIC, "refine", "time_us");
        let needed: usize = needed.filter(|own| own.metric.key("needed").is_some()).map(|own| own.over).sum();
        assert!((1..=5).contains(&needed), "{needed} people need a known number of changes");
    }

    #[test]
    fn a_fit_that_takes_too_long_is_stopped_and_said_so() {
        let figures = measured(&GrowthPlan { fit_seconds: 0, ..tiny() });
        assert!(value(&figures, "fit", "stopped@columns=4; rows=400").is_some());
        assert!(figures.named(super::super::SYNTHETIC, "refine", "time_us").next().is_none());
    }

    #[test]
    fn only_a_fit_asks_nobody() {
        let figures = measured(&GrowthPlan { fit_only: true, ..tiny() });
        assert!(value(&figures, "fit", "seconds@columns=4; rows=400; stage=all").is_some());
        assert!(figures.named(super::super::SYNTHETIC, "refine", "time_us").next().is_none());
    }

    #[test]
    fn sizes_are_all_pairs_once() {
        let plan = GrowthPlan { columns: vec![20, 10, 10], rows: vec![500], ..GrowthPlan::default() };
        let sizes = plan.sizes();
        assert_eq!(sizes.iter().map(|size| size.columns).collect::<Vec<_>>(), [10, 20]);
    }

    #[test]
    fn scattered_lists_keep_every_element() {
        for count in [0, 1, 2, 7, 10, 100] {
            let mut list = scattered(&(0..count).collect::<Vec<_>>());
            if count == 100 {
                assert!(list[..4].iter().any(|&own| own < 50) && list[..4].iter().any(|&own| own >= 50));
            }
            list.sort_unstable();
            assert_eq!(list, (0..count).collect::<Vec<_>>());
        }
    }
}
