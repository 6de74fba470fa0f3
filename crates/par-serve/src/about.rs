//! What a model says of itself: its features, its card, and made-up people it denies.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use par_answer::write;
use par_data::schema::Direction;
use par_data::{Code, Domain, Feature};
use par_model::Config;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::models::ServedModel;
use crate::parameters::Query;
use crate::refusal::Refusal;
use crate::routes::{json, with_model_version};
use crate::{Service, json_schema};

/// The most people in one answer.
pub(crate) const MAX_PEOPLE: u64 = 100;
/// The most rows drawn for each person: not all drawn rows are denied.
const DRAWS: u64 = 20;

/// The features, as a form needs them.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Features<'m> {
    model: &'m str,
    /// The name of the table.
    title: Option<&'m str>,
    /// The score from which on a row counts as accepted, by default: a probability, or of a regression a number.
    threshold: f64,
    /// What a predicted number must reach; null if scores are probabilities.
    number: Option<NumberInfo<'m>>,
    /// How many features change at most, by default.
    budget: usize,
    /// How many other versions of the classifier there are, which ways can be asked to be accepted by too.
    versions: usize,
    label: Label<'m>,
    features: Vec<FeatureInfo<'m>>,
    rules: Vec<Rule<'m>>,
    /// The relations between features, rules among them, in words.
    relations: Vec<String>,
    /// The policies that hold beside the classifier, in words.
    accept: Vec<String>,
    /// The names of the columns before the features in answers as CSV, by their usual name: `par_status` beside a feature
    /// `status`.
    columns: BTreeMap<&'static str, String>,
    /// JSON Schema of a row.
    #[schemars(with = "Map<String, Value>")]
    row: Value,
    /// JSON Schema of the body of `POST /v1/recourse`.
    #[schemars(with = "Map<String, Value>")]
    request: Value,
}

/// The classes.
#[derive(Serialize, JsonSchema)]
struct Label<'m> {
    accepted: &'m str,
    denied: &'m str,
}

/// A predicted number.
#[derive(Serialize, JsonSchema)]
struct NumberInfo<'m> {
    /// Which side of the threshold is accepted: `at_least` or `at_most`.
    side: &'static str,
    unit: Option<&'m str>,
    /// How many decimals are shown.
    decimals: usize,
    /// The range of a scale: from the lowest to the highest prediction for a training row, and the threshold.
    low: f64,
    high: f64,
}

impl<'m> NumberInfo<'m> {
    fn new(model: &'m ServedModel) -> Option<Self> {
        let (goal, threshold) = (model.goal()?, model.threshold());
        let [low, high] = model.card().scores.unwrap_or([threshold; 2]);
        Some(Self {
            side: goal.side.key(),
            unit: goal.unit.as_deref(),
            decimals: model.scale().decimals(),
            low: low.min(threshold),
            high: high.max(threshold),
        })
    }
}

/// The first feature may rise only if the second does.
#[derive(Serialize, JsonSchema)]
struct Rule<'m> {
    if_increases: &'m str,
    must_increase: &'m str,
}

/// A feature.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Feature")]
struct FeatureInfo<'m> {
    name: &'m str,
    #[schemars(extend("enum" = ["nominal", "ordinal", "discrete", "continuous"]))]
    kind: &'static str,
    /// The unit of numbers.
    unit: Option<&'m str>,
    /// The lowest and the highest number that a way may name.
    bounds: Option<[f64; 2]>,
    /// Whether it may be absent.
    missing: bool,
    /// False where nobody can change it.
    changeable: bool,
    /// The one direction in which it may change.
    #[schemars(extend("enum" = ["increasing", "decreasing", null]))]
    monotone: Option<&'static str>,
    /// The values that a way may change it to, if not all.
    allowed: Option<&'m [String]>,
    /// What the schema says may happen to it.
    #[schemars(extend("enum" = ["never", "undecided", "free", "increase", "decrease", "with-time", "follows"]))]
    change: &'static str,
    /// How far it may move from a person's own value.
    step: Step,
    effort: Effort,
    /// How long a change takes; no time if absent.
    takes: Option<Takes>,
    /// The direction in which it gets better.
    #[schemars(extend("enum" = ["increase", "decrease", null]))]
    improves: Option<&'static str>,
    /// Who changes it: a change by the lender is a counter-offer.
    #[schemars(extend("enum" = ["applicant", "lender"]))]
    who: &'static str,
    #[serde(flatten)]
    values: FeatureValues<'m>,
}

/// How far a feature may move from a person's own value: numbers in its unit, ordered categories in places.
#[derive(Serialize, JsonSchema)]
struct Step {
    /// The farthest it may rise.
    up: Option<f64>,
    /// The farthest it may fall.
    down: Option<f64>,
    /// The least that it moves, if it moves.
    at_least: Option<f64>,
    /// New values are multiples of it.
    grid: Option<f64>,
}

/// What a change costs the person: the weight times the size of the change.
#[derive(Serialize, JsonSchema)]
struct Effort {
    /// 1 for easy, 2 for some, 4 for hard, 8 for very hard effort.
    weight: f64,
    /// The distance of size 1; by default the size is the shift in percentile among all people.
    per: Option<f64>,
}

/// How long a change takes.
#[derive(Serialize, JsonSchema)]
struct Takes {
    months: f64,
    /// The distance that takes this long; any distance if absent.
    per: Option<f64>,
}

/// Categories, or the numbers in training.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum FeatureValues<'m> {
    Categories {
        /// The categories.
        values: Vec<Category<'m>>,
    },
    Numbers {
        /// The lowest number in training.
        low: f64,
        /// The highest number in training.
        high: f64,
        /// The median in training.
        median: f64,
        /// The most digits after the point.
        decimals: usize,
    },
}

/// A category.
#[derive(Serialize, JsonSchema)]
struct Category<'m> {
    /// As rows have it.
    value: &'m str,
    /// For people.
    label: Option<&'m str>,
}

/// `GET /v1/schema`: the features, as a form needs them
pub(crate) async fn schema(State(service): State<Arc<Service>>, query: Query) -> Result<Response, Refusal> {
    let model = service.model(query.read()?.text("model"))?;
    Ok(with_model_version(json(&Features::new(&model, service.settings.max_rows)), &model))
}

impl<'m> Features<'m> {
    fn new(model: &'m ServedModel, max_rows: usize) -> Self {
        let schema = model.schema();
        let [accepted, denied] = &model.card().classes;
        let name = |feature: usize| schema.features()[feature].name.as_str();
        Self {
            model: model.name(),
            title: schema.name(),
            threshold: model.threshold(),
            number: NumberInfo::new(model),
            budget: model.config().answers.budget,
            versions: model.versions().len(),
            label: Label { accepted, denied },
            features: (0..schema.features().len())
                .map(|position| FeatureInfo::new(model, position))
                .collect(),
            rules: schema
                .rises()
                .map(|[effect, cause]| Rule { if_increases: name(effect), must_increase: name(cause) })
                .collect(),
            relations: schema.relations_in_words(),
            accept: schema.accept_rules_in_words(),
            columns: write::COLUMNS.into_iter().map(|own| (own, write::column_name(schema, own))).collect(),
            row: json_schema::row_alone(model),
            request: json_schema::question_alone(model, max_rows),
        }
    }
}

impl<'m> FeatureInfo<'m> {
    fn new(model: &'m ServedModel, position: usize) -> Self {
        let feature = &model.schema().features()[position];
        let domain = &model.discretizer().domains()[position];
        let category =
            |value: &'m String| Category { value, label: feature.labels.get(value).map(String::as_str) };
        let values = match domain {
            Domain::Categories { values, .. } => {
                FeatureValues::Categories { values: values.iter().map(category).collect() }
            }
            Domain::Values { summary, .. } | Domain::Bins { summary, .. } => FeatureValues::Numbers {
                low: summary.low,
                high: summary.high,
                median: summary.median,
                decimals: summary.decimals,
            },
        };
        Self {
            name: &feature.name,
            kind: feature.kind.name(),
            unit: feature.unit.as_deref(),
            bounds: feature.bounds,
            missing: feature.missing,
            changeable: !model.constraints().is_immutable(position),
            monotone: match feature.direction() {
                None => None,
                Some(Direction::Increase) => Some("increasing"),
                Some(Direction::Decrease) => Some("decreasing"),
            },
            allowed: feature.allowed.as_deref(),
            change: feature.change.name(),
            step: Step {
                up: feature.step.up,
                down: feature.step.down,
                at_least: feature.step.at_least,
                grid: feature.step.grid,
            },
            effort: Effort { weight: feature.effort.weight, per: feature.effort.per },
            takes: feature.takes.map(|takes| Takes { months: takes.months, per: takes.per }),
            improves: feature.improves.map(Direction::name),
            who: feature.who.name(),
            values,
        }
    }
}

/// What the model is and how it was made.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Card<'m> {
    name: &'m str,
    /// The SHA-256 of the model.
    sha256: &'m str,
    /// When it was read, in seconds since 1970.
    loaded: u64,
    /// The score from which on a row counts as accepted.
    threshold: f64,
    /// Whether the model holds the classifier itself, not only a surrogate.
    verifies: bool,
    /// The names of other versions of the classifier.
    versions: Vec<&'m str>,
    /// How many features there are.
    features: usize,
    /// How many accepted rows answers are compared with.
    pool: usize,
    /// How it was made.
    #[schemars(with = "Map<String, Value>")]
    card: &'m par_model::Card,
    /// The settings it was made with.
    #[schemars(with = "Map<String, Value>")]
    config: &'m Config,
    /// The schema of its table, as TOML.
    schema: &'m str,
}

/// `GET /v1/model`: the card
pub(crate) async fn model(State(service): State<Arc<Service>>, query: Query) -> Result<Response, Refusal> {
    let model = service.model(query.read()?.text("model"))?;
    let card = Card {
        name: model.name(),
        sha256: model.sha256(),
        loaded: model.loaded(),
        threshold: model.threshold(),
        verifies: model.classifier().verifies(),
        versions: model.versions().iter().map(|version| version.name.as_str()).collect(),
        features: model.schema().features().len(),
        pool: model.pool().log_likelihoods().len(),
        card: model.card(),
        config: model.config(),
        schema: model.schema().source(),
    };
    Ok(with_model_version(json(&card), &model))
}

/// Made-up denied people; one may equal a real row by chance.
#[derive(Serialize, JsonSchema)]
pub(crate) struct People<'a> {
    /// The model they are drawn from.
    model: &'a str,
    people: Vec<MadeUp>,
}

/// A made-up person.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MadeUpPerson")]
struct MadeUp {
    /// As `/v1/recourse` takes it.
    row: Map<String, Value>,
    /// The score: the probability of acceptance, or the predicted number.
    probability: f64,
}

/// `GET /v1/people`: denied people drawn at random from what the model learned of denied people
pub(crate) async fn people(State(service): State<Arc<Service>>, query: Query) -> Result<Response, Refusal> {
    let parameters = query.read()?;
    let model = service.model(parameters.text("model"))?;
    let count = parameters.whole("count", 1..=MAX_PEOPLE)?.unwrap_or(8);
    let seed = parameters.whole("seed", 0..=u64::MAX)?.unwrap_or(0);
    let drawing = Arc::clone(&model);
    let people = service.run_job(&model, move |_| draw(&drawing, count, seed)).await?;
    Ok(with_model_version(json(&People { model: model.name(), people }), &model))
}

fn draw(model: &ServedModel, count: u64, seed: u64) -> Vec<MadeUp> {
    let rows = model.denied().sampler().rows(0..count * DRAWS, seed);
    let person = |codes: &[Code]| {
        let mut row = Map::new();
        let mut cells = Vec::with_capacity(codes.len());
        for (position, &code) in codes.iter().enumerate() {
            let value = typical(model, position, code);
            cells.push(value.as_str().map_or_else(|| value.to_string(), str::to_string));
            row.insert(model.schema().features()[position].name.clone(), value);
        }
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let probability = model.score(&cells).ok()?;
        (!model.scale().reaches(probability, model.threshold())).then_some(MadeUp { row, probability })
    };
    rows.rows().filter_map(person).take(count as usize).collect()
}

/// The row of a made-up person, who is denied if the classifier denies any.
pub(crate) fn example_row(model: &ServedModel) -> Value {
    let cell = |(position, feature): (usize, &Feature)| (feature.name.clone(), typical(model, position, 0));
    let first_codes = || model.schema().features().iter().enumerate().map(cell).collect();
    draw(model, 1, 1).pop().map_or_else(first_codes, |person| person.row).into()
}

/// A typical value of a code.
fn typical(model: &ServedModel, position: usize, code: Code) -> Value {
    match &model.discretizer().domains()[position] {
        Domain::Categories { values, .. } => values[usize::from(code)].as_str().into(),
        numeric => json_schema::number(numeric.number(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_model::{ODD, odd_with_age_called};

    #[test]
    fn features_say_what_may_change() {
        let features = serde_json::to_value(Features::new(&ODD, 3)).expect("text keys");
        for feature in features["features"].as_array().expect("features") {
            let change = feature["change"].as_str().expect("a word");
            assert_eq!(feature["changeable"], ["free", "increase", "decrease"].contains(&change));
            assert_eq!((&feature["who"], &feature["takes"]), (&"applicant".into(), &Value::Null));
            assert_eq!(feature["effort"], serde_json::json!({"weight": 2.0, "per": null}));
        }
        let rules = features["rules"].as_array().map(Vec::len);
        assert_eq!(features["relations"].as_array().map(Vec::len), rules);
    }

    #[test]
    fn a_column_with_the_name_of_a_feature_is_renamed() {
        let columns = |model: &ServedModel| {
            let columns = Features::new(model, 3).columns;
            serde_json::to_value(columns).expect("text keys")
        };
        let usual: Map<String, Value> =
            write::COLUMNS.into_iter().map(|own| (own.to_string(), own.into())).collect();
        assert_eq!(columns(&ODD), Value::Object(usual.clone()));
        let mut renamed = usual;
        renamed["status"] = "par_status".into();
        assert_eq!(columns(&odd_with_age_called("status")), Value::Object(renamed));
    }
}
