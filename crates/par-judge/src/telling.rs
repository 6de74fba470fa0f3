//! How well boosted trees tell answers from accepted people with the same immutable features.

use par_circuit::threads;
use par_fit::classifier::auc;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::boosting::{BoostedTrees, Examples};
use crate::matching::Matches;
use crate::space::{Row, Value};

/// Parts of the pairs; each is scored by trees that learned from the others.
const FOLDS: usize = 5;

/// Draws of matches and folds, over which the AUC is a mean.
pub(crate) const DRAWS: usize = 5;

/// Trees of leaves with at least twenty rows can say nothing of fewer pairs.
pub(crate) const FEWEST_PAIRS: usize = 50;

/// How answers and their matches are told apart.
pub(crate) struct Telling {
    /// For each answer, whether an accepted row has the same immutable features.
    pub(crate) exact: Vec<bool>,
    /// The mean AUC; `None` for fewer than [`FEWEST_PAIRS`] answers.
    pub(crate) auc: Option<f64>,
}

/// Tells answers from accepted rows, by so many draws of matches and folds.
pub(crate) fn tell(
    answers: &[&Row],
    accepted: &[&Row],
    immutable: &[usize],
    draws: usize,
    seed: u64,
) -> Telling {
    let matches = Matches::new(answers, accepted, immutable);
    let exact = matches.are_exact().collect();
    if answers.len() < FEWEST_PAIRS {
        return Telling { exact, auc: None };
    }
    let draw = |draw: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(draw as u64);
        let drawn = matches.draw(&mut rng);
        let folds = folds(&drawn, accepted.len(), &mut rng);
        (examples(answers, accepted, &drawn), folds)
    };
    let draws: Vec<(Examples, Vec<usize>)> = threads::map(0..draws, draw);
    let parts = draws.iter().flat_map(|draw| (0..FOLDS).map(move |fold| (draw, fold)));
    let aucs = threads::map(parts, |((examples, folds), fold)| held_out_auc(examples, folds, fold));
    let aucs: Option<Vec<f64>> = aucs.into_iter().collect();
    Telling { exact, auc: aucs.map(|aucs| aucs.iter().sum::<f64>() / aucs.len() as f64) }
}

/// The AUC of one fold's pairs by trees that learned from the others; `None` for a fold without pairs. Examples are the
/// answers and then their matches, in the same order.
fn held_out_auc(examples: &Examples, folds: &[usize], fold: usize) -> Option<f64> {
    let pairs = folds.len();
    let (held_out, training): (Vec<usize>, Vec<usize>) =
        (0..2 * pairs).partition(|example| folds[example % pairs] == fold);
    let trees = BoostedTrees::fit(examples, &training);
    let scores: Vec<f64> =
        held_out.iter().map(|&row| trees.log_odds(|column| examples.columns[column][row])).collect();
    let classes: Vec<bool> = held_out.iter().map(|&row| examples.classes[row]).collect();
    auc(&scores, &classes)
}

/// The fold of each pair. Pairs that share a match share a fold, since trees would know it again.
fn folds(drawn: &[usize], accepted: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut pairs_of: Vec<usize> = vec![0; accepted];
    drawn.iter().for_each(|&row| pairs_of[row] += 1);
    let mut rows: Vec<usize> = (0..accepted).filter(|&row| pairs_of[row] > 0).collect();
    rows.shuffle(rng);
    let mut pairs_in = [0_usize; FOLDS];
    let mut fold_of = vec![0; accepted];
    for row in rows {
        let smallest = (0..FOLDS).min_by_key(|&fold| pairs_in[fold]).expect("a fold");
        pairs_in[smallest] += pairs_of[row];
        fold_of[row] = smallest;
    }
    drawn.iter().map(|&row| fold_of[row]).collect()
}

/// The answers, then the match of each.
pub(crate) fn examples(answers: &[&Row], accepted: &[&Row], drawn: &[usize]) -> Examples {
    let rows: Vec<&Row> = answers.iter().copied().chain(drawn.iter().map(|&row| accepted[row])).collect();
    let features = rows.first().map_or(0, |row| row.values.len());
    // Trees see only the order of numbers, so that the unit of a column does not matter to them.
    let number = |value: &Value| match value {
        Value::Number(number) => *number,
        Value::Code(_) => f64::NEG_INFINITY,
    };
    let code = |value: &Value| match value {
        Value::Number(_) => -1.0,
        Value::Code(code) => f64::from(*code),
    };
    let column = |feature: usize, read: &dyn Fn(&Value) -> f64| -> Vec<f64> {
        rows.iter().map(|row| read(&row.values[feature])).collect()
    };
    Examples {
        columns: (0..features).flat_map(|at| [column(at, &number), column(at, &code)]).collect(),
        classes: (0..rows.len()).map(|row| row < answers.len()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    fn rows(numbers: impl Iterator<Item = f64>) -> Vec<Row> {
        numbers.map(|number| Row { values: vec![Value::Number(number)], codes: Vec::new() }).collect()
    }

    fn told(answers: &[Row], accepted: &[Row]) -> Option<f64> {
        let [answers, accepted] = [answers, accepted].map(|rows| rows.iter().collect::<Vec<_>>());
        tell(&answers, &accepted, &[], DRAWS, 1).auc
    }

    #[test]
    fn answers_like_people_are_not_told_apart_and_others_are() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut spread = |from: f64, to: f64| rows((0..400).map(|_| rng.random_range(from..to)));
        let people = spread(0.0, 1.0);
        let same = told(&spread(0.0, 1.0), &people).expect("enough pairs");
        assert!((0.42..0.58).contains(&same), "{same}");
        let narrow = spread(0.4, 0.6);
        let different = told(&narrow, &people).expect("enough pairs");
        assert!(different > 0.85, "{different}");
        assert_eq!(told(&narrow[..FEWEST_PAIRS - 1], &people), None);
    }

    #[test]
    fn pairs_that_share_a_match_share_a_fold() {
        let drawn = [3, 1, 3, 0, 4, 3, 5, 6, 1, 7];
        let folds = folds(&drawn, 9, &mut ChaCha8Rng::seed_from_u64(0));
        for (row, fold) in drawn.iter().zip(&folds) {
            assert!(drawn.iter().zip(&folds).all(|(other, of)| other != row || of == fold));
        }
        assert!((0..FOLDS).all(|fold| folds.contains(&fold)));
    }
}
