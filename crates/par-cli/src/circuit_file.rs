//! The `.circuit` file: a circuit, what its variables mean, and how it was made. No training row is in it.
//!
//! | bytes | content                                          |
//! |-------|--------------------------------------------------|
//! | 8     | `PARCIRC` and a line feed                        |
//! | 4     | version of this layout                           |
//! | 8     | length of the description                        |
//! | …     | the description: [`Variables`] and [`Provenance`] as JSON |
//! | 8     | length of the circuit                            |
//! | …     | the circuit, [`Circuit::to_bytes`]               |
//! | 4     | CRC-32 of everything before                      |
//!
//! Numbers are little-endian.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use par_circuit::Circuit;
use par_circuit::learn::LearnConfig;
use serde::{Deserialize, Serialize};

use crate::aligned::{Facts, grouped};
use crate::output::{self, Destination};
use crate::variables::Variables;

const MAGIC: &[u8; 8] = b"PARCIRC\n";
const VERSION: u32 = 1;
/// A larger file is refused before it fills the memory.
const MAX_BYTES: u64 = 4 << 30;

/// A circuit together with all that is needed to ask it about a table.
pub(crate) struct CircuitFile {
    pub(crate) variables: Variables,
    pub(crate) provenance: Provenance,
    pub(crate) circuit: Circuit,
}

/// How a circuit was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Provenance {
    /// The program and its version.
    pub(crate) program: String,
    /// The conditions that the rows passed.
    pub(crate) conditions: Vec<String>,
    /// Rows that it was learned from.
    pub(crate) rows: usize,
    /// Rows of a table of their own that were held out.
    pub(crate) valid_rows: Option<usize>,
    pub(crate) config: LearnConfig,
    /// What it is a mixture of.
    pub(crate) members: Vec<Member>,
    /// Mean log-likelihood of held-out rows, in nats.
    pub(crate) held_out: f64,
}

/// One part of a mixture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) weight: f64,
}

impl Provenance {
    /// Adds what the circuit is a mixture of, a member a line.
    pub(crate) fn add_members(&self, facts: &mut Facts) {
        for (position, Member { name, weight }) in self.members.iter().enumerate() {
            facts.add(if position == 0 { "mixture of" } else { "" }, format!("{weight:.3}  {name}"));
        }
    }

    /// Adds how likely held-out rows are.
    pub(crate) fn add_held_out(&self, facts: &mut Facts) {
        let over = self.valid_rows.map_or(String::new(), |rows| format!(", over {} rows", grouped(rows)));
        facts.add("held out", format!("{:.4} nats a row{over}", self.held_out));
    }
}

#[derive(Serialize)]
struct DescriptionOf<'a> {
    variables: &'a Variables,
    provenance: &'a Provenance,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
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
        // A pipe does not tell its length beforehand.
        check_size(bytes.len() as u64)?;
        Self::from_bytes(&bytes).with_context(|| origin.to_string())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let Self { variables, provenance, circuit } = self;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        for part in [serde_json::to_vec(&DescriptionOf { variables, provenance })?, circuit.to_bytes()] {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part);
        }
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        Ok(bytes)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut rest = &bytes[MAGIC.len()..];
        let version = u32::from_le_bytes(take(&mut rest).map_err(|error| damaged(&error))?);
        ensure!(
            version == VERSION,
            "circuit files of version {version} are not known, this program reads version {VERSION}"
        );
        Self::from_parts(bytes, rest).map_err(|error| damaged(&error))
    }

    /// What follows the version; `bytes` are those of the whole file.
    fn from_parts(bytes: &[u8], mut rest: &[u8]) -> Result<Self> {
        let description = take_part(&mut rest)?;
        let circuit = take_part(&mut rest)?;
        let expected = u32::from_le_bytes(take(&mut rest)?);
        ensure!(rest.is_empty(), "{} bytes follow the end of the circuit", rest.len());
        let found = crc32fast::hash(&bytes[..bytes.len() - 4]);
        ensure!(
            found == expected,
            "the file is damaged: its checksum is {found:08x}, expected {expected:08x}"
        );

        let Description { variables, provenance } =
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
    anyhow!("{}\nhint: copy it again, or make it again with `par circuit fit`", crate::chain(error))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    let Some((taken, after)) = rest.split_first_chunk() else {
        bail!("the file is cut off: expected {N} more bytes, found {}", rest.len());
    };
    *rest = after;
    Ok(*taken)
}

fn take_part<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let length = u64::from_le_bytes(take(rest)?);
    let split = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    let Some((taken, after)) = split else {
        bail!("the file is cut off or damaged: expected {length} more bytes, found {}", rest.len());
    };
    *rest = after;
    Ok(taken)
}
