//! `GET /api`: the table of endpoints for people, with commands to paste.
//!
//! A browser sends no token, so the page needs none; if the service has one, the page tells nothing of the model.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::response::Response;
use par_plot::Markup;
use serde_json::{Value, json};

use crate::Service;
use crate::api_docs::ApiDocs;
use crate::endpoints::{Access, Content, Endpoint, GROUPS};
use crate::page;
use crate::parameters::{Parameter, Query};
use crate::refusal::{Refusal, STATUSES};
use crate::routes::with_model_version;

/// Schemas that the page shows property by property, with a title.
const SCHEMAS: [(&str, &str); 7] = [
    ("Question", "A question"),
    ("Answer", "An answer"),
    ("Way", "A way"),
    ("Change", "A change"),
    ("Point", "A point of the frontier"),
    ("Obstacle", "An obstacle"),
    ("Refusal", "A refusal"),
];

/// `GET /api`
pub(crate) async fn api(
    State(service): State<Arc<Service>>,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let model = service.model(query.read()?.text("model"))?;
    let page = Page {
        docs: service.api_docs(&model).await?,
        name: model.name(),
        models: service.models.names(),
        origin: origin(&headers),
        asks_token: service.settings.token.is_some(),
    };
    Ok(with_model_version(page::html(page.html().into_string()), &model))
}

/// The address that the client used, if it needs no quoting in a shell.
fn origin(headers: &HeaderMap) -> String {
    let fits = |host: &&str| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    };
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).filter(fits).unwrap_or("localhost:8080");
    let is_secure = headers.get("x-forwarded-proto").is_some_and(|protocol| protocol == "https");
    format!("{}://{host}", if is_secure { "https" } else { "http" })
}

struct Page<'a> {
    docs: &'a ApiDocs,
    name: &'a str,
    models: Vec<&'a str>,
    origin: String,
    asks_token: bool,
}

impl Page<'_> {
    fn html(&self) -> Markup {
        let mut page = Markup::default();
        page.raw(concat!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n",
            "<title>API</title>\n<link rel=\"icon\" href=\"page/icon.svg\" type=\"image/svg+xml\"/>\n",
            "<link rel=\"stylesheet\" href=\"page/style.css\"/>\n<link rel=\"stylesheet\" href=\"page/table.css\"/>\n",
            "<link rel=\"stylesheet\" href=\"page/api.css\"/>\n</head>\n<body class=\"api\">\n",
            "<header class=\"top\"><p class=\"brand\"><a href=\"./\">Recourse</a></p></header>\n<main>\n",
            "<div class=\"intro\"><h1>The API</h1>\n",
            "<p class=\"lead\">Everything that the page does can be done over HTTP. For programs there is ",
            "<a href=\"openapi.json",
        ));
        let of_model = self.of_model();
        page.text(&of_model).raw("\"><code>openapi.json</code></a>.</p></div>\n");
        if self.asks_token {
            page.raw(concat!(
                "<p class=\"notice\">Requests need a token. Put it into a variable of your shell, <code>TOKEN</code>. ",
                "Examples with the features of the model are in <code>openapi.json</code>, which needs it too.</p>\n"
            ));
        }
        self.add_models(&mut page);
        for group in &GROUPS {
            page.element("<section>\n<h2>", group.title, "</h2>\n");
            for endpoint in group.endpoints.iter().filter(|endpoint| endpoint.is_documented) {
                self.add_endpoint(&mut page, endpoint);
            }
            page.raw("</section>\n");
        }
        self.add_schemas(&mut page);
        add_refusals(&mut page);
        page.raw("</main>\n</body>\n</html>\n");
        page
    }

    /// The parameter that names the model, where there are several.
    fn of_model(&self) -> String {
        if self.models.len() > 1 { format!("?model={}", self.name) } else { String::new() }
    }

    fn add_models(&self, page: &mut Markup) {
        if self.models.len() < 2 {
            return;
        }
        page.element("<p>Examples are of the model <b>", self.name, "</b>. There are also");
        for (number, name) in self.models.iter().filter(|name| **name != self.name).enumerate() {
            page.raw(if number == 0 { " " } else { ", " });
            page.raw("<a href=\"api?model=").text(name).raw("\">").text(name).raw("</a>");
        }
        page.raw(".</p>\n");
    }

    fn add_endpoint(&self, page: &mut Markup, endpoint: &Endpoint) {
        page.raw("<article class=\"panel\">\n<h3>");
        page.element("<span class=\"method\">", endpoint.method.name().to_uppercase(), "</span> ");
        page.element("<code>", endpoint.path, "</code></h3>\n");
        add_prose(page, "<p>", endpoint.summary, "</p>\n");
        if !endpoint.parameters.is_empty() {
            page.raw("<div class=\"scroll\"><table><tbody>\n");
            for Parameter { key, name, place, .. } in endpoint.parameters {
                let sign = if *place == "path" { format!("{{{name}}}") } else { format!("?{name}=") };
                let described = &self.docs.parameters[*key];
                add_entry(page, &sign, &described["schema"], &described["description"]);
            }
            page.raw("</tbody></table></div>\n");
        }
        for (number, answer) in endpoint.answers.iter().enumerate() {
            let request = endpoint.requests.get(number);
            add_lines(page, "<pre><code>", &self.curl(endpoint, request, answer), "</code></pre>\n");
            if let Some(answer) = self.example(&answer.name()) {
                page.raw("<details><summary>The answer</summary>");
                add_lines(page, "<pre><code>", &answer, "</code></pre></details>\n");
            }
        }
        let guarded = (self.asks_token && endpoint.access == Access::Token).then_some(&401);
        let statuses: Vec<String> = endpoint.errors.iter().chain(guarded).map(u16::to_string).collect();
        if !statuses.is_empty() {
            page.element("<p class=\"small quiet\">May be refused with ", statuses.join(", "), ".</p>\n");
        }
        page.raw("</article>\n");
    }

    /// A command for a shell.
    fn curl(&self, endpoint: &Endpoint, request: Option<&Content>, answer: &Content) -> String {
        let path = endpoint.path.replace("{name}", self.name);
        let has_model = endpoint.parameters.iter().any(|parameter| parameter.key == "model");
        let query = if has_model { self.of_model() } else { String::new() };
        let mut lines = vec![format!("curl {}", quoted(&format!("{}{path}{query}", self.origin)))];
        if self.asks_token && endpoint.access == Access::Token {
            lines.push("-H \"Authorization: Bearer $TOKEN\"".to_string());
        }
        if let Some(request) = request {
            lines.push(format!("-H {}", quoted(&format!("Content-Type: {}", request.media_type()))));
            if endpoint.answers.len() > 1 {
                lines.push(format!("-H {}", quoted(&format!("Accept: {}", answer.media_type()))));
            }
            let name = request.name();
            let body = self.example(&name).or_else(|| placeholder(&name)).unwrap_or_default();
            lines.push(format!("--data-binary {}", quoted(&body)));
        }
        lines.join(" \\\n  ")
    }

    /// An example by the name of its schema. Behind a token it would tell of the model.
    fn example(&self, name: &str) -> Option<String> {
        self.docs.examples.get(name).filter(|_| !self.asks_token).map(written)
    }

    fn add_schemas(&self, page: &mut Markup) {
        page.raw("<section>\n<h2>Bodies</h2>\n");
        for (name, title) in SCHEMAS {
            let schema = &self.docs.schemas[name];
            page.element("<article class=\"panel\">\n<h3>", title, "</h3>\n");
            add_prose(page, "<p>", schema["description"].as_str().unwrap_or_default(), "</p>\n");
            page.raw("<div class=\"scroll\"><table><tbody>\n");
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let described = match property.get("$ref").and_then(Value::as_str) {
                    Some(reference) => {
                        let name = reference.rsplit('/').next().unwrap_or_default();
                        self.docs.schemas.get(name).unwrap_or(&Value::Null)
                    }
                    None => property,
                };
                add_entry(page, name, described, &described["description"]);
            }
            page.raw("</tbody></table></div>\n</article>\n");
        }
        page.raw("</section>\n");
    }
}

fn add_refusals(page: &mut Markup) {
    page.raw("<section>\n<h2>Refusals</h2>\n<article class=\"panel\">\n<p>All have the same shape.</p>\n");
    let example = json!({
        "error": "`/row/Age`: expected a number, found \"old\"",
        "code": "wrong_value",
        "problems": [{"path": "/row/Age", "found": "\"old\"", "expected": "a number"}],
        "request_id": "5f0c1a2b-7",
    });
    add_lines(page, "<pre><code>", &written(&example), "</code></pre>\n");
    page.raw("<div class=\"scroll\"><table><tbody>\n");
    for (status, meaning) in STATUSES {
        page.element("<tr><th scope=\"row\"><code>", status, "</code></th>");
        add_prose(page, "<td>", meaning, "</td></tr>\n");
    }
    page.raw("</tbody></table></div>\n</article>\n</section>\n");
}

/// A line of a table: a name, the kind of its value, and its meaning.
fn add_entry(page: &mut Markup, name: &str, schema: &Value, words: &Value) {
    page.element("<tr><th scope=\"row\"><code>", name, "</code></th>");
    page.element("<td class=\"quiet\">", kind(schema), "</td>");
    add_prose(page, "<td>", words.as_str().unwrap_or_default(), "</td></tr>\n");
}

/// The kind of value that a schema describes, without anything that only one model has.
fn kind(schema: &Value) -> String {
    let word = |kind: &Value| match kind.as_str().unwrap_or_default() {
        "string" => "text",
        "number" => "number",
        "integer" => "whole number",
        "boolean" => "true or false",
        "array" => "list",
        "null" => "null",
        _ => "object",
    };
    match (&schema["type"], schema["enum"].as_array()) {
        (_, Some(values)) => values.iter().map(Value::to_string).collect::<Vec<_>>().join(", "),
        (Value::Array(kinds), None) => kinds.iter().map(word).collect::<Vec<_>>().join(" or "),
        (one, None) => word(one).to_string(),
    }
}

/// An example of a request that tells nothing of the model.
fn placeholder(name: &str) -> Option<String> {
    let row = json!({"FEATURE": "VALUE"});
    let body = match name {
        "Question" => json!({"row": row}),
        "Instances" => json!({"instances": [row]}),
        "Tensors" => {
            json!({"inputs": [{"name": "FEATURE", "datatype": "BYTES", "shape": [1], "data": ["VALUE"]}]})
        }
        "Lines" => json!("{\"row\": {\"FEATURE\": \"VALUE\"}}\n"),
        "Table" => json!("FEATURE,FEATURE\nVALUE,VALUE\n"),
        _ => return None,
    };
    Some(written(&body))
}

/// A text as it is, anything else as JSON.
fn written(example: &Value) -> String {
    match example {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    }
}

/// As one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Text in which backticks set code apart.
fn add_prose(page: &mut Markup, open: &'static str, text: &str, close: &'static str) {
    page.raw(open);
    for (number, part) in text.split('`').enumerate() {
        if number % 2 == 1 {
            page.element("<code>", part, "</code>");
        } else {
            page.text(part);
        }
    }
    page.raw(close);
}

/// Text whose lines stay lines.
fn add_lines(page: &mut Markup, open: &'static str, text: &str, close: &'static str) {
    page.raw(open);
    for (number, line) in text.lines().enumerate() {
        page.raw(if number == 0 { "" } else { "\n" }).text(line);
    }
    page.raw(close);
}

#[cfg(test)]
mod tests {
    use par_plot::page::check_tags;

    use super::*;
    use crate::endpoints;
    use crate::test_model::{ODD, api_docs};

    fn page(asks_token: bool, models: Vec<&str>) -> String {
        let (docs, origin) = (api_docs(asks_token), "http://localhost".to_string());
        let page = Page { docs: &docs, name: "odd", models, origin, asks_token };
        page.html().into_string()
    }

    #[test]
    fn names_of_features_cannot_break_the_page() {
        let page = page(false, vec!["odd", "other"]);
        check_tags(&page);
        assert!(page.contains("income=\\&quot;net\\&quot;") && page.contains("Straße, Hausnr. 🏠"), "{page}");
        assert!(page.contains("<a href=\"api?model=other\">other</a>"), "{page}");
        for path in endpoints::all().filter(|endpoint| endpoint.is_documented).map(|endpoint| endpoint.path) {
            assert!(page.contains(&format!("<code>{path}</code></h3>")), "{path}");
        }
    }

    #[test]
    fn the_page_of_a_service_with_a_token_tells_nothing_of_the_model() {
        let page = page(true, vec!["odd"]);
        check_tags(&page);
        for feature in ODD.schema().features() {
            assert!(
                !page.contains(&*Markup::default().text(&feature.name).clone().into_string()),
                "{}",
                feature.name
            );
        }
        assert!(page.contains("-H &quot;Authorization: Bearer $TOKEN&quot;"), "{page}");
    }

    #[test]
    fn a_question_can_be_pasted_into_a_shell() {
        assert_eq!(quoted("it's"), "'it'\\''s'");
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "$(rm)".parse().expect("a value"));
        assert_eq!(origin(&headers), "http://localhost:8080");
        headers.insert(HOST, "[::1]:80".parse().expect("a value"));
        assert_eq!(origin(&headers), "http://[::1]:80");
    }
}
