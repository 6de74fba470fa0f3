//! The parts that pages share: their style, their head, a figure with its caption.

use crate::markup::Markup;

/// Makes the style of pages and the colours of charts from one table: a name, the colour by day and the colour at night.
macro_rules! style {
    ($($name:literal: $day:literal, $night:literal;)*) => {
        /// The style of pages and the charts in them: on a phone, at night and on paper.
        pub const STYLE: &str = concat!(
            ":root {\n  color-scheme: light dark;\n",
            $("  --", $name, ": ", $day, ";\n",)*
            "}\n@media screen and (prefers-color-scheme: dark) {\n  :root {\n",
            $("    --", $name, ": ", $night, ";\n",)*
            "  }\n}\n",
            include_str!("style/page.css"),
            include_str!("style/chart.css"),
        );

        /// The variables of the style, and their colours by day.
        const DAY_COLOURS: &[(&str, &str)] = &[$((concat!("var(--", $name, ")"), $day)),*];
    };
}

style! {
    "page": "#fbfaf8", "#14181b";
    "card": "#ffffff", "#1b2024";
    "ink": "#1d2327", "#e6e9eb";
    "quiet": "#5a646b", "#a3adb4";
    "line": "#e3e0da", "#2e363c";
    "accent": "#0b5f9e", "#7cbcf2";
    "tint": "#e8f1f8", "#1a2b39";
    "generate": "#b35c00", "#f0a24a";
    "refine": "#00795a", "#4fcca3";
    "exact": "#0b5f9e", "#7cbcf2";
    "preset": "#7b3fa0", "#c9a0ee";
    "peer": "#b3305c", "#f291ad";
    "published": "#5a646b", "#a3adb4";
    "better": "#2b7fc0", "#4d9fdc";
    "worse": "#d97706", "#e08a2a";
}

/// The style of a chart that stands in a file of its own: by day, and with colours in place of variables, which few programs
/// but browsers know.
pub fn chart_style() -> String {
    let chart = include_str!("style/chart.css").to_string();
    DAY_COLOURS.iter().fold(chart, |style, (variable, colour)| style.replace(variable, colour))
}

/// The start of a page, up to the opened body.
pub fn head(title: &str, more_style: &'static str) -> Markup {
    let mut page = Markup::default();
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.element("<title>", title, "</title>\n").raw("<style>\n").raw(STYLE).raw(more_style);
    page.raw("</style>\n</head>\n<body>\n");
    page
}

/// A figure with a title and a caption. `open` is its tag.
pub fn figure(open: &'static str, title: &str, caption: &str, body: &Markup) -> Markup {
    let mut figure = Markup::default();
    figure.raw(open).element("<figcaption><h3>", title, "</h3>").text(caption);
    figure.raw("</figcaption>").add(body).raw("</figure>\n");
    figure
}

/// Checks that the tags of a page are balanced; for tests.
///
/// # Panics
/// When a tag is not closed, or closed in another order.
pub fn check_tags(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in html.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or_default()) {
        let name = tag.split_whitespace().next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "</{name}> closes another tag"),
            None if tag.ends_with(['/', '?']) || matches!(name, "!doctype" | "meta") => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_file_has_no_css_variables() {
        let style = chart_style();
        assert!(!style.contains("var(") && style.contains("#0b5f9e"), "{style}");
        assert!(!style.contains(['<', '&', '\'', '"']), "a style is text of an element: {style}");
    }

    #[test]
    fn a_page_loads_nothing_from_other_servers() {
        for needed in ["http:", "https:", "//", "@import", "url("] {
            assert!(!STYLE.contains(needed), "{needed}");
        }
    }

    #[test]
    #[should_panic(expected = "closes another tag")]
    fn a_tag_that_is_closed_in_another_order_is_found() {
        check_tags("<p><b></p></b>");
    }

    #[test]
    #[should_panic(expected = "are not closed")]
    fn a_tag_that_is_left_open_is_found() {
        check_tags("<p><b></b>");
    }
}
