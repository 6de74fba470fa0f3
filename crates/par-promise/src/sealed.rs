//! The sealed file of a promise: the cells and salts behind its record, which the lender keeps.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, FormatError};
use crate::file::SmallFile;
use crate::hex::Hex;
use crate::record::{AnyVersion, pretty};

/// A larger file is no sealed file: cells of some thousand columns.
const MOST_BYTES: u64 = 1 << 24;

/// What opens the commitments of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sealed {
    /// The version of this format.
    pub version: u32,
    /// The id of the record.
    pub id: Hex<16>,
    /// The names of the features, in the order of the cells.
    pub columns: Vec<String>,
    /// The person, as they were when the promise was made.
    pub person: SealedPerson,
    /// What they were told to become.
    pub way: SealedWay,
}

/// A person's row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealedPerson {
    /// Their id in the lender's table.
    pub id: String,
    /// Random bytes, without which the commitment tells nothing.
    pub salt: Hex<32>,
    /// The cells of their row.
    pub cells: Vec<String>,
}

/// The row of a way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealedWay {
    /// Random bytes, without which the commitment tells nothing.
    pub salt: Hex<32>,
    /// The cells of the row, as a table writes them.
    pub cells: Vec<String>,
}

impl Sealed {
    /// The commitment to the person.
    pub fn person_commitment(&self) -> Hex<32> {
        let SealedPerson { id, salt, cells } = &self.person;
        commitment("person", *salt, [id].into_iter().chain(self.named(cells)))
    }

    /// The commitment to the way.
    pub fn way_commitment(&self) -> Hex<32> {
        commitment("way", self.way.salt, self.named(&self.way.cells))
    }

    fn named<'a>(&'a self, cells: &'a [String]) -> impl Iterator<Item = &'a String> {
        self.columns.iter().zip(cells).flat_map(|(column, cell)| [column, cell])
    }

    /// Reads a sealed file from its bytes. Whether it opens a record is another question.
    ///
    /// # Errors
    /// When the bytes are no sealed file of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        serde_json::from_slice::<AnyVersion>(bytes)?.check()?;
        let sealed: Self = serde_json::from_slice(bytes)?;
        let expected = sealed.columns.len();
        for (row, cells) in [("person", &sealed.person.cells), ("way", &sealed.way.cells)] {
            if cells.len() != expected {
                return Err(FormatError::Cells { row, found: cells.len(), expected });
            }
        }
        Ok(sealed)
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        pretty(self)
    }

    /// Reads a sealed file.
    ///
    /// # Errors
    /// When it cannot be read, is larger than any sealed file, or as [`Sealed::from_bytes`].
    pub fn load(path: &Path) -> Result<Self, Error> {
        let file = SmallFile::read(path, MOST_BYTES, "a sealed file")?;
        Self::from_bytes(&file.bytes).map_err(|source| Error::Format {
            path: path.to_path_buf(),
            expected: "sealed file",
            source,
        })
    }
}

/// SHA-256 of what is committed to, the salt, and the texts, each after its length, so that no two lists of texts have
/// the same bytes.
fn commitment<'a>(what: &str, salt: Hex<32>, texts: impl Iterator<Item = &'a String>) -> Hex<32> {
    let mut hash = Sha256::new();
    hash.update(format!("par promise {what}\n"));
    hash.update(salt.0);
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    Hex(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed() -> Sealed {
        let texts = |texts: [&str; 2]| texts.map(String::from).to_vec();
        Sealed {
            version: 1,
            id: Hex([7; 16]),
            columns: texts(["age", "income"]),
            person: SealedPerson { id: "p1".to_string(), salt: Hex([1; 32]), cells: texts(["30", "1000"]) },
            way: SealedWay { salt: Hex([2; 32]), cells: texts(["30", "2400"]) },
        }
    }

    #[test]
    fn a_sealed_file_is_read_as_it_was_written() {
        assert_eq!(Sealed::from_bytes(&sealed().to_bytes()).expect("a sealed file"), sealed());
    }

    #[test]
    fn commitments_are_hashes_of_the_documented_bytes() {
        let mut bytes = b"par promise way\n".to_vec();
        bytes.extend([2; 32]);
        for text in ["age", "30", "income", "2400"] {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        assert_eq!(sealed().way_commitment(), Hex(Sha256::digest(&bytes).into()));
    }

    #[test]
    fn every_change_is_another_commitment() {
        let changes: [fn(&mut Sealed); 8] = [
            |sealed| sealed.person.id = "p2".to_string(),
            |sealed| sealed.person.salt.0[31] ^= 1,
            |sealed| sealed.person.cells[1] = "1001".to_string(),
            |sealed| sealed.columns[0] = "Age".to_string(),
            // The same characters, cut elsewhere.
            |sealed| (sealed.person.cells[0], sealed.columns[1]) = ("30i".to_string(), "ncome".to_string()),
            |sealed| sealed.way.salt.0[0] ^= 1,
            |sealed| sealed.way.cells[1] = "2300".to_string(),
            |sealed| std::mem::swap(&mut sealed.person.cells, &mut sealed.way.cells),
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut changed = sealed();
            change(&mut changed);
            let commitments = |sealed: &Sealed| [sealed.person_commitment(), sealed.way_commitment()];
            assert_ne!(commitments(&changed), commitments(&sealed()), "change {number}");
        }
        let mut same = sealed();
        same.way = SealedWay { salt: same.person.salt, cells: same.person.cells.clone() };
        assert_ne!(same.person_commitment(), same.way_commitment());
    }

    #[test]
    fn other_files_are_refused() {
        let message = |text: String| Sealed::from_bytes(text.as_bytes()).expect_err("none").to_string();
        let text = String::from_utf8(sealed().to_bytes()).expect("text");
        assert_eq!(
            message(text.replace("\"version\": 1", "\"version\": 9")),
            "its version is 9, this program reads version 1"
        );
        let error = message(text.replace("\"salt\"", "\"pepper\""));
        assert!(
            error.starts_with("unknown field `pepper`, expected one of `id`, `salt`, `cells`"),
            "{error}"
        );
        let mut short = sealed();
        short.way.cells.pop();
        assert_eq!(
            message(String::from_utf8(short.to_bytes()).expect("text")),
            "the row of the way has 1 cells, expected 2, one for each column"
        );
        let error = message(text[..text.len() / 2].to_string());
        assert!(error.starts_with("EOF while parsing"), "{error}");
    }
}
