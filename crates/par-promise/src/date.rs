//! Calendar dates in UTC, without times.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use par_data::schema::TimeUnit;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A day from 1970-01-01 to 9999-12-31, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u32,
    month: u32,
    day: u32,
}

/// Text that is no date, or no time for which a promise can be valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DateError {
    /// It is no day of the calendar.
    #[error("expected a date such as `2026-01-31`, from 1970 to 9999, found `{0}`")]
    NoDate(String),
    /// It is no time.
    #[error(
        "expected a whole number of days, weeks, months, quarters or years, such as `12 months`, found `{0}`"
    )]
    NoTime(String),
    /// It ends after the last day that can be written.
    #[error("{time} after {date} is beyond the year 9999")]
    TooLate {
        /// The first day.
        date: Date,
        /// The time after it.
        time: ValidFor,
    },
}

const MONTHS_OF_A_YEAR: u32 = 12;
const LAST_YEAR: u32 = 9999;

impl Date {
    fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let exists = (1970..=LAST_YEAR).contains(&year)
            && (1..=MONTHS_OF_A_YEAR).contains(&month)
            && (1..=days_of_month(year, month)).contains(&day);
        exists.then_some(Self { year, month, day })
    }

    /// Today, by the clock of the machine; `None` if it is set to before 1970 or after 9999.
    pub fn today() -> Option<Self> {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
        Self::from_days(u32::try_from(seconds / 86_400).ok()?)
    }

    /// The day so many days after 1970-01-01.
    fn from_days(mut days: u32) -> Option<Self> {
        for year in 1970..=LAST_YEAR {
            for month in 1..=MONTHS_OF_A_YEAR {
                let length = days_of_month(year, month);
                if days < length {
                    return Some(Self { year, month, day: days + 1 });
                }
                days -= length;
            }
        }
        None
    }

    /// How many days it is after 1970-01-01.
    fn days(self) -> u32 {
        let years: u32 = (1970..self.year).map(days_of_year).sum();
        let months: u32 = (1..self.month).map(|month| days_of_month(self.year, month)).sum();
        years + months + self.day - 1
    }

    /// The day after some time. A month after the 31st is the last day of a shorter month.
    ///
    /// # Errors
    /// When it is after the year 9999.
    pub fn after(self, time: ValidFor) -> Result<Self, DateError> {
        let later = match time {
            ValidFor::Days(days) => self.days().checked_add(days).and_then(Self::from_days),
            ValidFor::Months(months) => {
                let months = (self.year * MONTHS_OF_A_YEAR + self.month - 1).saturating_add(months);
                let (year, month) = (months / MONTHS_OF_A_YEAR, months % MONTHS_OF_A_YEAR + 1);
                Self::new(year, month, self.day.min(days_of_month(year, month)))
            }
        };
        later.ok_or(DateError::TooLate { date: self, time })
    }
}

fn is_leap_year(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of_year(year: u32) -> u32 {
    365 + u32::from(is_leap_year(year))
}

fn days_of_month(year: u32, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap_year(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let number = |part: &str, digits: usize| {
            let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse().ok())?
        };
        let parse = || {
            let (year, rest) = text.split_once('-')?;
            let (month, day) = rest.split_once('-')?;
            Self::new(number(year, 4)?, number(month, 2)?, number(day, 2)?)
        };
        parse().ok_or_else(|| DateError::NoDate(text.chars().take(40).collect()))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// How long a promise is valid after the day of its issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidFor {
    /// Days.
    Days(u32),
    /// Months of the calendar.
    Months(u32),
}

impl FromStr for ValidFor {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let parse = || {
            let (count, unit) = text.trim().split_once(char::is_whitespace)?;
            let count: u32 = count.parse().ok().filter(|count| (1..=1_000_000).contains(count))?;
            Some(match TimeUnit::parse(unit)? {
                TimeUnit::Days => Self::Days(count),
                TimeUnit::Weeks => Self::Days(7 * count),
                TimeUnit::Months => Self::Months(count),
                TimeUnit::Quarters => Self::Months(3 * count),
                TimeUnit::Years => Self::Months(MONTHS_OF_A_YEAR * count),
            })
        };
        parse().ok_or_else(|| DateError::NoTime(text.chars().take(40).collect()))
    }
}

impl fmt::Display for ValidFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Days(days) => write!(f, "{days} days"),
            Self::Months(months) => write!(f, "{months} months"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().expect("a date")
    }

    #[test]
    fn dates_are_read_as_they_were_written_and_are_ordered() {
        for text in ["1970-01-01", "2024-02-29", "2026-12-31", "9999-12-31"] {
            assert_eq!(date(text).to_string(), text);
        }
        assert!(date("2026-01-31") < date("2026-02-01") && date("2026-12-31") < date("2027-01-01"));
    }

    #[test]
    fn days_since_1970_are_those_of_other_programs() {
        // `date -u -d 2024-02-29 +%s` divided by 86,400, and so on.
        for (text, days) in
            [("1970-01-01", 0), ("2000-03-01", 11_017), ("2024-02-29", 19_782), ("2026-01-31", 20_484)]
        {
            assert_eq!(date(text).days(), days);
            assert_eq!(Date::from_days(days), Some(date(text)));
        }
        assert_eq!(Date::from_days(u32::MAX), None);
    }

    #[test]
    fn nonsense_is_no_date() {
        for text in
            ["", "2026", "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "26-01-01", "1969-12-31"]
        {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
        for text in ["2026-1-1", "2026-01-011", "+026-01-01", "2026-01-01T00:00", " 2026-01-01"] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
        assert_eq!(
            "2026-02-30".parse::<Date>().expect_err("no such day").to_string(),
            "expected a date such as `2026-01-31`, from 1970 to 9999, found `2026-02-30`"
        );
    }

    #[test]
    fn a_month_ends_on_the_same_day_or_the_last() {
        let after = |from: &str, time: &str| {
            let time: ValidFor = time.parse().expect("a time");
            date(from).after(time).map(|later| later.to_string()).map_err(|error| error.to_string())
        };
        assert_eq!(after("2026-01-31", "12 months").as_deref(), Ok("2027-01-31"));
        assert_eq!(after("2026-01-31", "1 month").as_deref(), Ok("2026-02-28"));
        assert_eq!(after("2024-02-29", "1 year").as_deref(), Ok("2025-02-28"));
        assert_eq!(after("2026-11-30", "1 quarter").as_deref(), Ok("2027-02-28"));
        assert_eq!(after("2026-12-31", "1 day").as_deref(), Ok("2027-01-01"));
        assert_eq!(after("2026-12-25", "2 weeks").as_deref(), Ok("2027-01-08"));
        for time in ["1000000 years", "1000000 weeks"] {
            let error = after("2026-01-31", time).expect_err("beyond the calendar");
            assert!(error.ends_with(" after 2026-01-31 is beyond the year 9999"), "{error}");
        }
    }

    #[test]
    fn nonsense_is_no_time() {
        for text in ["", "12", "months", "0 months", "-1 months", "1.5 years", "12 moons", "5000000000 days"]
        {
            assert_eq!(
                text.parse::<ValidFor>().expect_err("no time").to_string(),
                format!(
                    "expected a whole number of days, weeks, months, quarters or years, such as `12 months`, found `{text}`"
                )
            );
        }
    }
}
