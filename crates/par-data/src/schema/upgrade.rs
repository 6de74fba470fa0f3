//! From schema 1 to schema 2, by editing the text: comments, order and layout stay.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::Schema;
use super::section::Value;
use crate::error::Error;

/// The same schema in version 2. `origin` is its name in messages.
///
/// ```
/// let first = "[[feature]]\nname = \"age\"   # in years\nkind = \"discrete\"\nimmutable = true\n";
/// let second = par_data::schema::upgrade(first, "people.toml")?;
/// assert!(second.starts_with("version = 2\n"));
/// assert!(second.ends_with("name = \"age\"   # in years\nkind = \"discrete\"\nchange = \"never\"\n"));
/// # Ok::<(), par_data::Error>(())
/// ```
///
/// # Errors
/// As [`Schema::parse`], when the schema has version 2 already, and when its TOML is written in a way that cannot be
/// edited.
pub fn upgrade(text: &str, origin: &str) -> Result<String, Error> {
    let schema = Schema::parse(text, origin)?;
    if schema.version() != 1 {
        return Err(Error::AlreadyUpgraded { origin: origin.into(), version: schema.version() });
    }
    let not_edited = || Error::NotUpgraded { origin: origin.into() };
    let root = DeTable::parse(text).map_err(|_| not_edited())?;
    let upgraded = Edits::new(text, root.get_ref()).apply();
    let same = Schema::parse(&upgraded, origin).is_ok_and(|upgraded| upgraded.means_the_same(&schema));
    if same { Ok(upgraded) } else { Err(not_edited()) }
}

/// Replacements of ranges of a text.
struct Edits<'a> {
    text: &'a str,
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Edits<'a> {
    fn new(text: &'a str, root: &DeTable<'_>) -> Self {
        let mut edits = Self { text, edits: Vec::new() };
        edits.version(root);
        for feature in tables(root, "feature") {
            edits.feature(feature);
        }
        if let Some((key, rules)) = root.get_key_value("rule") {
            edits.rules(key.span(), rules, tables(root, "rule"));
        }
        edits
    }

    fn apply(mut self) -> String {
        self.edits.sort_by_key(|(range, _)| range.start);
        let mut upgraded = self.text.to_string();
        for (range, with) in self.edits.iter().rev() {
            upgraded.replace_range(range.clone(), with);
        }
        upgraded
    }

    fn replace(&mut self, range: Range<usize>, with: impl Into<String>) {
        self.edits.push((range, with.into()));
    }

    fn version(&mut self, root: &DeTable<'_>) {
        match root.get("version") {
            Some(version) => self.replace(version.span(), "2"),
            None => {
                let at = self.top();
                let newline = self.newline();
                let blank = if self.text[at..].starts_with(['\r', '\n']) { "" } else { newline };
                self.replace(at..at, format!("version = 2{newline}{blank}"));
            }
        }
    }

    /// Where the first key goes: after the comments that open the file, if a blank line ends them.
    fn top(&self) -> usize {
        let start = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut at = start;
        for line in self.text[start..].split_inclusive('\n') {
            match line.trim() {
                "" if at > start => return at + line.len(),
                comment if comment.starts_with('#') => at += line.len(),
                _ => break,
            }
        }
        start
    }

    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    fn feature(&mut self, feature: &Value<'_>) {
        let DeValue::Table(table) = feature.get_ref() else { return };
        let inline = self.text[feature.span()].starts_with('{');
        let statement = |key: &str| {
            table.get_key_value(key).map(|(key, value)| (key.span().start..value.span().end, value))
        };
        let immutable = statement("immutable");
        let is_immutable =
            immutable.as_ref().is_some_and(|(_, value)| value.get_ref().as_bool() == Some(true));
        let monotone = statement("monotone");
        let change = match monotone.as_ref().and_then(|(_, value)| value.get_ref().as_str()) {
            _ if is_immutable => "change = \"never\"",
            Some("increasing") => "change = \"increase\"",
            Some("decreasing") => "change = \"decrease\"",
            _ => "change = \"free\"",
        };
        match (immutable, monotone) {
            (Some((kept, _)), Some((dropped, _))) => {
                self.replace(kept, change);
                self.remove(dropped, inline);
            }
            (Some((kept, _)), None) | (None, Some((kept, _))) => self.replace(kept, change),
            (None, None) => {
                if let Some((kind, _)) = statement("kind") {
                    self.insert_after(kind, change, inline);
                }
            }
        }
    }

    fn rules(&mut self, key: Range<usize>, rules: &Value<'_>, tables: &[Value<'_>]) {
        if self.text[rules.span()].starts_with("[[") && rules.span().start < key.start {
            for table in tables {
                self.replace(table.span(), self.text[table.span()].replacen("rule", "relation", 1));
            }
        } else {
            self.replace(key, "relation");
        }
    }

    /// Removes a statement, and its line if nothing else is on it.
    fn remove(&mut self, statement: Range<usize>, inline: bool) {
        let (before, after) = (&self.text[..statement.start], &self.text[statement.end..]);
        if inline {
            let gap = after.len() - after.trim_start().len();
            let range = match after.trim_start().strip_prefix(',') {
                Some(rest) => {
                    statement.start..statement.end + gap + 1 + (rest.len() - rest.trim_start().len())
                }
                None => before.rfind(',').unwrap_or(statement.start)..statement.end,
            };
            return self.replace(range, "");
        }
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = after.find('\n').map_or(self.text.len(), |newline| statement.end + newline + 1);
        if self.text[statement.end..line_end].trim().is_empty() {
            self.replace(line_start..line_end, "");
        } else {
            let comment = after.trim_start_matches([' ', '\t']);
            self.replace(statement.start..self.text.len() - comment.len(), "");
        }
    }

    /// Inserts a statement after another one: on its own line, or behind a comma.
    fn insert_after(&mut self, other: Range<usize>, statement: &str, inline: bool) {
        if inline {
            return self.replace(other.end..other.end, format!(", {statement}"));
        }
        let line_start = self.text[..other.start].rfind('\n').map_or(0, |newline| newline + 1);
        let indent: String =
            self.text[line_start..].chars().take_while(|letter| matches!(letter, ' ' | '\t')).collect();
        let newline = self.newline();
        match self.text[other.end..].find('\n') {
            Some(end) => {
                let at = other.end + end + 1;
                self.replace(at..at, format!("{indent}{statement}{newline}"));
            }
            None => self.replace(self.text.len()..self.text.len(), format!("{newline}{indent}{statement}")),
        }
    }
}

/// The tables of a list.
fn tables<'t>(root: &'t DeTable<'t>, key: &str) -> &'t [Value<'t>] {
    match root.get(key).map(toml::Spanned::get_ref) {
        Some(DeValue::Array(tables)) => tables,
        _ => &[],
    }
}
