//! One column of an input, as the file describes it; reading refuses a column that contradicts itself.

use std::fmt;

use par_data::suggest;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// More values than this in one column are refused.
const MAX_VALUES: usize = 10_000;

/// A feature, and how its cells become numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "Written")]
pub(super) struct Column {
    pub(super) feature: String,
    pub(super) form: Form,
    pub(super) missing: Option<Plain>,
}

/// How a cell becomes numbers: the `as` of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    Number,
    Scale { shift: f64, divide: f64 },
    Standardize { mean: Option<f64>, deviation: Option<f64> },
    ZeroOne { one: String },
    OneHot { values: Vec<String>, zeros: Vec<String> },
    Label { values: Vec<String> },
    Text,
}

/// A number or a text of the file. TOML's float `nan` becomes the text `nan`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plain {
    Number(f64),
    Text(String),
}

impl Column {
    /// How many places of the tensor it takes.
    pub(super) fn places(&self) -> usize {
        match &self.form {
            Form::OneHot { values, .. } => values.len(),
            _ => 1,
        }
    }
}

/// A visitor, so that an error has the line of the column and not that of the whole list.
impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ColumnVisitor;

        impl<'de> Visitor<'de> for ColumnVisitor {
            type Value = Column;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table such as `{ feature = \"age\", as = \"number\" }`")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Column, A::Error> {
                let written = Written::deserialize(MapAccessDeserializer::new(map))?;
                Column::try_from(written).map_err(de::Error::custom)
            }
        }

        deserializer.deserialize_map(ColumnVisitor)
    }
}

impl Form {
    const NAMES: [&str; 7] = ["number", "scale", "standardize", "zero-one", "one-hot", "label", "text"];

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Scale { .. } => "scale",
            Self::Standardize { .. } => "standardize",
            Self::ZeroOne { .. } => "zero-one",
            Self::OneHot { .. } => "one-hot",
            Self::Label { .. } => "label",
            Self::Text => "text",
        }
    }
}

impl Plain {
    pub(super) const NAN: &str = "nan";

    pub(super) fn is_nan(&self) -> bool {
        matches!(self, Self::Text(text) if text == Self::NAN)
    }

    fn into_text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.trim().to_string(),
        }
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PlainVisitor;

        impl Visitor<'_> for PlainVisitor {
            type Value = Plain;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a text")
            }

            fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Plain, E> {
                Ok(Plain::Text(truth.to_string()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Plain, E> {
                Ok(Plain::Number(number as f64))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Plain, E> {
                Ok(Plain::Number(number as f64))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Plain, E> {
                Ok(if number.is_nan() { Plain::Text(Plain::NAN.to_string()) } else { Plain::Number(number) })
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Plain, E> {
                Ok(Plain::Text(text.to_string()))
            }
        }

        deserializer.deserialize_any(PlainVisitor)
    }
}

/// A column in the file, with the keys of every `as`.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    feature: String,
    #[serde(rename = "as")]
    form: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shift: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    divide: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deviation: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    one: Option<Plain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Plain>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zeros: Option<Vec<Plain>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<Plain>,
}

/// What is wrong with a column, independent of schema and classifier.
#[derive(Debug, thiserror::Error)]
#[error("feature `{feature}`: {fault}")]
struct Refused {
    feature: String,
    fault: Fault,
}

#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("`as` cannot be `{found}`{}", suggest(.found, &Form::NAMES.map(String::from)))]
    UnknownForm { found: String },
    #[error("`{key}` means nothing to `as = \"{form}\"`\nhint: remove one of them")]
    ForeignKey { key: &'static str, form: String },
    #[error("`{key}` is missing, expected {expected}")]
    AbsentKey { key: &'static str, expected: &'static str },
    #[error("`{key}` is {found}, expected {expected}")]
    OutOfRange { key: &'static str, found: String, expected: &'static str },
    #[error("{found} values are listed, expected at most {limit}")]
    TooMany { found: usize, limit: usize },
    #[error("`{value}` is listed twice")]
    Repeated { value: String },
}

impl TryFrom<Written> for Column {
    type Error = Refused;

    fn try_from(mut written: Written) -> Result<Self, Refused> {
        let feature = std::mem::take(&mut written.feature);
        match written.form_and_missing() {
            Ok((form, missing)) => Ok(Self { feature, form, missing }),
            Err(fault) => Err(Refused { feature, fault }),
        }
    }
}

impl Written {
    fn form_and_missing(self) -> Result<(Form, Option<Plain>), Fault> {
        let own: &[&str] = match self.form.as_str() {
            "number" | "text" => &[],
            "scale" => &["shift", "divide"],
            "standardize" => &["mean", "deviation"],
            "zero-one" => &["one"],
            "one-hot" => &["values", "zeros"],
            "label" => &["values"],
            _ => return Err(Fault::UnknownForm { found: self.form }),
        };
        let present = [
            ("shift", self.shift.is_some()),
            ("divide", self.divide.is_some()),
            ("mean", self.mean.is_some()),
            ("deviation", self.deviation.is_some()),
            ("one", self.one.is_some()),
            ("values", self.values.is_some()),
            ("zeros", self.zeros.is_some()),
        ];
        if let Some((key, _)) = present.into_iter().find(|(key, present)| *present && !own.contains(key)) {
            return Err(Fault::ForeignKey { key, form: self.form });
        }
        let form = match self.form.as_str() {
            "number" => Form::Number,
            "scale" => Form::Scale {
                shift: finite("shift", self.shift.unwrap_or(0.0))?,
                divide: required("divide", self.divide, "what the number is divided by").and_then(
                    |divide| in_range("divide", divide, "a finite number other than 0", divide != 0.0),
                )?,
            },
            "standardize" => {
                let deviation = |deviation: f64| {
                    in_range("deviation", deviation, "a finite number above 0", deviation > 0.0)
                };
                Form::Standardize {
                    mean: self.mean.map(|mean| finite("mean", mean)).transpose()?,
                    deviation: self.deviation.map(deviation).transpose()?,
                }
            }
            "zero-one" => {
                Form::ZeroOne { one: required("one", self.one, "the value that becomes 1")?.into_text() }
            }
            "one-hot" => {
                let values = listed(self.values, "a value for each place")?;
                let zeros: Vec<String> =
                    self.zeros.unwrap_or_default().into_iter().map(Plain::into_text).collect();
                refuse_repeated(&[&values[..], &zeros].concat())?;
                Form::OneHot { values, zeros }
            }
            "label" => {
                let values = listed(self.values, "the values that become 0, 1, 2 and so on")?;
                refuse_repeated(&values)?;
                Form::Label { values }
            }
            _ => Form::Text,
        };
        if let Some(Plain::Number(number)) = self.missing {
            let inside = number.abs() <= f64::from(f32::MAX);
            in_range("missing", number, "a finite number or a text", inside)?;
        }
        Ok((form, self.missing))
    }
}

fn required<T>(key: &'static str, value: Option<T>, expected: &'static str) -> Result<T, Fault> {
    value.ok_or(Fault::AbsentKey { key, expected })
}

fn finite(key: &'static str, number: f64) -> Result<f64, Fault> {
    in_range(key, number, "a finite number", true)
}

fn in_range(key: &'static str, number: f64, expected: &'static str, inside: bool) -> Result<f64, Fault> {
    if number.is_finite() && inside {
        Ok(number)
    } else {
        Err(Fault::OutOfRange { key, found: number.to_string(), expected })
    }
}

fn listed(values: Option<Vec<Plain>>, expected: &'static str) -> Result<Vec<String>, Fault> {
    let values = required("values", values, expected)?;
    if values.is_empty() {
        return Err(Fault::OutOfRange { key: "values", found: "empty".to_string(), expected });
    }
    Ok(values.into_iter().map(Plain::into_text).collect())
}

fn refuse_repeated(values: &[String]) -> Result<(), Fault> {
    if values.len() > MAX_VALUES {
        return Err(Fault::TooMany { found: values.len(), limit: MAX_VALUES });
    }
    let mut sorted: Vec<&String> = values.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Fault::Repeated { value: pair[0].clone() }),
        None => Ok(()),
    }
}

impl From<Column> for Written {
    fn from(column: Column) -> Self {
        let texts = |values: Vec<String>| Some(values.into_iter().map(Plain::Text).collect());
        let written = Self {
            feature: column.feature,
            form: column.form.name().to_string(),
            missing: column.missing,
            ..Self::default()
        };
        match column.form {
            Form::Number | Form::Text => written,
            Form::Scale { shift, divide } => Self { shift: Some(shift), divide: Some(divide), ..written },
            Form::Standardize { mean, deviation } => Self { mean, deviation, ..written },
            Form::ZeroOne { one } => Self { one: Some(Plain::Text(one)), ..written },
            Form::OneHot { values, zeros } => {
                let zeros = Some(zeros).filter(|zeros| !zeros.is_empty()).and_then(texts);
                Self { values: texts(values), zeros, ..written }
            }
            Form::Label { values } => Self { values: texts(values), ..written },
        }
    }
}
