//! How a classifier is trained.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::setting::{SettingError, check_setting};

/// How a classifier is trained.
///
/// # Paper
/// The defaults are those of the appendix on classifier training. Departure: its number of epochs is a maximum, and
/// training stops when the validation loss no longer falls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClassifierConfig {
    /// Widths of the hidden layers; without any it is a logistic regression. Each in `1..=4096`, at most 8;
    /// 20 and 10 by default.
    pub hidden: Vec<usize>,
    /// Learning rate of Adam. Above 0, at most 1; 0.001 by default.
    pub learning_rate: f64,
    /// Rows per step. At least 1; 64 by default.
    pub batch: usize,
    /// Most passes over the training rows. At least 1; 200 by default.
    pub epochs: usize,
    /// Passes without a lower validation loss before training stops. At least 1; 10 by default.
    pub patience: usize,
    /// Share of each class's rows that is held out for validation; with 0 training runs all epochs and keeps the last.
    /// In `0.0..=0.5`; 0.1 by default.
    pub validation: f64,
    /// The lowest score that is accepted: a probability above 0 and below 1, or `"youden"`; by default `"auto"`, 0.5. Of a
    /// regression a number in the unit of the label, by default the one in the schema.
    pub threshold: Threshold,
    /// Whether the loss gives both classes the same weight. `"auto"` by default.
    pub balance: Balance,
}

impl Default for ClassifierConfig {
    fn default() -> Self {
        Self {
            hidden: vec![20, 10],
            learning_rate: 1e-3,
            batch: 64,
            epochs: 200,
            patience: 10,
            validation: 0.1,
            threshold: Threshold::default(),
            balance: Balance::default(),
        }
    }
}

impl ClassifierConfig {
    /// # Errors
    /// When a setting is out of its range.
    pub fn check(&self) -> Result<(), SettingError> {
        let layers = self.hidden.len();
        let found = format_args!("{layers} layers");
        check_setting("classifier.hidden", found, "at most 8 layers", layers <= 8)?;
        for width in &self.hidden {
            let fits = (1..=4096).contains(width);
            check_setting("classifier.hidden", width, "widths from 1 to 4096", fits)?;
        }
        let rate = self.learning_rate;
        let fits = rate > 0.0 && rate <= 1.0;
        check_setting("classifier.learning_rate", rate, "more than 0 and at most 1", fits)?;
        for (key, found) in [
            ("classifier.batch", self.batch),
            ("classifier.epochs", self.epochs),
            ("classifier.patience", self.patience),
        ] {
            check_setting(key, found, "at least 1", found >= 1)?;
        }
        let share = self.validation;
        check_setting("classifier.validation", share, "a share from 0 to 0.5", (0.0..=0.5).contains(&share))?;
        Ok(())
    }

    /// The threshold for scores of a scale, `goal` if a predicted number must reach it; `None` where it is chosen by
    /// Youden's J.
    ///
    /// # Errors
    /// When the setting does not fit the scale.
    pub fn threshold_for(&self, goal: Option<f64>) -> Result<Option<f64>, SettingError> {
        let key = "classifier.threshold";
        match (self.threshold, goal) {
            (Threshold::Auto, None) => Ok(Some(0.5)),
            (Threshold::Auto, Some(goal)) => Ok(Some(goal)),
            (Threshold::Youden, None) => Ok(None),
            (Threshold::Youden, Some(_)) => {
                let expected = "a number: the label is one, and Youden's J is of probabilities";
                check_setting(key, "\"youden\"", expected, false).map(|()| None)
            }
            (Threshold::Fixed(threshold), None) => {
                let expected = "a number above 0 and below 1, or \"youden\"";
                let fits = threshold > 0.0 && threshold < 1.0;
                check_setting(key, threshold, expected, fits).map(|()| Some(threshold))
            }
            (Threshold::Fixed(threshold), Some(_)) => {
                let fits = threshold.is_finite();
                check_setting(key, threshold, "a finite number", fits).map(|()| Some(threshold))
            }
        }
    }

    /// Whether the loss gives both classes the same weight, for these numbers of rows.
    pub fn balances(&self, accepted: usize, denied: usize) -> bool {
        match self.balance {
            Balance::Always => true,
            Balance::Never => false,
            Balance::Auto => {
                let is_usual = matches!(self.threshold, Threshold::Auto | Threshold::Fixed(0.5));
                is_usual && 5 * accepted.min(denied) < accepted + denied
            }
        }
    }
}

/// The lowest score that is accepted: a number, `"youden"` or `"auto"`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Threshold {
    /// A probability of 0.5, or the number that the schema names.
    #[default]
    Auto,
    /// This score.
    Fixed(f64),
    /// The one that separates the classes best, by Youden's J.
    Youden,
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(threshold) => serializer.serialize_f64(*threshold),
            Self::Youden => serializer.serialize_str("youden"),
            Self::Auto => serializer.serialize_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ThresholdVisitor)
    }
}

struct ThresholdVisitor;

impl Visitor<'_> for ThresholdVisitor {
    type Value = Threshold;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, \"youden\" or \"auto\"")
    }

    fn visit_f64<E: Error>(self, threshold: f64) -> Result<Threshold, E> {
        Ok(Threshold::Fixed(threshold))
    }

    fn visit_i64<E: Error>(self, threshold: i64) -> Result<Threshold, E> {
        Ok(Threshold::Fixed(threshold as f64))
    }

    fn visit_u64<E: Error>(self, threshold: u64) -> Result<Threshold, E> {
        Ok(Threshold::Fixed(threshold as f64))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Threshold, E> {
        match name {
            "youden" => Ok(Threshold::Youden),
            "auto" => Ok(Threshold::Auto),
            _ => Err(E::invalid_value(Unexpected::Str(name), &self)),
        }
    }
}

/// Whether the loss gives both classes the same weight, however many rows each has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Balance {
    /// If the rarer class has less than a fifth of the rows and the threshold is the default one: without balance
    /// nearly all scores would be on one side of it.
    #[default]
    Auto,
    /// Never: every row has the same weight.
    Never,
    /// Always.
    Always,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(change: impl Fn(&mut ClassifierConfig)) -> String {
        let mut config = ClassifierConfig::default();
        change(&mut config);
        config.check().expect_err("the setting is out of range").to_string()
    }

    #[test]
    fn settings_out_of_range_are_named_with_what_was_found_and_expected() {
        assert_eq!(ClassifierConfig::default().check(), Ok(()));
        assert_eq!(
            message(|config| config.hidden = vec![20, 0]),
            "`classifier.hidden` is 0, expected widths from 1 to 4096"
        );
        assert_eq!(
            message(|config| config.hidden = vec![1; 9]),
            "`classifier.hidden` is 9 layers, expected at most 8 layers"
        );
        assert_eq!(
            message(|config| config.learning_rate = f64::NAN),
            "`classifier.learning_rate` is NaN, expected more than 0 and at most 1"
        );
        assert_eq!(message(|config| config.batch = 0), "`classifier.batch` is 0, expected at least 1");
        assert_eq!(message(|config| config.epochs = 0), "`classifier.epochs` is 0, expected at least 1");
        assert_eq!(message(|config| config.patience = 0), "`classifier.patience` is 0, expected at least 1");
        assert_eq!(
            message(|config| config.validation = 0.6),
            "`classifier.validation` is 0.6, expected a share from 0 to 0.5"
        );
    }

    #[test]
    fn a_threshold_fits_the_scores() {
        let of = |threshold, goal| {
            let config = ClassifierConfig { threshold, ..ClassifierConfig::default() };
            config.threshold_for(goal).map_err(|error| error.to_string())
        };
        assert_eq!(of(Threshold::Auto, None), Ok(Some(0.5)));
        assert_eq!(of(Threshold::Auto, Some(5e4)), Ok(Some(5e4)));
        assert_eq!(of(Threshold::Fixed(6e4), Some(5e4)), Ok(Some(6e4)));
        assert_eq!(of(Threshold::Youden, None), Ok(None));
        for (threshold, goal, expected) in [
            (Threshold::Fixed(1.0), None, "is 1, expected a number above 0 and below 1, or \"youden\""),
            (Threshold::Fixed(f64::NAN), Some(1.0), "is NaN, expected a finite number"),
            (
                Threshold::Youden,
                Some(1.0),
                "is \"youden\", expected a number: the label is one, and Youden's J is of probabilities",
            ),
        ] {
            assert_eq!(of(threshold, goal), Err(format!("`classifier.threshold` {expected}")));
        }
    }

    #[test]
    fn a_threshold_is_a_number_or_youden() {
        let read = |text: &str| serde_json::from_str::<Threshold>(text);
        assert_eq!(read("0.06").expect("a number"), Threshold::Fixed(0.06));
        assert_eq!(read("1").expect("a number"), Threshold::Fixed(1.0));
        assert_eq!(read("\"youden\"").expect("a name"), Threshold::Youden);
        assert_eq!(
            read("\"yuden\"").expect_err("no such name").to_string(),
            "invalid value: string \"yuden\", expected a number, \"youden\" or \"auto\" at line 1 column 7"
        );
        for threshold in [Threshold::Fixed(0.06), Threshold::Youden, Threshold::Auto] {
            let text = serde_json::to_string(&threshold).expect("a threshold can be written");
            assert_eq!(read(&text).expect("what was written"), threshold);
        }
    }

    #[test]
    fn unknown_settings_are_refused() {
        let read = |text| serde_json::from_str::<ClassifierConfig>(text);
        assert_eq!(read(r#"{"balance": "always"}"#).expect("a setting").balance, Balance::Always);
        assert!(read(r#"{"learning": 0.1}"#).is_err());
    }

    #[test]
    fn auto_balances_rare_classes_unless_the_threshold_is_set() {
        let mut config = ClassifierConfig::default();
        assert!(config.balances(19, 81) && config.balances(81, 19));
        assert!(!config.balances(20, 80));
        config.threshold = Threshold::Fixed(0.06);
        assert!(!config.balances(19, 81));
        config.balance = Balance::Always;
        assert!(config.balances(50, 50));
        config = ClassifierConfig { balance: Balance::Never, ..ClassifierConfig::default() };
        assert!(!config.balances(1, 99));
    }
}
