//! The record of a promise: what anybody may see, signed.

use std::path::Path;

use par_data::schema::parse_number;
use serde::{Deserialize, Serialize};

use crate::date::Date;
use crate::error::{Error, FormatError};
use crate::file::SmallFile;
use crate::hex::Hex;
use crate::key::{PrivateKey, PublicKey};

/// The version of records and sealed files.
pub(crate) const VERSION: u32 = 1;
/// A larger file is no record.
const MOST_BYTES: u64 = 1 << 18;
/// Stands before the signed bytes, so that the key's signatures of other things are no promises.
const DOMAIN: &str = "par promise record\n";

/// A promise and its signature. It holds no cell of the person or of the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// What is promised.
    pub promise: Terms,
    /// The Ed25519 signature of the promise.
    pub signature: Hex<64>,
}

/// What is promised, and until when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The version of this format.
    pub version: u32,
    /// A random name.
    pub id: Hex<16>,
    /// The first day on which it is valid.
    pub issued: Date,
    /// The last day on which it is valid.
    pub expires: Date,
    /// The SHA-256 of the model file that found the way.
    pub model: Hex<32>,
    /// The SHA-256 of its schema.
    pub schema: Hex<32>,
    /// The score that a row must reach, or a surer one; as text, so that every program writes it in the same way.
    pub threshold: String,
    /// The options of the request that are not the person's own wishes, each as `name=value`.
    pub request: Vec<String>,
    /// The commitment to the person's row.
    pub person: Hex<32>,
    /// The commitment to the row that they were told to become.
    pub way: Hex<32>,
    /// The key that signed it.
    pub public_key: Hex<32>,
}

/// The part of a record that is the same in every version.
#[derive(Deserialize)]
struct AnyRecord {
    promise: AnyVersion,
}

/// The part of a promise or a sealed file that is the same in every version.
#[derive(Deserialize)]
pub(crate) struct AnyVersion {
    version: u64,
}

impl AnyVersion {
    pub(crate) fn check(&self) -> Result<(), FormatError> {
        let (found, expected) = (self.version, VERSION);
        if found == u64::from(expected) { Ok(()) } else { Err(FormatError::Version { found, expected }) }
    }
}

impl Record {
    /// Signs a promise; its key becomes that of the signature.
    pub(crate) fn sign(mut promise: Terms, key: &PrivateKey) -> Self {
        promise.public_key = key.public_key().bytes();
        let signature = key.sign(&promise.signed_bytes());
        Self { promise, signature }
    }

    /// Whether the key that the record names signed it as it stands.
    pub fn is_signed(&self) -> bool {
        self.public_key().verifies(&self.promise.signed_bytes(), self.signature)
    }

    /// The key that the record names.
    pub fn public_key(&self) -> PublicKey {
        PublicKey::from_bytes(self.promise.public_key)
    }

    /// Reads a record from the bytes of its file. Whether it is genuine is another question.
    ///
    /// # Errors
    /// When the bytes are no record of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        serde_json::from_slice::<AnyRecord>(bytes)?.promise.check()?;
        let record: Self = serde_json::from_slice(bytes)?;
        let Terms { issued, expires, threshold, .. } = &record.promise;
        if expires < issued {
            return Err(FormatError::Dates { issued: *issued, expires: *expires });
        }
        // The text is shown: it is the number and nothing else.
        if parse_number(threshold).is_none_or(|number| number.to_string() != *threshold) {
            return Err(FormatError::Threshold(threshold.chars().take(40).collect()));
        }
        Ok(record)
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        pretty(self)
    }

    /// Reads a record file.
    ///
    /// # Errors
    /// When it cannot be read, is larger than any record, or as [`Record::from_bytes`].
    pub fn load(path: &Path) -> Result<Self, Error> {
        let file = SmallFile::read(path, MOST_BYTES, "a record")?;
        Self::from_bytes(&file.bytes).map_err(|source| Error::Format {
            path: path.to_path_buf(),
            expected: "record",
            source,
        })
    }
}

impl Terms {
    /// The bytes that are signed: a line that says what they are, then the fields as JSON without spaces, in the order
    /// in which they stand here.
    pub fn signed_bytes(&self) -> Vec<u8> {
        let mut bytes = DOMAIN.as_bytes().to_vec();
        bytes.extend(serde_json::to_vec(self).expect("a promise has only text keys"));
        bytes
    }
}

/// A file of indented JSON.
pub(crate) fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("records and sealed files have only text keys");
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn record() -> Record {
        let terms = Terms {
            version: VERSION,
            id: Hex([1; 16]),
            issued: "2026-01-31".parse().expect("a date"),
            expires: "2027-01-31".parse().expect("a date"),
            model: Hex([2; 32]),
            schema: Hex([3; 32]),
            threshold: "0.5".to_string(),
            request: vec!["method=exact".to_string(), "order=Größe \"x\"".to_string()],
            person: Hex([4; 32]),
            way: Hex([5; 32]),
            public_key: Hex([0; 32]),
        };
        Record::sign(terms, &PrivateKey::generate().expect("randomness"))
    }

    fn changed(change: impl FnOnce(&mut Value)) -> Result<Record, FormatError> {
        let mut value = serde_json::to_value(record()).expect("JSON");
        change(&mut value);
        Record::from_bytes(&serde_json::to_vec(&value).expect("JSON"))
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = record();
        let again = Record::from_bytes(&record.to_bytes()).expect("a record");
        assert_eq!(again, record);
        assert!(again.is_signed());
    }

    #[test]
    fn the_signed_bytes_are_those_that_are_documented() {
        let text = String::from_utf8(record().promise.signed_bytes()).expect("text");
        let start = "par promise record\n{\"version\":1,\"id\":\"01010101010101010101010101010101\",\
                     \"issued\":\"2026-01-31\",\"expires\":\"2027-01-31\",\"model\":\"0202";
        assert!(text.starts_with(start), "{text}");
        let middle = "\",\"threshold\":\"0.5\",\"request\":[\"method=exact\",\"order=Größe \\\"x\\\"\"],\"person\":\"0404";
        assert!(text.contains(middle), "{text}");
    }

    #[test]
    fn a_change_of_any_field_breaks_the_signature() {
        let fields = serde_json::to_value(record().promise).expect("JSON");
        let fields: Vec<String> = fields.as_object().expect("fields").keys().cloned().collect();
        assert_eq!(fields.len(), 11);
        for field in fields.iter().filter(|field| *field != "version") {
            let other = match field.as_str() {
                "issued" => json!("2026-01-30"),
                "expires" => json!("2036-01-31"),
                "threshold" => json!("0.4"),
                "request" => json!(["method=exact"]),
                "id" => json!("01010101010101010101010101010100"),
                _ => json!("0".repeat(63) + "1"),
            };
            let record = changed(|value| value["promise"][field] = other).expect("a record");
            assert!(!record.is_signed(), "{field}");
        }
        let record = changed(|value| {
            let signature = value["signature"].as_str().expect("text");
            let last = if signature.ends_with('0') { "1" } else { "0" };
            value["signature"] = json!(signature[..127].to_string() + last);
        });
        assert!(!record.expect("a record").is_signed());
    }

    #[test]
    fn no_flipped_bit_of_a_file_is_a_signed_record() {
        let record = record();
        let bytes = record.to_bytes();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(other) = Record::from_bytes(&flipped) {
                assert!(!other.is_signed() || other == record, "bit {bit}");
            }
        }
        for length in 0..bytes.len() - 2 {
            assert!(Record::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn other_fields_versions_and_values_are_refused() {
        let message = |record: Result<Record, FormatError>| record.expect_err("no record").to_string();
        let error = message(changed(|value| value["promise"]["version"] = json!(2)));
        assert_eq!(error, "its version is 2, this program reads version 1");
        let error = message(changed(|value| value["promise"]["more"] = json!(1)));
        assert!(error.starts_with("unknown field `more`, expected one of `version`, `id`, "), "{error}");
        let error = message(changed(|value| value["more"] = json!(1)));
        assert!(error.starts_with("unknown field `more`, expected `promise` or `signature`"), "{error}");
        let error = message(changed(|value| value["promise"]["expires"] = json!("2026-01-30")));
        assert_eq!(error, "it expires on 2026-01-30, before it is issued on 2026-01-31");
        let error = message(changed(|value| value["promise"]["issued"] = json!("2026-02-30")));
        let expected = "expected a date such as `2026-01-31`, from 1970 to 9999, found `2026-02-30`";
        assert!(error.starts_with(expected), "{error}");
        let error = message(changed(|value| value["promise"]["threshold"] = json!("much")));
        assert_eq!(error, "its threshold is `much`, expected a number");
        let error = message(changed(|value| value["promise"]["threshold"] = json!("\u{1b}[2J")));
        assert_eq!(error, "its threshold is ` [2J`, expected a number");
        let error = message(changed(|value| value["promise"]["\u{1b}[2J\n"] = json!(1)));
        assert!(error.starts_with("unknown field ` [2J `, expected one of "), "{error:?}");
        for text in [" 0.5", "0.50", "1e400", "NaN", ""] {
            let error = message(changed(|value| value["promise"]["threshold"] = json!(text)));
            assert_eq!(error, format!("its threshold is `{text}`, expected a number"));
        }
        let error = message(changed(|value| value["promise"]["way"] = json!("00")));
        assert!(error.starts_with("expected 64 hexadecimal digits, found 2 characters"), "{error}");
        let error = message(changed(|value| *value = json!([])));
        assert!(error.starts_with("invalid length 0"), "{error}");
        let twice = String::from_utf8(record().to_bytes()).expect("text");
        let twice = twice.replace("\"threshold\": ", "\"threshold\": \"0.1\", \"threshold\": ");
        let error = message(Record::from_bytes(twice.as_bytes()));
        assert!(error.starts_with("duplicate field `threshold`"), "{error}");
    }
}
