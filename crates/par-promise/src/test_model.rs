//! A small model, its key and its promises, for the tests of this crate.

use std::io::Cursor;
use std::sync::LazyLock;

use par_answer::table::RowAnswer;
use par_answer::{Request, Solver};
use par_data::{Schema, Table, TableOptions};
use par_fit::ModelBuilder;
use par_model::{Config, Model};

use crate::issue::{Issuer, Promise};
use crate::key::PrivateKey;
use crate::later::HashedModel;

/// Made once.
pub(crate) static MODEL: LazyLock<HashedModel> = LazyLock::new(|| hashed(&fitted(SCHEMA)));

/// The same model with a threshold that hardly anybody reaches.
pub(crate) static HARDER: LazyLock<HashedModel> = LazyLock::new(|| {
    let mut parts = MODEL.model().clone().into_parts();
    parts.threshold = 0.9999;
    hashed(&Model::new(parts).expect("a model"))
});

/// A model that reads `savings` in place of `debt`.
pub(crate) static OTHER_SCHEMA: LazyLock<HashedModel> =
    LazyLock::new(|| hashed(&fitted(&SCHEMA.replace("debt", "savings"))));

/// The same with a policy that a person of thirty cannot meet.
pub(crate) static WITH_POLICY: LazyLock<HashedModel> = LazyLock::new(|| {
    let policy = "[[accept]]\nrequire = { age = \"40..\" }\nbecause = \"at least forty\"\n";
    hashed(&fitted(&format!("{SCHEMA}\n{policy}")))
});

/// A denied person.
pub(crate) const PERSON: [&str; 4] = ["30", "low", "1000", "7"];

const SCHEMA: &str = r#"
version = 2

[label]
column = "decision"
classes = ["no", "yes"]
favourable = "yes"

[[feature]]
name = "age"
kind = "discrete"
change = "never"

[[feature]]
name = "education"
kind = "ordinal"
values = ["low", "middle", "high"]
change = "increase"

[[feature]]
name = "income"
kind = "continuous"
change = "free"

[[feature]]
name = "debt"
kind = "discrete"
change = "free"
"#;

const QUICK: &str = "
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
examples = 100
steps = 30
";

fn fitted(schema: &str) -> Model {
    let header = if schema.contains("savings") { "savings" } else { "debt" };
    let row = |id: usize| {
        let (age, level) = (20 + id * 7 % 45, id * 11 % 7 % 3);
        let (income, debt) = (1000 + id * 37 % 29 * 100, id * 13 % 8);
        let decision = if income / 100 + 4 * level + id % 3 > 25 + debt { "yes" } else { "no" };
        format!("{age},{},{income},{debt},{decision}\n", ["low", "middle", "high"][level])
    };
    let rows = format!("age,education,income,{header},decision\n") + &(0..240).map(row).collect::<String>();
    let table = || Table::from_reader("t.csv", Cursor::new(rows.clone()), &TableOptions::default());
    let config = Config::default().laid_over(QUICK.parse().expect("TOML")).expect("settings");
    let schema = Schema::parse(schema, "t.toml").expect("a schema");
    ModelBuilder::new(schema, config).fit(table).expect("a model")
}

fn hashed(model: &Model) -> HashedModel {
    HashedModel::from_bytes(&model.to_bytes()).expect("a model")
}

/// The lender's key.
pub(crate) fn key() -> &'static PrivateKey {
    static KEY: LazyLock<PrivateKey> = LazyLock::new(|| PrivateKey::generate().expect("randomness"));
    &KEY
}

/// A promise to one and the same person, from 2026-01-31 to 2027-01-31.
pub(crate) fn promise() -> Promise {
    let [issued, expires] = ["2026-01-31", "2027-01-31"].map(|date| date.parse().expect("a date"));
    let issuer = Issuer::new(key(), &MODEL, [("method", "refine"), ("lock", "income")], issued, expires);
    let mut solver = Solver::new(MODEL.model());
    let answer = RowAnswer::new(&mut solver, "poor".to_string(), PERSON.to_vec(), &Request::default());
    let promises = issuer.expect("an issuer").issue(&answer).expect("randomness");
    promises.into_iter().next().expect("a way")
}
