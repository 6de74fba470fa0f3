//! The figures of one case, by method and measure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use super::table::{ReportCell, Unit};
use crate::experiment::Experiment;
use crate::figures::{Figure, Figures, Metric, Spread};

/// Larger values are left out: no measure has them, and their sums may not be finite.
const LARGEST: f64 = 1e15;

/// The method, measure and keys of figures. An empty part matches any.
#[derive(Clone, Debug, Default)]
pub(crate) struct FigureKey {
    pub(crate) method: String,
    pub(crate) metric: Metric,
}

impl FigureKey {
    /// All measures of a method.
    pub(crate) fn method(method: &str) -> Self {
        Self { method: method.to_string(), metric: Metric::default() }
    }

    /// All measures with one value of a key.
    pub(crate) fn key(key: &str, value: &str) -> Self {
        Self { method: String::new(), metric: Metric::at("", &[(key, &value)]) }
    }

    /// A measure of a method, with values of keys.
    pub(crate) fn new(method: &str, measure: &str, keys: &[(&str, &dyn Display)]) -> Self {
        Self { method: method.to_string(), metric: Metric::at(measure, keys) }
    }
}

/// The figures of a case.
pub(crate) struct Measured<'f> {
    /// The experiment that is being reported.
    pub(crate) topic: Experiment,
    pub(crate) case: &'f str,
    /// In order of appearance.
    pub(crate) methods: Vec<&'f str>,
    folds: BTreeSet<&'f str>,
    /// By method, then by the name of the measure.
    by: BTreeMap<&'f str, BTreeMap<&'f str, Vec<&'f Figure>>>,
}

impl<'f> Measured<'f> {
    /// Figures by case, in order of appearance.
    pub(crate) fn by_case(figures: &'f Figures) -> Vec<Self> {
        let topic = Experiment::Answers;
        let empty = |case| Self { topic, case, methods: vec![], folds: BTreeSet::new(), by: BTreeMap::new() };
        let mut all: Vec<Self> = figures.tables().into_iter().map(empty).collect();
        let places: BTreeMap<&str, usize> =
            all.iter().enumerate().map(|(place, own)| (own.case, place)).collect();
        let readable = |figure: &&Figure| figure.value.is_none_or(|value| value.abs() <= LARGEST);
        let mut seen = BTreeSet::new();
        for figure in figures.0.iter().filter(readable) {
            let (own, method) = (&mut all[places[figure.table.as_str()]], figure.method.as_str());
            if seen.insert((own.case, method)) {
                own.methods.push(method);
            }
            if !figure.fold.is_empty() {
                own.folds.insert(&figure.fold);
            }
            own.by.entry(method).or_default().entry(&figure.metric.name).or_default().push(figure);
        }
        all
    }

    /// The number of folds.
    pub(crate) fn folds(&self) -> usize {
        self.folds.len()
    }

    /// The number of folds, as a sentence.
    pub(crate) fn over_folds(&self) -> String {
        match self.folds() {
            0 | 1 => "Figures of one run.".to_string(),
            folds => format!("Mean ± sample standard deviation over {folds} folds."),
        }
    }

    /// The figures of a measure by name, with any keys.
    pub(crate) fn named(&self, method: &str, name: &str) -> &[&'f Figure] {
        self.by.get(method).and_then(|own| own.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The figures with this key, one per fold.
    pub(crate) fn each(&self, FigureKey { method, metric }: &FigureKey) -> Vec<&'f Figure> {
        let own = self.named(method, &metric.name).iter().copied();
        own.filter(|figure| figure.metric == *metric).collect()
    }

    /// The spread over folds; `None` if no fold has the figure.
    pub(crate) fn spread(&self, at: &FigureKey) -> Option<Spread> {
        Spread::new(self.each(at).into_iter())
    }

    /// The mean over folds of a measure.
    pub(crate) fn mean(&self, method: &str, measure: &str) -> Option<f64> {
        self.spread(&FigureKey::new(method, measure, &[])).map(|spread| spread.mean)
    }

    /// The spread over folds as a cell. Figures of no fold count as complete.
    pub(crate) fn cell(&self, at: &FigureKey, unit: Unit) -> ReportCell {
        let each = self.each(at);
        let folds = if each.iter().all(|figure| figure.fold.is_empty()) { 0 } else { self.folds() };
        ReportCell::spread(Spread::new(each.into_iter()), unit, folds)
    }

    /// The values of a key of a measure, for these methods: numbers ascending, others in order of appearance.
    pub(crate) fn keys(&self, methods: &[&str], measure: &str, key: &str) -> Vec<&'f str> {
        let mut seen = BTreeSet::new();
        let figures = methods.iter().flat_map(|method| self.named(method, measure));
        let values = figures.filter_map(|figure| figure.metric.key(key));
        let mut keys: Vec<&str> = values.filter(|value| seen.insert(*value)).collect();
        if keys.iter().all(|key| number(key).is_some()) {
            keys.sort_by(|one, other| number(one).unwrap_or(0.0).total_cmp(&number(other).unwrap_or(0.0)));
        }
        keys
    }

    /// A measure along a numeric key: the key and the mean over folds.
    pub(crate) fn along(&self, method: &str, measure: &str, key: &str) -> Vec<(f64, f64)> {
        let point = |value: &&str| {
            let spread = self.spread(&FigureKey::new(method, measure, &[(key, value)]))?;
            Some((number(value)?, spread.mean))
        };
        self.keys(&[method], measure, key).iter().filter_map(point).collect()
    }
}

/// A finite number.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Sheet;

    #[test]
    fn figures_are_found_by_case_method_and_measure() {
        let mut all = Vec::new();
        for (fold, value) in [("0", 1.0), ("1", 3.0)] {
            let mut sheet = Sheet::new("credit", fold);
            sheet.number("refine", "nll", value, 2);
            for changes in [10, 2] {
                sheet.number("frontier", Metric::at("nll", &[("changes", &changes)]), value, 2);
            }
            all.extend(sheet.into_figures());
        }
        let figures = Figures(all);
        let cases = Measured::by_case(&figures);
        let [measured] = &cases[..] else { panic!("one case, not {}", cases.len()) };
        assert_eq!((measured.case, measured.folds()), ("credit", 2));
        assert_eq!(measured.methods, ["refine", "frontier"]);
        assert_eq!(measured.mean("refine", "nll"), Some(2.0));
        assert_eq!(measured.mean("frontier", "nll"), None);
        assert_eq!(measured.keys(&["frontier"], "nll", "changes"), ["2", "10"]);
        assert_eq!(measured.along("frontier", "nll", "changes")[1].0, 10.0);
    }

    #[test]
    fn implausibly_large_numbers_are_left_out() {
        let mut sheet = Sheet::new("t", "0");
        sheet.number("refine", "nll", f64::MAX, 1);
        sheet.number("refine", "nll", 2.0, 1);
        let figures = Figures(sheet.into_figures());
        assert_eq!(Measured::by_case(&figures)[0].mean("refine", "nll"), Some(2.0));
    }
}
