//! Features that a schema lets change although their names say that nobody can change them.

use super::lexicon::{self, Meaning};
use super::names;
use crate::schema::Schema;

/// A line for each feature that may change but whose name is that of a trait, of the past, of a clock or of an id.
pub fn suspicions(schema: &Schema) -> Vec<String> {
    let mut suspicions = Vec::new();
    for feature in schema.features().iter().filter(|feature| !feature.is_immutable()) {
        let words = names::words(&feature.name);
        let why = match lexicon::entry(&words).map(|entry| (entry.meaning, entry.reason)) {
            Some((Meaning::Protected | Meaning::Never | Meaning::Clock, reason)) => reason,
            None if names::has_any(&words, lexicon::ID) => "a number or name of something",
            _ => continue,
        };
        suspicions.push(format!("{}: it may change, but its name says: {why}", feature.name));
    }
    suspicions
}
