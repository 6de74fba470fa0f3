//! An answer as JSON.

use par_data::{Decoded, Schema};
use serde::{Serialize, Serializer};

use crate::answer::{Answer, Change, Found, Obstacle, Point, Way};
use crate::table::RowAnswer;
use crate::words;
use par_model::Model;

impl RowAnswer<'_> {
    /// The answer as JSON has it.
    pub fn json(&self, model: &Model) -> AnswerJson {
        let schema = model.schema();
        let obstacle = |obstacle: &Obstacle| ObstacleJson {
            kind: obstacle.name(),
            feature: obstacle.feature().map(|feature| schema.features()[feature].name.clone()),
            words: words::obstacle(schema, *obstacle),
        };
        let frontier = match &self.answer {
            Ok(Answer::Found(found)) => self.frontier(model, found),
            _ => Vec::new(),
        };
        let not_found = match &self.answer {
            Ok(Answer::NotFound(not_found)) => Some(not_found),
            _ => None,
        };
        AnswerJson {
            id: self.id.clone(),
            status: self.status(),
            reason: match not_found {
                Some(not_found) => Some(not_found.reason.name().to_string()),
                None => self.reason(schema),
            },
            reason_words: not_found.map(|not_found| words::reason(not_found.reason)),
            remedy: not_found.and_then(|not_found| words::remedy(schema, not_found)),
            needs_changes: not_found.and_then(|not_found| not_found.needs_changes),
            obstacles: not_found
                .map_or(&[][..], |not_found| &not_found.obstacles)
                .iter()
                .map(obstacle)
                .collect(),
            schema_obstacles: not_found
                .and_then(|not_found| not_found.schema_obstacles.as_ref())
                .map(|obstacles| obstacles.iter().map(obstacle).collect()),
            probability: self.probability(),
            threshold: self.threshold,
            warnings: self.warnings.clone(),
            row: Named::new(schema, self.cells.iter().copied()),
            ways: (1..).zip(self.ways()).map(|(rank, way)| self.way(model, rank, way)).collect(),
            frontier,
            fewest_proved: match &self.answer {
                Ok(Answer::Found(found)) => Some(found.fewest_proved),
                _ => None,
            },
            time_us: self.time_us,
        }
    }

    fn way(&self, model: &Model, rank: usize, way: &Way) -> WayJson {
        let change = |change: &Change| {
            let (lowest, highest) = match &change.value {
                Decoded::Interval { lowest, highest, .. } => (Some(lowest.value), Some(highest.value)),
                _ => (None, None),
            };
            ChangeJson {
                feature: change.name.clone(),
                from: self.cells[change.feature].to_string(),
                to: change.value.text().to_string(),
                lowest,
                highest,
                from_words: change.from.clone(),
                to_words: change.to.clone(),
                sentence: change.sentence(),
            }
        };
        WayJson {
            rank,
            probability: way.probability,
            log_likelihood: way.log_likelihood,
            percentile: way.percentile,
            similarity: way.similarity,
            distance: way.distance,
            method: way.method.name(),
            optimal: way.gap.map(|_| way.is_optimal()),
            gap: way.gap,
            best_at: way.best_at.iter().map(|virtue| virtue.name()).collect(),
            changes: way.changes.iter().map(change).collect(),
            row: Named::new(model.schema(), way.cells.iter().map(String::as_str)),
        }
    }

    /// What more changes would buy.
    pub fn frontier(&self, model: &Model, found: &Found) -> Vec<PointJson> {
        let point = |point: &Point| PointJson {
            changes: point.changes.len(),
            probability: point.probability,
            log_likelihood: point.log_likelihood,
            percentile: model.pool().percentile(point.log_likelihood),
            gap: point.gap,
            sentences: point.changes.iter().map(Change::sentence).collect(),
        };
        found.frontier.iter().map(point).collect()
    }
}

/// A row and its answer, as JSON has it.
#[derive(Serialize)]
pub struct AnswerJson {
    id: String,
    status: &'static str,
    reason: Option<String>,
    reason_words: Option<&'static str>,
    /// What would have to give.
    remedy: Option<String>,
    needs_changes: Option<usize>,
    obstacles: Vec<ObstacleJson>,
    /// For an auditor alone.
    schema_obstacles: Option<Vec<ObstacleJson>>,
    probability: Option<f64>,
    threshold: f64,
    /// What training never saw in the row.
    warnings: Vec<String>,
    row: Named,
    ways: Vec<WayJson>,
    frontier: Vec<PointJson>,
    fewest_proved: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_us: Option<u64>,
}

#[derive(Serialize)]
struct ObstacleJson {
    kind: &'static str,
    feature: Option<String>,
    words: String,
}

#[derive(Serialize)]
struct WayJson {
    rank: usize,
    probability: f64,
    log_likelihood: f64,
    percentile: f64,
    similarity: f64,
    distance: f64,
    method: &'static str,
    optimal: Option<bool>,
    gap: Option<f64>,
    best_at: Vec<&'static str>,
    changes: Vec<ChangeJson>,
    row: Named,
}

#[derive(Serialize)]
struct ChangeJson {
    feature: String,
    from: String,
    to: String,
    /// Of an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    lowest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    highest: Option<f64>,
    from_words: String,
    to_words: String,
    sentence: String,
}

/// The likeliest row found with a number of changes, as JSON has it.
#[derive(Serialize)]
pub struct PointJson {
    /// How many features change.
    pub changes: usize,
    /// Its probability of acceptance.
    pub probability: f64,
    /// log p⁺ of the row.
    pub log_likelihood: f64,
    /// The share of accepted rows that are no likelier.
    pub percentile: f64,
    /// How much likelier a row with as many changes could be, if that is known.
    pub gap: Option<f64>,
    /// The changes, in words.
    pub sentences: Vec<String>,
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
