//! Other versions of the classifier, and the log-odds of rows that most or all of them must accept.

use par_circuit::{Ball, Code};
use par_data::Discretizer;

use super::inputs::Inputs;
use super::{
    Classifier, DeployedClassifier, ExternalClassifier, ExternalError, NeuralClassifier, Relaxation,
};
use crate::error::RowError;
use crate::scale::ScoreScale;

/// Another version of the classifier: trained on a sample of the rows, or supplied. A lasting way is accepted by it too.
#[derive(Clone, Debug)]
pub struct Version {
    /// Its name, for people.
    pub name: String,
    /// What decides.
    pub classifier: DeployedClassifier,
    /// The score from which it accepts.
    pub threshold: f64,
    /// What its score is.
    pub scale: ScoreScale,
}

/// Versions are asked for this share more log-odds than they need, since moving them by a constant rounds.
const ROUNDING: f64 = 1e-9;

impl Version {
    /// An ONNX file that accepts from `threshold` on, as one of so many `versions`; `deployed` is the scale of the deployed
    /// classifier.
    ///
    /// # Errors
    /// When the file cannot be read, the inputs fit neither it nor the schema, or the threshold is no score.
    pub fn external(
        name: String,
        file: Vec<u8>,
        inputs: Inputs,
        threshold: f64,
        discretizer: &Discretizer,
        deployed: ScoreScale,
        versions: usize,
    ) -> Result<Self, ExternalError> {
        let scale = deployed.of_external();
        if !scale.is_threshold(threshold) {
            return Err(ExternalError::Threshold { found: threshold, expected: scale.threshold_words() });
        }
        let external = ExternalClassifier::version(file, inputs, discretizer, scale, versions)?;
        Ok(Self { name, classifier: DeployedClassifier::External(Box::new(external)), threshold, scale })
    }

    /// The network of a fit that was trained on other draws of the rows, counted from 1.
    pub fn bootstrap(number: usize, network: NeuralClassifier, threshold: f64, scale: ScoreScale) -> Self {
        let classifier = DeployedClassifier::Trained(network);
        Self { name: format!("bootstrap {number}"), classifier, threshold, scale }
    }

    /// The log-odds from which it accepts a row.
    fn needed(&self) -> f64 {
        let offered_from = self.classifier.offered_from(self.threshold, self.scale);
        let log_odds = self.scale.log_odds(offered_from);
        log_odds + ROUNDING * (1.0 + log_odds.abs())
    }

    /// How far the log-odds of a row of cells, which have these codes, are above those from which it surely accepts.
    ///
    /// # Errors
    /// When a cell cannot be turned into an input, or the row has no score.
    pub fn excess(&self, cells: &[&str], codes: &[Code]) -> Result<f64, RowError> {
        Ok(self.classifier.log_odds(cells, codes)? - self.needed())
    }
}

/// How many of `versions` may deny if a share of them must accept.
pub fn denials(versions: usize, share: f64) -> usize {
    // A share of 0.9 of ten versions is nine, although 0.9 times ten is rounded.
    let accepting = (share * versions as f64 - 1e-9).ceil().max(1.0) as usize;
    versions - accepting.min(versions)
}

/// The deployed classifier and its versions as one: the log-odds by which a row is accepted by the deployed one and by all
/// versions but some.
///
/// The log-odds of a version are moved by a constant, so that it accepts from the threshold of the deployed one on.
pub struct RobustClassifier<'a> {
    deployed: Box<dyn Classifier + 'a>,
    /// Each with the constant that its log-odds are moved by.
    versions: Vec<(Box<dyn Classifier + 'a>, f64)>,
    /// How many versions may deny.
    denials: usize,
}

/// Additive bounds are asked of so many of the classifiers, those that are hardest to satisfy at the centre of the ball.
const RELAXED: usize = 2;

impl<'a> RobustClassifier<'a> {
    /// `deployed`, which accepts from log-odds of `needed` on, and versions of it, all over the same codes, of which at
    /// least a share must accept.
    pub fn new(
        deployed: Box<dyn Classifier + 'a>,
        needed: f64,
        versions: Vec<(&Version, Box<dyn Classifier + 'a>)>,
        share: f64,
    ) -> Self {
        let denials = denials(versions.len(), share);
        let moved = |(version, classifier): (&Version, _)| (classifier, needed - version.needed());
        Self { deployed, versions: versions.into_iter().map(moved).collect(), denials }
    }

    /// The lowest of the deployed classifier's log-odds and those of the versions, without the lowest that may deny.
    fn combined(&self, deployed: f64, versions: &mut [f64]) -> f64 {
        match self.denials < versions.len() {
            true => {
                let (_, counted, _) = versions.select_nth_unstable_by(self.denials, f64::total_cmp);
                deployed.min(*counted)
            }
            false => deployed,
        }
    }

    fn combine(&self, deployed: f64, of: impl Fn(&dyn Classifier) -> f64) -> f64 {
        let mut versions: Vec<f64> =
            self.versions.iter().map(|(version, moved)| of(&**version) + moved).collect();
        self.combined(deployed, &mut versions)
    }

    /// An additive bound on the log-odds that count of the versions: if `denials` of them may deny, one of any
    /// `denials` + 1 does not, so the highest of their bounds is one.
    fn version_relaxation(&self, ball: &Ball) -> Option<Relaxation> {
        let mut at_centre: Vec<(usize, f64)> = (self.versions.iter().enumerate())
            .map(|(place, (version, moved))| (place, version.log_odds(ball.centre()) + moved))
            .collect();
        at_centre.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        let of = |&(place, _): &(usize, f64)| {
            let (version, moved) = &self.versions[place];
            let own = version.relaxation(ball)?;
            Some(Relaxation { most: own.most + moved, centre: own.centre + moved, gains: own.gains })
        };
        let sets = at_centre.windows(self.denials + 1).take(RELAXED);
        let bounds = sets.filter_map(|set| set.iter().map(of).reduce(|a, b| Some(highest(a?, &b?)))?);
        bounds.reduce(tighter)
    }
}

/// A bound that is at least both.
fn highest(mut one: Relaxation, other: &Relaxation) -> Relaxation {
    one.most = one.most.max(other.most);
    one.centre = one.centre.max(other.centre);
    one.gains.iter_mut().zip(&other.gains).for_each(|(own, its)| *own = own.max(*its));
    one
}

/// The one of two bounds that is lower over the whole ball.
fn tighter(one: Relaxation, other: Relaxation) -> Relaxation {
    if other.most < one.most { other } else { one }
}

impl Classifier for RobustClassifier<'_> {
    fn cardinalities(&self) -> &[usize] {
        self.deployed.cardinalities()
    }

    fn log_odds(&self, row: &[Code]) -> f64 {
        self.combine(self.deployed.log_odds(row), |classifier| classifier.log_odds(row))
    }

    fn neighbours(&self, row: &[Code], log_odds: &mut [f64]) {
        self.deployed.neighbours(row, log_odds);
        let codes = log_odds.len();
        let mut versions = vec![0.0; self.versions.len() * codes];
        for ((version, moved), own) in self.versions.iter().zip(versions.chunks_exact_mut(codes.max(1))) {
            version.neighbours(row, own);
            own.iter_mut().for_each(|own| *own += moved);
        }
        let mut of_code = vec![0.0; self.versions.len()];
        for (code, place) in log_odds.iter_mut().enumerate() {
            let own = versions.iter().skip(code).step_by(codes);
            of_code.iter_mut().zip(own).for_each(|(place, own)| *place = *own);
            *place = self.combined(*place, &mut of_code);
        }
    }

    /// The gradient of the lowest log-odds.
    fn log_odds_gradient(&self, soft: &[f32], gradient: &mut [f32]) -> f64 {
        let mut lowest = self.deployed.log_odds_gradient(soft, gradient);
        let mut own = vec![0.0; gradient.len()];
        for (version, moved) in &self.versions {
            let log_odds = version.log_odds_gradient(soft, &mut own) + moved;
            if log_odds < lowest {
                lowest = log_odds;
                gradient.copy_from_slice(&own);
            }
        }
        lowest
    }

    fn log_odds_bounds(&self, ball: &Ball) -> (f64, f64) {
        let deployed = self.deployed.log_odds_bounds(ball);
        let of = |(version, moved): &(Box<dyn Classifier + '_>, f64)| {
            let (lower, upper) = version.log_odds_bounds(ball);
            (lower + moved, upper + moved)
        };
        let (mut lower, mut upper): (Vec<f64>, Vec<f64>) = self.versions.iter().map(of).unzip();
        (self.combined(deployed.0, &mut lower), self.combined(deployed.1, &mut upper))
    }

    fn relaxation(&self, ball: &Ball) -> Option<Relaxation> {
        let deployed = self.deployed.relaxation(ball);
        let versions = if self.denials < self.versions.len() { self.version_relaxation(ball) } else { None };
        match (deployed, versions) {
            (Some(deployed), Some(versions)) => Some(tighter(deployed, versions)),
            (deployed, versions) => deployed.or(versions),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::neural::tests::random;
    use super::*;

    /// A classifier with versions of other weights and thresholds, and a ball of rows.
    #[derive(Clone, Debug)]
    struct Versions {
        deployed: NeuralClassifier,
        versions: Vec<Version>,
        share: f64,
        ball: Ball,
    }

    const NEEDED: f64 = 0.3;

    impl Versions {
        fn classifier(&self) -> RobustClassifier<'_> {
            let of = |version: &'_ Version| {
                let DeployedClassifier::Trained(network) = &version.classifier else { panic!("a network") };
                Box::new(network.clone()) as Box<dyn Classifier>
            };
            let versions = self.versions.iter().map(|version| (version, of(version))).collect();
            RobustClassifier::new(Box::new(&self.deployed), NEEDED, versions, self.share)
        }

        fn rows(&self) -> Vec<Vec<Code>> {
            let mut rows = vec![Vec::new()];
            for &count in self.ball.cardinalities() {
                let longer = |row: &Vec<Code>| {
                    (0..count as Code).map(|code| [&row[..], &[code]].concat()).collect::<Vec<_>>()
                };
                rows = rows.iter().flat_map(longer).collect();
            }
            rows
        }

        /// A row reaches the target if the deployed classifier accepts it and enough versions do, by their own thresholds;
        /// bounds and neighbours agree with that.
        fn check(&self) {
            let classifier = self.classifier();
            let (lower, upper) = classifier.log_odds_bounds(&self.ball);
            let relaxation = classifier.relaxation(&self.ball).expect("networks have an additive bound");
            for row in self.rows() {
                let log_odds = classifier.log_odds(&row);
                let accepting = self
                    .versions
                    .iter()
                    .filter(|version| version.excess(&[], &row).expect("codes") >= 0.0)
                    .count();
                let enough = accepting as f64 >= self.share * self.versions.len() as f64 - 1e-9;
                let expected = self.deployed.log_odds(&row) >= NEEDED && enough;
                assert_eq!(log_odds >= NEEDED, expected, "{row:?}");
                let mut neighbours = vec![0.0; self.ball.cardinalities().iter().sum()];
                classifier.neighbours(&row, &mut neighbours);
                let own = super::super::neural::offsets(self.ball.cardinalities())
                    .iter()
                    .zip(&row)
                    .map(|(start, &code)| neighbours[start + usize::from(code)])
                    .collect::<Vec<_>>();
                assert!(own.iter().all(|own| (own - log_odds).abs() < 1e-4), "{own:?}, not {log_odds}");
                if self.ball.contains(&row) {
                    assert!(lower <= log_odds && log_odds <= upper, "{log_odds} is not in {lower}, {upper}");
                    assert!(log_odds <= relaxation.most, "{log_odds} above {}", relaxation.most);
                    let mut gains = relaxation.gains.iter();
                    let mut bound = relaxation.centre;
                    for (variable, &code) in row.iter().enumerate() {
                        for (alternative, gain) in self.ball.alternatives(variable).iter().zip(gains.by_ref())
                        {
                            bound += if *alternative == code { *gain } else { 0.0 };
                        }
                    }
                    assert!(log_odds <= bound + 1e-6, "{log_odds} above {bound}");
                }
            }
        }
    }

    fn versions() -> impl Strategy<Value = Versions> {
        let counts = prop::collection::vec(1_usize..4, 1..5);
        let share = prop::sample::select(vec![0.3, 0.5, 0.75, 1.0]);
        (counts, any::<u64>(), 1_usize..5, share, 0_usize..4).prop_map(
            |(counts, seed, many, share, changes)| {
                let version = |place: usize| Version {
                    name: place.to_string(),
                    classifier: DeployedClassifier::Trained(random(
                        &counts,
                        &[5, 3],
                        seed ^ (place as u64 + 1),
                    )),
                    threshold: 0.4 + 0.05 * place as f64,
                    scale: ScoreScale::Probability,
                };
                let mut ball = Ball::new(&counts, vec![0; counts.len()], changes);
                for (variable, &count) in counts.iter().enumerate() {
                    ball.offer(variable, &(0..count as Code).collect::<Vec<_>>());
                }
                let deployed = random(&counts, &[5, 3], seed);
                Versions { deployed, versions: (0..many).map(version).collect(), share, ball }
            },
        )
    }

    proptest! {
        #[test]
        fn a_row_is_accepted_if_enough_versions_accept_it(case in versions()) {
            case.check();
        }
    }

    #[test]
    fn a_share_is_rounded_up_to_whole_versions() {
        let accepting = |versions, share| versions - denials(versions, share);
        assert_eq!([0.01, 0.5, 0.51, 0.9, 1.0].map(|share| accepting(10, share)), [1, 5, 6, 9, 10]);
        assert_eq!(accepting(8, 0.9), 8);
        assert_eq!(denials(0, 1.0), 0);
    }
}
