//! Figures, ready to be asked: by case, method and measure, without reading through all of them every time.

use std::collections::{BTreeMap, BTreeSet};

use crate::figures::{Figure, Figures, Metric, Spread};

/// No measure is larger. What is, is left out: sums of such numbers are not finite, and nobody could read them.
const LARGEST: f64 = 1e15;

/// Figures by what they are of.
pub(crate) struct View<'f> {
    cases: Vec<&'f str>,
    methods: BTreeMap<&'f str, Vec<&'f str>>,
    folds: BTreeMap<&'f str, BTreeSet<&'f str>>,
    by: BTreeMap<(&'f str, &'f str, &'f str), Vec<&'f Figure>>,
}

impl<'f> View<'f> {
    pub(crate) fn new(figures: &'f Figures) -> Self {
        let mut view = Self {
            cases: figures.tables(),
            methods: BTreeMap::new(),
            folds: BTreeMap::new(),
            by: BTreeMap::new(),
        };
        let mut seen = BTreeSet::new();
        let readable = |figure: &&Figure| figure.value.is_none_or(|value| value.abs() <= LARGEST);
        for figure in figures.0.iter().filter(readable) {
            let (case, method) = (figure.table.as_str(), figure.method.as_str());
            if seen.insert((case, method)) {
                view.methods.entry(case).or_default().push(method);
            }
            if !figure.fold.is_empty() {
                view.folds.entry(case).or_default().insert(&figure.fold);
            }
            view.by.entry((case, method, figure.metric.name.as_str())).or_default().push(figure);
        }
        view
    }

    /// The cases, in the order in which they appear.
    pub(crate) fn cases(&self) -> &[&'f str] {
        &self.cases
    }

    /// The methods of a case, in the order in which they appear.
    pub(crate) fn methods(&self, case: &str) -> &[&'f str] {
        self.methods.get(case).map_or(&[], Vec::as_slice)
    }

    /// How many folds a case has.
    pub(crate) fn folds(&self, case: &str) -> usize {
        self.folds.get(case).map_or(0, BTreeSet::len)
    }

    /// The figures of a measure by its name, wherever it was measured.
    pub(crate) fn named(&self, case: &'f str, method: &'f str, name: &'f str) -> &[&'f Figure] {
        self.by.get(&(case, method, name)).map_or(&[], Vec::as_slice)
    }

    /// A measure, fold by fold.
    pub(crate) fn each(&self, case: &str, method: &str, metric: &Metric) -> Vec<&'f Figure> {
        let own = self.by.get(&(case, method, metric.name.as_str())).map_or(&[][..], Vec::as_slice);
        own.iter().copied().filter(|figure| figure.metric == *metric).collect()
    }

    /// A measure over folds; absent where no fold has it.
    pub(crate) fn spread(&self, case: &str, method: &str, metric: impl Into<Metric>) -> Option<Spread> {
        Spread::new(self.each(case, method, &metric.into()).into_iter())
    }

    /// A measure over folds at one place.
    pub(crate) fn spread_at(
        &self,
        case: &str,
        method: &str,
        name: &str,
        key: &str,
        value: &str,
    ) -> Option<Spread> {
        self.spread(case, method, Metric::at(name, &[(key, &value)]))
    }

    /// The values that a key of a measure has: numbers in their order, else in the order in which they appear.
    pub(crate) fn keys(&self, case: &'f str, method: &'f str, name: &'f str, key: &str) -> Vec<&'f str> {
        let mut seen = BTreeSet::new();
        let values = self.named(case, method, name).iter().filter_map(|figure| figure.metric.key(key));
        let mut keys: Vec<&str> = values.filter(|value| seen.insert(*value)).collect();
        if keys.iter().all(|key| number(key).is_some()) {
            keys.sort_by(|one, other| number(one).unwrap_or(0.0).total_cmp(&number(other).unwrap_or(0.0)));
        }
        keys
    }

    /// A measure along a key that is a number: where, and the mean over folds there.
    pub(crate) fn along(
        &self,
        case: &'f str,
        method: &'f str,
        name: &'f str,
        key: &'f str,
    ) -> Vec<(f64, Spread)> {
        let keys = self.keys(case, method, name, key);
        let point = |value: &&str| Some((number(value)?, self.spread_at(case, method, name, key, value)?));
        keys.iter().filter_map(point).collect()
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
        let view = View::new(&figures);
        assert_eq!((view.cases(), view.folds("credit")), (&["credit"][..], 2));
        assert_eq!(view.methods("credit"), ["refine", "frontier"]);
        assert_eq!(view.spread("credit", "refine", "nll").map(|spread| spread.mean), Some(2.0));
        assert_eq!(view.spread("credit", "frontier", "nll"), None);
        assert_eq!(view.keys("credit", "frontier", "nll", "changes"), ["2", "10"]);
        assert_eq!(view.along("credit", "frontier", "nll", "changes")[1].0, 10.0);
        assert_eq!(view.methods("adult"), [""; 0]);
    }

    #[test]
    fn numbers_that_nobody_could_read_are_left_out() {
        let mut sheet = Sheet::new("t", "0");
        sheet.number("refine", "nll", f64::MAX, 1);
        sheet.number("refine", "nll", 2.0, 1);
        let figures = Figures(sheet.into_figures());
        assert_eq!(View::new(&figures).spread("t", "refine", "nll").map(|spread| spread.mean), Some(2.0));
    }
}
