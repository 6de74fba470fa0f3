//! The judge: held-out accepted rows, and what they say of answers.

use par_circuit::learn::{LearnConfig, Learner};
use par_circuit::{Circuit, Dataset};
use par_data::schema::Mutability;
use par_model::{Mean, Model};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::circuits;
use crate::error::JudgeError;
use crate::neighbours::{Neighbourhood, Surroundings};
use crate::space::{Row, Space};
use crate::telling::{DRAWS, Telling, tell};

/// Fewer held-out rows than this do not judge.
pub const FEWEST_ROWS: usize = 50;

/// Of more held-out rows than this, so many are drawn, since each is compared with each other.
pub const MOST_ROWS: usize = 10_000;

/// Of more answers than this, so many are drawn for the AUC.
pub const MOST_PAIRS: usize = 2_000;

/// Held-out accepted people, and what tells answers from them.
pub struct Judge<'m> {
    space: Space<'m>,
    /// Which features nobody acts on. Consequences of other features are not among them.
    immutable: Vec<usize>,
    /// In random order.
    accepted: Vec<Row>,
    neighbourhood: Neighbourhood,
    codes: Dataset,
    learning: LearnConfig,
    circuit: Circuit,
    seed: u64,
}

/// What held-out accepted people say of answers. Means are over the answers that can be read, of all people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The mean distance to the five nearest held-out accepted rows: numbers in median absolute deviations, plus one for
    /// every other feature that differs.
    pub distance: Mean,
    /// The share whose local outlier factor among 20 neighbours is above 1.5.
    pub outliers: Mean,
    /// How well boosted trees tell answers from accepted people with the same immutable features, by the area under the
    /// ROC curve: 0.5 if not at all, 1 if always. `None` for fewer than 50 answers.
    pub auc: Option<f64>,
    /// The share whose immutable features an accepted row has too; others are compared with the nearest.
    pub matched: Mean,
    /// −log p under a circuit learned from the held-out accepted rows, by [`Judge::learner`].
    pub nll: Mean,
}

impl<'m> Judge<'m> {
    /// A judge for a model, by accepted rows that it did not learn from; each row is its cells, in schema order.
    ///
    /// # Errors
    /// When there are fewer than [`FEWEST_ROWS`] rows, or a cell does not fit its column.
    ///
    /// # Panics
    /// When a row has not as many cells as the model has features.
    pub fn new(model: &'m Model, accepted: &[Vec<&str>], seed: u64) -> Result<Self, JudgeError> {
        if accepted.len() < FEWEST_ROWS {
            return Err(JudgeError::TooFewRows { found: accepted.len(), expected: FEWEST_ROWS });
        }
        let places = drawn(accepted.len(), MOST_ROWS, seed);
        let cells: Vec<&Vec<&str>> = places.iter().map(|&place| &accepted[place]).collect();
        let at = |row: usize, source| JudgeError::Row { place: places[row], source };
        let space = Space::new(model.discretizer(), &cells).map_err(|(row, error)| at(row, error))?;
        let read = |(row, cells): (usize, &&Vec<&str>)| space.row(cells).map_err(|error| at(row, error));
        let accepted: Vec<Row> = cells.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        let codes = accepted.iter().flat_map(|row| row.codes.iter().copied()).collect();
        let codes = Dataset::new(model.discretizer().cardinalities(), codes).expect("codes of the model");
        let learning = circuits::learning(model.config().circuits.learner, seed);
        let features = model.schema().features().iter().enumerate();
        let is_immutable = |place| model.constraints().is_immutable(place);
        Ok(Self {
            immutable: features
                .filter(|(place, feature)| is_immutable(*place) && feature.change != Mutability::Follows)
                .map(|(place, _)| place)
                .collect(),
            neighbourhood: Neighbourhood::new(&accepted),
            circuit: circuits::circuit(&codes, &learning)?,
            space,
            accepted,
            codes,
            learning,
            seed,
        })
    }

    /// How many held-out rows judge.
    pub fn rows(&self) -> usize {
        self.accepted.len()
    }

    /// How the circuit of the judge was learned: by LearnSPN, or as a hidden Chow-Liu tree if the model's circuits are
    /// LearnSPN's alone.
    pub fn learner(&self) -> Learner {
        self.learning.learner
    }

    /// Judges the answers to some people, each its cells in schema order. `None` and an answer with a cell that does not
    /// fit its column count in no measure.
    ///
    /// # Panics
    /// When an answer has not as many cells as the model has features.
    pub fn judge(&self, answers: &[Option<Vec<&str>>]) -> Judgement {
        let rows: Vec<Row> =
            answers.iter().flatten().filter_map(|cells| self.space.row(cells).ok()).collect();
        let rows: Vec<&Row> = rows.iter().collect();
        let codes = rows.iter().flat_map(|row| row.codes.iter().copied()).collect();
        let codes = Dataset::new(self.codes.cardinalities().to_vec(), codes).expect("codes of the model");
        let nll = self.circuit.log_probs(&codes).into_iter().map(|log_prob| -log_prob).collect();
        let accepted: Vec<&Row> = self.accepted.iter().collect();
        let told: Vec<&Row> =
            drawn(rows.len(), MOST_PAIRS, self.seed).into_iter().map(|place| rows[place]).collect();
        let telling = tell(&told, &accepted, &self.immutable, DRAWS, self.seed);
        judgement(&self.neighbourhood.of(&rows), telling, nll, answers.len())
    }

    /// The same measures of the held-out accepted people themselves, which no answer can be expected to better: each
    /// among the others, one half of them told from the other, likelihoods by circuits that did not see them.
    ///
    /// # Errors
    /// When a circuit cannot be learned from a part of the rows.
    pub fn reference(&self) -> Result<Judgement, JudgeError> {
        let nll = circuits::cross_fitted(&self.codes, &self.learning)?;
        let splits: Vec<Telling> = (1..=DRAWS as u64).map(|split| self.tell_halves(split)).collect();
        let auc = splits.iter().map(|telling| telling.auc).sum::<Option<f64>>();
        let exact = splits.into_iter().next().map_or(Vec::new(), |telling| telling.exact);
        let telling = Telling { exact, auc: auc.map(|sum| sum / DRAWS as f64) };
        Ok(judgement(&self.neighbourhood.own(), telling, nll, self.rows()))
    }

    /// Tells one half of the held-out people from the other.
    fn tell_halves(&self, split: u64) -> Telling {
        let order = drawn(self.rows(), self.rows(), self.seed.wrapping_add(split));
        let rows: Vec<&Row> = order.into_iter().map(|place| &self.accepted[place]).collect();
        let (told, accepted) = rows.split_at(rows.len() / 2);
        tell(&told[..told.len().min(MOST_PAIRS)], accepted, &self.immutable, 1, self.seed)
    }
}

fn judgement(surroundings: &[Surroundings], telling: Telling, nll: Vec<f64>, of: usize) -> Judgement {
    Judgement {
        distance: Mean::new(surroundings.iter().map(|row| row.distance), of),
        outliers: Mean::share(surroundings.iter().map(|row| row.is_outlier()), of),
        auc: telling.auc,
        matched: Mean::share(telling.exact.into_iter(), of),
        nll: Mean::new(nll.into_iter(), of),
    }
}

/// At most `most` places of so many, in random order.
fn drawn(places: usize, most: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    order.truncate(most);
    order
}
