//! What is answered, as JSON Schema: the same for every model.

use par_recourse::Method;
use serde_json::{Map, Value, json};

/// The shapes of answers by name; `reference` makes a reference to one of them.
pub(crate) fn answers(reference: impl Fn(&str) -> Value) -> Map<String, Value> {
    let list = |name: &str| json!({"type": "array", "items": reference(name)});
    let answers = |list_name: &str, words: &str| {
        let properties = json!({"model": text("Who answers."), list_name: list("Answer")});
        object(words, properties, &[])
    };
    let shapes = [
        ("Answers", answers("answers", "An answer for every row, in their order.")),
        ("Explanations", answers("explanations", "An answer for every row, in their order.")),
        ("Answer", answer(&list)),
        ("Way", way(&list)),
        ("Change", change()),
        ("Point", point()),
        ("Obstacle", obstacle()),
        ("Predictions", predictions()),
        ("Inferred", inferred()),
        (
            "Models",
            object("The models.", json!({"models": {"type": "array", "items": {"type": "string"}}}), &[]),
        ),
        ("Ready", object("Whether it can be asked.", json!({"ready": {"type": "boolean"}}), &[])),
        ("Live", object("Whether it is there.", json!({"live": {"type": "boolean"}}), &[])),
        (
            "ModelReady",
            object(
                "Whether a model can be asked.",
                json!({"name": {"type": "string"}, "ready": {"type": "boolean"}}),
                &[],
            ),
        ),
        ("Health", object("How the service is.", health(), &["models"])),
        ("Server", object("What the server is.", server(), &[])),
        ("Metadata", object("What a model takes and gives.", metadata(), &[])),
        ("People", object("Denied people who do not exist.", people(), &[])),
        ("Features", object("The features, as a form needs them.", features(), &[])),
        ("Card", object("What the model is and how it was made.", card(), &[])),
        ("Refusal", refusal()),
    ];
    shapes.into_iter().map(|(name, shape)| (name.to_string(), shape)).collect()
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

fn answer(list: &impl Fn(&str) -> Value) -> Value {
    let properties = json!({
        "id": text("What the request calls the row, or its number, from 1."),
        "status": {
            "description": "`unverified` where only a network that imitates the classifier was at hand; `error`, in streams \
                            alone, where a row cannot be read.",
            "enum": ["accepted", "found", "not_found", "unverified", "unverified_accepted", "error"],
        },
        "reason": or_null(text(
            "Why there is no way: `nothing_to_change`, `out_of_reach`, `search_ended` or `proposals_denied`; a sentence where \
             the status is `error`."
        )),
        "reason_words": or_null(text("The same, for people.")),
        "remedy": or_null(text("What would have to give for a way to be there.")),
        "needs_changes": or_null(json!({
            "description": "The smallest number of changes known to do, if the budget alone stands in the way.",
            "type": "integer",
            "minimum": 1,
        })),
        "obstacles": list("Obstacle"),
        "probability": or_null(share("The probability that the row is accepted as it is; null if it cannot be read.")),
        "threshold": share("The probability from which on a row counts as accepted."),
        "row": cells("The row as it was read: every cell as text."),
        "ways": list("Way"),
        "frontier": list("Point"),
        "plot": or_null(text("What more changes buy, as SVG; there only if it was asked for.")),
    });
    object("What one person is told.", properties, &["plot"])
}

fn way(list: &impl Fn(&str) -> Value) -> Value {
    let properties = json!({
        "rank": {"description": "Its place, the best first, from 1.", "type": "integer", "minimum": 1},
        "probability": share("Its probability of acceptance."),
        "log_likelihood": number("How likely it is among accepted rows, as a logarithm."),
        "percentile": share("The share of accepted rows that are no likelier."),
        "similarity": number("How far numbers move, in median absolute deviations."),
        "distance": number("The same, and one for every other feature that changes."),
        "method": {"description": "How it was found.", "enum": Method::ALL.map(Method::name)},
        "optimal": or_null(json!({
            "description": "Whether it is proved that no row with as many changes is likelier; null if nobody looked.",
            "type": "boolean",
        })),
        "gap": or_null(number("How much likelier one could be, in nats; null if nobody looked.")),
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
        "gap": or_null(number("How much likelier one could be, in nats; null if nobody looked.")),
        "sentences": {"description": "The changes, for people.", "type": "array", "items": {"type": "string"}},
    });
    object("The likeliest row found with a number of changes: what more changes buy.", properties, &[])
}

fn obstacle() -> Value {
    let kinds = ["lock", "limit", "monotone", "immutable", "allowed", "rule", "constraint"];
    let properties = json!({
        "kind": {"description": "What stands in the way.", "enum": kinds},
        "feature": or_null(text("Of which feature.")),
        "words": text("What would have to give."),
    });
    object("Something without which there would be a way.", properties, &[])
}

fn predictions() -> Value {
    let properties = json!({
        "probability": share("The probability that the row is accepted as it is."),
        "accepted": {"type": "boolean"},
        "class": text("What the classifier calls it."),
    });
    let prediction = object("What the classifier says of a row.", properties, &[]);
    let list = json!({"predictions": {"type": "array", "items": prediction}});
    object("What the classifier says of every row, in their order.", list, &[])
}

fn inferred() -> Value {
    let count = json!({"type": "array", "items": {"type": "integer"}});
    let tensor = json!({
        "name": {"enum": ["probability", "accepted", "explanation"]},
        "datatype": {"enum": ["FP64", "BOOL", "BYTES"]},
        "shape": count,
        "data": {
            "description": "A value for every row; an explanation is the text of an Answer.",
            "type": "array",
        },
    });
    let properties = json!({
        "model_name": {"type": "string"},
        "model_version": text("The SHA-256 of the model."),
        "id": text("That of the request, if it has one."),
        "outputs": {"type": "array", "items": object("A tensor.", tensor, &[])},
    });
    object("Tensors, with a value for every row.", properties, &["id"])
}

fn health() -> Value {
    json!({"status": {"const": "ok"}, "models": {"type": "array", "items": {"type": "string"}}})
}

fn server() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    json!({"name": {"type": "string"}, "version": {"type": "string"}, "extensions": texts})
}

fn metadata() -> Value {
    let tensor = json!({
        "name": {"type": "string"},
        "datatype": {"type": "string"},
        "shape": {"type": "array", "items": {"type": "integer"}},
    });
    let tensors = json!({"type": "array", "items": object("A tensor.", tensor, &[])});
    json!({
        "name": {"type": "string"},
        "versions": {"type": "array", "items": text("The SHA-256 of the model.")},
        "platform": {"type": "string"},
        "inputs": tensors,
        "outputs": tensors,
    })
}

fn people() -> Value {
    let person = json!({
        "row": {"description": "As `/v1/recourse` takes it.", "type": "object"},
        "probability": share("The probability of acceptance."),
    });
    json!({
        "model": text("Whose they are."),
        "people": {"type": "array", "items": object("A made-up person.", person, &[])},
    })
}

fn features() -> Value {
    let feature = json!({
        "name": {"type": "string"},
        "kind": {"enum": ["nominal", "ordinal", "discrete", "continuous"]},
        "unit": or_null(text("Of numbers.")),
        "bounds": or_null(json!({
            "description": "The lowest and the highest number that a way may name.",
            "type": "array",
            "items": {"type": "number"},
        })),
        "missing": {"description": "Whether it may be absent.", "type": "boolean"},
        "changeable": {"description": "False where nobody can change it.", "type": "boolean"},
        "monotone": or_null(json!({
            "description": "The one direction in which it may change.",
            "enum": ["increasing", "decreasing"],
        })),
        "allowed": or_null(json!({
            "description": "What a way may move to, if not everything.",
            "type": "array",
            "items": {"type": "string"},
        })),
        "values": {
            "description": "The categories.",
            "type": "array",
            "items": object(
                "A category.",
                json!({"value": text("As rows have it."), "label": or_null(text("For people."))}),
                &[],
            ),
        },
        "low": number("The lowest number that training saw."),
        "high": number("The highest."),
        "median": number("The one in the middle."),
        "decimals": {"description": "The most digits after the point.", "type": "integer"},
    });
    let numbers_or_categories = ["values", "low", "high", "median", "decimals"];
    json!({
        "model": {"type": "string"},
        "title": or_null(text("What the data are called.")),
        "threshold": share("The probability from which on a row counts as accepted, unless told."),
        "budget": {"description": "How many features change at most, unless told.", "type": "integer"},
        "label": object("The classes.", json!({"accepted": {"type": "string"}, "denied": {"type": "string"}}), &[]),
        "features": {"type": "array", "items": object("A feature.", feature, &numbers_or_categories)},
        "rules": {
            "type": "array",
            "items": object(
                "The first may rise only if the second does.",
                json!({"if_increases": {"type": "string"}, "must_increase": {"type": "string"}}),
                &[],
            ),
        },
        "columns": {
            "description": "What the columns before the features are called in answers as CSV, by the name that they have \
                            unless a feature has it: `par_status` beside a feature `status`.",
            "type": "object",
            "additionalProperties": {"type": "string"},
        },
        "row": {"description": "JSON Schema of a row.", "type": "object"},
        "request": {"description": "JSON Schema of the body of `POST /v1/recourse`.", "type": "object"},
    })
}

fn card() -> Value {
    json!({
        "name": {"type": "string"},
        "sha256": text("Of the model."),
        "loaded": {"description": "When it was read, in seconds since 1970.", "type": "integer"},
        "threshold": share("The probability from which on a row counts as accepted."),
        "verifies": {"description": "Whether the classifier itself is at hand.", "type": "boolean"},
        "features": {"description": "How many.", "type": "integer"},
        "pool": {"description": "How many accepted rows answers are compared with.", "type": "integer"},
        "card": {"description": "How it was made.", "type": "object"},
        "config": {"description": "The settings it was made with.", "type": "object"},
        "schema": text("The schema of its table, as TOML."),
    })
}

fn refusal() -> Value {
    let codes = [
        "not_json",
        "broken_off",
        "wrong_value",
        "wrong_table",
        "unauthorized",
        "unknown",
        "wrong_method",
        "stalled",
        "too_many_bytes",
        "too_many_rows",
        "too_many_ways",
        "wrong_type",
        "wrong_encoding",
        "overloaded",
        "shutting_down",
        "too_slow",
        "internal",
    ];
    let problem = json!({
        "path": text("Where it stands, as a JSON pointer; `?name` for a parameter."),
        "found": text("What stands there."),
        "expected": text("What could."),
    });
    let properties = json!({
        "error": text("For people."),
        "code": {"description": "For programs.", "enum": codes},
        "problems": {"type": "array", "items": object("A value that does not fit.", problem, &[])},
        "request_id": text("The same as in the header `x-request-id`."),
    });
    object("Why a request is not answered.", properties, &[])
}
