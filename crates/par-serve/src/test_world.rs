//! A small model for tests: odd names, missing cells, numbers and truths as categories. Who judges whether JSON is as a JSON
//! Schema says.

use std::io::Cursor;
use std::sync::LazyLock;

use par_data::{Schema, Table, TableOptions};
use par_recourse::{Config, Recourse};
use serde_json::{Value, json};

use crate::guide::Guide;
use crate::models::Model;

/// The model, which is made once.
pub(crate) static ODD: LazyLock<Model> = LazyLock::new(|| odd_with_age_called("Age in years"));

/// The same with another name for a feature.
pub(crate) fn odd_with_age_called(name: &str) -> Model {
    let renamed = |text: &str| text.replace("Age in years", name);
    let schema = Schema::parse(&renamed(include_str!("../testdata/odd.toml")), "odd.toml");
    let settings = include_str!("../testdata/quick.toml").parse().expect("TOML");
    let config = Config::default().laid_over(settings).expect("settings");
    let rows = renamed(include_str!("../testdata/odd.csv"));
    let table = || Table::from_reader("odd.csv", Cursor::new(rows.clone()), &TableOptions::default());
    Model::new("odd", Recourse::new(schema.expect("a schema"), config).fit(table).expect("a model"))
}

/// What is said of it.
pub(crate) fn guide(asks_token: bool) -> Guide {
    Guide::new(&ODD, &mut ODD.bundle().solver(), 3, asks_token)
}

/// A row that can be asked for.
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

/// Whether a value is as a schema says. `root` is what references start from.
///
/// # Panics
/// At a keyword that it does not know: nothing is said that is not judged.
pub(crate) fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    let rules = match schema {
        Value::Bool(truth) => return *truth,
        Value::Object(rules) => rules,
        other => panic!("{other} is no schema"),
    };
    let one = |schema: &Value| fits(root, schema, value);
    let (object, list, number) = (value.as_object(), value.as_array(), value.as_f64());
    let any = |rule: &Value| rule.as_array().expect("a list").iter().filter(|schema| one(schema)).count();
    let limit = |rule: &Value| rule.as_f64().expect("a number");
    rules.iter().all(|(keyword, rule)| match keyword.as_str() {
        "title" | "description" | "default" | "examples" | "$schema" | "$defs" => true,
        "$ref" => {
            let pointer = rule.as_str().and_then(|rule| rule.strip_prefix('#')).expect("a reference");
            one(root.pointer(pointer).unwrap_or_else(|| panic!("{pointer} leads nowhere")))
        }
        "type" => match rule {
            Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind, value)),
            kind => is_of(kind, value),
        },
        "enum" => rule.as_array().expect("a list").iter().any(|listed| same(listed, value)),
        "const" => same(rule, value),
        "anyOf" => any(rule) > 0,
        "oneOf" => any(rule) == 1,
        "required" => object.is_none_or(|object| {
            rule.as_array()
                .expect("a list")
                .iter()
                .all(|name| object.contains_key(name.as_str().expect("a name")))
        }),
        "properties" => object.is_none_or(|object| {
            let known = rule.as_object().expect("an object");
            known.iter().all(|(name, schema)| object.get(name).is_none_or(|value| fits(root, schema, value)))
        }),
        "additionalProperties" => object.is_none_or(|object| {
            let known = rules.get("properties").and_then(Value::as_object);
            let is_known = |name: &String| known.is_some_and(|known| known.contains_key(name));
            object.iter().all(|(name, value)| is_known(name) || fits(root, rule, value))
        }),
        "prefixItems" => list.is_none_or(|list| {
            list.iter().zip(rule.as_array().expect("a list")).all(|(value, schema)| fits(root, schema, value))
        }),
        "items" => list.is_none_or(|list| {
            let before = rules.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
            list.iter().skip(before).all(|value| fits(root, rule, value))
        }),
        "minItems" => list.is_none_or(|list| list.len() as f64 >= limit(rule)),
        "maxItems" => list.is_none_or(|list| list.len() as f64 <= limit(rule)),
        "minimum" => number.is_none_or(|number| number >= limit(rule)),
        "maximum" => number.is_none_or(|number| number <= limit(rule)),
        "exclusiveMinimum" => number.is_none_or(|number| number > limit(rule)),
        "exclusiveMaximum" => number.is_none_or(|number| number < limit(rule)),
        other => panic!("nobody judges `{other}`"),
    })
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().expect("the name of a type") {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type `{other}`"),
    }
}

/// Numbers are the same however they are written.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}
