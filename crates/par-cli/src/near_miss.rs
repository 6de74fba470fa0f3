//! The tail of an error message about a name: the near miss, or what would have been accepted.

/// At most this many alternatives are named.
const LISTED: usize = 8;

/// ``, did you mean `x`?`` when something known is close to `found`, otherwise the known names.
pub(crate) fn suggest(found: &str, known: &[String]) -> String {
    let wanted = found.trim().to_lowercase();
    let nearest = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&wanted, &name.trim().to_lowercase()), name))
        .filter(|(edits, _)| *edits <= wanted.chars().count() / 3)
        .min_by_key(|(edits, _)| *edits);
    if let Some((_, name)) = nearest {
        return format!(", did you mean `{name}`?");
    }
    let shown: Vec<String> = known.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    match known.len().saturating_sub(LISTED) {
        0 if shown.is_empty() => String::new(),
        0 => format!(", expected one of {}", shown.join(", ")),
        more => format!(", expected one of {} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn a_slip_gets_the_nearest_name_and_anything_else_the_choices() {
        let known = ["age", "income"].map(String::from);
        assert_eq!(suggest("Incom", &known), ", did you mean `income`?");
        assert_eq!(suggest("zzz", &known), ", expected one of `age`, `income`");
        assert_eq!(suggest("zzz", &[]), "");
    }
}
