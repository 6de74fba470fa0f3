//! What the names of columns mean for a person: the one place for words.
//!
//! Words are whole words of a name, in the singular; [`names::has_any`] reads them. The first entry that fits
//! decides, so that what nobody can change comes before what a person can.

use super::names;
use crate::schema::Direction::{self, Decrease, Increase};

/// What is known of columns with certain names.
pub(super) struct Entry {
    /// One of these is in the name,
    words: &'static str,
    /// and none of these.
    unless: &'static str,
    pub(super) meaning: Meaning,
    /// Why, for the comment.
    pub(super) reason: &'static str,
}

/// What may happen to a column with such a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    /// Who somebody is.
    Protected,
    /// The past, or another thing that a person cannot act on.
    Never,
    /// It moves with time.
    Clock,
    /// The name is known, but does not say what a person can do.
    Unclear,
    /// A person can act on it.
    Act(Act),
}

/// What a person can do about a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Act {
    /// The direction; any if `None`.
    pub(super) toward: Option<Direction>,
    /// The columns of which this is said.
    pub(super) on: On,
    pub(super) effort: &'static str,
    pub(super) takes: Option<&'static str>,
    /// Whether it is a term of the request.
    pub(super) by_lender: bool,
    /// The direction that the world calls better.
    pub(super) improves: Option<Direction>,
    /// The numbers that may be advised.
    pub(super) bounds: Option<[f64; 2]>,
}

/// The columns that an act is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// Any.
    Any,
    /// Numbers, more than two.
    Numbers,
    /// Numbers, and categories whose order is known.
    Ordered,
    /// Years of school, and degrees whose order is known.
    Schooling,
}

/// The first entry that fits a name.
pub(super) fn entry(words: &[String]) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| names::has_any(words, entry.words) && !names::has_any(words, entry.unless))
}

/// Anything may be done about any column.
pub(super) const ACT: Act = Act {
    toward: None,
    on: On::Any,
    effort: "some",
    takes: None,
    by_lender: false,
    improves: None,
    bounds: None,
};
/// More of it is better, and hard to get.
const EARN: Act = Act {
    toward: Some(Increase),
    on: On::Ordered,
    effort: "hard",
    takes: Some("1 year"),
    improves: Some(Increase),
    ..ACT
};
/// Less of it is better, and takes time.
const PAY_OFF: Act = Act { toward: Some(Decrease), on: On::Numbers, improves: Some(Decrease), ..EARN };

static ENTRIES: &[Entry] = &[
    Entry {
        words: "sex, gender, male, female, man, woman, race, racial, ethnicity, ethnic, white, black, \
            hispanic, hisp, latino, asian, afam, african american, african, minority, caucasian, \
            indigenous, nationality, citizen, citizenship, immigrant, migrant, migration, foreign, \
            foreigner, alien, origin, native, mother tongue, religion, religious, caste, ancestry, tribe, \
            skin, disability, disabled, handicap, health, pregnant, pregnancy, veteran, birth place, birth \
            country, born, sexual orientation",
        unless: "health insurance",
        meaning: Meaning::Protected,
        reason: "a protected trait",
    },
    Entry {
        words: "marital, married, single, divorced, divorce, widowed, widow, marriage, mstatus, family \
            status, civil status, personal status, relationship, family size, household size, famsize, \
            kid, children, child, dependent, dependant, dep, sibling, sibsp, parch, spouse, husband, wife, \
            maintenance",
        unless: "income, salary, wage, earning",
        meaning: Meaning::Protected,
        reason: "family: a protected trait",
    },
    Entry {
        words: "birth, birthday, birthdate, dob, yob",
        unless: "",
        meaning: Meaning::Protected,
        reason: "the date of birth: a protected trait",
    },
    Entry {
        words: "month since, mo since, mth since, mths since, day since, week since, year since, yr since, \
            time since",
        unless: "",
        meaning: Meaning::Clock,
        reason: "the time since something happened",
    },
    Entry {
        words: "ever, past, previous, previously, prev, prior, history, hist, historical, delinq, \
            delinquent, delinquency, delinquencies, delq, dlq, dlqin, dpd, default, defaulted, late, \
            overdue, arrear, bankrupt, bankruptcy, bankruptcies, pub rec, public record, derog, \
            derogatory, foreclosure, foreclosed, repossession, charge off, charged off, collection, lien, \
            judgment, judgement, lawsuit, arrest, arrested, conviction, convicted, crime, criminal, \
            felony, felonies, misdemeanor, offense, offence, jail, prison, incarcerated, recidivism, \
            inquiry, inquiries, inq, enquiry, enquiries, times, number of time, missed, denied, rejected, \
            refused, fraud, claim, accident, violation, last, earlier, former, first, worst, attempt, \
            failure, failed, absence, lag, lagged",
        unless: "",
        meaning: Meaning::Never,
        reason: "history: nobody can change the past",
    },
    Entry {
        words: "age",
        unless: "",
        meaning: Meaning::Clock,
        reason: "age: a protected trait, and a clock",
    },
    Entry {
        words: "tenure, seniority, experience, exper, since, year at, yr at, month at, year on, year in, \
            yr in, year with, working year, work year, year worked, year employed, yr employed, month \
            employed, day employed, emp length, employment length, job length, length of employment, \
            employment duration, duration of employment, time at, time in, vintage, month on book, mob",
        unless: "",
        meaning: Meaning::Clock,
        reason: "a length of time",
    },
    Entry {
        words: "father, mother, parent, parental, guardian, brother, sister, peer, partner",
        unless: "",
        meaning: Meaning::Never,
        reason: "another person's, not the applicant's",
    },
    Entry {
        words: "zip, zipcode, postcode, postal, state, county, region, city, town, village, tract, \
            neighborhood, neighbourhood, nbhd, district, province, country, area, msa, smsa, urban, rural, \
            location, latitude, longitude, address, north, south, east, west",
        unless: "",
        meaning: Meaning::Never,
        reason: "a place: it stands for origin, and is no advice",
    },
    Entry {
        words: "purpose, reason, intent",
        unless: "",
        meaning: Meaning::Never,
        reason: "what it is for: to advise another one is to advise a lie",
    },
    Entry {
        words: "=year, =yr, =month, =day, =week, =quarter, =season, =date, day of week, weekday, year \
            built, model year, cohort, wave",
        unless: "=years, =months, =days, =weeks",
        meaning: Meaning::Never,
        reason: "a date",
    },
    Entry {
        words: "unemployment rate, inflation, price index, euribor, cpi, gdp",
        unless: "",
        meaning: Meaning::Never,
        reason: "the state of the economy",
    },
    Entry {
        words: "log, ln, sq, squared, sqrt, square, median, average, mean, avg, imputed, predicted, score, \
            rating, rank, percentile",
        unless: "",
        meaning: Meaning::Unclear,
        reason: "its name says that it is computed from something else",
    },
    Entry {
        words: "req, required, requirement, employer, spouse, partner, father, mother, parent, vendor, seller",
        unless: "",
        meaning: Meaning::Unclear,
        reason: "its name says that it is somebody else's",
    },
    Entry {
        words: "loan amount, loan amnt, loan amt, credit amount, credit amt, amount requested, requested \
            amount, amount of credit, amount of loan, loan size, amount financed, mortgage amount, amt \
            credit, =loan",
        unless: "paid, received, remaining, outstanding, ratio, income, term",
        meaning: Meaning::Act(Act { toward: Some(Decrease), on: On::Numbers, by_lender: true, ..ACT }),
        reason: "the loan asked for: less of it is a counter-offer",
    },
    Entry {
        words: "loan term, =term, term month, loan duration, duration of loan, credit duration, duration \
            of credit, loan period, repayment period, number of instalments, number of installments",
        unless: "rate",
        meaning: Meaning::Act(Act { by_lender: true, ..ACT }),
        reason: "the time to repay: another one is a counter-offer",
    },
    Entry {
        words: "down payment",
        unless: "gift",
        meaning: Meaning::Act(EARN),
        reason: "a person can pay more at once",
    },
    Entry {
        words: "debt ratio, debt to income, debt income, dti, utilization, utilisation, debt, revolving \
            balance, revol bal, revol util, credit card balance, amount owed, liabilities",
        unless: "limit, housing, expense",
        meaning: Meaning::Act(PAY_OFF),
        reason: "a person can pay off debts",
    },
    Entry {
        words: "number of loans, num loans, open loans, number of credits, existing credits",
        unless: "",
        meaning: Meaning::Act(PAY_OFF),
        reason: "a person can pay off loans",
    },
    Entry {
        words: "number of cards, num cards, number of credit cards, num credit cards",
        unless: "",
        meaning: Meaning::Act(Act { on: On::Numbers, takes: Some("1 month"), ..ACT }),
        reason: "a person can open and close accounts",
    },
    Entry {
        words: "income, salary, wage, earnings",
        unless: "coapplicant, coborrower, cosigner, family, household, hh, spouse, husband, wife, other, \
            ratio, to, tax, verification, verified, source, type, per capita, share, percent, pct",
        meaning: Meaning::Act(EARN),
        reason: "a person can earn more, with time",
    },
    Entry {
        words: "saving, checking balance, checking account balance, account balance, liquid asset, cash",
        unless: "rate",
        meaning: Meaning::Act(EARN),
        reason: "a person can save, with time",
    },
    Entry {
        words: "hours per week, hour per week, hrs per week, weekly hours, hours worked, working hours, \
            work hours",
        unless: "",
        meaning: Meaning::Act(Act {
            on: On::Numbers,
            takes: Some("3 months"),
            bounds: Some([0.0, 60.0]),
            ..ACT
        }),
        reason: "a person can work more or fewer hours",
    },
    Entry {
        words: "education, educ, edu, schooling, degree, qualification",
        unless: "institution, field, major, type, loan, special, required",
        meaning: Meaning::Act(Act {
            toward: Some(Increase),
            on: On::Schooling,
            effort: "very hard",
            takes: Some("2 years"),
            improves: Some(Increase),
            ..ACT
        }),
        reason: "a person can learn, and nobody unlearns",
    },
    Entry {
        words: "=expense, monthly expense, living expense, monthly spending",
        unless: "housing, ratio, to",
        meaning: Meaning::Act(Act {
            toward: Some(Decrease),
            on: On::Numbers,
            takes: Some("3 months"),
            ..ACT
        }),
        reason: "a person can spend less",
    },
    Entry {
        words: "guarantor, guarantee, cosign, cosigner, cosigned, coapplicant, coborrower, other debtors, \
            collateral",
        unless: "age, income, score, credit, value, number",
        meaning: Meaning::Act(Act { effort: "hard", takes: Some("1 month"), ..ACT }),
        reason: "a person can find somebody or something to vouch for them",
    },
    Entry {
        words: "life insurance, home insurance, car insurance, has insurance, insured",
        unless: "amount, premium, charge, type, company",
        meaning: Meaning::Act(Act { takes: Some("1 month"), ..ACT }),
        reason: "a person can take out an insurance",
    },
    Entry {
        words: "telephone, phone, email",
        unless: "number of, contact, call, service, line",
        meaning: Meaning::Act(Act { effort: "easy", ..ACT }),
        reason: "a person can be reachable",
    },
    Entry {
        words: "smoker, smoking",
        unless: "",
        meaning: Meaning::Act(Act { effort: "very hard", on: On::Ordered, ..PAY_OFF }),
        reason: "a person can stop smoking",
    },
];

/// Names of columns that number or name the rows.
pub(super) const ID: &str = "id, uuid, guid, key, =index, =row, row number, row no, =no, =nr, =number, \
    customer number, account number, case number, application number, ssn, =name, first name, last name, \
    surname, full name, =seq";
/// Names of columns whose whole numbers are codes of categories.
pub(super) const CODE: &str = "code, type, category, cat, kind, class, group, status, grade, band, sector, \
    industry, occupation, occ, job, profession, housing, purpose, product, channel, segment, cluster, \
    branch, store";
/// Units of time that a schema knows, with the words for them.
pub(super) const UNITS: [(&str, &str); 4] =
    [("years", "year, yr"), ("months", "month, mth, mths, mo"), ("weeks", "week"), ("days", "day")];
/// Names of columns whose numbers are never negative.
pub(super) const NEVER_NEGATIVE: &str = "age, amount, count, day, dependant, dependent, duration, height, \
    hour, minute, month, price, salary, wage, weight, year, number, num";
/// Words in names of traits that are counted, so that their numbers are no codes.
pub(super) const COUNTED: &str =
    "kid, children, child, dependent, dependant, dep, sibling, sibsp, parch, size, num, number";

/// Whole names of labels, the likeliest first.
pub(super) const LABELS: &str = "=class, =label, =target, =y, =outcome, =default, =decision, =approved, \
    =approve, =loan status, =status, =risk, =result, =churn, =accepted, =denied, =deny, =response, \
    =attrition, =granted, =hired, =admitted, =survived, =good bad, =income";
/// Words in names of labels.
pub(super) const LABEL_WORDS: &str = "approved, approval, approve, loan status, default, churn, exited, \
    attrition, denied, deny, rejected, accepted, granted, hired, admitted, target, outcome, decision, \
    label, class, dlqin, fraud";
/// Words in names that make them no label.
pub(super) const NO_LABEL: &str =
    "previous, prior, past, ever, history, last, num, number, count, ratio, rate";
/// Names of events that nobody wants.
pub(super) const BAD_EVENT: &str = "default, churn, fraud, deny, denied, denial, reject, rejected, refuse, \
    refused, risk, delinquent, delinquency, dlqin, late, bad, attrition, exited, bankrupt, bankruptcy, \
    charged off, arrear, overdue, failure, failed, unpaid, loss, turnover, recid, recidivism, unemployed";
/// Names of events that people want.
pub(super) const GOOD_EVENT: &str = "approve, approved, approval, accept, accepted, paid, repaid, good, \
    grant, granted, hire, hired, admit, admitted, survive, survived, employed, pass, passed, success, \
    eligible, qualified, promoted";
/// Values that nobody wants.
pub(super) const BAD_VALUE: &str = "bad, default, defaulted, denied, deny, rejected, reject, churn, \
    churned, fraud, fraudulent, late, delinquent, charged off, charge off, unpaid, fail, failed, declined, \
    refused, high risk, risky, left, exited, unemployed, bankrupt, overdue, not paid, not approved, not \
    accepted, ineligible";
/// Values that people want.
pub(super) const GOOD_VALUE: &str = "good, approved, approve, accepted, accept, paid, granted, passed, \
    pass, current, hired, admitted, success, eligible, qualified, low risk, repaid, employed, retained, no \
    default, not default, non default, no churn, not churned, no risk, not fraud, non fraud, not \
    delinquent, never late, favourable, favorable";
/// Values that say that something is so.
pub(super) const YES: &str = "=1, =1 0, =yes, =y, =true, =t, =present";
/// Values that say that something is not so.
pub(super) const NO: &str = "=0, =0 0, =no, =n, =false, =f, =absent";
