use crate::{PEOPLE_SCHEMA, Sandbox};

const FLOAT: u8 = 1;
const TEXT: u8 = 8;

/// A length-delimited field of a protobuf message.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    assert!(content.len() < 1 << 14, "two bytes hold the length");
    let length = [content.len() as u8 | 0x80, (content.len() >> 7) as u8];
    [&[number << 3 | 2][..], &length, content].concat()
}

fn integer(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

/// A tensor of any number of rows and `width` columns.
fn tensor(name: &str, kind: u8, width: u8) -> Vec<u8> {
    let axes = [field(1, &field(2, b"N")), field(1, &integer(1, width))].concat();
    let tensor_type = [integer(1, kind), field(2, &axes)].concat();
    [field(1, name.as_bytes()), field(2, &field(1, &tensor_type))].concat()
}

/// An ONNX file whose score is the sigmoid of its first input.
fn classifier(inputs: &[(&str, u8, u8)]) -> Vec<u8> {
    let node = [field(1, inputs[0].0.as_bytes()), field(2, b"p"), field(4, b"Sigmoid")].concat();
    let mut graph = [field(1, &node), field(2, b"classifier")].concat();
    for &(name, kind, width) in inputs {
        graph.extend(field(11, &tensor(name, kind, width)));
    }
    graph.extend(field(12, &tensor("p", FLOAT, 1)));
    [integer(1, 8), field(7, &graph), field(8, &integer(2, 17))].concat()
}

/// Holds `people.toml` and `model.onnx`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("people.toml", PEOPLE_SCHEMA);
    sandbox.write("model.onnx", classifier(&[("age", FLOAT, 1), ("job", TEXT, 1), ("hours", FLOAT, 1)]));
    sandbox
}

#[test]
fn a_draft_says_how_columns_become_inputs() {
    let draft = sandbox().run(&["inputs", "init", "model.onnx", "--schema", "people.toml"]);
    let (advice, rest) = draft.split_once("\n\n").expect("advice, then the draft");
    assert!(
        advice.starts_with("# How the columns of a table become the inputs of a classifier."),
        "{advice}"
    );
    assert_eq!(
        rest,
        r#"[output]
name = "p"
accepted = 1  # a guess: the class "yes" by its place in the schema
scale = "probability"

[[input]]
name = "age"  # 1 place, numbers
columns = [
  { feature = "age", as = "number" },
]

[[input]]
name = "job"  # 1 place, texts
columns = [
  { feature = "job", as = "text" },
]

[[input]]
name = "hours"  # 1 place, numbers
columns = [
  { feature = "hours", as = "number" },
]
"#
    );
}

#[test]
fn a_draft_does_not_overwrite_another() {
    let sandbox = sandbox();
    let init = ["inputs", "init", "model.onnx", "--schema", "people.toml"];
    let draft = sandbox.run(&init);
    let to_file = [&init[..], &["--out", "inputs.toml"]].concat();
    assert_eq!(sandbox.run(&to_file), "");
    assert_eq!(sandbox.read("inputs.toml"), draft);

    sandbox.write("inputs.toml", "mine");
    assert_eq!(
        sandbox.refused(&to_file),
        "error: inputs.toml: exists already\nhint: `--force` overwrites it\n"
    );
    assert_eq!(sandbox.read("inputs.toml"), "mine");
    sandbox.run(&[&to_file[..], &["--force"]].concat());
    assert_eq!(sandbox.read("inputs.toml"), draft);
}

#[test]
fn input_files_are_not_overwritten() {
    let sandbox = sandbox();
    for out in ["model.onnx", "people.toml"] {
        let init = ["inputs", "init", "model.onnx", "--schema", "people.toml", "--out", out, "--force"];
        assert_eq!(
            sandbox.refused(&init),
            format!(
                "error: {out}: is read from, and writing would replace it\nhint: write to another file\n"
            )
        );
    }
}

#[test]
fn a_draft_needs_a_classifier_and_a_schema() {
    let sandbox = sandbox();
    let refused = |model: &str, schema: &str| sandbox.refused(&["inputs", "init", model, "--schema", schema]);
    assert_eq!(
        refused("other.onnx", "people.toml"),
        "error: other.onnx: cannot be opened: No such file or directory (os error 2)\n"
    );
    assert_eq!(refused("model.onnx", "other.toml"), "error: other.toml: no such file\n");
    let message = refused("people.toml", "people.toml");
    assert!(message.starts_with("error: people.toml: this is no ONNX file: "), "{message}");
}
