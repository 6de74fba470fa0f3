//! Parses JSON and refuses objects with a repeated key: parsers disagree on which value counts.

use std::cell::RefCell;
use std::fmt;

use par_answer::request::Problem;
use par_answer::request::json::escaped;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::refusal::Refusal;

/// Reads the JSON of a body, or of a line of one.
///
/// # Errors
/// When it is not JSON, or an object has a key twice.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, Refusal> {
    let repeated = RefCell::new(None);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Unique { place: &Place::Root, repeated: &repeated }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| match repeated.take() {
        Some(path) => {
            let (found, expected) = ("the key twice".to_string(), "the key once".to_string());
            Refusal::WrongValues(vec![Problem { path, found, expected }])
        }
        None => Refusal::NotJson(error.to_string()),
    })
}

/// The place of a value.
enum Place<'p> {
    Root,
    Key(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl fmt::Display for Place<'_> {
    /// As a JSON pointer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(parent, key) => write!(f, "{parent}/{}", escaped(key)),
            Self::Item(parent, number) => write!(f, "{parent}/{number}"),
        }
    }
}

/// Reads a value as `serde_json` does, but stops at a repeated key.
struct Unique<'p> {
    place: &'p Place<'p>,
    /// The place of that key.
    repeated: &'p RefCell<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Value, E> {
        Ok(truth.into())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            let place = Place::Item(self.place, values.len());
            match items.next_element_seed(Unique { place: &place, repeated: self.repeated })? {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let place = Place::Key(self.place, &key);
            if values.contains_key(&key) {
                *self.repeated.borrow_mut() = Some(place.to_string());
                return Err(de::Error::custom("a key stands twice"));
            }
            let value = entries.next_value_seed(Unique { place: &place, repeated: self.repeated })?;
            values.insert(key, value);
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_without_repeated_keys_is_read_as_it_is() {
        let text = r#"{"a": [1, -2, 3.5, 1e300, 18446744073709551615], "b": {"a": null, "c": [{"a": true}]}, "": "ü\n"}"#;
        assert_eq!(read(text.as_bytes()), Ok(serde_json::from_str(text).expect("JSON")));
        assert_eq!(read(b" 7 "), Ok(json!(7)));
    }

    #[test]
    fn a_repeated_key_is_refused_with_its_place() {
        let refused = |text: &str| read(text.as_bytes()).map_err(|refusal| refusal.message());
        assert_eq!(
            refused(r#"{"rows": [{"a": 1}, {"a/b": 2, "a/b": 2}]}"#),
            Err("`/rows/1/a~1b`: expected the key once, found the key twice".to_string())
        );
        assert_eq!(
            refused(r#"{"row": 1, "\u0072ow": 1}"#),
            Err("`/row`: expected the key once, found the key twice".to_string())
        );
        assert_eq!(
            refused("{} {}"),
            Err("the body is not JSON: trailing characters at line 1 column 4".to_string())
        );
    }
}
