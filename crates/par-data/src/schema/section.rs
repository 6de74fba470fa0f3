//! One TOML table of a schema: reads values by type, and refuses them with their line.

use std::collections::HashSet;
use std::fmt::Display;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::parse_number;
use super::problem::{SchemaError, SchemaProblem};

/// The TOML text of a schema, its name in messages, and its version.
pub(super) struct SchemaText<'a> {
    pub(super) text: &'a str,
    pub(super) origin: &'a str,
    pub(super) version: u8,
}

/// The keys of one kind of table.
pub(super) struct Keys {
    /// Those of every version.
    pub(super) always: &'static [&'static str],
    /// Those of version 1, each with what version 2 writes instead.
    pub(super) first: &'static [(&'static str, &'static str)],
    /// Those of version 2.
    pub(super) second: &'static [&'static str],
}

impl Keys {
    /// The same keys in every version.
    pub(super) const fn always(always: &'static [&'static str]) -> Self {
        Self { always, first: &[], second: &[] }
    }

    fn known(&self, version: u8) -> Vec<String> {
        let first = self.first.iter().map(|(key, _)| *key);
        let own: Vec<&str> = if version == 1 { first.collect() } else { self.second.to_vec() };
        self.always.iter().chain(&own).map(ToString::to_string).collect()
    }

    /// Why a key that is not known in this version is refused.
    fn problem(&self, key: &str, version: u8) -> SchemaProblem {
        let replaced = self.first.iter().find(|(first, _)| *first == key);
        match replaced {
            Some((_, instead)) => SchemaProblem::KeyOfVersion1 { key: key.to_string(), instead },
            None if self.second.contains(&key) => SchemaProblem::KeyOfVersion2 { key: key.to_string() },
            None => SchemaProblem::UnknownKey { key: key.to_string(), known: self.known(version) },
        }
    }
}

/// A TOML value with its place.
pub(super) type Value<'a> = Spanned<DeValue<'a>>;

impl SchemaText<'_> {
    pub(super) fn line(&self, span: Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    pub(super) fn refuse(&self, line: usize, section: &str, problem: SchemaProblem) -> SchemaError {
        SchemaError {
            origin: self.origin.to_string(),
            line,
            section: section.to_string(),
            problem: Box::new(problem),
        }
    }
}

/// A value and its line.
#[derive(Clone, Debug)]
pub(super) struct Located<T> {
    pub(super) value: T,
    pub(super) line: usize,
}

/// One TOML table, with its name in messages.
pub(super) struct SchemaSection<'a> {
    pub(super) document: &'a SchemaText<'a>,
    pub(super) name: String,
    pub(super) line: usize,
    table: &'a DeTable<'a>,
}

impl<'a> SchemaSection<'a> {
    /// Refuses a table with keys other than the known ones.
    pub(super) fn new(
        document: &'a SchemaText<'a>,
        name: &str,
        span: Range<usize>,
        table: &'a DeTable<'a>,
        keys: &Keys,
    ) -> Result<Self, SchemaError> {
        let section = Self { document, name: name.to_string(), line: document.line(span), table };
        let known = keys.known(document.version);
        match table.keys().find(|key| !known.iter().any(|known| known == key.get_ref().as_ref())) {
            None => Ok(section),
            Some(key) => {
                let problem = keys.problem(key.get_ref(), document.version);
                Err(section.refuse(document.line(key.span()), problem))
            }
        }
    }

    pub(super) fn refuse(&self, line: usize, problem: SchemaProblem) -> SchemaError {
        self.document.refuse(line, &self.name, problem)
    }

    pub(super) fn lacks(&self, key: &'static str, expected: &'static str) -> SchemaError {
        self.refuse(self.line, SchemaProblem::MissingKey { key, expected })
    }

    /// Refuses `key`, which contradicts another key of the section.
    pub(super) fn contradicts(&self, key: &str, other: &str, hint: impl Into<String>) -> SchemaError {
        let (first, second) = (self.statement(key), self.statement(other));
        let problem = SchemaProblem::Contradiction { first, second, hint: hint.into() };
        self.refuse(self.line_of(key), problem)
    }

    /// The key in backticks, with its value if that is a word.
    fn statement(&self, key: &str) -> String {
        match self.table.get(key).map(Spanned::get_ref) {
            Some(DeValue::String(word)) => format!("`{key} = \"{word}\"`"),
            Some(DeValue::Boolean(truth)) => format!("`{key} = {truth}`"),
            _ => format!("`{key}`"),
        }
    }

    pub(super) fn out_of_range(
        &self,
        key: &'static str,
        line: usize,
        found: impl Display,
        expected: impl Display,
    ) -> SchemaError {
        let (found, expected) = (found.to_string(), expected.to_string());
        self.refuse(line, SchemaProblem::OutOfRange { key, found, expected })
    }

    pub(super) fn wrong_type(
        &self,
        key: &'static str,
        value: &Value<'_>,
        expected: &'static str,
    ) -> SchemaError {
        let found = match value.get_ref() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let line = self.document.line(value.span());
        self.refuse(line, SchemaProblem::WrongType { key, found, expected })
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    pub(super) fn value(&self, key: &str) -> Option<&'a Value<'a>> {
        self.table.get(key)
    }

    /// The line of the key's value, or of the section.
    pub(super) fn line_of(&self, key: &str) -> usize {
        self.table.get(key).map_or(self.line, |value| self.document.line(value.span()))
    }

    pub(super) fn table(
        &self,
        key: &'static str,
        name: &str,
        keys: &Keys,
    ) -> Result<Option<SchemaSection<'a>>, SchemaError> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.wrong_type(key, value, "a table"));
        };
        SchemaSection::new(self.document, name, value.span(), table, keys).map(Some)
    }

    pub(super) fn tables(
        &self,
        key: &'static str,
        name: &str,
        keys: &Keys,
    ) -> Result<Vec<SchemaSection<'a>>, SchemaError> {
        let Some(value) = self.table.get(key) else {
            return Ok(Vec::new());
        };
        let expected = "tables, each under its own double brackets";
        let DeValue::Array(tables) = value.get_ref() else {
            return Err(self.wrong_type(key, value, expected));
        };
        tables
            .iter()
            .map(|value| match value.get_ref() {
                DeValue::Table(table) => SchemaSection::new(self.document, name, value.span(), table, keys),
                _ => Err(self.wrong_type(key, value, expected)),
            })
            .collect()
    }

    /// A text, or a number or truth value as written.
    pub(super) fn as_text(
        &self,
        key: &'static str,
        value: &Value<'_>,
    ) -> Result<Located<String>, SchemaError> {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_string(),
            DeValue::Float(number) => number.as_str().to_string(),
            DeValue::Boolean(truth) => truth.to_string(),
            _ => return Err(self.wrong_type(key, value, "text or a number")),
        };
        Ok(Located { value: text, line: self.document.line(value.span()) })
    }

    pub(super) fn text(&self, key: &'static str) -> Result<Option<Located<String>>, SchemaError> {
        self.table.get(key).map(|value| self.as_text(key, value)).transpose()
    }

    pub(super) fn plain_text(&self, key: &'static str) -> Result<Option<String>, SchemaError> {
        Ok(self.text(key)?.map(|text| text.value))
    }

    pub(super) fn required_text(
        &self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<Located<String>, SchemaError> {
        self.text(key)?.ok_or_else(|| self.lacks(key, expected))
    }

    /// The meaning of a word from a fixed list.
    pub(super) fn word<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, SchemaError> {
        let Some(text) = self.text(key)? else {
            return Ok(None);
        };
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text.value) {
            return Ok(Some(*meaning));
        }
        let known = words.iter().map(|(word, _)| word.to_string()).collect();
        let found = text.value;
        Err(self.refuse(text.line, SchemaProblem::UnknownWord { key, found, known }))
    }

    pub(super) fn flag(&self, key: &'static str) -> Result<bool, SchemaError> {
        let Some(value) = self.table.get(key) else {
            return Ok(false);
        };
        value.get_ref().as_bool().ok_or_else(|| self.wrong_type(key, value, "true or false"))
    }

    pub(super) fn count(&self, key: &'static str) -> Result<Option<u64>, SchemaError> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let text = self.as_text(key, value)?;
        text.value.parse().map(Some).map_err(|_| self.wrong_type(key, value, "a whole number"))
    }

    /// A finite number, trimmed, that `is` accepts.
    pub(super) fn number(
        &self,
        key: &'static str,
        is: impl Fn(f64) -> bool,
        expected: &str,
    ) -> Result<Option<f64>, SchemaError> {
        let Some(text) = self.text(key)? else {
            return Ok(None);
        };
        match parse_number(&text.value).filter(|&number| is(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.out_of_range(key, text.line, text.value, expected)),
        }
    }

    pub(super) fn texts(&self, key: &'static str) -> Result<Vec<Located<String>>, SchemaError> {
        self.table.get(key).map_or(Ok(Vec::new()), |value| self.as_texts(key, value))
    }

    /// Texts, trimmed and distinct.
    pub(super) fn distinct_texts(&self, key: &'static str) -> Result<Vec<Located<String>>, SchemaError> {
        self.table.get(key).map_or(Ok(Vec::new()), |value| self.as_distinct_texts(key, value))
    }

    fn as_texts(&self, key: &'static str, value: &Value<'_>) -> Result<Vec<Located<String>>, SchemaError> {
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong_type(key, value, "a list"));
        };
        items.iter().map(|item| self.as_text(key, item)).collect()
    }

    pub(super) fn as_distinct_texts(
        &self,
        key: &'static str,
        value: &Value<'_>,
    ) -> Result<Vec<Located<String>>, SchemaError> {
        let mut texts = self.as_texts(key, value)?;
        let mut seen = HashSet::new();
        for text in &mut texts {
            text.value = text.value.trim().to_string();
            if !seen.insert(text.value.clone()) {
                let problem = SchemaProblem::Repeated { name: text.value.clone() };
                return Err(self.refuse(text.line, problem));
            }
        }
        Ok(texts)
    }

    /// The names and values of a table whose keys are not fixed.
    pub(super) fn entries(
        &self,
        key: &'static str,
    ) -> Result<Vec<(Located<String>, &'a Value<'a>)>, SchemaError> {
        let Some(value) = self.table.get(key) else {
            return Ok(Vec::new());
        };
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.wrong_type(key, value, "a table"));
        };
        let entries = table.iter().map(|(name, value)| {
            let line = self.document.line(name.span());
            (Located { value: name.get_ref().to_string(), line }, value)
        });
        Ok(entries.collect())
    }

    /// Two finite numbers in ascending order.
    pub(super) fn range(&self, key: &'static str) -> Result<Option<[f64; 2]>, SchemaError> {
        self.ends(key, parse_number, "two finite numbers")
    }

    /// Two numbers in ascending order, either of which may be infinite.
    pub(super) fn open_range(&self, key: &'static str) -> Result<Option<[f64; 2]>, SchemaError> {
        let number = |text: &str| text.parse().ok().filter(|number: &f64| !number.is_nan());
        self.ends(key, number, "two numbers, `-inf` or `inf` where there is no end")
    }

    fn ends(
        &self,
        key: &'static str,
        number: impl Fn(&str) -> Option<f64>,
        expected: &'static str,
    ) -> Result<Option<[f64; 2]>, SchemaError> {
        if !self.has(key) {
            return Ok(None);
        }
        let ends = self.texts(key)?;
        let numbers: Option<Vec<f64>> = ends.iter().map(|end| number(&end.value)).collect();
        match numbers.as_deref() {
            Some(&[low, high]) if low <= high && low < f64::INFINITY && high > f64::NEG_INFINITY => {
                Ok(Some([low, high]))
            }
            Some(&[low, high]) => {
                let (low, high) = (low.to_string(), high.to_string());
                Err(self.refuse(self.line_of(key), SchemaProblem::EmptyRange { key, low, high }))
            }
            _ => {
                let found: Vec<&str> = ends.iter().map(|end| end.value.as_str()).collect();
                let found = format!("[{}]", found.join(", "));
                Err(self.out_of_range(key, self.line_of(key), found, expected))
            }
        }
    }
}
