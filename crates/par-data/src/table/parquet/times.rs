//! Dates and times as text, as pandas mostly writes them to CSV: times of midnight as dates, and times of columns with a
//! zone in UTC.

use std::io::Write;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::data_type::Int96;
use parquet::record::Field;
use parquet::schema::types::ColumnDescriptor;

use super::values::BadValue;

/// 260,000 years, a little less than what is written as a date.
const MOST_DAYS: i64 = 94_963_050;
const SECONDS_A_DAY: i64 = 86_400;
const NANOSECONDS_A_SECOND: i64 = 1_000_000_000;
/// 1970-01-01, in the days of `INT96`.
const JULIAN_1970: i64 = 2_440_588;
/// How a time of midnight ends.
const MIDNIGHT: &str = " 00:00:00";

/// What the whole numbers of a column of times are.
#[derive(Clone, Copy)]
pub(super) struct Times {
    units_a_second: i64,
    since: Since,
}

#[derive(Clone, Copy)]
enum Since {
    Midnight,
    /// 1970; `is_utc` if the column has a time zone.
    Epoch {
        is_utc: bool,
    },
}

impl Times {
    /// `None` of a column of other values.
    pub(super) fn of(column: &ColumnDescriptor) -> Option<Self> {
        let units = |unit: TimeUnit| match unit {
            TimeUnit::MILLIS => 1000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => NANOSECONDS_A_SECOND,
        };
        // Files without logical types do not say whether they mean a time zone.
        let epoch = Since::Epoch { is_utc: false };
        let (units_a_second, since) = match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Time(time)), _) => (units(time.unit), Since::Midnight),
            (Some(LogicalType::Timestamp(time)), _) => {
                (units(time.unit), Since::Epoch { is_utc: time.is_adjusted_to_u_t_c })
            }
            (_, ConvertedType::TIME_MILLIS) => (1000, Since::Midnight),
            (_, ConvertedType::TIME_MICROS) => (1_000_000, Since::Midnight),
            (_, ConvertedType::TIMESTAMP_MILLIS) => (1000, epoch),
            (_, ConvertedType::TIMESTAMP_MICROS) => (1_000_000, epoch),
            _ => return None,
        };
        Some(Self { units_a_second, since })
    }

    /// Writes a number of the column as a time.
    pub(super) fn write(self, text: &mut Vec<u8>, time: i64) -> Result<(), BadValue> {
        let seconds = time.div_euclid(self.units_a_second);
        let rest = time.rem_euclid(self.units_a_second);
        match self.since {
            Since::Midnight => {
                let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
                if !(0..SECONDS_A_DAY).contains(&seconds) {
                    let found = format!("{seconds} seconds");
                    return Err(BadValue::OutOfRange { found, expected: "a time of a day" });
                }
                write!(text, "{hours:02}:{minutes:02}:{:02}", seconds % 60)
                    .expect("memory can be written to");
                write_fraction(text, rest, self.units_a_second);
            }
            Since::Epoch { is_utc: false } if rest == 0 && seconds % SECONDS_A_DAY == 0 => {
                write_seconds(text, seconds)?;
                text.truncate(text.len() - MIDNIGHT.len());
            }
            Since::Epoch { is_utc } => {
                write_seconds(text, seconds)?;
                write_fraction(text, rest, self.units_a_second);
                if is_utc {
                    text.extend_from_slice(b"+00:00");
                }
            }
        }
        Ok(())
    }
}

/// Writes a time of type `INT96`.
pub(super) fn write_int96(text: &mut Vec<u8>, time: Int96) -> Result<(), BadValue> {
    let [low, high, days] = [time.data()[0], time.data()[1], time.data()[2]];
    let nanoseconds = (u64::from(high) << 32 | u64::from(low)).cast_signed();
    // Days are a signed number.
    let days = i64::from(days.cast_signed()) - JULIAN_1970;
    let in_nanoseconds =
        i128::from(days * SECONDS_A_DAY) * i128::from(NANOSECONDS_A_SECOND) + i128::from(nanoseconds);
    match i64::try_from(in_nanoseconds) {
        Ok(time) => {
            let epoch = Since::Epoch { is_utc: false };
            Times { units_a_second: NANOSECONDS_A_SECOND, since: epoch }.write(text, time)
        }
        // Beyond three hundred years fractions of a second do not count.
        Err(_) => write_seconds(text, days * SECONDS_A_DAY + nanoseconds / NANOSECONDS_A_SECOND),
    }
}

/// Writes a number of days since 1970 as a date.
pub(super) fn write_date(text: &mut Vec<u8>, days: i32) -> Result<(), BadValue> {
    if i64::from(days.unsigned_abs()) > MOST_DAYS {
        return Err(no_date(format!("{days} days from 1970")));
    }
    write!(text, "{}", Field::Date(days)).expect("memory can be written to");
    Ok(())
}

fn write_seconds(text: &mut Vec<u8>, seconds: i64) -> Result<(), BadValue> {
    if !(-MOST_DAYS * SECONDS_A_DAY..=MOST_DAYS * SECONDS_A_DAY).contains(&seconds) {
        return Err(no_date(format!("{seconds} seconds from 1970")));
    }
    let shown = Field::TimestampMillis(seconds * 1000).to_string();
    let whole = shown.strip_suffix(".000 +00:00").expect("whole seconds in UTC");
    text.extend_from_slice(whole.as_bytes());
    Ok(())
}

/// Writes what is more than whole seconds, if it is.
fn write_fraction(text: &mut Vec<u8>, units: i64, units_a_second: i64) {
    if units > 0 {
        let digits = units_a_second.ilog10() as usize;
        write!(text, ".{units:0digits$}").expect("memory can be written to");
    }
}

fn no_date(found: String) -> BadValue {
    BadValue::OutOfRange { found, expected: "a date within 260000 years of 1970" }
}
