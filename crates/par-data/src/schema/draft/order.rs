//! Categories whose order is known.

use super::names;
use crate::schema::parse::parse_number;

/// Words for places in an order, from low to high; words for the same place are separated by `|`.
const LADDERS: [&[&str]; 6] = [
    &["no|n|false|f|absent", "yes|y|true|t|present"],
    &[
        "none|very low|very poor|very bad",
        "low|poor|bad|little|small|minor",
        "medium|moderate|middle|mid|fair|average|some",
        "high|good|large|big|quite rich|major",
        "very high|very good|excellent|rich|very large",
    ],
    &[
        "preschool|none|no schooling|illiterate|less than primary",
        "1st 4th|primary|primary school|elementary|elementary school",
        "5th 6th",
        "7th 8th|lower secondary|middle school|basic",
        "9th",
        "10th",
        "11th|some high school",
        "12th|no diploma|not graduate",
        "hs grad|high school|highschool|high school graduate|secondary|secondary school|high school diploma|upper secondary",
        "some college|vocational|incomplete higher",
        "assoc voc|associate|associate degree|associates",
        "assoc acdm",
        "bachelors|bachelor|college|college graduate|university|graduate|tertiary|higher|higher education|undergraduate",
        "masters|master|postgraduate|graduate school|advanced degree",
        "prof school|professional",
        "doctorate|phd|doctoral|academic degree",
    ],
    &["never", "rarely|seldom", "sometimes|occasionally", "often|frequently", "always"],
    &["unskilled", "semi skilled", "skilled", "highly skilled"],
    &["junior", "mid level", "senior"],
];

/// The categories from low to high, if every one of them has a known place, or they are intervals of numbers.
pub(super) fn in_order<'a>(values: &[&'a str]) -> Option<Vec<&'a str>> {
    if values.len() < 2 {
        return None;
    }
    let numbers: Option<Vec<f64>> = values.iter().map(|value| parse_number(value)).collect();
    let places = numbers
        .filter(|_| values.len() == 2)
        .or_else(|| {
            LADDERS.iter().find_map(|ladder| values.iter().map(|value| place(ladder, value)).collect())
        })
        .or_else(|| values.iter().map(|value| interval(value)).collect::<Option<Vec<f64>>>())?;
    let mut order: Vec<(f64, &str)> = places.into_iter().zip(values.iter().copied()).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let distinct = order.windows(2).all(|pair| pair[0].0 < pair[1].0);
    distinct.then(|| order.into_iter().map(|(_, value)| value).collect())
}

fn place(ladder: &[&str], value: &str) -> Option<f64> {
    let value = names::words(&value.to_lowercase()).join(" ");
    // Numbers are words of their own there: `1st 4th` is `1 st 4 th`.
    let same = |word: &str| names::words(word).join(" ") == value;
    ladder.iter().position(|words| words.split('|').any(same)).map(|place| place as f64)
}

/// The place of an interval such as `<100`, `100-500`, `500 to 1000` or `>=1000`, and of `none` before them.
fn interval(value: &str) -> Option<f64> {
    let text = value.trim().to_lowercase();
    let digits = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let length = text[start..].find(|c| !digits(c)).unwrap_or(text.len() - start);
    let number = parse_number(&text[start..start + length].replace(',', ""))?;
    let before = &text[..start];
    let is_below = ["<", "less", "under", "below", "up to"].iter().any(|word| before.contains(word));
    let is_above =
        text.contains('>') || text.ends_with('+') || before.contains("over") || before.contains("more");
    let is_between = text[start + length..].contains(|c: char| c.is_ascii_digit());
    if !is_below && !is_above && !is_between {
        return None;
    }
    let half = number.abs().max(1.0) * 1e-6;
    Some(if is_below && !is_between {
        number - half
    } else if is_above {
        number + half
    } else {
        number
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_orders_are_found_and_others_are_not() {
        for (values, expected) in [
            (vec!["yes", "no"], Some("no yes")),
            (vec!["high", "low", "medium"], Some("low medium high")),
            (vec!["Masters", "HS-grad", "Bachelors"], Some("HS-grad Bachelors Masters")),
            (vec![">=1000", "<100", "100-500", "500-1000"], Some("<100 100-500 500-1000 >=1000")),
            (vec!["1", "0"], Some("0 1")),
            (vec!["2", "1", "3"], None),
            (vec!["rent", "own"], None),
            (vec!["A11", "A12"], None),
            (vec!["low", "tall"], None),
            (vec!["low", "poor"], None),
            (vec!["one"], None),
        ] {
            assert_eq!(in_order(&values).map(|order| order.join(" ")).as_deref(), expected, "{values:?}");
        }
    }
}
