//! Whether a promise is genuine, in force and kept.

use serde::Serialize;

use crate::date::Date;
use crate::error::Error;
use crate::hex::Hex;
use crate::key::PublicKey;
use crate::later::{HashedModel, LaterVerdict};
use crate::record::Record;
use crate::sealed::Sealed;

/// What the signature of a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SignatureVerdict {
    /// The lender's key signed the record as it stands.
    Genuine,
    /// Another key than the lender's signed it.
    OtherKey,
    /// The signature does not fit what the record says.
    Changed,
}

/// What the dates of a record say of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DateVerdict {
    /// It is valid on that day.
    InForce,
    /// It is not valid any more.
    Expired,
    /// It is issued later.
    NotYetIssued,
}

/// Whether a sealed file belongs to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SealedVerdict {
    /// It opens both commitments.
    Opens,
    /// It is the sealed file of another record.
    OtherRecord,
    /// Its person is not the one of the record.
    OtherPerson,
    /// Its way is not the one of the record.
    OtherWay,
    /// Neither person nor way are those of the record.
    OtherRows,
}

impl SealedVerdict {
    fn new(record: &Record, sealed: &Sealed) -> Self {
        let promise = &record.promise;
        let person = sealed.person_commitment() == promise.person;
        let way = sealed.way_commitment() == promise.way;
        match (sealed.id == promise.id, person, way) {
            (true, true, true) => Self::Opens,
            (false, ..) => Self::OtherRecord,
            (true, false, true) => Self::OtherPerson,
            (true, true, false) => Self::OtherWay,
            (true, false, false) => Self::OtherRows,
        }
    }

    /// The verdict in words.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Opens => "opens both commitments of the record",
            Self::OtherRecord => "does not open the record: it belongs to another record",
            Self::OtherPerson => "does not open the record: the person was changed",
            Self::OtherWay => "does not open the record: the way was changed",
            Self::OtherRows => "does not open the record: person and way were changed",
        }
    }
}

/// All that can be said of a promise. Of a record that is not genuine, nothing but that.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Whether nothing speaks against the promise: genuine, in force, and opened and kept as far as that was asked.
    pub good: bool,
    /// The id of the record.
    pub id: Hex<16>,
    /// The first day on which it is valid.
    pub issued: Date,
    /// The last day on which it is valid.
    pub expires: Date,
    /// The score that was promised to be enough.
    pub promised_threshold: String,
    /// The key that the record names.
    pub public_key: Hex<32>,
    /// What the signature says.
    pub signature: SignatureVerdict,
    /// The day for which the dates were checked.
    pub date: Date,
    /// What the dates say.
    pub dates: Option<DateVerdict>,
    /// Whether the sealed file belongs to the record; `None` without one.
    pub sealed: Option<SealedVerdict>,
    /// The id of the person in the sealed file, if it opens the record.
    pub person: Option<String>,
    /// What a later model says; `None` without one, or if the sealed file does not open the record.
    pub model: Option<LaterVerdict>,
}

/// What a record is checked against.
#[derive(Clone, Copy)]
pub struct CheckOptions<'a> {
    /// The lender's key, from where it is trusted: the one that a record names, anybody can make.
    pub public_key: PublicKey,
    /// The day for which the dates are checked.
    pub date: Date,
    /// The cells and salts behind the record.
    pub sealed: Option<&'a Sealed>,
    /// A later model, which only counts with a sealed file.
    pub later: Option<&'a HashedModel>,
}

impl Check {
    /// Checks a record.
    ///
    /// # Errors
    /// When the classifier itself is not in the later model.
    pub fn new(record: &Record, options: CheckOptions<'_>) -> Result<Self, Error> {
        let CheckOptions { public_key, date, sealed, later } = options;
        later.map_or(Ok(()), HashedModel::check_verifies)?;
        let promise = &record.promise;
        let signature = if !record.is_signed() {
            SignatureVerdict::Changed
        } else if record.public_key() == public_key {
            SignatureVerdict::Genuine
        } else {
            SignatureVerdict::OtherKey
        };
        let mut check = Self {
            good: false,
            id: promise.id,
            issued: promise.issued,
            expires: promise.expires,
            promised_threshold: promise.threshold.clone(),
            public_key: promise.public_key,
            signature,
            date,
            dates: None,
            sealed: None,
            person: None,
            model: None,
        };
        if !check.is_genuine() {
            return Ok(check);
        }
        check.dates = Some(match date {
            date if date < promise.issued => DateVerdict::NotYetIssued,
            date if date > promise.expires => DateVerdict::Expired,
            _ => DateVerdict::InForce,
        });
        check.sealed = sealed.map(|sealed| SealedVerdict::new(record, sealed));
        if let (Some(SealedVerdict::Opens), Some(sealed)) = (check.sealed, sealed) {
            check.person = Some(sealed.person.id.clone());
            check.model = later.map(|later| LaterVerdict::new(later, promise, sealed));
        }
        check.good = check.dates == Some(DateVerdict::InForce)
            && check.sealed.is_none_or(|sealed| sealed == SealedVerdict::Opens)
            && check.model.as_ref().is_none_or(|model| model.kept);
        Ok(check)
    }

    /// Whether the lender's key signed the record as it stands.
    pub fn is_genuine(&self) -> bool {
        self.signature == SignatureVerdict::Genuine
    }

    /// What the signature says, in words.
    pub fn signature_sentence(&self) -> String {
        let key = self.public_key;
        match self.signature {
            SignatureVerdict::Genuine => {
                "genuine: signed by the given key, and not changed since".to_string()
            }
            SignatureVerdict::OtherKey => format!("not genuine: signed by another key, {key}"),
            SignatureVerdict::Changed => {
                "not genuine: the record was changed after it was signed, or never signed".to_string()
            }
        }
    }

    /// The check in words: titles, and what is to be said under them.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let Self { id, issued, expires, promised_threshold, date, .. } = self;
        let mut facts = vec![("record", id.to_string()), ("signature", self.signature_sentence())];
        let Some(dates) = self.dates else { return facts };
        let verdict = match dates {
            DateVerdict::InForce => "in force",
            DateVerdict::Expired => "expired",
            DateVerdict::NotYetIssued => "not yet issued",
        };
        facts.push(("dates", format!("{verdict} on {date}: issued {issued}, valid to {expires}")));
        let Some(sealed) = self.sealed else {
            let words = "none was given: without it nothing can be said of person, way and models";
            facts.push(("sealed file", words.to_string()));
            return facts;
        };
        facts.push(("sealed file", sealed.sentence().to_string()));
        facts.extend(self.person.iter().map(|person| ("person", person.clone())));
        let Some(model) = &self.model else { return facts };
        let same = match (model.same_model, model.same_schema) {
            (true, _) => "the one that made the promise",
            (false, true) => "another one, with the same schema",
            (false, false) => "another one, with another schema: columns are matched by name",
        };
        facts.push(("model", same.to_string()));
        if !model.unread_columns.is_empty() {
            facts.push(("not read", model.unread_columns.join(", ")));
        }
        facts.extend(model.warnings.iter().map(|warning| ("warning", warning.clone())));
        facts.push(("way", format!("{} (promised at {promised_threshold})", model.sentence)));
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::Promise;
    use crate::key::PrivateKey;
    use crate::test_model::{HARDER, MODEL, OTHER_SCHEMA, WITH_POLICY, key, promise};

    fn options() -> CheckOptions<'static> {
        let date = "2026-06-30".parse().expect("a date");
        CheckOptions { public_key: key().public_key(), date, sealed: None, later: None }
    }

    fn check(record: &Record, options: CheckOptions<'_>) -> Check {
        Check::new(record, options).expect("a check")
    }

    fn fact(check: &Check, title: &str) -> String {
        let facts = check.facts();
        facts.into_iter().find(|(found, _)| *found == title).expect("a fact of that title").1
    }

    #[test]
    fn a_genuine_promise_is_kept_by_the_model_that_made_it() {
        let Promise { record, sealed } = promise();
        let checked =
            check(&record, CheckOptions { sealed: Some(&sealed), later: Some(&MODEL), ..options() });
        assert!(checked.good && checked.is_genuine());
        let model = checked.model.as_ref().expect("a model");
        assert!(model.kept && model.same_model && model.same_schema && model.margin > Some(0.0));
        assert_eq!(fact(&checked, "model"), "the one that made the promise");
        let way = fact(&checked, "way");
        assert!(way.starts_with("kept: probability 0."), "{way}");
        assert!(way.ends_with(" beyond it (promised at 0.5)"), "{way}");
    }

    #[test]
    fn without_the_sealed_file_only_signature_and_dates_are_checked() {
        let checked = check(&promise().record, options());
        assert!(checked.good && checked.sealed.is_none() && checked.model.is_none());
        let expected = [
            ("record", checked.id.to_string()),
            ("signature", "genuine: signed by the given key, and not changed since".to_string()),
            ("dates", "in force on 2026-06-30: issued 2026-01-31, valid to 2027-01-31".to_string()),
            (
                "sealed file",
                "none was given: without it nothing can be said of person, way and models".to_string(),
            ),
        ];
        assert_eq!(checked.facts(), expected);
    }

    #[test]
    fn a_record_of_another_key_is_not_genuine() {
        let record = promise().record;
        let other = PrivateKey::generate().expect("randomness");
        let forged = Record::sign(record.promise.clone(), &other);
        let checked = check(&forged, options());
        assert!(!checked.good && checked.dates.is_none());
        let other = other.public_key().bytes();
        assert_eq!(fact(&checked, "signature"), format!("not genuine: signed by another key, {other}"));
        let named = Record { signature: forged.signature, ..record };
        let checked = check(&named, options());
        assert_eq!(
            fact(&checked, "signature"),
            "not genuine: the record was changed after it was signed, or never signed"
        );
    }

    #[test]
    fn the_first_and_the_last_day_count() {
        let record = promise().record;
        for (day, verdict, words) in [
            ("2026-01-30", DateVerdict::NotYetIssued, "not yet issued"),
            ("2026-01-31", DateVerdict::InForce, "in force"),
            ("2027-01-31", DateVerdict::InForce, "in force"),
            ("2027-02-01", DateVerdict::Expired, "expired"),
        ] {
            let checked = check(&record, CheckOptions { date: day.parse().expect("a date"), ..options() });
            assert_eq!(checked.dates, Some(verdict));
            assert_eq!(checked.good, verdict == DateVerdict::InForce);
            assert_eq!(
                fact(&checked, "dates"),
                format!("{words} on {day}: issued 2026-01-31, valid to 2027-01-31")
            );
        }
    }

    #[test]
    fn a_sealed_file_opens_its_own_record_alone() {
        let [one, other] = [promise(), promise()];
        let verdict = |change: fn(&mut Sealed, &Sealed)| {
            let mut sealed = one.sealed.clone();
            change(&mut sealed, &other.sealed);
            let checked =
                check(&one.record, CheckOptions { sealed: Some(&sealed), later: Some(&MODEL), ..options() });
            assert_eq!(checked.good, checked.sealed == Some(SealedVerdict::Opens));
            assert_eq!(checked.model.is_some(), checked.good);
            fact(&checked, "sealed file")
        };
        assert_eq!(verdict(|_, _| {}), "opens both commitments of the record");
        assert_eq!(
            verdict(|sealed, other| *sealed = other.clone()),
            "does not open the record: it belongs to another record"
        );
        assert_eq!(
            verdict(|sealed, other| sealed.way = other.way.clone()),
            "does not open the record: the way was changed"
        );
        assert_eq!(
            verdict(|sealed, _| sealed.person.id = "rich".to_string()),
            "does not open the record: the person was changed"
        );
        let swap =
            |sealed: &mut Sealed, _: &Sealed| std::mem::swap(&mut sealed.person.cells, &mut sealed.way.cells);
        assert_eq!(verdict(swap), "does not open the record: person and way were changed");
        assert_eq!(
            verdict(|sealed, _| sealed.way.cells[2] = "1000".to_string()),
            "does not open the record: the way was changed"
        );
    }

    #[test]
    fn a_model_with_a_higher_threshold_breaks_the_promise() {
        let Promise { record, sealed } = promise();
        let checked =
            check(&record, CheckOptions { sealed: Some(&sealed), later: Some(&HARDER), ..options() });
        let model = checked.model.as_ref().expect("a model");
        assert!(!checked.good && !model.kept && !model.same_model && model.same_schema);
        assert!(model.margin < Some(0.0) && model.threshold > 0.9, "{model:?}");
        let way = fact(&checked, "way");
        assert!(way.starts_with("not kept: probability 0.") && way.contains(" short of it ("), "{way}");
        assert_eq!(fact(&checked, "model"), "another one, with the same schema");
    }

    #[test]
    fn a_policy_of_the_later_model_counts() {
        let Promise { record, sealed } = promise();
        let later = Some(&*WITH_POLICY);
        let checked = check(&record, CheckOptions { sealed: Some(&sealed), later, ..options() });
        let model = checked.model.as_ref().expect("a model");
        // The score alone would be enough.
        assert!(!checked.good && !model.kept && model.margin > Some(0.0), "{model:?}");
        assert_eq!(model.not_met, ["at least forty"]);
        assert_eq!(fact(&checked, "model"), "another one, with another schema: columns are matched by name");
        let way = fact(&checked, "way");
        assert!(way.starts_with("not kept: probability 0."), "{way}");
        assert!(way.ends_with(" beyond it; not met: at least forty (promised at 0.5)"), "{way}");
    }

    #[test]
    fn a_model_that_needs_other_columns_cannot_keep_it() {
        let Promise { record, sealed } = promise();
        let checked =
            check(&record, CheckOptions { sealed: Some(&sealed), later: Some(&OTHER_SCHEMA), ..options() });
        let model = checked.model.as_ref().expect("a model");
        assert!(!checked.good && !model.same_schema);
        assert_eq!(
            (&model.missing_columns[..], &model.unread_columns[..]),
            (&["savings".to_string()][..], &["debt".to_string()][..])
        );
        assert_eq!(fact(&checked, "not read"), "debt");
        assert_eq!(
            fact(&checked, "way"),
            "not kept: it needs `savings`, which the promised row does not have (promised at 0.5)"
        );
    }

    #[test]
    fn a_category_that_the_model_does_not_know_is_not_kept() {
        let Promise { record, mut sealed } = promise();
        sealed.way.cells[1] = "doctorate".to_string();
        let mut terms = record.promise;
        terms.way = sealed.way_commitment();
        let record = Record::sign(terms, key());
        let checked =
            check(&record, CheckOptions { sealed: Some(&sealed), later: Some(&MODEL), ..options() });
        assert!(!checked.good && checked.sealed == Some(SealedVerdict::Opens));
        assert_eq!(
            fact(&checked, "way"),
            "not kept: column `education`: no category `doctorate`, expected one of `low`, `middle`, `high` (promised at 0.5)"
        );
    }
}
