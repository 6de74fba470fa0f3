//! Units of time.

/// A unit of time: of a clock's numbers, and of how long a change takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Days.
    Days,
    /// Weeks.
    Weeks,
    /// Months.
    Months,
    /// Quarters of a year.
    Quarters,
    /// Years.
    Years,
}

impl TimeUnit {
    /// All units, ascending.
    pub const ALL: [Self; 5] = [Self::Days, Self::Weeks, Self::Months, Self::Quarters, Self::Years];

    /// The unit called so, in the plural or the singular, in any case.
    ///
    /// ```
    /// use par_data::schema::TimeUnit;
    ///
    /// assert_eq!(TimeUnit::parse("Month"), Some(TimeUnit::Months));
    /// assert_eq!(TimeUnit::parse("years"), Some(TimeUnit::Years));
    /// assert_eq!(TimeUnit::parse("DM"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        Self::ALL.into_iter().find(|unit| unit.name() == text || unit.name().strip_suffix('s') == Some(&text))
    }

    /// Its name, in the plural.
    pub fn name(self) -> &'static str {
        match self {
            Self::Days => "days",
            Self::Weeks => "weeks",
            Self::Months => "months",
            Self::Quarters => "quarters",
            Self::Years => "years",
        }
    }

    /// Its length in months.
    pub fn months(self) -> f64 {
        const DAY: f64 = 12.0 / 365.25;
        match self {
            Self::Days => DAY,
            Self::Weeks => 7.0 * DAY,
            Self::Months => 1.0,
            Self::Quarters => 3.0,
            Self::Years => 12.0,
        }
    }
}
