//! The common parts of pages: style, head, and figures with captions.

use crate::markup::Markup;

/// The style of pages and charts, for small screens, dark mode and print.
pub const STYLE: &str = concat!(include_str!("style/page.css"), include_str!("style/chart.css"));

const PAGE: &str = include_str!("style/page.css");
const CHART: &str = include_str!("style/chart.css");

/// The style of an SVG file: that of pages in light mode, with colours in place of CSS variables, which few
/// programs but browsers support.
pub fn chart_style() -> String {
    let mut style = CHART.to_string();
    let day = PAGE.split("@media").next().unwrap_or_default();
    for declaration in day.split("--").skip(1) {
        let Some((name, rest)) = declaration.split_once(':') else { continue };
        let colour = rest.split(';').next().unwrap_or_default().trim();
        style = style.replace(&format!("var(--{name})"), colour);
    }
    style
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
