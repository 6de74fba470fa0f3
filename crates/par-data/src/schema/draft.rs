//! Drafts a schema from a table, for a person to correct.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::parse::{MISSING_TEXT, parse_number, same_numbers};
use crate::error::Error;
use crate::table::{Batch, Table};

/// Largest number of distinct texts of a feature.
const MAX_DISTINCT: usize = 200;
/// Largest number of classes of a label.
const MAX_CLASSES: usize = 10;
const ROWS_PER_BATCH: usize = 4096;

const LABEL_NAMES: [&str; 14] = [
    "class",
    "label",
    "target",
    "y",
    "outcome",
    "default",
    "income",
    "decision",
    "approved",
    "loan_status",
    "status",
    "risk",
    "result",
    "churn",
];
/// Words in names of columns whose numbers are never negative.
const NEVER_NEGATIVE: [&str; 16] = [
    "age",
    "amount",
    "count",
    "days",
    "dependants",
    "dependents",
    "duration",
    "height",
    "hours",
    "minutes",
    "months",
    "price",
    "salary",
    "wage",
    "weight",
    "years",
];
/// Upper end of the range of ages, in years.
const OLDEST: f64 = 120.0;
const ADVICE: &str = "Correct what is wrong, above all:
# - [label]: is it the right column, and `favourable` what a person wants?
# - kind: nominal, ordinal (list `values` from low to high), discrete or continuous
# - immutable = true for what nobody can change, monotone = \"increasing\" or \"decreasing\"
#   for what changes in one direction only, `bounds` for the numbers that may be advised
# - range: the numbers that the column can hold, `inf` for no end; a row with another is an error
# - rules, for what rises only together:
#     [[rule]]
#     if_increases = \"education\"
#     must_increase = \"age\"
";
const ID_NAMES: [&str; 7] = ["", "id", "index", "row", "row_id", "uuid", "key"];

/// Drafts the TOML text of a schema: kinds, values, ranges and the label as far as the cells show them.
/// Comments ask for the rest. The text is a valid schema.
///
/// One pass, in memory that does not grow with the number of rows.
///
/// # Errors
/// When the table cannot be read, has no rows, or has no column that can be a feature.
pub fn draft(table: Table) -> Result<String, Error> {
    let (origin, columns) = (table.origin().to_string(), table.columns().to_vec());
    draft_rows(&origin, &columns, None, table.batches(ROWS_PER_BATCH))
}

/// The same from rows that are not from a file; `origin` is the table's name, and `label` the label's column,
/// if it is known.
///
/// # Errors
/// As [`draft`].
pub fn draft_rows(
    origin: &str,
    columns: &[String],
    label: Option<usize>,
    batches: impl IntoIterator<Item = Result<Batch, Error>>,
) -> Result<String, Error> {
    let origin = Arc::<str>::from(origin);
    let mut profiles: Vec<Profile> = columns.iter().map(|name| Profile::new(name)).collect();
    let mut rows = 0u64;
    for batch in batches {
        let batch = batch?;
        rows += batch.rows() as u64;
        for (column, profile) in profiles.iter_mut().enumerate() {
            for row in 0..batch.rows() {
                profile.add(batch.cell(row, column));
            }
        }
    }
    if rows == 0 {
        return Err(Error::NoRows { origin });
    }

    let label = label.or_else(|| likely_label(&profiles));
    let role = |column: usize, profile: &Profile| match profile.special() {
        _ if Some(column) == label => Role::Label,
        Some(key) => Role::Special(key),
        None => profile.left_out().map_or(Role::Feature, Role::LeftOut),
    };
    let mut special = Vec::new();
    let mut features = Vec::new();
    let mut left_out = Vec::new();
    for (column, profile) in profiles.iter().enumerate() {
        match role(column, profile) {
            Role::Label => {}
            Role::Special(key) if special.iter().any(|(taken, _)| *taken == key) => {
                left_out.push((profile, "another column has this role".to_string()));
            }
            Role::Special(key) => special.push((key, profile)),
            Role::Feature => features.push(profile),
            Role::LeftOut(why) => left_out.push((profile, why)),
        }
    }
    if features.is_empty() {
        return Err(Error::NothingToDescribe { origin });
    }
    Ok(toml(&origin, rows, label.map(|column| &profiles[column]), &special, &features, &left_out))
}

enum Role {
    Label,
    Special(&'static str),
    Feature,
    LeftOut(String),
}

/// The properties of a column's cells.
struct Profile {
    name: String,
    /// The distinct texts, up to one more than [`MAX_DISTINCT`].
    texts: BTreeSet<String>,
    /// The distinct numbers in ascending order, up to one more than [`MAX_DISTINCT`]: `1`, `1.0` and `01` are
    /// one number.
    numbers: Vec<f64>,
    missing: bool,
    numeric: bool,
    whole: bool,
    /// Whether each number is one above the last, as a row number is.
    counting: bool,
    low: f64,
    high: f64,
}

impl Profile {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_string(),
            texts: BTreeSet::new(),
            numbers: Vec::new(),
            missing: false,
            numeric: true,
            whole: true,
            counting: true,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        }
    }

    fn add(&mut self, cell: &str) {
        let text = cell.trim();
        if MISSING_TEXT.contains(&text) {
            self.missing = true;
            return;
        }
        match parse_number(text) {
            Some(number) if self.numeric => {
                self.counting &= self.texts.is_empty() || number == self.high + 1.0;
                self.whole &= number.fract() == 0.0;
                self.low = self.low.min(number);
                self.high = self.high.max(number);
                self.add_number(number);
            }
            Some(_) => {}
            None => self.numeric = false,
        }
        if self.texts.len() <= MAX_DISTINCT && !self.texts.contains(text) {
            self.texts.insert(text.to_string());
        }
    }

    fn add_number(&mut self, number: f64) {
        let at = self.numbers.partition_point(|other| *other < number);
        if self.numbers.get(at) != Some(&number) && self.numbers.len() <= MAX_DISTINCT {
            self.numbers.insert(at, number);
        }
    }

    /// Whether the values are numbers rather than categories written as numbers.
    fn is_of_numbers(&self) -> bool {
        self.numeric && self.numbers.len() > 2
    }

    /// Number of distinct values, up to one more than [`MAX_DISTINCT`]: texts for categories, numbers
    /// otherwise.
    fn distinct(&self) -> usize {
        if self.is_of_numbers() { self.numbers.len() } else { self.texts.len() }
    }

    fn special(&self) -> Option<&'static str> {
        let name = self.name.to_lowercase();
        if name == "fold" {
            Some("fold")
        } else if name == "subtest" {
            Some("subtest")
        } else {
            let many = self.distinct() > MAX_CLASSES;
            let named = ID_NAMES.contains(&name.as_str()) || name.ends_with("_id") || name.ends_with(" id");
            (named || self.numeric && self.counting && many).then_some("id")
        }
    }

    fn left_out(&self) -> Option<String> {
        match self.distinct() {
            0 => Some("no value in any row".to_string()),
            1 => Some("the same value in every row".to_string()),
            n if n > MAX_DISTINCT && !self.is_of_numbers() => {
                Some(format!("text with more than {MAX_DISTINCT} different values"))
            }
            _ => None,
        }
    }

    /// The range of the numbers, if the name implies one: an age is from 0 to 120.
    fn range(&self) -> Option<[f64; 2]> {
        let name = self.name.to_lowercase();
        let words: Vec<&str> =
            name.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
        let is_any = |known: &[&str]| words.iter().any(|word| known.contains(word));
        if self.low < 0.0 || !is_any(&NEVER_NEGATIVE) {
            return None;
        }
        let in_years = words[0] == "age" && !is_any(&["days", "months"]);
        Some([0.0, if in_years && self.high <= OLDEST { OLDEST } else { f64::INFINITY }])
    }

    /// The distinct texts; numbers in ascending order.
    fn values(&self) -> Vec<&String> {
        let mut values: Vec<&String> = self.texts.iter().collect();
        if self.numeric {
            let number = |text: &String| parse_number(text).unwrap_or(f64::INFINITY);
            values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        values
    }
}

/// The column whose name is that of a label, otherwise the last one with few values.
fn likely_label(profiles: &[Profile]) -> Option<usize> {
    let can_be = |profile: &Profile| {
        (2..=MAX_CLASSES).contains(&profile.distinct()) && !profile.missing && profile.special().is_none()
    };
    let named = |name: &str| {
        profiles.iter().position(|profile| profile.name.to_lowercase() == name && can_be(profile))
    };
    LABEL_NAMES.iter().find_map(|name| named(name)).or_else(|| profiles.iter().rposition(can_be))
}

fn toml(
    origin: &str,
    rows: u64,
    label: Option<&Profile>,
    special: &[(&str, &Profile)],
    features: &[&Profile],
    left_out: &[(&Profile, String)],
) -> String {
    let mut lines = vec![
        format!("# Drafted from {}. {ADVICE}", quoted(origin)),
        format!("file = {}", quoted(origin)),
        format!("rows = {rows}"),
    ];
    if !left_out.is_empty() {
        lines.push(String::new());
        lines.push("# Left out:".to_string());
        lines.extend(left_out.iter().map(|(profile, why)| format!("# - {}: {why}", quoted(&profile.name))));
    }
    if !special.is_empty() {
        lines.push("\n[columns]".to_string());
        lines.extend(special.iter().map(|(key, profile)| format!("{key} = {}", quoted(&profile.name))));
    }
    match label {
        Some(label) => {
            let classes = label.values();
            lines.push("\n[label]".to_string());
            lines.push(format!("column = {}", quoted(&label.name)));
            lines.push(format!("classes = {}", list(&classes)));
            let last = classes.last().map_or("", |class| class.as_str());
            lines.push(format!("favourable = {}  # a guess", quoted(last)));
        }
        None => lines.push(
            "\n# No column looks like a label; add a [label] with column, classes, favourable.".to_string(),
        ),
    }
    for profile in features {
        lines.push("\n[[feature]]".to_string());
        lines.push(format!("name = {}", quoted(&profile.name)));
        if profile.is_of_numbers() {
            if let Some([first, second]) = same_numbers(&profile.values()).first() {
                let [first, second] = [quoted(first), quoted(second)];
                lines.push(format!("# {first} and {second} are one number here; nominal keeps them apart"));
            }
            let kind = if profile.whole { "discrete" } else { "continuous" };
            lines.push(format!("kind = \"{kind}\""));
            lines.push(format!("observed = [{}, {}]", number(profile.low), number(profile.high)));
            lines.extend(profile.range().map(|[low, high]| format!("range = [{low}, {high}]")));
        } else {
            lines.push("kind = \"nominal\"".to_string());
            lines.push(format!("values = {}", list(&profile.values())));
        }
        if profile.missing {
            lines.push("missing = true".to_string());
        }
        lines.push("immutable = false".to_string());
        lines.push("monotone = \"none\"".to_string());
    }
    lines.push(String::new());
    lines.join("\n")
}

/// A basic TOML string, on one line.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => {
                quoted.push_str(&format!("\\u{:04X}", u32::from(control)));
            }
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

fn list(values: &[&String]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| quoted(value)).collect();
    format!("[{}]", quoted.join(", "))
}

/// A TOML number: whole numbers without a point, very large ones with an exponent.
fn number(value: f64) -> String {
    if value.abs() < 1e15 { value.to_string() } else { format!("{value:e}") }
}
