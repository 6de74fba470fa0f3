//! Rows as numbers, with a distance, and the classifier over them.

use par_data::schema::Mutability;
use par_data::{CellError, Code, Domain, UNKNOWN};
use par_model::Model;
use rand::{Rng, RngExt};

/// A row as numbers, one per feature: the number of a numeric feature, the code of a category. NaN is unknown.
pub(crate) type Point = Vec<f64>;

/// The values of a feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Axis {
    /// Numbers from `low` to `high`, with so many decimals.
    Number { low: f64, high: f64, decimals: usize },
    /// Categories in order, by code.
    Ordinal { codes: usize },
    /// Categories without an order, by code.
    Nominal { codes: usize },
}

impl Axis {
    fn new(domain: &Domain, range: Option<[f64; 2]>) -> Self {
        match (domain.summary(), domain.is_ordered()) {
            (Some(summary), _) => {
                let [least, most] = range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                let (low, high) = (summary.low.max(least), summary.high.min(most));
                Self::Number { low, high, decimals: summary.decimals }
            }
            (None, true) => Self::Ordinal { codes: domain.cardinality() },
            (None, false) => Self::Nominal { codes: domain.cardinality() },
        }
    }

    /// Whether values have an order, so that they can be moved a little.
    pub(crate) fn is_ordered(self) -> bool {
        !matches!(self, Self::Nominal { .. })
    }

    /// The lowest and the highest value.
    pub(crate) fn ends(self) -> [f64; 2] {
        match self {
            Self::Number { low, high, .. } => [low, high],
            Self::Ordinal { codes } | Self::Nominal { codes } => [0.0, (codes - 1) as f64],
        }
    }

    /// The distance between the lowest and the highest value; 1 if they are the same.
    pub(crate) fn width(self) -> f64 {
        let [low, high] = self.ends();
        if high > low { high - low } else { 1.0 }
    }

    /// The value nearest to a number that a row can have.
    pub(crate) fn snapped(self, value: f64) -> f64 {
        let [low, high] = self.ends();
        let decimals = match self {
            Self::Number { decimals, .. } => decimals as i32,
            Self::Ordinal { .. } | Self::Nominal { .. } => 0,
        };
        let unit = 10_f64.powi(decimals);
        ((value.clamp(low, high) * unit).round() / unit).clamp(low, high)
    }

    /// A value drawn evenly.
    pub(crate) fn random(self, rng: &mut impl Rng) -> f64 {
        match self {
            Self::Number { low, high, .. } => self.snapped(low + (high - low) * rng.random::<f64>()),
            Self::Ordinal { codes } | Self::Nominal { codes } => rng.random_range(0..codes) as f64,
        }
    }

    /// How far two values are apart: from 0 to 1 over the training rows; 1 for other categories and unknown values.
    pub(crate) fn distance(self, from: f64, to: f64) -> f64 {
        match self {
            _ if same(from, to) => 0.0,
            Self::Number { .. } | Self::Ordinal { .. } if !(from.is_nan() || to.is_nan()) => {
                (to - from).abs() / self.width()
            }
            _ => 1.0,
        }
    }
}

/// Whether two values are the same; an unknown one is the same as another.
pub(crate) fn same(one: f64, other: f64) -> bool {
    one == other || (one.is_nan() && other.is_nan())
}

/// Whether a feature is immutable for other methods, by the schema or the configuration. Clocks and consequences are only
/// by the configuration: other methods have no word for what moves by itself, and change it as they like.
pub(crate) fn is_locked(model: &Model, feature: usize) -> bool {
    match model.constraints().mutability(feature) {
        Mutability::WithTime | Mutability::Follows => {
            let name = &model.schema().features()[feature].name;
            model.config().immutable.as_ref().is_some_and(|names| names.contains(name))
        }
        _ => model.constraints().is_immutable(feature),
    }
}

/// The space of rows, and the classifier over it.
#[derive(Clone, Debug)]
pub(crate) struct Space<'m> {
    pub(crate) model: &'m Model,
    pub(crate) axes: Vec<Axis>,
    /// Whether a feature [is locked](is_locked).
    pub(crate) locked: Vec<bool>,
}

impl<'m> Space<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        let domains = model.discretizer().domains().iter().zip(model.schema().features());
        Self {
            model,
            axes: domains.map(|(domain, feature)| Axis::new(domain, feature.range)).collect(),
            locked: (0..model.schema().features().len()).map(|feature| is_locked(model, feature)).collect(),
        }
    }

    /// How many features there are.
    pub(crate) fn features(&self) -> usize {
        self.axes.len()
    }

    /// The features that are not locked.
    pub(crate) fn free(&self) -> Vec<usize> {
        (0..self.features()).filter(|&feature| !self.locked[feature]).collect()
    }

    /// A row of cells, in schema order.
    pub(crate) fn read(&self, cells: &[&str]) -> Result<Point, CellError> {
        let codes = self.model.discretizer().encode_row(cells)?.into_codes();
        let value = |((&code, &cell), axis): ((&Code, &&str), &Axis)| match axis {
            _ if code == UNKNOWN => f64::NAN,
            Axis::Number { .. } => cell.trim().parse().unwrap_or(f64::NAN),
            Axis::Ordinal { .. } | Axis::Nominal { .. } => f64::from(code),
        };
        Ok(codes.iter().zip(cells).zip(&self.axes).map(value).collect())
    }

    /// The cells of a point. Values that are those of `own` keep the person's text.
    pub(crate) fn write(&self, point: &Point, own: &Point, cells: &[String]) -> Vec<String> {
        let domains = self.model.discretizer().domains();
        let cell = |feature: usize| match (&domains[feature], point[feature]) {
            (_, value) if same(value, own[feature]) => cells[feature].clone(),
            (_, value) if value.is_nan() => String::new(),
            (Domain::Categories { values, .. }, value) => values[value as usize].clone(),
            (_, value) => value.to_string(),
        };
        (0..self.features()).map(cell).collect()
    }

    /// The codes of a point.
    pub(crate) fn codes(&self, point: &[f64]) -> Vec<Code> {
        let code = |(domain, &value): (&Domain, &f64)| match domain {
            _ if value.is_nan() => UNKNOWN,
            Domain::Categories { .. } => value as Code,
            numeric => numeric.code_of_number(value).0,
        };
        self.model.discretizer().domains().iter().zip(point).map(code).collect()
    }

    /// The values that codes stand for: for a code that is the person's own, their own value.
    pub(crate) fn point_of(&self, codes: &[Code], own: &Point) -> Point {
        let own_codes = self.codes(own);
        let value = |feature: usize| match &self.model.discretizer().domains()[feature] {
            _ if codes[feature] == own_codes[feature] => own[feature],
            Domain::Categories { .. } => f64::from(codes[feature]),
            numeric => numeric.number(codes[feature]),
        };
        (0..self.features()).map(value).collect()
    }

    /// The classifier's score of a point.
    pub(crate) fn score(&self, point: &[f64]) -> f64 {
        self.model.probability(&self.codes(point))
    }

    /// Whether the classifier accepts a point.
    pub(crate) fn accepts(&self, point: &[f64]) -> bool {
        self.score(point) >= self.model.threshold()
    }

    /// The sum of the distances of all features, HEOM with absolute values.
    pub(crate) fn distance(&self, from: &[f64], to: &[f64]) -> f64 {
        let pairs = from.iter().zip(to);
        self.axes.iter().zip(pairs).map(|(axis, (&from, &to))| axis.distance(from, to)).sum()
    }

    /// Whether two points agree on every locked feature.
    pub(crate) fn keeps_locked(&self, from: &[f64], to: &[f64]) -> bool {
        let pairs = from.iter().zip(to).zip(&self.locked);
        pairs.filter(|(_, locked)| **locked).all(|((from, to), _)| same(*from, *to))
    }
}
