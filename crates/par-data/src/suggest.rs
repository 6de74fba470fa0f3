//! The tail of an error message: the near miss, or what would have been accepted.

/// At most this many alternatives are named in a message.
const LISTED: usize = 8;

/// ``, did you mean `x`?`` when something known is close to `found`, otherwise the known names.
pub(crate) fn suggest(found: &str, known: &[String]) -> String {
    match nearest(found, known) {
        Some(name) => format!(", did you mean `{name}`?"),
        None if known.is_empty() => String::new(),
        None => format!(", expected {}", one_of(known)),
    }
}

/// The known names in backticks, the tail of a long list only counted.
pub(crate) fn one_of(known: &[String]) -> String {
    let names: Vec<String> = known
        .iter()
        .take(LISTED)
        .map(|name| format!("`{name}`"))
        .collect();
    let names = names.join(", ");
    match known.len() {
        1 => names,
        n if n > LISTED => format!("one of {names} and {} more", n - LISTED),
        _ => format!("one of {names}"),
    }
}

/// The known name with the fewest edits, when they are few enough to be a slip.
fn nearest<'a>(found: &str, known: &'a [String]) -> Option<&'a str> {
    let wanted = found.trim().to_lowercase();
    let tolerated = wanted.chars().count() / 3;
    known
        .iter()
        .map(|name| {
            (
                strsim::damerau_levenshtein(&wanted, &name.trim().to_lowercase()),
                name,
            )
        })
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
    fn a_slip_is_answered_with_the_nearest_name() {
        assert_eq!(
            suggest("imutable", &names(&["immutable", "monotone"])),
            ", did you mean `immutable`?"
        );
        assert_eq!(suggest(" age", &names(&["Age"])), ", did you mean `Age`?");
    }

    #[test]
    fn something_else_entirely_is_answered_with_the_choices() {
        assert_eq!(
            suggest("zzz", &names(&["a", "b"])),
            ", expected one of `a`, `b`"
        );
        let many: Vec<String> = (0..10).map(|n| format!("value {n}")).collect();
        assert!(suggest("zzz", &many).ends_with("`value 7` and 2 more"));
    }
}
