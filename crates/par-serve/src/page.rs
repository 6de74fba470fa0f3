//! The files of the page, which are part of the program.

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::response::{IntoResponse, Response};

use crate::refusal::Refusal;
use crate::routes::Name;

/// Nothing is loaded from or sent to other sites, and only our scripts run.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Name, type and contents.
const FILES: &[(&str, &str, &str)] = &[
    ("index.html", HTML, include_str!("../page/index.html")),
    ("style.css", CSS, include_str!("../page/style.css")),
    ("table.css", CSS, include_str!("../page/table.css")),
    ("plot.css", CSS, include_str!("../page/plot.css")),
    ("print.css", CSS, include_str!("../page/print.css")),
    ("icon.svg", SVG, include_str!("../page/icon.svg")),
    ("theme.js", SCRIPT, include_str!("../page/theme.js")),
    ("main.js", SCRIPT, include_str!("../page/main.js")),
    ("api.js", SCRIPT, include_str!("../page/api.js")),
    ("watch.js", SCRIPT, include_str!("../page/watch.js")),
    ("token.js", SCRIPT, include_str!("../page/token.js")),
    ("notice.js", SCRIPT, include_str!("../page/notice.js")),
    ("element.js", SCRIPT, include_str!("../page/element.js")),
    ("words.js", SCRIPT, include_str!("../page/words.js")),
    ("score.js", SCRIPT, include_str!("../page/score.js")),
    ("one.js", SCRIPT, include_str!("../page/one.js")),
    ("person.js", SCRIPT, include_str!("../page/person.js")),
    ("wishes.js", SCRIPT, include_str!("../page/wishes.js")),
    ("effort.js", SCRIPT, include_str!("../page/effort.js")),
    ("form.js", SCRIPT, include_str!("../page/form.js")),
    ("field.js", SCRIPT, include_str!("../page/field.js")),
    ("decision.js", SCRIPT, include_str!("../page/decision.js")),
    ("ways.js", SCRIPT, include_str!("../page/ways.js")),
    ("frontier.js", SCRIPT, include_str!("../page/frontier.js")),
    ("letter.js", SCRIPT, include_str!("../page/letter.js")),
    ("many.js", SCRIPT, include_str!("../page/many.js")),
    ("csv.js", SCRIPT, include_str!("../page/csv.js")),
    ("batch.js", SCRIPT, include_str!("../page/batch.js")),
    ("groups.js", SCRIPT, include_str!("../page/groups.js")),
    ("comparison.js", SCRIPT, include_str!("../page/comparison.js")),
    ("everybody.js", SCRIPT, include_str!("../page/everybody.js")),
    ("api.css", CSS, include_str!("../page/api.css")),
];

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// `GET /`
pub(crate) async fn index() -> Result<Response, Refusal> {
    serve("index.html")
}

/// `GET /page/{file}`
pub(crate) async fn file(Path(name): Name) -> Result<Response, Refusal> {
    serve(&name)
}

fn serve(name: &str) -> Result<Response, Refusal> {
    let file = FILES.iter().find(|(file, ..)| *file == name);
    let (_, kind, text) = file.ok_or_else(|| Refusal::Unknown("such file".into()))?;
    Ok(page(kind, *text))
}

/// A page made for the request.
pub(crate) fn html(text: String) -> Response {
    page(HTML, text)
}

fn page(kind: &'static str, text: impl IntoResponse) -> Response {
    let headers = [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        // Another version of the program has other files.
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}

#[cfg(test)]
mod tests {
    use super::FILES;

    /// The files that a text names: after `"page/` in HTML, after `"./` in a script.
    fn named<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
        text.split(before).skip(1).filter_map(|rest| rest.split('"').next())
    }

    #[test]
    fn every_file_of_the_page_is_there_and_none_too_many() {
        // The page of the API has a style of its own.
        let mut wanted = vec!["index.html", "api.css"];
        for (name, _, text) in FILES {
            wanted.extend(named(text, if *name == "index.html" { "=\"page/" } else { " from \"./" }));
        }
        wanted.sort_unstable();
        wanted.dedup();
        let mut files: Vec<&str> = FILES.iter().map(|(name, ..)| *name).collect();
        files.sort_unstable();
        assert_eq!(files, wanted);
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere_and_no_policy_stops_it() {
        for (name, _, text) in FILES {
            for needed in
                ["https:", "//cdn", "@import", "url(", "style=\"", "onclick=\"", "innerHTML", "eval("]
            {
                assert!(!text.contains(needed), "{name}: {needed}");
            }
        }
    }
}
