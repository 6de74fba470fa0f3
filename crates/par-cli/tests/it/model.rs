//! A small model that the tests share.

use std::sync::OnceLock;

use crate::Sandbox;
pub(crate) use crate::sandbox::{APPLICANTS_SCHEMA as SCHEMA, QUICK, applicants};

pub(crate) const FIT: [&str; 8] =
    ["fit", "applicants.csv", "--schema", "applicants.toml", "--config", "quick.toml", "--out", "a.par"];

impl Sandbox {
    /// Holds `applicants.csv` and the model `a.par`, which is fitted once.
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
