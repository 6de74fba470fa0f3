//! A classifier of more than two classes: one classifier for each part, and how their scores become log-odds.

use par_circuit::{Ball, Code};
use par_onnx::Head;

use super::{Classifier, NeuralClassifier};

/// Several classifiers over the same codes, composed by a function that rises, or falls, with each of their scores.
pub(super) struct ComposedClassifier<'a> {
    /// At least one.
    parts: Vec<Box<dyn Classifier + 'a>>,
    head: Head,
    /// Gives gradients if the parts have none.
    surrogate: Option<&'a NeuralClassifier>,
}

impl<'a> ComposedClassifier<'a> {
    pub(super) fn new(
        parts: Vec<Box<dyn Classifier + 'a>>,
        head: Head,
        surrogate: Option<&'a NeuralClassifier>,
    ) -> Self {
        Self { parts, head, surrogate }
    }
}

impl Classifier for ComposedClassifier<'_> {
    fn cardinalities(&self) -> &[usize] {
        self.parts[0].cardinalities()
    }

    fn log_odds(&self, row: &[Code]) -> f64 {
        self.head.log_odds(&self.parts.iter().map(|part| part.log_odds(row)).collect::<Vec<f64>>())
    }

    fn neighbours(&self, row: &[Code], log_odds: &mut [f64]) {
        let mut parts = vec![0.0; self.parts.len() * log_odds.len()];
        let own = parts.chunks_exact_mut(log_odds.len().max(1));
        self.parts.iter().zip(own).for_each(|(part, own)| part.neighbours(row, own));
        let mut scores = vec![0.0; self.parts.len()];
        for (place, log_odds) in log_odds.iter_mut().enumerate() {
            let own = parts.chunks_exact(parts.len() / scores.len()).map(|part| part[place]);
            scores.iter_mut().zip(own).for_each(|(score, own)| *score = own);
            *log_odds = self.head.log_odds(&scores);
        }
    }

    fn log_odds_gradient(&self, soft: &[f32], gradient: &mut [f32]) -> f64 {
        if let Some(surrogate) = self.surrogate {
            return surrogate.log_odds_gradient(soft, gradient);
        }
        let mut gradients = vec![0.0; self.parts.len() * soft.len()];
        let own = gradients.chunks_exact_mut(soft.len());
        let scores: Vec<f64> =
            self.parts.iter().zip(own).map(|(part, own)| part.log_odds_gradient(soft, own)).collect();
        gradient.fill(0.0);
        for (slope, own) in self.head.slopes(&scores).into_iter().zip(gradients.chunks_exact(soft.len())) {
            gradient.iter_mut().zip(own).for_each(|(sum, own)| *sum += slope as f32 * own);
        }
        self.head.log_odds(&scores)
    }

    /// From bounds of each part.
    fn log_odds_bounds(&self, ball: &Ball) -> (f64, f64) {
        self.head.bounds(&self.parts.iter().map(|part| part.log_odds_bounds(ball)).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use par_circuit::OPEN;

    use super::super::neural::tests::random;
    use super::super::one_by_one;
    use super::*;

    #[test]
    fn neighbours_of_every_head_score_as_they_do_one_by_one() {
        let heads = [
            Head::Softmax { others: 2 },
            Head::Softmax { others: 1 },
            Head::Largest { others: 2 },
            Head::OneVsRest { accepted: 1 },
        ];
        for (seed, head) in (0_u64..).zip(heads) {
            let part =
                |part: u64| Box::new(random(&[3, 2, 4], &[5], 10 * seed + part)) as Box<dyn Classifier>;
            let classifier = ComposedClassifier::new((0..4).map(part).collect(), head, None);
            for row in [[0, 1, 3], [2, OPEN, 0]] {
                let (mut found, mut expected) = ([0.0; 9], [0.0; 9]);
                classifier.neighbours(&row, &mut found);
                one_by_one(&classifier, &row, &mut expected);
                let is_near = |(found, expected): (&f64, &f64)| (found - expected).abs() < 1e-5;
                assert!(found.iter().zip(&expected).all(is_near), "{head:?}: {found:?}, not {expected:?}");
            }
        }
    }
}
