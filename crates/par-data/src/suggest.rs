//! The end of an error message about a name: a near miss, or the names that are known.

/// Largest number of names in a message.
const LISTED: usize = 8;

/// The end of a message about an unknown name: ``, did you mean `x`?`` if a known name is close to `found`,
/// otherwise the known names.
///
/// ```
/// let known = ["age", "income"].map(String::from);
/// assert_eq!(par_data::suggest("Incom", &known), ", did you mean `income`?");
/// assert_eq!(par_data::suggest("zzz", &known), ", expected one of `age`, `income`");
/// ```
pub fn suggest(found: &str, known: &[String]) -> String {
    match nearest(found, known) {
        Some(name) => format!(", did you mean `{name}`?"),
        None if known.is_empty() => String::new(),
        None if known.len() == 1 => format!(", expected `{}`", known[0]),
        None => format!(", expected one of {}", listed(known)),
    }
}

/// The end of a message about an unknown key: a near miss, and all known keys.
pub(crate) fn suggest_key(found: &str, known: &[String]) -> String {
    match nearest(found, known) {
        Some(key) => format!(", did you mean `{key}`? The keys are {}", all(known)),
        None => format!(", expected one of {}", all(known)),
    }
}

/// The end of a message about an absent name: a near miss among the names in `there`, otherwise those names.
///
/// ```
/// let there = ["age", "income"].map(String::from);
/// assert_eq!(par_data::found_instead("Incom", &there), ", did you mean `income`?");
/// assert_eq!(par_data::found_instead("zzz", &there), ", found `age`, `income`");
/// ```
pub fn found_instead(wanted: &str, there: &[String]) -> String {
    match nearest(wanted, there) {
        Some(name) => format!(", did you mean `{name}`?"),
        None if there.is_empty() => String::new(),
        None => format!(", found {}", listed(there)),
    }
}

/// The names in backticks; the end of a long list is only counted.
pub(crate) fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// All names in backticks.
pub(crate) fn all(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The known name with the fewest edits, if they are few.
fn nearest<'a>(found: &str, known: &'a [String]) -> Option<&'a str> {
    let wanted = found.trim().to_lowercase();
    let tolerated = wanted.chars().count() / 3;
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&wanted, &name.trim().to_lowercase()), name))
        .filter(|(edits, _)| *edits <= tolerated)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_typo_gets_the_nearest_name() {
        assert_eq!(suggest("imutable", &names(&["immutable", "monotone"])), ", did you mean `immutable`?");
        assert_eq!(suggest(" age", &names(&["Age"])), ", did you mean `Age`?");
    }

    #[test]
    fn another_name_gets_the_known_names() {
        assert_eq!(suggest("zzz", &names(&["a", "b"])), ", expected one of `a`, `b`");
        let many: Vec<String> = (0..10).map(|n| format!("value {n}")).collect();
        assert!(suggest("zzz", &many).ends_with("`value 7` and 2 more"));
    }
}
