//! A small model for tests: odd names, missing cells, numbers and booleans as categories; and its compiled JSON Schemas.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::LazyLock;

use jsonschema::Validator;
use par_answer::Solver;
use par_data::{Schema, Table, TableOptions};
use par_fit::ModelBuilder;
use par_model::Config;
use serde_json::{Value, json};

use crate::api_docs::ApiDocs;
use crate::json_schema::reference;
use crate::models::ServedModel;

/// The model, which is made once.
pub(crate) static ODD: LazyLock<ServedModel> = LazyLock::new(|| odd_with_age_called("Age in years"));

/// The same with another name for a feature.
pub(crate) fn odd_with_age_called(name: &str) -> ServedModel {
    let renamed = |text: &str| text.replace("Age in years", name);
    fit(&renamed(include_str!("../testdata/odd.toml")), &renamed(include_str!("../testdata/odd.csv")), 0)
}

/// The same with two other versions of its classifier.
pub(crate) fn odd_with_versions() -> ServedModel {
    fit(include_str!("../testdata/odd.toml"), include_str!("../testdata/odd.csv"), 2)
}

fn fit(schema: &str, rows: &str, versions: usize) -> ServedModel {
    let schema = Schema::parse(schema, "odd.toml");
    let settings = include_str!("../testdata/quick.toml").parse().expect("TOML");
    let config = Config { versions, ..Config::default().laid_over(settings).expect("settings") };
    let table = || Table::from_reader("odd.csv", Cursor::new(rows.to_string()), &TableOptions::default());
    ServedModel::new("odd", ModelBuilder::new(schema.expect("a schema"), config).fit(table).expect("a model"))
}

/// The description of the API for it.
pub(crate) fn api_docs(asks_token: bool) -> ApiDocs {
    ApiDocs::new(&ODD, &mut Solver::new(&ODD), 3, asks_token)
}

/// A row that can be read.
pub(crate) fn row() -> Value {
    json!({
        "the id": "p1",
        "Age in years": 31,
        "a/b~c": "x/y",
        "Straße, Hausnr. 🏠": "Ulm",
        "income=\"net\"": 1200.5,
        "has car?": false,
        "grade": 2,
        "owner": true,
    })
}

/// The JSON Schemas of the OpenAPI document, each compiled once.
pub(crate) struct Schemas(BTreeMap<String, Validator>);

impl Schemas {
    pub(crate) fn of(docs: &ApiDocs) -> Self {
        let validator = |name: &String| {
            let mut root = reference(name);
            root["components"] = json!({"schemas": docs.schemas});
            (name.clone(), validator(&root))
        };
        Self(docs.schemas.keys().map(validator).collect())
    }

    /// Whether a value fits the schema of that name.
    pub(crate) fn fits(&self, name: &str, value: &Value) -> bool {
        self.0[name].is_valid(value)
    }
}

/// Compiles a JSON Schema.
///
/// # Panics
/// If it is not a schema, or has a reference that cannot be resolved.
pub(crate) fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).unwrap_or_else(|error| panic!("{error}: {schema}"))
}
