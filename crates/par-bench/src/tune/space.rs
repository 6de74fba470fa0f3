//! The tuned settings, and their ranges around the start.
//!
//! | setting                                                    | drawn from                          |
//! |------------------------------------------------------------|-------------------------------------|
//! | `pool.size`, `pool.neighbours`                             | half the start's, the same, double  |
//! | `generator.hidden`, `encoder`, `embedding`                 | half the start's, the same, double  |
//! | `generator.examples`, `steps`, `batch`                     | half the start's, the same, double  |
//! | `generator.learning_rate`                                  | a fifth of the start's to five times |
//! | `generator.loss.budget`                                    | half the start's to double          |
//! | `generator.loss.alpha`                                     | a ninth of the start's odds to nine times |
//! | all weights in `generator.loss`                            | a tenth of the start's to ten times |
//!
//! The start determines the cost of a model and the terms that are off: zero stays zero, so the paper's preset is never
//! taught. Rates and weights are log-uniform.
//!
//! Bins, classifier, circuits, immutable features, price and budget define the task and stay. So does
//! `generator.locked`: locks are not measured here, so less of it would always seem better.

use std::slice;

use par_model::Config;
use rand::{Rng, RngExt};

/// A tuned setting.
pub(super) struct TunedSetting {
    name: &'static str,
    range: SettingRange,
}

/// The range of a setting around the start's value.
enum SettingRange {
    /// Half, the same or double, at most `most`.
    Count { field: fn(&mut Config) -> &mut [usize], most: usize },
    /// Up to `factor` times as much or as little, at most `most`.
    Ratio { field: fn(&mut Config) -> &mut f64, factor: f64, most: f64 },
    /// A share of one, its odds up to `factor` times as high or as low.
    Odds { field: fn(&mut Config) -> &mut f64, factor: f64 },
}

/// The largest weight that a configuration may have.
const LARGEST: f64 = 1e6;

const fn count(name: &'static str, most: usize, field: fn(&mut Config) -> &mut [usize]) -> TunedSetting {
    TunedSetting { name, range: SettingRange::Count { field, most } }
}

const fn ratio(
    name: &'static str,
    factor: f64,
    most: f64,
    field: fn(&mut Config) -> &mut f64,
) -> TunedSetting {
    TunedSetting { name, range: SettingRange::Ratio { field, factor, most } }
}

const fn weight(name: &'static str, field: fn(&mut Config) -> &mut f64) -> TunedSetting {
    ratio(name, 10.0, LARGEST, field)
}

/// All tuned settings.
pub(super) const SETTINGS: [TunedSetting; 18] = [
    count("pool.size", 1_000_000, |config| slice::from_mut(&mut config.pool.size)),
    count("pool.neighbours", 1000, |config| slice::from_mut(&mut config.pool.neighbours)),
    count("generator.hidden", 4096, |config| &mut config.generator.hidden),
    count("generator.encoder", 4096, |config| slice::from_mut(&mut config.generator.encoder)),
    count("generator.embedding", 4096, |config| slice::from_mut(&mut config.generator.embedding)),
    count("generator.examples", 1_000_000, |config| slice::from_mut(&mut config.generator.examples)),
    count("generator.steps", 1_000_000, |config| slice::from_mut(&mut config.generator.steps)),
    count("generator.batch", 100_000, |config| slice::from_mut(&mut config.generator.batch)),
    ratio("generator.learning_rate", 5.0, 1.0, |config| &mut config.generator.learning_rate),
    weight("generator.loss.validity", |config| &mut config.generator.loss.validity),
    TunedSetting {
        name: "generator.loss.alpha",
        range: SettingRange::Odds { field: |config| &mut config.generator.loss.alpha, factor: 9.0 },
    },
    weight("generator.loss.plausibility_proximity", |config| {
        &mut config.generator.loss.plausibility_proximity
    }),
    weight("generator.loss.accepted", |config| &mut config.generator.loss.accepted),
    weight("generator.loss.denied", |config| &mut config.generator.loss.denied),
    weight("generator.loss.sparsity", |config| &mut config.generator.loss.sparsity),
    weight("generator.loss.entropy", |config| &mut config.generator.loss.entropy),
    ratio("generator.loss.budget", 2.0, LARGEST, |config| &mut config.generator.loss.budget),
    weight("generator.loss.teaching", |config| &mut config.generator.loss.teaching),
];

impl TunedSetting {
    /// Its name in a configuration.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Its value in a configuration, as text.
    pub(super) fn text(&self, config: &Config) -> String {
        let config = &mut config.clone();
        match &self.range {
            SettingRange::Count { field, .. } => {
                field(config).iter().map(ToString::to_string).collect::<Vec<_>>().join("-")
            }
            SettingRange::Ratio { field, .. } | SettingRange::Odds { field, .. } => field(config).to_string(),
        }
    }

    /// Sets it to position `at` in its range: the low end is −1, the start 0, the high end 1.
    fn set(&self, config: &mut Config, at: f64) {
        match &self.range {
            // Rounding must not change the start.
            _ if at == 0.0 => {}
            SettingRange::Count { field, most } => {
                for count in field(config).iter_mut().filter(|count| **count > 0) {
                    let scaled = (*count as f64 * at.exp2()).round() as usize;
                    *count = scaled.clamp(1, (*most).max(*count));
                }
            }
            SettingRange::Ratio { field, factor, most } => {
                let value = field(config);
                let scaled = rounded(*value * factor.powf(at));
                *value = if scaled.is_finite() { scaled.min(*most) } else { *value };
            }
            SettingRange::Odds { field, factor } => {
                let value = field(config);
                // Zero and one have no finite odds, and stay: terms that are off stay off.
                if *value > 0.0 && *value < 1.0 {
                    let odds = *value / (1.0 - *value) * factor.powf(at);
                    *value = rounded(odds / (1.0 + odds)).clamp(0.0, 1.0);
                }
            }
        }
    }

    fn draw(&self, rng: &mut impl Rng) -> f64 {
        match self.range {
            SettingRange::Count { .. } => f64::from(rng.random_range(-1_i8..=1)),
            SettingRange::Ratio { .. } | SettingRange::Odds { .. } => rng.random_range(-1.0..1.0),
        }
    }

    /// A position near another: the next count, or a few tenths of half the range away.
    fn step(&self, at: f64, rng: &mut impl Rng) -> f64 {
        let step = match self.range {
            SettingRange::Count { .. } if rng.random_bool(0.5) => 1.0,
            SettingRange::Count { .. } => -1.0,
            SettingRange::Ratio { .. } | SettingRange::Odds { .. } => {
                rng.random::<f64>() - rng.random::<f64>()
            }
        };
        (at + step).clamp(-1.0, 1.0)
    }
}

/// Rounded to three significant digits, for readability; finer differences do not matter.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// A configuration as positions of [`SETTINGS`] in their ranges. The start is zero everywhere.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SearchPoint(Vec<f64>);

impl SearchPoint {
    /// The start.
    pub(super) fn start() -> Self {
        Self(vec![0.0; SETTINGS.len()])
    }

    /// A uniform draw.
    pub(super) fn draw(rng: &mut impl Rng) -> Self {
        Self(SETTINGS.iter().map(|setting| setting.draw(rng)).collect())
    }

    /// A nearby point: about a third of the settings move, at least one.
    pub(super) fn near(&self, rng: &mut impl Rng) -> Self {
        let mut near = self.clone();
        let always = rng.random_range(0..SETTINGS.len());
        for (place, (setting, at)) in SETTINGS.iter().zip(&mut near.0).enumerate() {
            if rng.random_bool(1.0 / 3.0) || place == always {
                *at = setting.step(*at, rng);
            }
        }
        near
    }

    /// The configuration of this point.
    pub(super) fn config(&self, start: &Config) -> Config {
        let mut config = start.clone();
        SETTINGS.iter().zip(&self.0).for_each(|(setting, at)| setting.set(&mut config, *at));
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Random points and points near them.
    fn points() -> impl Iterator<Item = SearchPoint> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        (0..200).flat_map(move |_| {
            let drawn = SearchPoint::draw(&mut rng);
            let near = drawn.near(&mut rng);
            [near.near(&mut rng), near, drawn]
        })
    }

    #[test]
    fn every_point_is_within_the_ranges_for_any_start() {
        let mut large = Config::default();
        large.pool.size = 1_000_000;
        large.pool.neighbours = 1000;
        large.generator.hidden = [4096, 1];
        large.generator.batch = 100_000;
        large.generator.learning_rate = 1.0;
        large.generator.loss.validity = LARGEST;
        large.generator.loss.sparsity = f64::MIN_POSITIVE;
        large.generator.loss.alpha = 0.999_999_999_999;
        let mut small = Config::default();
        small.pool.neighbours = 0;
        small.generator.steps = 0;
        small.generator.encoder = 1;
        small.generator.learning_rate = 1e-300;
        small.generator.loss.alpha = 1e-300;
        for start in [Config::default(), Config::paper(), large, small] {
            for point in points() {
                let config = point.config(&start);
                assert!(config.check().is_ok(), "{config:?}");
            }
        }
    }

    #[test]
    fn zero_settings_and_untuned_settings_stay() {
        let mut start = Config::paper();
        start.pool.neighbours = 0;
        start.generator.loss.alpha = 1.0;
        for point in points() {
            let config = point.config(&start);
            assert_eq!(config.generator.loss.teaching, 0.0);
            assert_eq!(config.generator.loss.alpha, 1.0);
            assert_eq!(config.pool.neighbours, 0);
            assert_eq!(
                (config.seed, &config.answers, &config.bins, &config.classifier, &config.circuits),
                (start.seed, &start.answers, &start.bins, &start.classifier, &start.circuits)
            );
            assert_eq!(config.generator.locked, start.generator.locked);
        }
    }

    #[test]
    fn positions_map_to_the_start_and_the_ends() {
        let mut start = Config::default();
        start.generator.loss.validity = 0.123_456_789;
        assert_eq!(SearchPoint::start().config(&start), start);
        let ends = |at: f64| SearchPoint(vec![at; SETTINGS.len()]).config(&Config::default());
        let texts = |config: &Config| SETTINGS.map(|setting| setting.text(config));
        let (low, high) = (texts(&ends(-1.0)), texts(&ends(1.0)));
        assert_eq!((low[2].as_str(), high[2].as_str()), ("64-64", "256-256"));
        assert_eq!((low[8].as_str(), high[8].as_str()), ("0.0004", "0.01"));
        assert_eq!((low[10].as_str(), high[10].as_str()), ("0.1", "0.9"));
        assert_eq!((low[17].as_str(), high[17].as_str()), ("0.2", "20"));
    }

    #[test]
    fn a_near_point_differs() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let moved = (0..100).map(|_| {
            let near = SearchPoint::start().near(&mut rng);
            near.0.iter().filter(|at| **at != 0.0).count()
        });
        let moved: Vec<usize> = moved.collect();
        assert!(moved.iter().all(|moved| (1..SETTINGS.len()).contains(moved)), "{moved:?}");
    }
}
