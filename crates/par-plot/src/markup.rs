//! HTML and SVG that texts cannot break: tags are constants, everything else is escaped.

use std::fmt::Display;

/// A piece of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Markup(String);

impl Markup {
    /// Adds tags, which are constants of our source.
    pub fn raw(&mut self, tags: &'static str) -> &mut Self {
        self.0.push_str(tags);
        self
    }

    /// Adds text, or part of the value of an attribute.
    pub fn text(&mut self, text: impl Display) -> &mut Self {
        for character in text.to_string().chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // Other control characters are not allowed in a page, even escaped.
                control if control.is_control() => self.0.push(' '),
                other => self.0.push(other),
            }
        }
        self
    }

    /// Adds complete markup.
    pub fn add(&mut self, piece: &Self) -> &mut Self {
        self.0.push_str(&piece.0);
        self
    }

    /// Adds text between an opening and a closing tag.
    pub fn element(&mut self, open: &'static str, text: impl Display, close: &'static str) -> &mut Self {
        self.raw(open).text(text).raw(close)
    }

    /// The markup as text.
    pub fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_can_neither_open_a_tag_nor_end_an_attribute() {
        let mut markup = Markup::default();
        markup.raw("<b title=\"").text("\"onclick='x'").raw("\">").text("<script>&\u{0}\n").raw("</b>");
        assert_eq!(markup.into_string(), "<b title=\"&quot;onclick=&#39;x&#39;\">&lt;script&gt;&amp;  </b>");
    }
}
