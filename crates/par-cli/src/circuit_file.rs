//! The `.circuit` file: a circuit, its variables and its provenance. It holds no training row.
//!
//! A [`container`] of two parts: [`Variables`] and [`Provenance`] as JSON, and the circuit,
//! [`Circuit::to_bytes`].

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use par_circuit::Circuit;
use par_circuit::learn::LearnConfig;
use par_model::container::{self, ContainerError};
use serde::{Deserialize, Serialize};

use crate::aligned::{Facts, grouped};
use crate::output::{self, Destination};
use crate::variables::Variables;

const MAGIC: &[u8; 8] = b"PARCIRC\n";
const VERSION: u32 = 1;
/// A larger file is refused before it fills the memory.
const MAX_BYTES: u64 = 4 << 30;

/// A circuit with what is needed to score and draw rows of a table.
pub(crate) struct CircuitFile {
    pub(crate) variables: Variables,
    pub(crate) provenance: Provenance,
    pub(crate) circuit: Circuit,
}

/// How a circuit was learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Provenance {
    /// The program and its version.
    pub(crate) program: String,
    /// The conditions by which rows were selected.
    pub(crate) conditions: Vec<String>,
    /// Number of training rows.
    pub(crate) rows: usize,
    /// Rows of the validation table, if there was one.
    pub(crate) valid_rows: Option<usize>,
    pub(crate) config: LearnConfig,
    /// The circuits that it is a mixture of.
    pub(crate) members: Vec<Member>,
    /// Mean log-likelihood of held-out rows, in nats.
    pub(crate) held_out: f64,
}

/// One circuit of a mixture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) weight: f64,
}

impl Provenance {
    /// Adds the members of the mixture, one per line.
    pub(crate) fn add_members(&self, facts: &mut Facts) {
        for (position, Member { name, weight }) in self.members.iter().enumerate() {
            facts.add(if position == 0 { "mixture of" } else { "" }, format!("{weight:.3}  {name}"));
        }
    }

    /// Adds the mean log-likelihood of held-out rows.
    pub(crate) fn add_held_out(&self, facts: &mut Facts) {
        let over = self.valid_rows.map_or(String::new(), |rows| format!(", over {} rows", grouped(rows)));
        facts.add("held out", format!("{:.4} nats a row{over}", self.held_out));
    }
}

#[derive(Serialize)]
struct CircuitDescriptionRef<'a> {
    variables: &'a Variables,
    provenance: &'a Provenance,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CircuitDescription {
    variables: Variables,
    provenance: Provenance,
}

impl CircuitFile {
    pub(crate) fn write(&self, destination: Destination) -> Result<()> {
        output::write_file(destination, &self.to_bytes()?)
    }

    pub(crate) fn read(path: &Path) -> Result<Self> {
        let origin = path.display();
        let mut file = File::open(path).with_context(|| format!("{origin}: cannot be opened"))?;
        let mut bytes = Vec::new();
        (&mut file).take(MAGIC.len() as u64).read_to_end(&mut bytes).with_context(|| origin.to_string())?;
        ensure!(
            bytes == MAGIC,
            "{origin}: not a circuit file\nhint: `par circuit fit` makes one from a table"
        );
        let check_size = |bytes: u64| {
            ensure!(
                bytes <= MAX_BYTES,
                "{origin}: larger than {} GiB, expected a smaller circuit",
                MAX_BYTES >> 30
            );
            Ok(())
        };
        check_size(file.metadata().with_context(|| origin.to_string())?.len())?;
        file.take(MAX_BYTES).read_to_end(&mut bytes).with_context(|| origin.to_string())?;
        // The length of a pipe is known only after reading it.
        check_size(bytes.len() as u64)?;
        Self::from_bytes(&bytes).with_context(|| origin.to_string())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let Self { variables, provenance, circuit } = self;
        let description = serde_json::to_vec(&CircuitDescriptionRef { variables, provenance })?;
        Ok(container::frame(MAGIC, VERSION, &[&description, &circuit.to_bytes()]))
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match container::parts(bytes, MAGIC, VERSION) {
            Ok([description, circuit]) => {
                Self::from_parts(description, circuit).map_err(|error| damaged(&error))
            }
            Err(ContainerError::OtherVersion { found, expected }) => {
                bail!("circuit files of version {found} are not known, this program reads version {expected}")
            }
            Err(error) => Err(damaged(&error.into())),
        }
    }

    fn from_parts(description: &[u8], circuit: &[u8]) -> Result<Self> {
        let CircuitDescription { variables, provenance } =
            serde_json::from_slice(description).context("the description cannot be read")?;
        let circuit = Circuit::from_bytes(circuit)?;
        ensure!(
            variables.discretizer.cardinalities() == circuit.cardinalities(),
            "the circuit and the description of its variables do not belong together"
        );
        Ok(Self { variables, provenance, circuit })
    }
}

fn damaged(error: &Error) -> Error {
    anyhow!("{}\nhint: copy it again, or make it again with `par circuit fit`", par_terminal::chain(error))
}
