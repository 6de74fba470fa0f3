//! Tokens, origins and hosts, addresses and methods, ids of requests.

use serde_json::json;

use crate::client::request;
use crate::running::{Running, denied, row};

const GUARDED: [(&str, &str); 12] = [
    ("GET", "/v1/models"),
    ("GET", "/v1/models/german"),
    ("GET", "/v1/schema"),
    ("GET", "/v1/model"),
    ("GET", "/v1/people"),
    ("POST", "/v1/recourse"),
    ("POST", "/v1/recourse/batch"),
    ("POST", "/v1/models/german:predict"),
    ("GET", "/v2"),
    ("GET", "/v2/models/german"),
    ("POST", "/v2/models/german/infer"),
    ("GET", "/metrics"),
];
const OPEN: [&str; 6] =
    ["/", "/page/index.html", "/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"];

#[test]
fn without_the_token_only_health_and_the_page_are_answered() {
    let service = Running::new(|settings| settings.token = Some("s3cret-token".to_string()));
    for path in OPEN {
        assert_eq!(service.get(path).status, 200, "{path}");
    }
    let wrong = [
        None,
        Some("Bearer "),
        Some("Bearer s3cret-toke"),
        Some("Bearer s3cret-tokenn"),
        Some("Bearer S3CRET-TOKEN"),
        Some("Basic s3cret-token"),
        Some("s3cret-token"),
        Some("Bearer\ts3cret-token"),
    ];
    for (method, path) in GUARDED {
        for authorization in wrong {
            let headers: Vec<(&str, &str)> =
                authorization.map(|value| ("Authorization", value)).into_iter().collect();
            let response = service.ask(method, path, &headers, "");
            assert_eq!((response.status, response.code()), (401, "unauthorized".to_string()), "{path}");
            assert_eq!(response.header("www-authenticate"), Some("Bearer"));
        }
        let right = service.ask(method, path, &[("Authorization", "Bearer s3cret-token")], "");
        assert_ne!(right.status, 401, "{path}");
    }
    let body = json!({"row": row(denied(1)[0])}).to_string();
    let right = service.ask("POST", "/v1/recourse", &[("authorization", "bearer  s3cret-token ")], body);
    assert_eq!(right.status, 200);
    assert!(!crate::running::logs().contains("s3cret"));
}

#[test]
fn other_origins_are_allowed_only_by_name() {
    let plain = Running::new(|_| {});
    let origin = ("Origin", "https://example.org");
    let response = plain.ask("GET", "/v1/models", &[origin], "");
    assert_eq!(response.status, 200);
    assert!(response.headers.iter().all(|(name, _)| !name.starts_with("access-control")));
    let preflight = [origin, ("Access-Control-Request-Method", "POST")];
    assert_eq!(plain.ask("OPTIONS", "/v1/recourse", &preflight, "").status, 405);

    let service = Running::new(|settings| {
        settings.origins = vec!["https://example.org".to_string()];
        settings.token = Some("s3cret-token".to_string());
    });
    let allowed = |origin: &'static str, method, path| {
        let headers = [
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization,content-type"),
        ];
        let response = service.ask(method, path, &headers, "");
        (response.status, response.header("access-control-allow-origin").map(str::to_string), response)
    };
    let (status, origin, preflight) = allowed("https://example.org", "OPTIONS", "/v1/recourse");
    assert_eq!((status, origin.as_deref()), (200, Some("https://example.org")));
    assert_eq!(preflight.header("access-control-allow-methods"), Some("GET,POST"));
    let headers = preflight.header("access-control-allow-headers").expect("headers");
    assert!(headers.contains("authorization") && headers.contains("content-type"), "{headers}");
    assert_eq!(preflight.header("access-control-allow-credentials"), None);

    // A refusal can be read too.
    let (status, origin, _) = allowed("https://example.org", "GET", "/v1/models");
    assert_eq!((status, origin.as_deref()), (401, Some("https://example.org")));
    for other in ["https://example.com", "http://example.org", "https://example.org.evil.com", "null"] {
        let (_, origin, _) = allowed(other, "OPTIONS", "/v1/recourse");
        assert_eq!(origin, None, "{other}");
    }
}

#[test]
fn a_request_keeps_its_own_id() {
    let service = Running::new(|_| {});
    let named = |id: &str| {
        let response = service.ask("GET", "/nothing", &[("X-Request-Id", id)], "");
        let told = response.header("x-request-id").expect("a name").to_string();
        assert_eq!(response.json()["request_id"], json!(told));
        told
    };
    for good in ["a", "0b4c-11.x_Y", &"x".repeat(64)] {
        assert_eq!(named(good), good);
    }
    let mut made: Vec<String> =
        vec![service.get("/healthz").header("x-request-id").expect("a name").to_string()];
    for bad in ["", "a b", "a\"b", "<b>", "ä", &"x".repeat(65)] {
        made.push(named(bad));
    }
    assert!(made.iter().all(|id| id.len() >= 10 && id.is_ascii()), "{made:?}");
    made.sort();
    made.dedup();
    assert_eq!(made.len(), 7);
}

#[test]
fn unknown_addresses_get_404() {
    let service = Running::new(|_| {});
    let paths = [
        ("/nothing", "there is no such address"),
        ("/v1", "there is no such address"),
        ("/v1/recourse/", "there is no such address"),
        ("//v1/recourse", "there is no such address"),
        ("/v1/../metrics", "there is no such address"),
        ("/page/../Cargo.toml", "there is no such address"),
        ("/page/..%2FCargo.toml", "there is no such file"),
        ("/page/other.js", "there is no such file"),
        ("/v1/models/third", "there is no model `third`"),
        ("/v2/models/third/ready", "there is no model `third`"),
        ("/v1/schema?model=third", "there is no model `third`"),
    ];
    for (path, error) in paths {
        let response = service.get(path);
        assert_eq!((response.status, response.code()), (404, "unknown".to_string()), "{path}");
        assert_eq!(response.json()["error"], json!(error), "{path}");
    }
    // Every refusal is JSON, also if the address is not UTF-8.
    for path in ["/v1/models/%FF", "/page/%C0%80", "/v2/models/%FF/ready"] {
        let response = service.get(path);
        assert_eq!(
            (response.status, response.header("content-type")),
            (404, Some("application/json")),
            "{path}"
        );
        assert_eq!(response.code(), "unknown");
    }
    let long = service.get(&format!("/v1/models/{}", "m".repeat(5_000)));
    assert_eq!(long.json()["error"], json!(format!("there is no model `{}`", "m".repeat(80))));
}

#[test]
fn a_wrong_method_is_refused_with_the_allowed_ones() {
    let service = Running::new(|_| {});
    for (method, path, allowed) in [
        ("GET", "/v1/recourse", "POST"),
        ("DELETE", "/v1/recourse", "POST"),
        ("PUT", "/v1/recourse/batch", "POST"),
        ("POST", "/v1/schema", "GET,HEAD"),
        ("PATCH", "/v1/models/german", "GET,HEAD"),
        ("POST", "/v1/models/german", "GET,HEAD"),
        ("PATCH", "/v1/models/german:explain", "POST"),
        ("GET", "/v1/models/german:predict", "POST"),
        ("BREW", "/healthz", "GET,HEAD"),
        ("TRACE", "/", "GET,HEAD"),
    ] {
        let response = service.ask(method, path, &[], "");
        assert_eq!((response.status, response.code()), (405, "wrong_method".to_string()), "{method} {path}");
        assert_eq!(response.header("allow"), Some(allowed), "{method} {path}");
    }
}

#[test]
fn a_head_is_a_get_without_the_body() {
    let service = Running::new(|_| {});
    let mut client = service.client();
    for path in ["/", "/healthz", "/v1/schema", "/nothing"] {
        let got = service.get(path);
        let head = client.send(request("HEAD", path, &[], b"")).head().expect("a head");
        assert_eq!(
            (head.status, head.header("content-length")),
            (got.status, got.header("content-length")),
            "{path}"
        );
        assert_eq!(head.header("content-type"), got.header("content-type"));
    }
    // There was no body: the next response is where it should be.
    assert_eq!(client.send(request("GET", "/healthz", &[], b"")).response().json(), json!({"status": "ok"}));
}

#[test]
fn nothing_is_kept_by_browsers_or_framed() {
    let service = Running::new(|_| {});
    let page = service.get("/");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
    assert!(policy.ends_with("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
    for path in ["/v1/schema", "/v1/people", "/healthz", "/nothing"] {
        let response = service.get(path);
        assert_eq!(response.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
}

#[test]
fn other_types_of_bodies_are_refused() {
    let service = Running::new(|_| {});
    let body = json!({"row": row(denied(1)[0])}).to_string();
    for (kind, status) in [
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("", 415),
    ] {
        let response = service.ask("POST", "/v1/recourse", &[("Content-Type", kind)], &body);
        assert_eq!(response.status, status, "{kind}");
        if status == 415 {
            assert_eq!(response.json()["error"], json!("expected the content type application/json"));
        }
    }
    let response = service.ask("POST", "/v1/recourse/batch", &[("Content-Type", "application/json")], &body);
    assert_eq!((response.status, response.code()), (415, "wrong_type".to_string()));
    let encoded = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")];
    let response = service.ask("POST", "/v1/recourse", &encoded, &body);
    assert_eq!((response.status, response.code()), (415, "wrong_encoding".to_string()));
    service.is_well();
}

/// Any website can make a browser send a body without a type or with that of a form, without a preflight.
#[test]
fn a_body_without_a_type_is_refused() {
    let service = Running::new(|_| {});
    let body = json!({"row": row(denied(1)[0])}).to_string();
    for (path, expected) in [
        ("/v1/recourse", "application/json"),
        ("/v1/models/german:predict", "application/json"),
        ("/v2/models/german/infer", "application/json"),
        ("/v1/recourse/batch", "application/x-ndjson or application/jsonl or text/csv"),
    ] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n");
        for kind in
            ["", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"]
        {
            let bytes = format!("{head}{kind}Content-Length: {}\r\n\r\n{body}", body.len());
            let refused = service.client().send(bytes).response();
            assert_eq!((refused.status, refused.code()), (415, "wrong_type".to_string()), "{path} {kind}");
            assert_eq!(refused.json()["error"], json!(format!("expected the content type {expected}")));
        }
    }
}

/// DNS rebinding: a website whose name points to this machine would have the same origin as the service.
#[test]
fn requests_for_other_hosts_are_refused() {
    let service = Running::new(|_| {});
    let body = json!({"row": row(denied(1)[0])}).to_string();
    let asked = |service: &Running, host: &str| service.ask("POST", "/v1/recourse", &[("Host", host)], &body);
    let port = service.address.port();
    for host in
        ["localhost", "127.0.0.1", "[::1]", &format!("localhost:{port}"), &service.address.to_string()]
    {
        assert_eq!(asked(&service, host).status, 200, "{host}");
    }
    let refused = asked(&service, "rebound.evil.example");
    assert_eq!((refused.status, refused.code()), (421, "wrong_host".to_string()));
    assert_eq!(
        refused.json()["error"],
        json!(
            "this service does not go by the name `rebound.evil.example`, expected `localhost`, an IP address or a name \
             given with `--host`"
        )
    );
    for path in ["/", "/v1/schema", "/metrics", "/healthz"] {
        assert_eq!(service.ask("GET", path, &[("Host", "rebound.evil.example")], "").status, 421, "{path}");
    }
    let without = service.client().send("GET /v1/schema HTTP/1.1\r\n\r\n").response();
    assert_eq!((without.status, without.code()), (400, "no_host".to_string()));

    let named = Running::new(|settings| settings.hosts = vec!["par.example.org".to_string()]);
    assert_eq!(asked(&named, "par.example.org").status, 200);
    assert_eq!(asked(&named, "example.org").status, 421);
    let any = Running::new(|settings| settings.hosts = vec!["*".to_string()]);
    assert_eq!(asked(&any, "rebound.evil.example").status, 200);
}
