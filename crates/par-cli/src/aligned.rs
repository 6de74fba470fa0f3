//! Text for a terminal: columns that line up, and numbers that can be read.

/// Where the cells of a column stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// The rows as lines, indented by two spaces, their cells lined up on the given sides. A line feed or another
/// control character in a cell becomes a space.
pub(crate) fn aligned<const N: usize>(sides: [Side; N], rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, width), side) in row.iter().zip(widths).zip(sides) {
            let cell = cell.replace(char::is_control, " ");
            let padding = " ".repeat(width - cell.chars().count());
            line.push_str("  ");
            match side {
                Side::Left => line.extend([cell, padding]),
                Side::Right => line.extend([padding, cell]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Titled facts, one a line.
#[derive(Default)]
pub(crate) struct Facts(Vec<[String; 2]>);

impl Facts {
    pub(crate) fn add(&mut self, title: &str, fact: impl Into<String>) {
        self.0.push([title.to_string(), fact.into()]);
    }

    pub(crate) fn text(&self) -> String {
        aligned([Side::Left, Side::Left], &self.0)
    }
}

/// A count with a comma between thousands.
pub(crate) fn grouped(count: impl TryInto<u64>) -> String {
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

/// A share of one as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_line_up_by_characters_not_bytes() {
        let rows = [["é", "1"], ["a\nb", "23"]].map(|row| row.map(String::from));
        assert_eq!(aligned([Side::Left, Side::Right], &rows), "  é     1\n  a b  23\n");
    }

    #[test]
    fn thousands_are_set_apart() {
        let counts = [0_u64, 999, 1000, 1_234_567];
        assert_eq!(counts.map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
