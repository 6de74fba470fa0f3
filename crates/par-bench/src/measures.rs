//! The measures of an answer, by the same code for our methods and for others.

use std::sync::Arc;

use par_answer::evaluate::median;
use par_circuit::{Dataset, Evaluator};
use par_data::schema::{self, Mutability};
use par_data::{CellError, Code, Domain, Feature, OwnRow, UNKNOWN};
use par_model::{Mean, Model, Plausibility};

use crate::figures::Sheet;

/// Measures answers by a model's classifier, circuit and bins.
pub struct Measurer<'b> {
    model: &'b Model,
    code_units: &'b [f64],
    plausibility: Arc<Plausibility>,
    evaluator: Evaluator<'b>,
}

/// The measures of one answer.
///
/// # Paper
/// The columns of table 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnswerMeasures {
    /// The classifier's score.
    pub score: f64,
    /// Whether the classifier accepts it, and it keeps every policy of the schema.
    pub valid: bool,
    /// Whether immutable features are unchanged, clocks have not gone back, and no feature changes in a forbidden
    /// direction, from or to an unknown value, to a special one, or from one that the schema does not let people leave.
    /// Features that follow from others may change. Steps, transitions, bounds and relations are not checked.
    pub actionable: bool,
    /// Whether the rules between directions hold. A special value neither rises nor falls.
    pub causal: bool,
    /// −log p⁺.
    pub nll: f64,
    /// −log p⁺, given what nobody can change.
    pub conditional_nll: f64,
    /// The share of accepted rows, of the model's pool, that are no likelier by it.
    pub percentile: f64,
    /// Over numeric features, |change| / median absolute deviation.
    pub similarity: f64,
    /// Over the codes of all features, |change| / median absolute deviation of the training rows' codes.
    pub similarity_codes: f64,
    /// The similarity, plus one for every other feature that changes.
    pub distance: f64,
    /// Features whose code differs.
    pub sparsity: f64,
    /// What the changes cost the person, by the schema's efforts.
    pub effort: f64,
}

impl<'b> Measurer<'b> {
    /// For one thread. `code_units` are what a change of each feature's code is measured in; see
    /// [`code_units`].
    pub fn new(model: &'b Model, code_units: &'b [f64]) -> Self {
        let plausibility = model.plausibility(&[]);
        Self { model, code_units, plausibility, evaluator: model.accepted().evaluator() }
    }

    /// Measures an answer to a factual. Both are cells in schema order; immutable features are compared as text, not
    /// as codes.
    ///
    /// # Errors
    /// When a cell of the answer does not fit its column, such as an unseen category.
    pub fn measure(&mut self, factual: &[&str], answer: &[&str]) -> Result<AnswerMeasures, CellError> {
        let model = self.model;
        let own = model.discretizer().encode_row(factual)?.into_codes();
        let codes = model.discretizer().encode_row(answer)?.into_codes();
        let features = model.schema().features();
        let moves: Vec<Direction> = features
            .iter()
            .enumerate()
            .map(|(place, feature)| {
                let domain = &model.discretizer().domains()[place];
                Direction::new(feature, domain, [factual[place], answer[place]], [own[place], codes[place]])
            })
            .collect();
        let actionable = features.iter().zip(&moves).all(|(feature, step)| step.is_possible(feature));
        let rules = model.schema().rules();
        let happens = |one: schema::Move| {
            let direction = match one.direction {
                schema::Direction::Increase => Direction::Up,
                schema::Direction::Decrease => Direction::Down,
            };
            moves[one.feature] == direction
        };
        let causal = rules.iter().all(|rule| !happens(rule.when) || happens(rule.then));
        let (mut similarity, mut distance) = (0.0, 0.0);
        for (place, _) in moves.iter().enumerate().filter(|(_, step)| **step != Direction::Stays) {
            let moved = model.moved_by(place, factual[place], answer[place]);
            similarity += moved.unwrap_or(0.0);
            distance += moved.unwrap_or(1.0);
        }
        let steps = own.iter().zip(&codes).zip(self.code_units);
        let similarity_codes = steps.map(|((own, code), unit)| code_steps(*own, *code) / unit).sum();
        let score = model.probability(&codes);
        let log_likelihood = self.evaluator.log_prob(&codes);
        let conditional = log_likelihood - self.plausibility.log_given(&mut self.evaluator, &codes);
        let sparsity = own.iter().zip(&codes).filter(|(own, code)| own != code).count() as f64;
        let [own, changed] = [(factual, own), (answer, codes)]
            .map(|(cells, codes)| OwnRow::new(model.discretizer(), cells, codes));
        Ok(AnswerMeasures {
            score,
            valid: model.is_accepted(answer, model.threshold()),
            actionable,
            causal,
            nll: -log_likelihood,
            conditional_nll: -conditional,
            percentile: self.plausibility.percentile(conditional),
            similarity,
            similarity_codes,
            distance,
            sparsity,
            effort: model.constraints().effort(&own, &changed),
        })
    }
}

/// The direction of a change.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    Stays,
    Up,
    Down,
    /// To or from an unknown value, which is neither above nor below.
    Unknown,
    /// To a special number, which is neither.
    ToSpecial,
    /// From this special number to an ordinary one.
    FromSpecial(f64),
}

impl Direction {
    /// From the first to the second cell. Numbers are compared as numbers, categories as text, and their order is that
    /// of their codes, which is meaningful only if the schema defines one.
    fn new(feature: &Feature, domain: &Domain, [from, to]: [&str; 2], [own, code]: [Code; 2]) -> Self {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let special = |code: Code| domain.special().get(usize::from(code).checked_sub(domain.ordinary())?);
        let order = match (feature.kind.is_numeric(), number(from), number(to)) {
            // Not `total_cmp`, which puts -0 below 0.
            (true, Some(from), Some(to)) if from == to => Equal,
            _ if code != UNKNOWN && special(code).is_some() => return Self::ToSpecial,
            (true, Some(from), Some(to)) => match special(own) {
                Some(special) => return Self::FromSpecial(*special),
                None => from.partial_cmp(&to).unwrap_or(Equal),
            },
            _ if from.trim() == to.trim() => Equal,
            _ if own == UNKNOWN || code == UNKNOWN => return Self::Unknown,
            _ => own.cmp(&code),
        };
        match order {
            Equal => Self::Stays,
            Less => Self::Up,
            Greater => Self::Down,
        }
    }

    /// Whether a feature can change so.
    fn is_possible(self, feature: &Feature) -> bool {
        match (self, feature.change) {
            (Self::Stays, _) => true,
            (Self::Unknown, _) | (_, Mutability::Never | Mutability::Undecided) => false,
            (_, Mutability::Follows) => true,
            (Self::ToSpecial, _) | (Self::FromSpecial(_), Mutability::WithTime) => false,
            // No direction binds who leaves a special number.
            (Self::FromSpecial(special), _) => feature.may_leave(special),
            (_, Mutability::Free) => true,
            (direction, Mutability::Increase | Mutability::WithTime) => direction == Self::Up,
            (direction, Mutability::Decrease) => direction == Self::Down,
        }
    }
}

/// How many codes lie between two; one step to or from an unknown value.
fn code_steps(from: Code, to: Code) -> f64 {
    match (from == UNKNOWN) == (to == UNKNOWN) {
        true => f64::from(from.abs_diff(to)),
        false => 1.0,
    }
}

/// The median absolute deviation of each feature's codes over some rows; 1 where it is 0, as it is for a feature of which
/// most rows have one code.
///
/// # Paper
/// The unit of *similarity* in table 1, as far as it can be told: the paper names ℓ1/MAD and not over what. The figures
/// of PAR agree with the codes of all features on adult and credit; on gmsc, where no weights fit, it cannot be told.
pub fn code_units(rows: &Dataset) -> Vec<f64> {
    let unit = |feature: usize| {
        let known = || rows.rows().map(|row| row[feature]).filter(|code| *code != UNKNOWN);
        let middle = median(known().map(f64::from).collect())?;
        median(known().map(|code| (f64::from(code) - middle).abs()).collect()).filter(|unit| *unit > 0.0)
    };
    (0..rows.cardinalities().len()).map(|feature| unit(feature).unwrap_or(1.0)).collect()
}

/// A measure's name and its value.
pub(crate) type AnswerMeasure = (&'static str, fn(&AnswerMeasures) -> f64);

/// Adds the measures of answers to a sheet: one per denied person, `None` without an answer.
///
/// Validity is over all denied people; the others are over those with an answer, valid or not.
pub fn add(sheet: &mut Sheet, method: &str, measured: &[Option<AnswerMeasures>]) {
    let of = measured.len();
    let found = || measured.iter().flatten();
    let valid = measured.iter().map(|measured| measured.is_some_and(|measured| measured.valid));
    sheet.mean(method, "validity", Mean::share(valid, of));
    sheet.mean(method, "actionability", Mean::share(found().map(|measured| measured.actionable), of));
    sheet.mean(method, "causality", Mean::share(found().map(|measured| measured.causal), of));
    let measures: [AnswerMeasure; 9] = [
        ("nll", |measured| measured.nll),
        ("similarity", |measured| measured.similarity),
        ("similarity_codes", |measured| measured.similarity_codes),
        ("distance", |measured| measured.distance),
        ("sparsity", |measured| measured.sparsity),
        ("effort", |measured| measured.effort),
        ("conditional_nll", |measured| measured.conditional_nll),
        ("percentile", |measured| measured.percentile),
        ("score", |measured| measured.score),
    ];
    for (name, measure) in measures {
        sheet.mean(method, name, Mean::new(found().map(measure), of));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_case;

    #[test]
    fn clocks_rise_and_consequences_change_but_nothing_else_that_nobody_acts_on() {
        let case = test_case::case(test_case::MOVING);
        let fold = test_case::fold(&case);
        let mut measurer = Measurer::new(&fold.model, &fold.code_units);
        let mut is_actionable = |answer: [&str; 4]| {
            measurer.measure(&["t0", "35", "middle", "j0"], &answer).expect("a row").actionable
        };
        assert!(is_actionable(["t0", "35", "middle", "j1"]));
        assert!(is_actionable(["t0", "45", "old", "j1"]));
        assert!(!is_actionable(["t0", "25", "young", "j1"]), "a clock goes back");
        assert!(!is_actionable(["t1", "35", "middle", "j1"]), "a town never changes");
    }
}
