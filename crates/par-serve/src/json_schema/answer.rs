//! The answer to a person as JSON Schema: `par_recourse::desk` defines how it is serialized.

use std::borrow::Cow;

use par_recourse::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::reference;

/// Stands for [`par_recourse::desk::Described`], which has no schema of its own.
pub(crate) struct DescribedSchema;

impl JsonSchema for DescribedSchema {
    fn schema_name() -> Cow<'static, str> {
        "Described".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let parts = [("Way", way()), ("Change", change()), ("Point", point()), ("Obstacle", obstacle())];
        let parts = parts.map(|(name, schema)| (name.to_string(), schema));
        generator.definitions_mut().extend(parts);
        answer().try_into().expect("an object is a schema")
    }
}

fn list(name: &str) -> Value {
    json!({"type": "array", "items": reference(name)})
}

/// An object that has all of its properties, but for those that may be `absent`.
fn object(words: &str, properties: Value, absent: &[&str]) -> Value {
    let names = properties.as_object().into_iter().flat_map(Map::keys);
    let required: Vec<&String> = names.filter(|name| !absent.contains(&name.as_str())).collect();
    let mut object = json!({"description": words, "type": "object", "required": required});
    object["properties"] = properties;
    object
}

fn text(words: &str) -> Value {
    json!({"description": words, "type": "string"})
}

fn share(words: &str) -> Value {
    json!({"description": words, "type": "number", "minimum": 0, "maximum": 1})
}

fn number(words: &str) -> Value {
    json!({"description": words, "type": "number"})
}

fn cells(words: &str) -> Value {
    json!({"description": words, "type": "object", "additionalProperties": {"type": "string"}})
}

/// The same, or null.
fn or_null(mut shape: Value) -> Value {
    if let Some(listed) = shape.get_mut("enum").and_then(Value::as_array_mut) {
        listed.push(Value::Null);
    } else {
        shape["type"] = json!([shape["type"], "null"]);
    }
    shape
}

fn answer() -> Value {
    let properties = json!({
        "id": text("The id of the row in the request, or its number, from 1."),
        "status": {
            "description": "`unverified` if the model holds only a surrogate of the classifier; `error`, only in streams, if a row \
                            cannot be read.",
            "enum": ["accepted", "found", "not_found", "unverified", "unverified_accepted", "error"],
        },
        "reason": or_null(text(
            "Why there is no way: `nothing_to_change`, `out_of_reach`, `search_ended` or `proposals_denied`; a sentence where \
             the status is `error`."
        )),
        "reason_words": or_null(text("The same, for people.")),
        "remedy": or_null(text("Which of the person's own locks, limits and budget to lift so that there is a way.")),
        "needs_changes": or_null(json!({
            "description": "The smallest number of changes known to suffice, if only the budget prevents a way.",
            "type": "integer",
            "minimum": 1,
        })),
        "obstacles": list("Obstacle"),
        "schema_obstacles": or_null({
            let mut obstacles = list("Obstacle");
            obstacles["description"] = json!(
                "For an auditor, and not for the applicant: the smallest set to lift that includes constraints of the schema; null \
                 unless `auditor` was set and there is no way."
            );
            obstacles
        }),
        "probability": or_null(share("The probability that the row is accepted as it is; null if it cannot be read.")),
        "threshold": share("The probability from which on a row counts as accepted."),
        "warnings": {
            "description": "What training never saw in the row, and what it counts as.",
            "type": "array",
            "items": {"type": "string"},
        },
        "row": cells("The row as it was read: every cell as text."),
        "ways": list("Way"),
        "frontier": list("Point"),
        "fewest_proved": or_null(json!({
            "description": "Whether it is proved that fewer changes than the first point of the frontier has are not enough; \
                            false: not ruled out; null where there is no way.",
            "type": "boolean",
        })),
    });
    object("The answer to one person.", properties, &[])
}

fn way() -> Value {
    let properties = json!({
        "rank": {"description": "Its place in the `order`, from 1.", "type": "integer", "minimum": 1},
        "probability": share("Its probability of acceptance."),
        "log_likelihood": number("How likely it is among accepted rows, as a logarithm."),
        "percentile": share("The share of accepted rows that are no likelier."),
        "similarity": number("How far numbers move, in median absolute deviations."),
        "distance": number("The same, and one for every other feature that changes."),
        "method": {"description": "How it was found.", "enum": Method::ALL.map(Method::name)},
        "optimal": or_null(json!({
            "description": "Whether it is proved that no row with as many changes is likelier; null if that was not checked.",
            "type": "boolean",
        })),
        "gap": or_null(number("How much likelier one could be, in nats; null if that was not checked.")),
        "best_at": {
            "description": "What it is best at among all that is shown: ways and frontier. Equals share it.",
            "type": "array",
            "items": {"enum": ["fewest_changes", "most_common", "surest"]},
        },
        "changes": list("Change"),
        "row": cells("The whole row: every cell as text."),
    });
    object("A row that this person could become and be accepted.", properties, &[])
}

fn change() -> Value {
    let properties = json!({
        "feature": text("Its name."),
        "from": text("What it is, as a table writes it."),
        "to": text("What it becomes, as a table writes it."),
        "lowest": number("The lowest number that does; of numbers that stand in bins."),
        "highest": number("The highest number that does."),
        "from_words": text("What it is, for people."),
        "to_words": text("What it becomes, for people."),
        "sentence": text("All of it, for people."),
    });
    object("One feature that becomes another.", properties, &["lowest", "highest"])
}

fn point() -> Value {
    let properties = json!({
        "changes": {"description": "How many features change.", "type": "integer", "minimum": 1},
        "probability": share("Its probability of acceptance."),
        "log_likelihood": number("How likely it is among accepted rows, as a logarithm."),
        "percentile": share("The share of accepted rows that are no likelier."),
        "gap": or_null(number("How much likelier one could be, in nats; null if that was not checked.")),
        "sentences": {"description": "The changes, for people.", "type": "array", "items": {"type": "string"}},
    });
    object("The likeliest row found with a number of changes: what more changes buy.", properties, &[])
}

fn obstacle() -> Value {
    let kinds = ["lock", "limit", "monotone", "immutable", "allowed", "rule", "constraint"];
    let properties = json!({
        "kind": {"description": "The kind of obstacle.", "enum": kinds},
        "feature": or_null(text("Its feature.")),
        "words": text("What to lift, for people."),
    });
    object("Something that prevents a way.", properties, &[])
}
