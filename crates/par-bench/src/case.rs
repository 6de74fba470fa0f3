//! A case: a table with folds, and the configuration of its models.

mod fold;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use par_answer::Order;
use par_circuit::{Dataset, Stop};
use par_data::schema::FavourableError;
use par_data::{Batch, Columns, Schema, Table, suggest};
use par_fit::ModelBuilder;
use par_model::Config;
use par_model::Model;
use par_model::generator::{GeneratorConfig, LossConfig};

pub use self::fold::{Fold, LabelledRows};
use crate::error::Error;
use crate::paper::Benchmark;
use crate::peers::recorded::Recorded;

/// A column with more values is not one of folds.
const MAX_FOLDS: usize = 100;
/// Rows are passed to a fit in batches of this size, so that they are not all copied at once.
const ROWS_AT_ONCE: usize = 8192;

/// A table, its schema and the configuration of its models.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name in figures.
    pub name: String,
    /// The meaning of its columns.
    pub schema: Schema,
    /// The positions of its columns.
    pub columns: Columns,
    /// The configuration of models.
    pub config: Config,
    /// The weights of the loss in the paper's preset.
    pub preset: LossConfig,
    /// The answers of other methods to the same people.
    pub peers: Vec<Recorded>,
    /// The solver of LiCE's program; without it LiCE is not asked.
    pub highs: Option<PathBuf>,
    rows: Arc<Batch>,
    /// The class of every row, as a position among the label's classes.
    classes: Arc<[usize]>,
    fold: usize,
    factuals: Option<usize>,
    folds: Vec<String>,
}

/// A row of the table that is answered; the paper's factual.
#[derive(Clone, Debug, PartialEq)]
pub struct Factual {
    /// The id in the table, or the row's place if the table has no ids.
    pub id: String,
    /// The cells, in schema order.
    pub cells: Vec<String>,
}

impl Factual {
    /// The cells, in schema order.
    pub fn cells(&self) -> Vec<&str> {
        self.cells.iter().map(String::as_str).collect()
    }
}

/// Orders answers by likelihood, and offers every accepted row, as the published ones are.
pub(crate) fn by_likelihood(mut config: Config) -> Config {
    config.answers.order = Order::Likelihood;
    config.answers.margin = 0.0;
    config.answers.min_percentile = 0.0;
    config
}

impl Case {
    /// A case over all rows of a table. `fold` is the column of folds; `factuals` is the column with a 1 for every
    /// row that is answered, by default all rows.
    ///
    /// # Errors
    /// When the table cannot be read, lacks a column, has a label that is none of the classes, a row without a fold,
    /// fewer than two folds or more than a hundred, or no factual.
    pub fn new(
        name: &str,
        schema: Schema,
        config: Config,
        table: Table,
        fold: &str,
        factuals: Option<&str>,
    ) -> Result<Self, Error> {
        let config = by_likelihood(config);
        let (origin, header) = (table.origin().to_string(), table.columns().to_vec());
        let columns = schema.columns(&origin, &header)?;
        let problem = |problem: String| Error::Folds { origin: origin.clone(), problem };
        let find = |column: &str| {
            let place = header.iter().position(|own| own.trim() == column);
            place.ok_or_else(|| problem(format!("no column `{column}`{}", suggest(column, &header))))
        };
        let (fold, factuals) = (find(fold)?, factuals.map(find).transpose()?);
        let rows = table.into_batch()?;
        let folds = folds(&origin, &rows, fold, &header[fold])?;
        let classes = schema.classes(&columns, &rows)?.into();
        let case = Self {
            name: name.to_string(),
            schema,
            columns,
            config,
            preset: LossConfig::paper(),
            peers: Vec::new(),
            highs: None,
            rows: Arc::new(rows),
            classes,
            fold,
            factuals,
            folds,
        };
        match factuals {
            Some(column) if !(0..case.rows()).any(|row| case.is_factual(&case.rows, row)) => {
                Err(problem(format!(
                    "`{}` has no 1, so there is no factual\n\
                 hint: name a column with a 1 for every factual, or none to answer all rows",
                    header[column]
                )))
            }
            _ => Ok(case),
        }
    }

    /// The same table with another name and configuration. Its rows are shared.
    #[must_use]
    pub fn configured_as(&self, name: &str, config: Config) -> Self {
        Self { name: name.to_string(), config: by_likelihood(config), ..self.clone() }
    }

    /// The same table, asked as in the paper.
    #[must_use]
    pub fn of_paper(&self, benchmark: &Benchmark) -> Self {
        let mut case = self.configured_as(&benchmark.name, benchmark.config.clone());
        if let Some(preset) = benchmark.presets.first() {
            case.preset = (*preset).into();
        }
        case
    }

    /// Checks that a model can be fitted for every fold: both classes occur outside it.
    ///
    /// # Errors
    /// When a class is missing outside a fold, or the favourable class of the configuration does not exist.
    pub fn check(&self) -> Result<(), Error> {
        let problem = |problem| Error::Folds { origin: self.columns.origin.to_string(), problem };
        let favourable = self.favourable().map_err(|error| problem(error.to_string()))?;
        for fold in &self.folds {
            let mut found = [false; 2];
            for row in (0..self.rows()).filter(|&row| self.fold_of(row) != fold) {
                found[usize::from(favourable.contains(&self.classes[row]))] = true;
            }
            if found != [true; 2] {
                let class = if found[1] { "accepted" } else { "denied" };
                return Err(problem(format!(
                    "every row outside fold `{fold}` is {class}, expected rows of both classes"
                )));
            }
        }
        Ok(())
    }

    /// The positions of the favourable classes.
    fn favourable(&self) -> Result<Vec<usize>, FavourableError> {
        let Some(label) = self.schema.label() else { return Ok(Vec::new()) };
        match &self.config.favourable {
            Some(names) => label.favourable_named(names),
            None => Ok(label.favourable.clone()),
        }
    }

    /// The folds, by name.
    pub fn folds(&self) -> &[String] {
        &self.folds
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.rows()
    }

    fn fold_of(&self, row: usize) -> &str {
        self.rows.cell(row, self.fold).trim()
    }

    /// All rows, in batches.
    pub(crate) fn in_parts(&self) -> impl Iterator<Item = Result<Batch, par_data::Error>> {
        in_parts(&self.rows)
    }

    /// The rows outside a fold, to learn from.
    pub fn training(&self, fold: &str) -> Batch {
        self.rows.select((0..self.rows()).filter(|&row| self.fold_of(row) != fold))
    }

    /// The rows of a fold.
    pub fn test(&self, fold: &str) -> Batch {
        self.rows.select((0..self.rows()).filter(|&row| self.fold_of(row) == fold))
    }

    /// The factuals among some rows.
    pub fn people(&self, rows: &Batch) -> Vec<Factual> {
        let factuals = (0..rows.rows()).filter(|&row| self.is_factual(rows, row));
        factuals.map(|row| self.person(rows, row)).collect()
    }

    fn is_factual(&self, rows: &Batch, row: usize) -> bool {
        self.factuals.is_none_or(|column| rows.cell(row, column).trim().parse() == Ok(1.0))
    }

    /// Whether a row is one of the sampled factuals; none is, where all rows are answered.
    pub(crate) fn is_sampled(&self, rows: &Batch, row: usize) -> bool {
        self.factuals.is_some() && self.is_factual(rows, row)
    }

    /// A row as a factual.
    pub fn person(&self, rows: &Batch, row: usize) -> Factual {
        let id = match self.columns.id {
            Some(id) => rows.cell(row, id).trim().to_string(),
            None => rows.position(row).to_string(),
        };
        let cells = self.columns.features.iter().map(|&column| rows.cell(row, column).to_string());
        Factual { id, cells: cells.collect() }
    }

    /// Fold and id of every row, if the table has ids.
    pub(crate) fn ids(&self) -> Option<impl Iterator<Item = (&str, &str)>> {
        let id = self.columns.id?;
        Some((0..self.rows()).map(move |row| (self.fold_of(row), self.rows.cell(row, id).trim())))
    }

    /// Adds everything that figures of this case depend on to a checksum.
    pub(crate) fn hash_into(&self, hasher: &mut crc32fast::Hasher) {
        let settings = (&self.config, &self.preset);
        let config = serde_json::to_string(&settings).expect("the keys of a configuration are text");
        let mut add = |text: &str| {
            // With its length, so that different lists of texts have different bytes.
            hasher.update(&text.len().to_le_bytes());
            hasher.update(text.as_bytes());
        };
        [self.name.as_str(), self.schema.source(), config.as_str()].into_iter().for_each(&mut add);
        self.highs.iter().for_each(|program| add(&program.to_string_lossy()));
        let special = [Some(self.fold), self.factuals, self.columns.label, self.columns.id];
        for column in self.columns.features.iter().copied().chain(special.into_iter().flatten()) {
            add(&column.to_string());
            (0..self.rows()).for_each(|row| add(self.rows.cell(row, column)));
        }
        self.peers.iter().for_each(|peer| peer.hash_into(hasher));
    }

    /// The configuration of the paper's preset, with the bins, classifier and threshold of the case's own, and with as
    /// many training steps and samples.
    pub(crate) fn paper_config(&self) -> Config {
        let own = self.config.clone();
        let GeneratorConfig { conditioning, locked, .. } = GeneratorConfig::paper();
        let generator = GeneratorConfig { conditioning, locked, loss: self.preset.clone(), ..own.generator };
        let Config { circuits, answers, .. } = Config::paper();
        Config { circuits, generator, answers, ..own }
    }

    /// Rows as codes of a fold's model.
    pub(crate) fn codes(&self, fold: &str, model: &Model, rows: &Batch) -> Result<Dataset, Error> {
        let codes = model.discretizer().encode(&self.columns, rows)?.into_codes();
        Dataset::new(model.discretizer().cardinalities(), codes)
            .map_err(|source| self.fit_error(fold, source.into()))
    }

    /// Fits a model to some rows.
    pub(crate) fn fit(&self, fold: &str, config: &Config, rows: &Batch) -> Result<Model, Error> {
        let method = ModelBuilder::new(self.schema.clone(), config.clone());
        method
            .fit_rows(&self.columns, || Ok(in_parts(rows)), &mut |_| {}, Stop::never())
            .map_err(|source| self.fit_error(fold, source))
    }

    pub(crate) fn fit_error(&self, fold: &str, source: par_fit::Error) -> Error {
        Error::Fit { case: self.name.clone(), fold: fold.to_string(), source: Box::new(source) }
    }
}

/// The folds of a table, by name.
fn folds(origin: &str, rows: &Batch, column: usize, name: &str) -> Result<Vec<String>, Error> {
    let label = |row: usize| rows.cell(row, column).trim();
    if let Some(row) = (0..rows.rows()).find(|&row| label(row).is_empty()) {
        let origin = rows.place(row).to_string();
        return Err(Error::Folds { origin, problem: format!("`{name}` is empty, expected a fold") });
    }
    let labels: BTreeSet<&str> = (0..rows.rows()).map(label).collect();
    let mut folds: Vec<String> = labels.into_iter().map(str::to_string).collect();
    if !(2..=MAX_FOLDS).contains(&folds.len()) {
        let found = match folds.len() {
            1 => "one value".to_string(),
            many => format!("{many} values"),
        };
        let problem = format!(
            "`{name}` has {found}, expected 2 to {MAX_FOLDS} folds\n\
             hint: name a column that says for every row in which fold it is tested"
        );
        return Err(Error::Folds { origin: origin.to_string(), problem });
    }
    // Numbers in ascending order, then other names.
    let number = |fold: &String| fold.parse::<f64>().unwrap_or(f64::INFINITY);
    folds.sort_by(|a, b| number(a).total_cmp(&number(b)));
    Ok(folds)
}

/// The rows of a batch, in smaller batches.
pub(crate) fn in_parts(rows: &Batch) -> impl Iterator<Item = Result<Batch, par_data::Error>> {
    let parts = (0..rows.rows()).step_by(ROWS_AT_ONCE);
    parts.map(|first| Ok(rows.select(first..rows.rows().min(first + ROWS_AT_ONCE))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_case::{SCHEMA, case};

    #[test]
    fn answers_of_every_configuration_are_ordered_by_likelihood() {
        let case = case(SCHEMA);
        let other = case.configured_as("other", Config::default());
        for answers in [case.config.answers, other.config.answers] {
            assert_eq!((answers.order, answers.min_percentile), (Order::Likelihood, 0.0));
        }
    }
}
