//! One small model that all tests share.

use std::sync::OnceLock;

use crate::Sandbox;

/// 240 applicants; income, debt and education go with the decision.
pub(crate) fn applicants() -> String {
    let row = |id: usize| {
        let age = 20 + id * 7 % 45;
        let city = ["Ulm", "Jena", "Kiel"][id % 3];
        let education = ["low", "middle", "high"][id * 11 % 7 % 3];
        let income = 1000 + id * 37 % 29 * 100 + id % 7 * 10;
        let debt = id * 13 % 8;
        let points = income / 100 + [0, 4, 8][id * 11 % 7 % 3] - debt.min(10);
        let decision = if points + id % 3 > 25 { "yes" } else { "no" };
        format!("p{id},{age},{city},{education},{income},{debt},{decision},{}\n", id % 5)
    };
    "id,age,city,education,income,debt,decision,fold\n".to_string() + &(0..240).map(row).collect::<String>()
}

pub(crate) const SCHEMA: &str = r#"
[columns]
id = "id"
fold = "fold"

[label]
column = "decision"
classes = ["no", "yes"]
favourable = "yes"

[[feature]]
name = "age"
kind = "discrete"
monotone = "increasing"
unit = "years"

[[feature]]
name = "city"
kind = "nominal"
values = ["Ulm", "Jena", "Kiel"]
immutable = true

[[feature]]
name = "education"
kind = "ordinal"
values = ["low", "middle", "high"]
labels = { low = "primary school", high = "university" }
monotone = "increasing"

[[feature]]
name = "income"
kind = "continuous"
unit = "EUR"

[[feature]]
name = "debt"
kind = "discrete"

[[rule]]
if_increases = "education"
must_increase = "age"
"#;

/// Settings with which a model is made in a moment.
pub(crate) const QUICK: &str = "\
[classifier]
hidden = [6]
learning_rate = 0.02
batch = 16

[circuits.hclt]
states = 2
groups = 1

[pool]
size = 200

[generator]
hidden = [16, 16]
encoder = 8
embedding = 4
examples = 200
steps = 60
record_every = 30
";

pub(crate) const FIT: [&str; 8] =
    ["fit", "applicants.csv", "--schema", "applicants.toml", "--config", "quick.toml", "--out", "a.par"];

impl Sandbox {
    /// With `applicants.csv`, `applicants.toml` and `quick.toml` in it.
    pub(crate) fn with_applicants() -> Self {
        let sandbox = Self::new();
        sandbox.write("applicants.csv", applicants());
        sandbox.write("applicants.toml", SCHEMA);
        sandbox.write("quick.toml", QUICK);
        sandbox
    }

    /// With `applicants.csv` and the model `a.par` in it, which is made once.
    pub(crate) fn with_model() -> Self {
        static MODEL: OnceLock<Vec<u8>> = OnceLock::new();
        let model = MODEL.get_or_init(|| {
            let sandbox = Self::with_applicants();
            sandbox.run(&FIT);
            sandbox.bytes("a.par")
        });
        let sandbox = Self::new();
        sandbox.write("applicants.csv", applicants());
        sandbox.write("a.par", model);
        sandbox
    }
}
