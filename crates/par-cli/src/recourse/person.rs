//! One row of a table, and the answer to it.

use std::collections::BTreeSet;
use std::time::Instant;

use par_data::{Batch, Columns, Decoded, Schema};
use par_recourse::{Answer, Bundle, Request, Solver, Way};
use serde::{Serialize, Serializer};

use crate::words;

/// A row of a table, and the answer to it.
pub(crate) struct Person<'a> {
    /// What the table calls them, or the row's number from 1.
    pub(crate) id: String,
    /// Their cells, in schema order.
    pub(crate) cells: Vec<&'a str>,
    /// The answer, or what is wrong with the row.
    pub(crate) answer: Result<Answer, String>,
    /// How long it took, if anybody asked.
    pub(crate) time_us: Option<u64>,
}

/// Takes the rows of a table and answers them.
pub(crate) struct Desk<'b> {
    pub(crate) bundle: &'b Bundle,
    columns: Columns,
    /// The column with the locks of each row.
    locks: Option<usize>,
    request: Request,
    time: bool,
}

impl<'b> Desk<'b> {
    /// `header` are the columns of the table.
    pub(crate) fn new(
        bundle: &'b Bundle,
        header: &[String],
        columns: Columns,
        request: Request,
        time: bool,
    ) -> Self {
        let is_feature = bundle.schema().features().iter().any(|feature| feature.name == LOCKS);
        let locks = header.iter().position(|column| column.trim() == LOCKS).filter(|_| !is_feature);
        Self { bundle, columns, locks, request, time }
    }

    /// What the table calls a row; `number` is its number in the table.
    pub(crate) fn id(&self, batch: &Batch, row: usize, number: u64) -> String {
        self.columns.id.map_or_else(|| number.to_string(), |column| batch.cell(row, column).to_string())
    }

    pub(crate) fn answer<'a>(
        &self,
        solver: &mut Solver<'_>,
        batch: &'a Batch,
        row: usize,
        number: u64,
    ) -> Person<'a> {
        let cells: Vec<&str> = self.columns.features.iter().map(|&column| batch.cell(row, column)).collect();
        let started = Instant::now();
        let answer = match self.request(batch, row) {
            Ok(request) => solver.answer(&cells, &request).map_err(|error| error.to_string()),
            Err(error) => Err(error),
        };
        let time_us = self.time.then(|| started.elapsed().as_micros() as u64);
        Person { id: self.id(batch, row, number), cells, answer, time_us }
    }

    /// What the person of a row asks for.
    fn request(&self, batch: &Batch, row: usize) -> Result<Request, String> {
        let mut request = self.request.clone();
        if let Some(column) = self.locks {
            let names = batch.cell(row, column).split(';').map(str::trim).filter(|name| !name.is_empty());
            let own = self.bundle.schema().positions(&names.collect::<Vec<_>>());
            let own = own.map_err(|error| format!("column `{LOCKS}`: {error}"))?;
            request.locks =
                request.locks.into_iter().chain(own).collect::<BTreeSet<_>>().into_iter().collect();
        }
        Ok(request)
    }
}

/// The column with the locks of each row.
const LOCKS: &str = "locks";

impl Person<'_> {
    pub(crate) fn status(&self) -> &'static str {
        match &self.answer {
            Ok(Answer::Accepted { verified: false, .. }) => "unverified_accepted",
            Ok(Answer::Accepted { .. }) => "accepted",
            Ok(Answer::Found(found)) if !found.verified => "unverified",
            Ok(Answer::Found(_)) => "found",
            Ok(Answer::NotFound(_)) => "not_found",
            Err(_) => "error",
        }
    }

    /// Why there is no way, on one line: the name of the reason, and what would have to give.
    pub(crate) fn reason(&self, schema: &Schema) -> Option<String> {
        match &self.answer {
            Ok(Answer::NotFound(not_found)) => {
                let name = not_found.reason.name();
                let remedy = words::remedy(schema, not_found).map(|remedy| format!(": {remedy}"));
                Some(format!("{name}{}", remedy.unwrap_or_default()))
            }
            Err(error) => Some(words::without_hint(error).to_string()),
            Ok(_) => None,
        }
    }

    /// The probability that the row is accepted as it is.
    pub(crate) fn probability(&self) -> Option<f64> {
        match &self.answer {
            Ok(Answer::Accepted { probability, .. }) => Some(*probability),
            Ok(Answer::Found(found)) => Some(found.probability),
            Ok(Answer::NotFound(not_found)) => Some(not_found.probability),
            Err(_) => None,
        }
    }

    pub(crate) fn ways(&self) -> &[Way] {
        self.answer.as_ref().map_or(&[], Answer::ways)
    }

    /// All of it, for programs.
    pub(crate) fn described(&self, bundle: &Bundle) -> Described {
        let schema = bundle.schema();
        let frontier = match &self.answer {
            Ok(Answer::Found(found)) => self.frontier(bundle, found),
            _ => Vec::new(),
        };
        let (needs_changes, remedy) = match &self.answer {
            Ok(Answer::NotFound(not_found)) => (not_found.needs_changes, words::remedy(schema, not_found)),
            _ => (None, None),
        };
        Described {
            id: self.id.clone(),
            status: self.status(),
            reason: match &self.answer {
                Ok(Answer::NotFound(not_found)) => Some(not_found.reason.name().to_string()),
                _ => self.reason(schema),
            },
            remedy,
            needs_changes,
            probability: self.probability(),
            threshold: bundle.threshold(),
            row: Named::new(schema, self.cells.iter().copied()),
            ways: (1..).zip(self.ways()).map(|(rank, way)| self.way(bundle, rank, way)).collect(),
            frontier,
            time_us: self.time_us,
        }
    }

    fn way(&self, bundle: &Bundle, rank: usize, way: &Way) -> DescribedWay {
        let change = |change: &par_recourse::Change| {
            let (lowest, highest) = match &change.value {
                Decoded::Interval { lowest, highest, .. } => (Some(lowest.value), Some(highest.value)),
                _ => (None, None),
            };
            DescribedChange {
                feature: change.name.clone(),
                from: self.cells[change.feature].to_string(),
                to: change.value.text().to_string(),
                lowest,
                highest,
                sentence: change.sentence(),
            }
        };
        DescribedWay {
            rank,
            probability: way.probability,
            log_likelihood: way.log_likelihood,
            percentile: way.percentile,
            similarity: way.similarity,
            distance: way.distance,
            method: way.method.name(),
            optimal: way.gap.map(|_| way.is_optimal()),
            gap: way.gap,
            changes: way.changes.iter().map(change).collect(),
            row: Named::new(bundle.schema(), way.cells.iter().map(String::as_str)),
        }
    }

    /// What more changes would buy.
    pub(crate) fn frontier(&self, bundle: &Bundle, found: &par_recourse::Found) -> Vec<DescribedPoint> {
        let factual = bundle.discretizer().encode_row(&self.cells).expect("an answered row can be encoded");
        let point = |point: &par_recourse::Point| {
            let changed =
                (0..self.cells.len()).filter(|&feature| point.row[feature] != factual.codes()[feature]);
            let sentence = |feature: usize| {
                let (code, own) = (point.row[feature], factual.codes()[feature]);
                let cell = self.cells[feature];
                bundle.change(feature, cell, own, code, point.representative, &found.limits).sentence()
            };
            DescribedPoint {
                changes: point.changes,
                probability: point.probability,
                log_likelihood: point.log_likelihood,
                percentile: bundle.pool().percentile(point.log_likelihood),
                gap: point.gap,
                sentences: changed.map(sentence).collect(),
            }
        };
        found.frontier.iter().map(point).collect()
    }
}

/// A person and the answer to them, as JSON has it.
#[derive(Serialize)]
pub(crate) struct Described {
    id: String,
    status: &'static str,
    reason: Option<String>,
    /// What would have to give.
    remedy: Option<String>,
    needs_changes: Option<usize>,
    probability: Option<f64>,
    threshold: f64,
    row: Named,
    ways: Vec<DescribedWay>,
    frontier: Vec<DescribedPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_us: Option<u64>,
}

#[derive(Serialize)]
struct DescribedWay {
    rank: usize,
    probability: f64,
    log_likelihood: f64,
    percentile: f64,
    similarity: f64,
    distance: f64,
    method: &'static str,
    optimal: Option<bool>,
    gap: Option<f64>,
    changes: Vec<DescribedChange>,
    row: Named,
}

#[derive(Serialize)]
struct DescribedChange {
    feature: String,
    from: String,
    to: String,
    /// Of an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    lowest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    highest: Option<f64>,
    sentence: String,
}

#[derive(Serialize)]
pub(crate) struct DescribedPoint {
    pub(crate) changes: usize,
    pub(crate) probability: f64,
    pub(crate) log_likelihood: f64,
    pub(crate) percentile: f64,
    pub(crate) gap: Option<f64>,
    pub(crate) sentences: Vec<String>,
}

/// The cells of a row under the names of their features, in schema order.
struct Named(Vec<(String, String)>);

impl Named {
    fn new<'a>(schema: &Schema, cells: impl Iterator<Item = &'a str>) -> Self {
        let names = schema.features().iter().map(|feature| feature.name.clone());
        Self(names.zip(cells.map(String::from)).collect())
    }
}

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, cell)| (name, cell)))
    }
}
