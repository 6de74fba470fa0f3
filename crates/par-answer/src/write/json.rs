//! An answer as JSON.

use par_data::Schema;
use par_data::schema::Actor;
use par_model::Model;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::answer::{Accepting, Answer, Change, Found, IfKnown, NotFound, Obstacle, Point, Solves, Way};
use crate::request::Method;
use crate::table::{RowAnswer, STATUSES};
use crate::words;

impl RowAnswer<'_> {
    /// The answer as a JSON object.
    pub fn json(&self, model: &Model) -> AnswerJson {
        let schema = model.schema();
        let obstacle = |obstacle: &Obstacle| ObstacleJson {
            kind: obstacle.name(),
            feature: obstacle.feature().map(|feature| schema.features()[feature].name.clone()),
            words: words::obstacle(schema, *obstacle),
        };
        let found = match &self.answer {
            Ok(Answer::Found(found)) => Some(found),
            _ => None,
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
            reason_words: not_found.map(words::reason),
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
            unusual: not_found
                .and_then(NotFound::unusual_for_auditor)
                .map(|ways| (1..).zip(ways).map(|(rank, way)| self.way(model, rank, way)).collect()),
            probability: self.probability(),
            threshold: self.threshold,
            score_words: self.probability().map(|score| words::decision(model, score, self.threshold)),
            warnings: self.warnings.clone(),
            broken_policies: self
                .broken_policies()
                .iter()
                .map(|&policy| words::policy(schema, policy))
                .collect(),
            if_known: self.unknown().iter().map(IfKnownJson::from).collect(),
            row: NamedCells::new(schema, self.cells.iter().copied()),
            ways: (1..).zip(self.ways()).map(|(rank, way)| self.way(model, rank, way)).collect(),
            frontier: found.map_or_else(Vec::new, |found| self.frontier(model, found)),
            fewest_proved: found.map(|found| found.fewest_proved),
            plain: found.and_then(|found| found.plain.as_deref()).map(|way| self.way(model, 1, way)),
            price_of_lasting: found.and_then(words::price_of_lasting),
            search_ended: self.search_ended(),
            time_us: self.time_us,
        }
    }

    fn way(&self, model: &Model, rank: usize, way: &Way) -> WayJson {
        let change = |change: &Change| ChangeJson {
            feature: change.name.clone(),
            from: self.cells[change.feature].to_string(),
            to: change.value.clone(),
            lowest: change.range.map(|[lowest, _]| lowest),
            highest: change.range.map(|[_, highest]| highest),
            least: change.least,
            from_words: change.from.clone(),
            to_words: change.to.clone(),
            sentence: words::change(change),
            effort: change.effort,
            months: change.months,
            alone: change.alone,
            harm: change.is_harm,
            counter_offer: change.who == Actor::Lender,
        };
        WayJson {
            rank,
            probability: way.probability,
            score_words: words::score(model, way.probability),
            log_likelihood: way.log_likelihood,
            conditional_log_likelihood: way.conditional_log_likelihood,
            percentile: way.percentile,
            effort: way.effort,
            months: way.months,
            has_margin: way.has_margin,
            accepting: way.accepting.map(|Accepting { versions, of }| AcceptingJson { versions, of }),
            certified: way.certified,
            lasting_words: words::lasting(way),
            similarity: way.similarity,
            distance: way.distance,
            method: way.method.name(),
            solves: way.solves.name(),
            optimal: way.optimal(),
            gap: way.gap,
            proof: words::proof(rank, way),
            difference: way.difference,
            best_at: way.best_at.iter().map(|strength| strength.name()).collect(),
            changes: way.changes.iter().map(change).collect(),
            consequences: way.consequences.iter().map(change).collect(),
            row: NamedCells::new(model.schema(), way.cells.iter().map(String::as_str)),
        }
    }

    /// The points of the frontier.
    pub fn frontier(&self, model: &Model, found: &Found) -> Vec<PointJson> {
        let sentence = |(feature, to): &(usize, String)| {
            words::cells(&model.schema().features()[*feature], self.cells[*feature], to)
        };
        let point = |point: &Point| PointJson {
            changes: point.changes.len(),
            probability: point.probability,
            log_likelihood: point.log_likelihood,
            conditional_log_likelihood: point.conditional_log_likelihood,
            percentile: point.percentile,
            effort: point.effort,
            months: point.months,
            gap: point.gap,
            sentences: point.changes.iter().map(sentence).collect(),
        };
        found.frontier.iter().map(point).collect()
    }
}

/// The answer to one person.
#[derive(Serialize, JsonSchema)]
pub struct AnswerJson {
    /// The id of the row, or its number, from 1.
    id: String,
    /// `unverified` if only a surrogate of the classifier is available; `error`, in streams and tables, if a row cannot
    /// be read.
    #[schemars(extend("enum" = STATUSES))]
    status: &'static str,
    /// Why there is no way: `all_unknown`, `nothing_to_change`, `out_of_reach`, `only_unusual`, `search_ended` or
    /// `proposals_denied`; a sentence if the status is `error`.
    reason: Option<String>,
    /// The reason, for people.
    reason_words: Option<&'static str>,
    /// Which of the person's own wishes to lift so that there is a way.
    remedy: Option<String>,
    /// The smallest number of changes known to be enough, if the budget alone is too small.
    #[schemars(range(min = 1))]
    needs_changes: Option<usize>,
    /// The smallest set of the person's own wishes without which a way is known.
    obstacles: Vec<ObstacleJson>,
    /// For an auditor, never for the applicant: the smallest set of obstacles with one of the schema without which a
    /// way is known; null unless `auditor` is set and there is no way.
    schema_obstacles: Option<Vec<ObstacleJson>>,
    /// For an auditor, never for the applicant: accepted rows that are rarer than `min_percentile` allows; null unless
    /// `auditor` is set and there is no way.
    unusual: Option<Vec<WayJson>>,
    /// The score of the row as it is: the probability that it is accepted, or of a regression the predicted number; null
    /// if it cannot be read.
    probability: Option<f64>,
    /// The score that is accepted: the lowest, or of a regression with `at_most` the highest.
    threshold: f64,
    /// Both for people, such as `probability 0.412, threshold 0.500` or `predicted 46,300, at least 50,000 is needed`.
    score_words: Option<String>,
    /// A sentence for each cell whose value was not in the training rows, with what it counts as, and one if the search
    /// ended before it was done.
    warnings: Vec<String>,
    /// The policies of the lender that the row as it is breaks.
    broken_policies: Vec<String>,
    /// Unknown cells that would decide.
    if_known: Vec<IfKnownJson>,
    /// The row as it was read: every cell as text.
    row: NamedCells,
    /// In the request's order.
    ways: Vec<WayJson>,
    /// The best rows found for the problem of the first way, by number of changes: what more changes gain.
    frontier: Vec<PointJson>,
    /// Whether it is proved that fewer changes than those of the first point of the frontier are not enough; null if
    /// there is no way.
    fewest_proved: Option<bool>,
    /// The first way of the same request without `robust`, `certify` and `slack`: what it costs less is the price of a way
    /// that lasts. Null if the request has none of these, or there is no way.
    plain: Option<WayJson>,
    /// That price, for people.
    price_of_lasting: Option<String>,
    /// The search ended before it was done, by its deadline or the service's time: more or better ways may exist. Present
    /// only then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    search_ended: bool,
    /// The time of the answer in microseconds; present only if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    time_us: Option<u64>,
}

/// An unknown cell with which, for some values, the row is accepted as it is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "IfKnown")]
struct IfKnownJson {
    /// The name of the feature.
    feature: String,
    /// The values, for people.
    values: String,
    /// The whole sentence.
    sentence: String,
}

impl From<&IfKnown> for IfKnownJson {
    fn from(one: &IfKnown) -> Self {
        Self { feature: one.name.clone(), values: one.values.clone(), sentence: words::if_known(one) }
    }
}

/// A wish of the request or a constraint of the schema without which there would be a way.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Obstacle")]
struct ObstacleJson {
    /// What kind of obstacle it is.
    #[schemars(extend("enum" = Obstacle::NAMES))]
    kind: &'static str,
    /// The name of its feature.
    feature: Option<String>,
    /// How to lift it.
    words: String,
}

/// A row that this person could become and be accepted.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Way")]
struct WayJson {
    /// Its rank in the request's order, from 1.
    #[schemars(range(min = 1))]
    rank: usize,
    /// Its score: the probability of acceptance, or of a regression the predicted number.
    probability: f64,
    /// The score for people, such as `probability 0.712` or `predicted 52,300`.
    score_words: String,
    /// How likely it is among accepted rows, as a logarithm.
    log_likelihood: f64,
    /// The same, given what the person cannot change.
    conditional_log_likelihood: f64,
    /// The share of accepted rows that are no likelier, each given the same features of its own.
    #[schemars(range(min = 0.0, max = 1.0))]
    percentile: f64,
    /// What its changes cost the person: the sum over them of a weight times a size.
    effort: f64,
    /// How many months it takes: as long as its longest change.
    months: u32,
    /// Whether the score is beyond the threshold by the request's margin, as is all that it must withstand.
    has_margin: bool,
    /// How many versions of the classifier accept it, besides the deployed one; null for a model without versions.
    accepting: Option<AcceptingJson>,
    /// It is accepted by every network, or all trees, within so much of the deployed one; null unless `certify` is set.
    certified: Option<f64>,
    /// Both for people; null without either.
    lasting_words: Option<String>,
    /// The sum of the changes of numbers, each in median absolute deviations.
    similarity: f64,
    /// The similarity, plus one for every other feature that changes.
    distance: f64,
    /// How it was found.
    #[schemars(extend("enum" = Method::ALL.map(Method::name)))]
    method: &'static str,
    /// The problem that it solves: the least effort of all ways that are plausible and sure, or the likeliest for its
    /// changes and effort.
    #[schemars(extend("enum" = Solves::ALL.map(Solves::name)))]
    solves: &'static str,
    /// Whether it is proved that nothing with at most as many changes solves the problem better; null without a proof.
    optimal: Option<bool>,
    /// How much better something with at most as many changes could be, in effort or in nats; null without a proof.
    gap: Option<f64>,
    /// The proof in words; null without one.
    proof: Option<String>,
    /// How different its changes are from those of the most similar way before it, from 0 to 1; null for the first.
    difference: Option<f64>,
    /// What it is best at among the ways and the frontier: `least_effort`, `fewest_changes`, `most_common`, `surest`,
    /// `soonest`, `lasting`. Equals share it.
    best_at: Vec<&'static str>,
    /// The features that the person changes, in schema order.
    changes: Vec<ChangeJson>,
    /// The features that change with them: clocks, and what is computed from others.
    consequences: Vec<ChangeJson>,
    /// The whole row: every cell as text.
    row: NamedCells,
}

/// How many versions of the classifier accept a way.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Accepting")]
struct AcceptingJson {
    /// How many accept it.
    versions: usize,
    /// How many there are.
    of: usize,
}

/// One feature that changes from a value to another.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Change")]
struct ChangeJson {
    /// Its name.
    feature: String,
    /// The person's value, as a table writes it.
    from: String,
    /// The new value, as a table writes it.
    to: String,
    /// The lowest number that is enough; only for features in bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    lowest: Option<f64>,
    /// The highest number that is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    highest: Option<f64>,
    /// For a classifier that reads numbers: the number nearest to the person's own from which on it is proved to be
    /// enough, up to the new value, together with the `least` of the other changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    least: Option<f64>,
    /// The person's value, for people.
    from_words: String,
    /// The new value, for people.
    to_words: String,
    /// The change, for people.
    sentence: String,
    /// What it costs the person.
    effort: f64,
    /// How many months it takes.
    months: u32,
    /// The score if only this changes; null for a consequence, and where it cannot change alone.
    alone: Option<f64>,
    /// Whether it makes something worse that the schema says should improve.
    harm: bool,
    /// Whether it is a term of the request, so that the change is a counter-offer of the lender.
    counter_offer: bool,
}

/// The best row found with a number of changes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Point")]
pub struct PointJson {
    /// How many features change.
    #[schemars(range(min = 1))]
    pub changes: usize,
    /// Its score: the probability of acceptance, or of a regression the predicted number.
    pub probability: f64,
    /// How likely it is among accepted rows, as a logarithm.
    pub log_likelihood: f64,
    /// The same, given what the person cannot change.
    pub conditional_log_likelihood: f64,
    /// The share of accepted rows that are no likelier, each given the same features of its own.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub percentile: f64,
    /// What the changes cost the person.
    pub effort: f64,
    /// How many months it takes.
    pub months: u32,
    /// How much better a row with as many changes could be, in the unit of the first way's problem; null without a
    /// proof.
    pub gap: Option<f64>,
    /// The changes, for people.
    pub sentences: Vec<String>,
}

/// The cells of a row under the names of their features, in schema order.
#[derive(JsonSchema)]
#[schemars(inline, with = "std::collections::BTreeMap<String, String>")]
struct NamedCells(Vec<(String, String)>);

impl NamedCells {
    fn new<'a>(schema: &Schema, cells: impl Iterator<Item = &'a str>) -> Self {
        let names = schema.features().iter().map(|feature| feature.name.clone());
        Self(names.zip(cells.map(String::from)).collect())
    }
}

impl Serialize for NamedCells {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, cell)| (name, cell)))
    }
}
