//! The TOML text of a draft.

use super::Draft;
use super::decide::DraftedFeature;
use super::label::DraftedWanted;
use super::relations::Found;
use super::roles::Role;
use crate::schema::parse::{MISSING_TEXT, same_numbers};
use crate::schema::{Direction, Mutability};

const ADVICE: &str = "\
# Nothing changes here that nobody can change: what the draft does not know is undecided, and stays.
# Correct what is wrong, above all:
# - [label]: is it the right column, and `favourable` what a person wants?
# - change, of each feature: \"never\", \"free\", \"increase\", \"decrease\", \"with-time\" (a clock, with its `unit`)
#   or \"follows\" (a relation computes it); without it the feature is undecided
# - effort: \"easy\", \"some\", \"hard\" or \"very hard\"; takes: how long, such as \"6 months\"
# - kind: nominal, ordinal (list `values` from low to high), discrete or continuous
# - range: the numbers that the column can hold, `inf` for no end; a row with another is an error
# - bounds: the numbers that may be advised";

impl Draft {
    /// The TOML text.
    pub fn text(&self) -> String {
        let mut lines = self.head();
        self.write_columns(&mut lines);
        self.write_label(&mut lines);
        for feature in &self.features {
            self.write_feature(feature, &mut lines);
        }
        for found in &self.relations {
            self.write_relation(found, &mut lines);
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn head(&self) -> Vec<String> {
        let (rows, sampled) = (self.sample.seen(), self.sample.rows());
        let mut lines = vec![
            format!("# Drafted from {}.", quoted(&self.origin)),
            ADVICE.to_string(),
            "version = 2".to_string(),
            format!("file = {}", quoted(&self.origin)),
            format!("rows = {rows}"),
        ];
        if (sampled as u64) < rows {
            lines.push(format!(
                "# Relations, ids and duplicates were looked for in {sampled} rows, spread evenly."
            ));
        }
        let mut missing: Vec<&str> = MISSING_TEXT.to_vec();
        for feature in self.features.iter().filter(|feature| feature.kind.is_numeric()) {
            let texts = self.profiles[feature.column].no_numbers().unwrap_or_default();
            missing.extend(texts.iter().map(String::as_str));
        }
        missing.sort_unstable();
        missing.dedup();
        if missing.len() > MISSING_TEXT.len() {
            lines.push(format!("missing_text = {}  # some of it stands among numbers", list(&missing)));
        }
        lines
    }

    fn write_columns(&self, lines: &mut Vec<String>) {
        let with_roles = || self.profiles.iter().zip(&self.roles);
        let left_out = with_roles().filter_map(|(profile, role)| match role {
            Role::LeftOut(why) => Some(format!("# - {}: {why}", quoted(&profile.name))),
            _ => None,
        });
        let left_out: Vec<String> = left_out.collect();
        if !left_out.is_empty() {
            lines.push("\n# Left out:".to_string());
            lines.extend(left_out);
        }
        let special = with_roles().filter_map(|(profile, role)| match role {
            Role::Column(key) => Some(format!("{key} = {}", quoted(&profile.name))),
            _ => None,
        });
        let special: Vec<String> = special.collect();
        if !special.is_empty() {
            lines.push("\n[columns]".to_string());
            lines.extend(special);
        }
    }

    fn write_label(&self, lines: &mut Vec<String>) {
        let Some(label) = &self.label else {
            let advice = "\n# No column looks like a label; add a [label] with column, classes, favourable.";
            return lines.push(advice.to_string());
        };
        let profile = &self.profiles[label.column];
        lines.push("\n[label]".to_string());
        lines.push(format!("column = {}  # {}", quoted(&profile.name), label.why_column.text()));
        match &label.wanted {
            DraftedWanted::Number(goal) => {
                lines.push(format!("{} = {}", goal.side.key(), number(goal.bound)));
            }
            DraftedWanted::Classes { names, favourable, why } => {
                lines.push(format!("classes = {}", list(names)));
                let wanted: Vec<&str> = favourable.iter().map(|&class| names[class].as_str()).collect();
                let wanted = if let [one] = wanted[..] { quoted(one) } else { list(&wanted) };
                lines.push(format!("favourable = {wanted}  # {}", why.text()));
            }
        }
        if profile.missing > 0 {
            lines.push(format!("# {} rows have no label: leave them out before fitting.", profile.missing));
        }
    }

    fn write_feature(&self, feature: &DraftedFeature, lines: &mut Vec<String>) {
        let profile = &self.profiles[feature.column];
        lines.push("\n[[feature]]".to_string());
        lines.push(format!("name = {}", quoted(&profile.name)));
        if feature.kind.is_numeric()
            && let Some([first, second]) = same_numbers(&profile.values()).first()
        {
            let [first, second] = [quoted(first), quoted(second)];
            lines.push(format!("# {first} and {second} are one number here; nominal keeps them apart"));
        }
        lines.push(format!("kind = \"{}\"", feature.kind.name()));
        if feature.kind.is_numeric() {
            lines.push(format!("observed = [{}, {}]", number(profile.low), number(profile.high)));
            lines.extend(
                feature.range.map(|[low, high]| format!("range = [{}, {}]", number(low), number(high))),
            );
            if !feature.special.is_empty() {
                let special: Vec<String> = feature.special.iter().map(|special| number(*special)).collect();
                let special = special.join(", ");
                lines.push(format!("special = [{special}]  # frequent, and far from all other numbers"));
            }
        } else {
            let values: Vec<&str> = feature.values.iter().map(String::as_str).collect();
            lines.push(format!("values = {}", list(&values)));
        }
        lines.extend(feature.unit.map(|unit| format!("unit = \"{unit}\"")));
        if profile.missing > 0
            || feature.kind.is_numeric() && profile.no_numbers().is_some_and(|texts| !texts.is_empty())
        {
            lines.push("missing = true".to_string());
        }
        write_change(feature, lines);
    }

    fn write_relation(&self, found: &Found, lines: &mut Vec<String>) {
        let name = |feature: usize| quoted(&self.profiles[self.features[feature].column].name);
        let change = |feature: usize| self.features[feature].change;
        let of = found.of.map(name).join(", ");
        let key = found.shape.key();
        let share = match found.rows - found.kept {
            0 => format!("so in all {} rows looked at", found.rows),
            broken => format!("so in all but {broken} of {} rows looked at", found.rows),
        };
        let mut write =
            |statement: &str| lines.extend([format!("\n[[relation]]  # {share}"), statement.to_string()]);
        match (found.gives, found.of.map(change)) {
            (Some(gives), _) if change(gives) == Mutability::Follows => {
                write(&format!("{key} = [{of}]\ngives = {}", name(gives)));
            }
            (Some(gives), _) => lines.push(format!("\n# {key} = [{of}] gives {}: {share}", name(gives))),
            (None, [Mutability::Never, Mutability::Never]) => {}
            // Time alone would break it, and nothing that takes time could be advised.
            (None, [Mutability::WithTime, second]) if second != Mutability::WithTime => {
                lines.push(format!("\n# {key} = [{of}]: {share}; it needs two clocks"));
            }
            (None, _) => write(&format!("{key} = [{of}]")),
        }
    }
}

fn write_change(feature: &DraftedFeature, lines: &mut Vec<String>) {
    let word = match feature.change {
        Mutability::Never => "never",
        Mutability::Free => "free",
        Mutability::Increase => "increase",
        Mutability::Decrease => "decrease",
        Mutability::WithTime => "with-time",
        Mutability::Follows => "follows",
        Mutability::Undecided => {
            let words = if feature.has_order() {
                "\"never\", \"free\", \"increase\" or \"decrease\""
            } else {
                "\"never\" or \"free\""
            };
            return lines.push(format!("# change = {words}? Undecided: {}", feature.reason));
        }
    };
    lines.push(format!("change = \"{word}\"  # {}", feature.reason));
    let Some(act) = &feature.act else { return };
    lines.extend(act.bounds.map(|[low, high]| format!("bounds = [{}, {}]", number(low), number(high))));
    lines.push(format!("effort = \"{}\"", act.effort));
    lines.extend(act.takes.map(|takes| format!("takes = \"{takes}\"")));
    lines.extend(act.improves.filter(|_| feature.has_order()).map(|direction| match direction {
        Direction::Increase => "improves = \"increase\"".to_string(),
        Direction::Decrease => "improves = \"decrease\"".to_string(),
    }));
    lines.extend(act.by_lender.then(|| "who = \"lender\"".to_string()));
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

fn list<T: AsRef<str>>(values: &[T]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| quoted(value.as_ref())).collect();
    format!("[{}]", quoted.join(", "))
}

/// A TOML number: whole numbers without a point, very large ones with an exponent.
fn number(value: f64) -> String {
    if value.abs() < 1e15 || value.is_infinite() { value.to_string() } else { format!("{value:e}") }
}
