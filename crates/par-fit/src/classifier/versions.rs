//! Other versions of a classifier, each trained on other draws of the rows.

use par_model::classifier::NeuralClassifier;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Trains `count` versions of a classifier, each on as many rows as there are, drawn with replacement, and from other
/// first weights. `train` trains one on rows by position, all of them for `None`, with a seed; `accepted` has the class of
/// each row. Calls `progress` with the number of versions so far. The same seed gives the same versions, on any number of
/// threads.
///
/// # Errors
/// When one cannot be trained.
pub fn train_versions<E: Send>(
    accepted: &[bool],
    count: usize,
    seed: u64,
    train: impl Fn(Option<&[usize]>, u64) -> Result<NeuralClassifier, E> + Sync,
    progress: &mut dyn FnMut(usize),
) -> Result<Vec<NeuralClassifier>, E> {
    let train = |version: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(version as u64);
        let rows = accepted.len();
        let drawn: Vec<usize> = (0..rows).map(|_| rng.random_range(0..rows)).collect();
        let has = |class: bool| drawn.iter().any(|&row| accepted[row] == class);
        // A small table may be drawn without one of its classes.
        let has_both = has(true) && has(false);
        train(has_both.then_some(&drawn), rng.random())
    };
    let mut versions = Vec::with_capacity(count);
    let all: Vec<usize> = (1..=count).collect();
    // As many at once as there are threads, so that progress is told in between.
    for some in all.chunks(rayon::current_num_threads().max(1)) {
        let trained: Vec<Result<_, E>> = some.par_iter().map(|&version| train(version)).collect();
        for version in trained {
            versions.push(version?);
            progress(versions.len());
        }
    }
    Ok(versions)
}

#[cfg(test)]
mod tests {
    use par_circuit::{Dataset, Stop};
    use par_model::classifier::ClassifierConfig;

    use super::super::{ClassifierError, train_classifier};
    use super::*;

    #[test]
    fn versions_differ_from_each_other_and_not_from_those_of_the_same_seed() {
        let rows = Dataset::new(vec![3, 2], (0..200_u16).flat_map(|row| [row % 3, row / 7 % 2]).collect())
            .expect("rows");
        let accepted: Vec<bool> = (0..200).map(|row| row % 3 == 0 || row % 11 == 0).collect();
        let config = ClassifierConfig { epochs: 3, ..ClassifierConfig::default() };
        let trained = |seed, accepted: &[bool]| {
            let train = |drawn: Option<&[usize]>, seed| {
                let all: Vec<usize> = (0..accepted.len()).collect();
                let drawn = drawn.unwrap_or(&all);
                let labels: Vec<bool> = drawn.iter().map(|&row| accepted[row]).collect();
                let trained = train_classifier(
                    &rows.select(drawn),
                    &labels,
                    &config,
                    seed,
                    &mut |_, _| {},
                    Stop::never(),
                );
                trained.map(|(network, _)| network)
            };
            let mut told = Vec::new();
            let versions =
                train_versions::<ClassifierError>(accepted, 3, seed, train, &mut |count| told.push(count))?;
            assert_eq!(told, [1, 2, 3]);
            Ok::<_, ClassifierError>(versions)
        };
        let versions = trained(1, &accepted).expect("versions");
        assert_eq!(versions, trained(1, &accepted).expect("versions"));
        assert!(versions[0] != versions[1] && versions[1] != versions[2]);
        assert_ne!(versions, trained(2, &accepted).expect("versions"));
        assert_eq!(
            trained(1, &[true; 200]).expect_err("one class"),
            ClassifierError::OneClass { accepted: true }
        );
    }
}
