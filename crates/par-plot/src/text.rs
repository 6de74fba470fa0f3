//! Text for a terminal and numbers for readers: aligned columns, suitable units.

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// To the left.
    Left,
    /// To the right, as for numbers.
    Right,
}

/// The rows as lines, indented by two spaces, with aligned columns; the last alignment holds for all further
/// columns. Control characters in a cell become spaces.
pub fn aligned(sides: impl AsRef<[Align]>, rows: &[impl AsRef<[String]>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (column, cell) in row.as_ref().iter().enumerate() {
            widths.resize(widths.len().max(column + 1), 0);
            widths[column] = widths[column].max(cell.chars().count());
        }
    }
    let side = |column: usize| sides.as_ref().get(column).or(sides.as_ref().last()).copied();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.as_ref().iter().enumerate() {
            let cell = printable(cell);
            let padding = " ".repeat(widths[column] - cell.chars().count());
            line.push_str("  ");
            match side(column) {
                Some(Align::Right) => line.extend([padding, cell]),
                Some(Align::Left) | None => line.extend([cell, padding]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The text on one line, with spaces in place of characters that steer a terminal: what a file says must not.
pub fn printable(text: &str) -> String {
    text.replace(steers, " ")
}

/// The same for a text of several lines.
pub fn printable_lines(text: &str) -> String {
    text.replace(|found| steers(found) && found != '\n', " ")
}

/// Whether a character is a control, or turns the direction of those after it.
fn steers(found: char) -> bool {
    found.is_control()
        || matches!(found, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text as lines of at most `width` characters, each after `indent`; a longer word has a line of its own. Control
/// characters become spaces.
pub fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in printable(text).split_whitespace() {
        let length = indent.chars().count() + line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && length > width {
            lines.extend([indent, &line, "\n"]);
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.extend([indent, &line, "\n"]);
    }
    lines
}

/// A count with a comma between thousands.
pub fn grouped(count: impl TryInto<u64>) -> String {
    let digits = count.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number for readers, with a typographic minus.
pub fn decimal(value: f64, decimals: usize) -> String {
    without_sign_of_zero(format!("{value:.decimals$}")).replace('-', "−")
}

pub(crate) fn without_sign_of_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|digit| matches!(digit, '0' | '.')) => digits.to_string(),
        _ => text,
    }
}

/// A share of one, in whole percent if that is exact enough.
pub fn share(share: Option<f64>) -> String {
    match share.map(|share| 100.0 * share) {
        None => "–".to_string(),
        Some(percent) if (percent - percent.round()).abs() < 0.05 => format!("{percent:.0} %"),
        Some(percent) => format!("{percent:.1} %"),
    }
}

/// A time in a suitable unit.
pub fn duration(microseconds: Option<f64>) -> String {
    match microseconds {
        None => "–".to_string(),
        Some(time) if time < 999.5 => format!("{time:.0} µs"),
        Some(time) if time < 99_950.0 => format!("{:.1} ms", time / 1e3),
        Some(time) if time < 999_500.0 => format!("{:.0} ms", time / 1e3),
        Some(time) => format!("{:.1} s", time / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_line_up_by_characters_not_bytes() {
        let rows = [["é", "1"], ["a\nb", "23"]].map(|row| row.map(String::from));
        assert_eq!(aligned([Align::Left, Align::Right], &rows), "  é     1\n  a b  23\n");
        let ragged = [vec!["a".to_string()], vec!["b".to_string(), "1".to_string(), "10".to_string()]];
        assert_eq!(aligned([Align::Left, Align::Right], &ragged), "  a\n  b  1  10\n");
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two  three", "> ", 9), "> one two\n> three\n");
        assert_eq!(wrapped("unbreakable", "", 3), "unbreakable\n");
        assert_eq!(wrapped(" ", "", 3), "");
    }

    #[test]
    fn thousands_are_set_apart() {
        let counts = [0_u64, 999, 1000, 1_234_567];
        assert_eq!(counts.map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn numbers_have_units_that_suit_them() {
        let times = [None, Some(12.4), Some(999.7), Some(42_000.0), Some(250_000.0), Some(3.2e6)];
        assert_eq!(times.map(duration), ["–", "12 µs", "1.0 ms", "42.0 ms", "250 ms", "3.2 s"]);
        assert_eq!([None, Some(1.0), Some(0.949), Some(0.9)].map(share), ["–", "100 %", "94.9 %", "90 %"]);
        assert_eq!([-0.001, -1.25].map(|value| decimal(value, 2)), ["0.00", "−1.25"]);
    }
}
