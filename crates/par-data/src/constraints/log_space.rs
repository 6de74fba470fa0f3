//! Sums of products of exponentials, computed on their logarithms.

/// A number stored as its logarithm. The three implementations differ in the meaning of a sum.
pub(super) trait LogSpace: Copy {
    /// The logarithm of zero.
    const ZERO: Self;
    /// The logarithm of one.
    const ONE: Self;
    /// The logarithm of a sum; of zero for no terms.
    fn log_sum(terms: impl Iterator<Item = Self> + Clone) -> Self;
    /// The logarithm of a product.
    fn plus(self, other: Self) -> Self;
    /// The logarithm of a quotient; `other` is not the logarithm of zero, unless `self` is.
    fn minus(self, other: Self) -> Self;
    /// Whether it is the logarithm of zero.
    fn is_zero(self) -> bool;
}

impl LogSpace for f64 {
    const ZERO: Self = Self::NEG_INFINITY;
    const ONE: Self = 0.0;

    fn log_sum(terms: impl Iterator<Item = Self> + Clone) -> Self {
        let highest = terms.clone().fold(Self::ZERO, Self::max);
        if highest.is_zero() {
            return highest;
        }
        highest + terms.map(|term| (term - highest).exp()).sum::<Self>().ln()
    }

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn minus(self, other: Self) -> Self {
        if self.is_zero() { self } else { self - other }
    }

    fn is_zero(self) -> bool {
        self == Self::ZERO
    }
}

/// A sum is a maximum: the weight of the best row instead of all rows.
#[derive(Clone, Copy)]
pub(super) struct Max(pub(super) f64);

impl LogSpace for Max {
    const ZERO: Self = Self(f64::ZERO);
    const ONE: Self = Self(f64::ONE);

    fn log_sum(terms: impl Iterator<Item = Self> + Clone) -> Self {
        Self(terms.map(|term| term.0).fold(f64::ZERO, f64::max))
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0.plus(other.0))
    }

    fn minus(self, other: Self) -> Self {
        Self(self.0.minus(other.0))
    }

    fn is_zero(self) -> bool {
        self.0.is_zero()
    }
}

/// A logarithm together with its derivative along some direction.
#[derive(Clone, Copy)]
pub(super) struct Tangent {
    pub(super) value: f64,
    pub(super) slope: f64,
}

impl LogSpace for Tangent {
    const ZERO: Self = Self { value: f64::ZERO, slope: 0.0 };
    const ONE: Self = Self { value: f64::ONE, slope: 0.0 };

    fn log_sum(terms: impl Iterator<Item = Self> + Clone) -> Self {
        let value = f64::log_sum(terms.clone().map(|term| term.value));
        if value.is_zero() {
            return Self::ZERO;
        }
        let slope = terms.map(|term| (term.value - value).exp() * term.slope).sum();
        Self { value, slope }
    }

    fn plus(self, other: Self) -> Self {
        Self { value: self.value.plus(other.value), slope: self.slope + other.slope }
    }

    fn minus(self, other: Self) -> Self {
        Self { value: self.value.minus(other.value), slope: self.slope - other.slope }
    }

    fn is_zero(self) -> bool {
        self.value.is_zero()
    }
}
