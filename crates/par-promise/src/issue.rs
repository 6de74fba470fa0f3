//! Issues promises.

use std::path::Path;

use par_answer::table::RowAnswer;
use par_files::Readers;
use par_model::Model;

use crate::date::Date;
use crate::error::Error;
use crate::hex::Hex;
use crate::key::{PrivateKey, random};
use crate::later::{HashedModel, sha256};
use crate::record::{Record, Terms, VERSION};
use crate::sealed::{Sealed, SealedPerson, SealedWay};

/// A record, and the sealed file that opens it.
#[derive(Clone, Debug, PartialEq)]
pub struct Promise {
    /// For the person, and anybody else.
    pub record: Record,
    /// For the lender.
    pub sealed: Sealed,
}

impl Promise {
    /// The name of the record's file.
    pub fn record_name(&self) -> String {
        record_name(self.record.promise.id)
    }

    /// The name of the sealed file.
    pub fn sealed_name(&self) -> String {
        sealed_name(self.record.promise.id)
    }

    /// Writes both as new files into a folder. The sealed file, for its owner alone, comes first: there is no record
    /// without it.
    ///
    /// # Errors
    /// When one of them exists or cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), Error> {
        par_files::create(folder.join(self.sealed_name()), &self.sealed.to_bytes(), Readers::Owner)?;
        par_files::create(folder.join(self.record_name()), &self.record.to_bytes(), Readers::Anybody)?;
        Ok(())
    }
}

pub(crate) const RECORD_END: &str = ".record.json";
pub(crate) const SEALED_END: &str = ".sealed.json";

pub(crate) fn record_name(id: Hex<16>) -> String {
    format!("{id}{RECORD_END}")
}

pub(crate) fn sealed_name(id: Hex<16>) -> String {
    format!("{id}{SEALED_END}")
}

/// Options that say what a person wants or can do: they stand in no record, which everybody may see.
const WISHES: [&str; 5] = ["lock", "limit", "effort", "within", "max_effort"];

/// Issues promises of one model on one day.
pub struct Issuer<'a> {
    key: &'a PrivateKey,
    model: &'a Model,
    /// What all promises share.
    terms: Terms,
}

impl<'a> Issuer<'a> {
    /// Issues promises that are valid from the day of issue to the day of expiry, both included; `request` are the
    /// names and texts of the options that the people's answers were found with; the people's own wishes are left out.
    ///
    /// # Errors
    /// When the classifier itself is not in the model, or the last day is before the first.
    pub fn new<'r>(
        key: &'a PrivateKey,
        model: &'a HashedModel,
        request: impl IntoIterator<Item = (&'static str, &'r str)>,
        issued: Date,
        expires: Date,
    ) -> Result<Self, Error> {
        model.check_verifies()?;
        if expires < issued {
            return Err(Error::Dates { issued, expires });
        }
        let terms = Terms {
            version: VERSION,
            id: Hex([0; 16]),
            issued,
            expires,
            model: model.sha256(),
            schema: sha256(model.model().schema().source().as_bytes()),
            threshold: String::new(),
            request: public(request),
            person: Hex([0; 32]),
            way: Hex([0; 32]),
            public_key: key.public_key().bytes(),
        };
        Ok(Self { key, model: model.model(), terms })
    }

    /// A promise for each way of a person's answer. Ids and salts are random: no two promises are the same.
    ///
    /// # Errors
    /// When the answer was found for a threshold at which the model itself does not accept, or the operating system has
    /// no randomness.
    pub fn issue(&self, person: &RowAnswer<'_>) -> Result<Vec<Promise>, Error> {
        let (asked, own) = (person.threshold, self.model.threshold());
        if !self.model.scale().reaches(asked, own) {
            return Err(Error::Threshold { asked, own });
        }
        let columns: Vec<String> =
            self.model.schema().features().iter().map(|feature| feature.name.clone()).collect();
        let promise = |cells: &[String]| {
            let sealed = Sealed {
                version: VERSION,
                id: random()?,
                columns: columns.clone(),
                person: SealedPerson {
                    id: person.id.clone(),
                    salt: random()?,
                    cells: person.cells.iter().map(|cell| (*cell).to_string()).collect(),
                },
                way: SealedWay { salt: random()?, cells: cells.to_vec() },
            };
            let terms = Terms {
                id: sealed.id,
                threshold: person.threshold.to_string(),
                person: sealed.person_commitment(),
                way: sealed.way_commitment(),
                ..self.terms.clone()
            };
            Ok(Promise { record: Record::sign(terms, self.key), sealed })
        };
        person.ways().iter().map(|way| promise(&way.cells)).collect()
    }
}

/// The options that are nobody's wishes, each as `name=value`.
fn public<'r>(request: impl IntoIterator<Item = (&'static str, &'r str)>) -> Vec<String> {
    let request = request.into_iter().filter(|(name, _)| !WISHES.contains(name));
    request.map(|(name, text)| format!("{name}={text}")).collect()
}

#[cfg(test)]
mod tests {
    use par_answer::{Request, Solver};

    use super::*;
    use crate::test_model::{MODEL, PERSON, key, promise};

    #[test]
    fn a_promise_opens_its_own_commitments_and_holds_no_cell_in_its_record() {
        let Promise { record, sealed } = promise();
        assert!(record.is_signed());
        assert_eq!(record.promise.person, sealed.person_commitment());
        assert_eq!(record.promise.way, sealed.way_commitment());
        assert_eq!((record.promise.id, record.public_key()), (sealed.id, key().public_key()));
        assert_eq!(record.promise.model, sha256(&MODEL.model().to_bytes()));
        assert_eq!(sealed.person.cells, PERSON);
        assert_ne!(sealed.way.cells, sealed.person.cells);
        let text = String::from_utf8(record.to_bytes()).expect("text");
        assert!(!text.contains("poor") && !text.contains("income"), "{text}");
    }

    #[test]
    fn no_two_promises_are_the_same() {
        let [one, other] = [promise(), promise()];
        assert_eq!(one.sealed.way.cells, other.sealed.way.cells);
        assert_ne!(one.record.promise.id, other.record.promise.id);
        assert_ne!(one.record.promise.person, other.record.promise.person);
        assert_ne!(one.record.promise.way, other.record.promise.way);
        assert_ne!(one.sealed.way.salt, one.sealed.person.salt);
    }

    #[test]
    fn nothing_is_promised_that_the_model_itself_denies() {
        let day = "2026-01-31".parse().expect("a date");
        let issuer = Issuer::new(key(), &MODEL, [], day, day).expect("an issuer");
        let request = Request { threshold: Some(0.25), ..Request::default() };
        let mut solver = Solver::new(MODEL.model());
        let person = RowAnswer::new(&mut solver, "poor".to_string(), PERSON.to_vec(), &request);
        assert_eq!(
            issuer.issue(&person).expect_err("no promise").to_string(),
            "a promise at the threshold 0.25 would be broken at once: the model accepts from 0.5 on\n\
             hint: leave `--threshold` out, or ask for a surer one"
        );
    }

    #[test]
    fn a_promise_does_not_end_before_it_begins() {
        let [issued, expires] = ["2026-01-31", "2026-01-30"].map(|date| date.parse().expect("a date"));
        let error = Issuer::new(key(), &MODEL, [], issued, expires).err().expect("no promise");
        assert_eq!(
            error.to_string(),
            "a promise cannot expire on 2026-01-30, before it is issued on 2026-01-31"
        );
    }
}
