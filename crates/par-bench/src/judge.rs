//! How good an answer is, whoever gave it: one code for our methods and for others.

use par_circuit::Evaluator;
use par_data::schema::Monotone;
use par_data::{CellError, Code, Feature, UNKNOWN};
use par_model::{Mean, Model};

use crate::figures::Sheet;

/// Judges answers as a model sees them: its classifier, its circuit, its bins.
pub struct Judge<'b> {
    model: &'b Model,
    evaluator: Evaluator<'b>,
}

/// What there is to say about one answer.
///
/// # Paper
/// The columns of table 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The classifier's score.
    pub score: f64,
    /// Whether that is enough.
    pub valid: bool,
    /// Whether immutable features are as they were, and no feature moves in a direction it must not, or between
    /// what is known and what is not.
    pub actionable: bool,
    /// Whether the rules are kept.
    pub causal: bool,
    /// −log p⁺.
    pub nll: f64,
    /// Over numeric features, |change| / median absolute deviation.
    pub similarity: f64,
    /// The same, and one for every other feature that changes.
    pub distance: f64,
    /// Features whose code differs.
    pub sparsity: f64,
}

impl<'b> Judge<'b> {
    /// A judge for one thread.
    pub fn new(model: &'b Model) -> Self {
        Self { model, evaluator: model.accepted().evaluator() }
    }

    /// Judges what somebody could become. Both are cells in schema order, as a table writes them; what must not
    /// change is compared as it is written, not as the bins see it.
    ///
    /// # Errors
    /// When a cell of the answer does not fit its column, a category that nobody had for instance.
    pub fn judge(&mut self, factual: &[&str], answer: &[&str]) -> Result<Judged, CellError> {
        let model = self.model;
        let own = model.discretizer().encode_row(factual)?.into_codes();
        let codes = model.discretizer().encode_row(answer)?.into_codes();
        let features = model.schema().features();
        let moves: Vec<Move> = features
            .iter()
            .enumerate()
            .map(|(place, feature)| {
                Move::new(feature, [factual[place], answer[place]], [own[place], codes[place]])
            })
            .collect();
        let actionable = features.iter().zip(&moves).enumerate().all(|(place, (feature, step))| {
            let fits = match feature.monotone {
                Monotone::None => true,
                Monotone::Increasing => *step != Move::Down,
                Monotone::Decreasing => *step != Move::Up,
            };
            let is_known = *step != Move::Unknown;
            *step == Move::Stays || fits && is_known && !model.constraints().is_immutable(place)
        });
        let rules = model.schema().rules();
        let causal = rules
            .iter()
            .all(|rule| moves[rule.if_increases] != Move::Up || moves[rule.must_increase] == Move::Up);
        let (mut similarity, mut distance) = (0.0, 0.0);
        for (place, _) in moves.iter().enumerate().filter(|(_, step)| **step != Move::Stays) {
            let moved = model.moved_by(place, factual[place], answer[place]);
            similarity += moved.unwrap_or(0.0);
            distance += moved.unwrap_or(1.0);
        }
        let score = model.probability(&codes);
        Ok(Judged {
            score,
            valid: score >= model.threshold(),
            actionable,
            causal,
            nll: -self.evaluator.log_prob(&codes),
            similarity,
            distance,
            sparsity: own.iter().zip(&codes).filter(|(own, code)| own != code).count() as f64,
        })
    }
}

/// Where a feature goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Stays,
    Up,
    Down,
    /// To or from what is not known, of which nobody can say whether it is above or below.
    Unknown,
}

impl Move {
    /// From the first to the second of two cells, and of their codes. Numbers are compared as numbers, categories as
    /// they are written, and the order of categories is that of their codes, which means nothing where the schema
    /// asks for none.
    fn new(feature: &Feature, [from, to]: [&str; 2], [own, code]: [Code; 2]) -> Self {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let order = match (feature.kind.is_numeric(), number(from), number(to)) {
            // Not `total_cmp`, by which -0 is below 0.
            (true, Some(from), Some(to)) => from.partial_cmp(&to).unwrap_or(Equal),
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
}

/// A measure's name and its value.
pub(crate) type Measure = (&'static str, fn(&Judged) -> f64);

/// Adds the measures of answers to a sheet: one a denied person, absent where there was none.
///
/// Validity is over all denied people; the others are over those who have an answer, right or wrong.
pub fn add(sheet: &mut Sheet, method: &str, judged: &[Option<Judged>]) {
    let of = judged.len();
    let found = || judged.iter().flatten();
    let valid = judged.iter().map(|judged| judged.is_some_and(|judged| judged.valid));
    sheet.mean(method, "validity", Mean::share(valid, of));
    sheet.mean(method, "actionability", Mean::share(found().map(|judged| judged.actionable), of));
    sheet.mean(method, "causality", Mean::share(found().map(|judged| judged.causal), of));
    let measures: [Measure; 5] = [
        ("nll", |judged| judged.nll),
        ("similarity", |judged| judged.similarity),
        ("distance", |judged| judged.distance),
        ("sparsity", |judged| judged.sparsity),
        ("score", |judged| judged.score),
    ];
    for (name, measure) in measures {
        sheet.mean(method, name, Mean::new(found().map(measure), of));
    }
}
