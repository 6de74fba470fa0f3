//! Words in the names of columns.

/// The words of a name in lower case: `loanAmount`, `loan_amount` and `Loan amount` are `loan`, `amount`;
/// numbers are words of their own.
pub(super) fn words(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &character) in characters.iter().enumerate() {
        let starts = at.checked_sub(1).is_some_and(|before| {
            let (before, next) = (characters[before], characters.get(at + 1));
            character.is_numeric() != before.is_numeric()
                || character.is_uppercase() && !before.is_uppercase()
                // The last capital of several begins a word: `FICOScore`.
                || character.is_uppercase() && next.is_some_and(|next| next.is_lowercase())
        });
        if (starts || !character.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Whether the name has one of the phrases, which are separated by commas. `=age` is the whole name, `age` a
/// part of it: whole words one after the other, also in the plural or written as one word.
pub(super) fn has_any(words: &[String], phrases: &str) -> bool {
    phrases.split(',').map(str::trim).filter(|phrase| !phrase.is_empty()).any(|phrase| {
        match phrase.strip_prefix('=') {
            Some(whole) => length_at(words, whole) == Some(words.len()),
            None => (0..words.len()).any(|start| length_at(&words[start..], phrase).is_some()),
        }
    })
}

/// The number of words that make up the phrase at the start of `words`.
fn length_at(words: &[String], phrase: &str) -> Option<usize> {
    joined_length(words, &phrase.split(' ').collect::<String>())
}

/// The number of words, each as it is or in the singular, that joined are `phrase`.
fn joined_length(words: &[String], phrase: &str) -> Option<usize> {
    if phrase.is_empty() {
        return Some(0);
    }
    let (word, others) = words.split_first()?;
    let singular = word.strip_suffix('s').filter(|singular| singular.len() > 1);
    [Some(word.as_str()), singular].into_iter().flatten().find_map(|word| {
        let length = joined_length(others, phrase.strip_prefix(word)?)?;
        Some(length + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_split_where_a_reader_would() {
        for (name, expected) in [
            ("loan_amount", "loan amount"),
            ("LoanAmount", "loan amount"),
            ("FICOScore", "fico score"),
            ("NumberOfTime30-59DaysPastDue", "number of time 30 59 days past due"),
            ("DAYS_BIRTH", "days birth"),
            ("Present employment since", "present employment since"),
            ("", ""),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn phrases_are_whole_words() {
        for (name, phrase, expected) in [
            ("loan_amount", "loan amount", true),
            ("loanamount", "loan amount", true),
            ("the loan amounts", "loan amount", true),
            ("years_at_job", "year at", true),
            ("months_since", "month since", true),
            ("co_applicant", "coapplicant", true),
            ("mileage", "age", false),
            ("wages", "age", false),
            ("rate", "late", false),
            ("amount", "loan amount", false),
            ("amount", "loan amount, amount", true),
            ("Age", "=age", true),
            ("age of car", "=age", false),
            ("anything", "", false),
        ] {
            assert_eq!(has_any(&words(name), phrase), expected, "{name}: {phrase}");
        }
    }
}
