//! Refuses requests whose header `Host` names another service, which prevents DNS rebinding.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, Version};

use crate::refusal::Refusal;

/// Accepts every name.
pub(crate) const ANY: &str = "*";
/// The most characters of a wrong name that a refusal repeats.
const MAX_SHOWN: usize = 80;

/// Whether it can be the name of a host: without a scheme, a port or a path.
pub(crate) fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    text == ANY || (!text.is_empty() && text.bytes().all(fits))
}

/// Accepts requests for `localhost`, an IP address, or one of `names`.
///
/// IP addresses are safe: a browser that was sent here by a name sends that name.
pub(crate) fn check_host(request: &Request, names: &[String]) -> Result<(), Refusal> {
    if names.iter().any(|name| name == ANY) {
        return Ok(());
    }
    let Some(host) = host(request.uri(), request.headers(), request.version())? else { return Ok(()) };
    let host = host.strip_suffix('.').unwrap_or(&host);
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_ours = host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok()
        || names.iter().any(|name| name.eq_ignore_ascii_case(host));
    if is_ours { Ok(()) } else { Err(Refusal::WrongHost { found: host.chars().take(MAX_SHOWN).collect() }) }
}

/// The host of the request, without its port; `None` if an HTTP/1.0 client sends none.
fn host(uri: &Uri, headers: &HeaderMap, version: Version) -> Result<Option<String>, Refusal> {
    let mut given = headers.get_all(HOST).iter();
    let (first, second) = (given.next(), given.next());
    if second.is_some() || (first.is_none() && version >= Version::HTTP_11) {
        return Err(Refusal::NoHost);
    }
    // The request line comes before the header (RFC 9112).
    let authority = match (uri.authority(), first) {
        (Some(authority), _) => authority.clone(),
        (None, Some(value)) => Authority::try_from(value.as_bytes()).map_err(|_| Refusal::NoHost)?,
        (None, None) => return Ok(None),
    };
    if authority.as_str().contains('@') {
        return Err(Refusal::NoHost);
    }
    Ok(Some(authority.host().to_string()))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn request(version: Version, uri: &str, hosts: &[&str]) -> Request {
        let mut request = Request::builder().version(version).uri(uri);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        request.body(Body::empty()).expect("a request")
    }

    #[test]
    fn names_of_this_service_pass_and_others_do_not() {
        let names = ["par.example.org".to_string()];
        let expect = |hosts: &[&str]| check_host(&request(Version::HTTP_11, "/", hosts), &names);
        for ours in [
            "localhost",
            "LocalHost:8080",
            "localhost.",
            "127.0.0.1",
            "127.0.0.1:8080",
            "[::1]",
            "[::1]:8080",
            "192.168.1.7:80",
            "par.example.org",
            "PAR.example.org:443",
        ] {
            assert_eq!(expect(&[ours]), Ok(()), "{ours}");
        }
        for other in ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example"]
        {
            let found = other.trim_end_matches(":8080").to_string();
            assert_eq!(expect(&[other]), Err(Refusal::WrongHost { found }), "{other}");
        }
        for none in ["", "a b", "evil@localhost", "http://localhost"] {
            assert_eq!(expect(&[none]), Err(Refusal::NoHost), "{none}");
        }
        assert_eq!(expect(&[]), Err(Refusal::NoHost));
        assert_eq!(expect(&["localhost", "localhost"]), Err(Refusal::NoHost));
        assert_eq!(check_host(&request(Version::HTTP_10, "/", &[]), &names), Ok(()));
        let elsewhere = request(Version::HTTP_11, "http://evil.example/", &["localhost"]);
        assert!(check_host(&elsewhere, &names).is_err());
        assert_eq!(check_host(&elsewhere, &[ANY.to_string()]), Ok(()));
    }
}
