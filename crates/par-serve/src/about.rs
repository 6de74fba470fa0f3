//! What a model knows, and whom it might meet.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use par_data::schema::Monotone;
use par_data::{Code, Domain, Feature};
use par_recourse::desk;
use serde_json::{Map, Value, json};

use crate::Service;
use crate::json_schema;
use crate::models::Model;
use crate::parameters::Parameters;
use crate::refusal::Refusal;
use crate::routes::json_bytes;

/// People that can be made up at once.
pub(crate) const MAX_PEOPLE: u64 = 100;
/// Rows that are drawn for each of them, at most: not all that are drawn are denied.
const DRAWS: u64 = 20;

/// `GET /v1/schema`: the features, as a form needs them
pub(crate) async fn schema(
    State(service): State<Arc<Service>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let parameters = Parameters::read(query.as_deref(), &["model"])?;
    let model = service.model(parameters.text("model"))?;
    Ok(json_bytes(described(&model, service.settings.max_rows).to_string()))
}

fn described(model: &Model, max_rows: usize) -> Value {
    let bundle = model.bundle();
    let schema = bundle.schema();
    let [accepted, denied] = &bundle.card().classes;
    let name = |feature: usize| &schema.features()[feature].name;
    let rules = schema.rules().iter().map(
        |rule| json!({"if_increases": name(rule.if_increases), "must_increase": name(rule.must_increase)}),
    );
    let features = (0..schema.features().len()).map(|position| feature(model, position));
    let columns =
        desk::COLUMNS.into_iter().map(|own| (own.to_string(), desk::column_name(schema, own).into()));
    json!({
        "model": model.name(),
        "title": schema.name(),
        "threshold": bundle.threshold(),
        "budget": bundle.config().answers.budget,
        "label": {"accepted": accepted, "denied": denied},
        "features": features.collect::<Vec<_>>(),
        "rules": rules.collect::<Vec<_>>(),
        "columns": columns.collect::<Map<_, _>>(),
        "row": json_schema::row_alone(model),
        "request": json_schema::question_alone(model, max_rows),
    })
}

fn feature(model: &Model, position: usize) -> Value {
    let bundle = model.bundle();
    let feature = &bundle.schema().features()[position];
    let domain = &bundle.discretizer().domains()[position];
    let mut told = json!({
        "name": feature.name,
        "kind": feature.kind.name(),
        "unit": feature.unit,
        "bounds": feature.bounds,
        "missing": feature.missing,
        "changeable": !bundle.constraints().is_immutable(position),
        "monotone": match feature.monotone {
            Monotone::None => None,
            Monotone::Increasing => Some("increasing"),
            Monotone::Decreasing => Some("decreasing"),
        },
        "allowed": feature.allowed,
    });
    match (domain, domain.summary()) {
        (Domain::Categories { values, .. }, _) => {
            let value = |value: &String| json!({"value": value, "label": feature.labels.get(value)});
            told["values"] = values.iter().map(value).collect();
        }
        (_, Some(summary)) => {
            told["low"] = summary.low.into();
            told["high"] = summary.high.into();
            told["median"] = summary.median.into();
            told["decimals"] = summary.decimals.into();
        }
        (_, None) => {}
    }
    told
}

/// `GET /v1/model`: the card
pub(crate) async fn model(
    State(service): State<Arc<Service>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let parameters = Parameters::read(query.as_deref(), &["model"])?;
    let model = service.model(parameters.text("model"))?;
    let bundle = model.bundle();
    let told = json!({
        "name": model.name(),
        "sha256": model.sha256(),
        "loaded": model.loaded(),
        "threshold": bundle.threshold(),
        "verifies": bundle.classifier().verifies(),
        "features": bundle.schema().features().len(),
        "pool": bundle.pool().log_likelihoods().len(),
        "card": bundle.card(),
        "config": bundle.config(),
        "schema": bundle.schema().source(),
    });
    Ok(json_bytes(told.to_string()))
}

/// `GET /v1/people`: denied people who do not exist, drawn from what the model learned of the denied
pub(crate) async fn people(
    State(service): State<Arc<Service>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let parameters = Parameters::read(query.as_deref(), &["model", "count", "seed"])?;
    let model = service.model(parameters.text("model"))?;
    let count = parameters.whole("count", 1..=MAX_PEOPLE)?.unwrap_or(8);
    let seed = parameters.whole("seed", 0..=u64::MAX)?.unwrap_or(0);
    let drawing = Arc::clone(&model);
    let people = service.one(&model, move |_| draw(&drawing, count, seed)).await?;
    Ok(json_bytes(json!({"model": model.name(), "people": people}).to_string()))
}

fn draw(model: &Model, count: u64, seed: u64) -> Vec<Value> {
    let bundle = model.bundle();
    let rows = bundle.denied().sampler().rows(0..count * DRAWS, seed);
    let person = |codes: &[Code]| {
        let mut row = Map::new();
        let mut cells = Vec::with_capacity(codes.len());
        for (position, &code) in codes.iter().enumerate() {
            let value = typical(model, position, code);
            cells.push(value.as_str().map_or_else(|| value.to_string(), str::to_string));
            row.insert(bundle.schema().features()[position].name.clone(), value);
        }
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let probability = bundle.score(&cells).ok()?;
        (probability < bundle.threshold()).then(|| json!({"row": row, "probability": probability}))
    };
    rows.rows().filter_map(person).take(count as usize).collect()
}

/// The row of somebody who does not exist, denied if anybody is.
pub(crate) fn somebody(model: &Model) -> Value {
    let bundle = model.bundle();
    if let Some(person) = draw(model, 1, 1).first() {
        return person["row"].clone();
    }
    let cell = |(position, feature): (usize, &Feature)| (feature.name.clone(), typical(model, position, 0));
    Value::Object(bundle.schema().features().iter().enumerate().map(cell).collect())
}

/// What a code stands for.
fn typical(model: &Model, position: usize, code: Code) -> Value {
    match &model.bundle().discretizer().domains()[position] {
        Domain::Categories { values, .. } => values[usize::from(code)].as_str().into(),
        Domain::Values { values, .. } => json_schema::number(values[usize::from(code)]),
        Domain::Bins { medians, .. } => json_schema::number(medians[usize::from(code)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_world::{ODD, odd_with_age_called};

    #[test]
    fn a_column_that_is_called_like_a_feature_is_told_under_another_name() {
        let columns = |model: &Model| described(model, 3)["columns"].clone();
        let usual: Map<String, Value> =
            desk::COLUMNS.into_iter().map(|own| (own.to_string(), own.into())).collect();
        assert_eq!(columns(&ODD), Value::Object(usual.clone()));
        let mut renamed = usual;
        renamed["status"] = "par_status".into();
        assert_eq!(columns(&odd_with_age_called("status")), Value::Object(renamed));
    }
}
