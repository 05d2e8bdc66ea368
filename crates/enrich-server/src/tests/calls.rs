//! Tests of the path, method and headers of well-formed requests.

use super::Site;
use enrich_testkit::http::request;

#[test]
fn a_known_company_is_found_and_charged_on_both_versions() {
    let site = Site::open();
    let mut client = site.client();
    let first = client.request("POST", "/v1/cuf", "", &site.known());
    assert_eq!(first.status, 200, "{first:?}");
    assert_eq!(first.json()["url"], "quill.example");
    assert_eq!(first.header("X-Credits-Used"), Some("1"));
    let key = format!("x-api-key: {}\r\n", site.key);
    let body = "company_name=Quill";
    let second = client.request("POST", "/v2/services/name_to_domain", &key, body);
    assert_eq!(second.json()["data"]["remaining_credits"], 998, "{second:?}");
}

#[test]
fn every_endpoint_of_both_tables_is_served_and_wants_a_key() {
    let site = Site::open();
    let mut client = site.client();
    for api_version in [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION] {
        for endpoint in api_version.endpoints {
            let answer = client.request("POST", endpoint.path, "", "{}");
            assert_eq!(answer.status, 401, "{} {answer:?}", endpoint.path);
            assert_eq!(answer.json().get("code").is_some(), api_version.number == 2);
        }
    }
}

#[test]
fn every_answer_carries_the_headers_of_the_interface() {
    let site = Site::open();
    let id = "X-Request-Id: order-66\r\n";
    let asked = [
        ("POST", "/v1/cuf", 401),
        ("POST", "/v2/services/name_to_domain", 401),
        ("POST", "/v1/nothing", 404),
        ("GET", "/v1/cuf", 405),
        ("GET", "/healthz", 200),
        ("POST", "/healthz", 405),
        ("GET", "/readyz", 200),
        ("GET", "/metrics", 200),
    ];
    for (method, path, status) in asked {
        let answer = site.client().request(method, path, id, "");
        assert_eq!(answer.status, status, "{method} {path}");
        assert_eq!(answer.header("X-Request-Id"), Some("order-66"), "{method} {path}");
        assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{method} {path}");
        assert_eq!(answer.header("Server"), None);
        assert_eq!(answer.header("Content-Encoding"), None);
    }
}

#[test]
fn a_request_id_that_is_none_is_replaced() {
    let site = Site::open();
    let mut client = site.client();
    let too_long = format!("X-Request-Id: {}\r\n", "x".repeat(129));
    let twice = "X-Request-Id: a\r\nX-Request-Id: b\r\n";
    for headers in ["", &too_long, twice, "X-Request-Id: a b\r\n", "X-Request-Id: \u{e9}\r\n"] {
        let answer = client.request("GET", "/healthz", headers, "");
        let made = answer.header("X-Request-Id").unwrap();
        assert!(made.len() == 32 && made.bytes().all(|byte| byte.is_ascii_hexdigit()), "{made}");
    }
}

#[test]
fn an_unknown_path_is_refused_in_the_form_of_its_version() {
    let site = Site::open();
    for path in ["/", "/v1/cuf//", "/v1/nothing", "/v3/cuf", "/v1/CUF", "/v1/%63uf", "/v2"] {
        let answer = site.client().request("GET", path, "", "");
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.json()["type"], "invalid_request", "{path}");
        assert_eq!(answer.json().get("code"), None, "{path}");
    }
    for path in ["/v2/", "/v2/services/name_to_domain//", "/v2/nothing"] {
        let answer = site.client().request("POST", path, "", "{}");
        assert_eq!((answer.status, answer.json()["code"].as_u64()), (404, Some(1404)), "{path}");
    }
}

#[test]
fn what_follows_a_question_mark_is_not_the_path() {
    let site = Site::open();
    let answer = site.client().request("POST", "/v1/cuf?companyName=Quill", "", &site.known());
    assert_eq!(answer.status, 200, "{answer:?}");
    let whole = "http://enrich.example/v1/cuf";
    let answer = site.client().request("POST", whole, "", &site.known());
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn a_wrong_method_is_told_the_right_one_and_the_connection_goes_on() {
    let site = Site::open();
    let mut client = site.client();
    for method in ["GET", "PUT", "DELETE", "PATCH", "TRACE", "HEAD", "BREW", "post"] {
        let answer = client.request(method, "/v1/cuf", "", "");
        assert_eq!((answer.status, answer.header("Allow")), (405, Some("POST")), "{method}");
        assert_eq!(answer.header("Connection"), None, "{method}");
    }
    for method in ["POST", "HEAD"] {
        let answer = client.request(method, "/healthz", "", "");
        assert_eq!((answer.status, answer.header("Allow")), (405, Some("GET")), "{method}");
    }
    let answer = client.request("GET", "/v2/services/name_to_domain", "", "");
    assert_eq!(answer.json()["code"], 1405, "{answer:?}");
}

#[test]
fn options_names_the_methods_and_lets_other_sites_read_open_pages_alone() {
    let site = Site::open();
    let mut client = site.client();
    let preflight = "Origin: https://other.example\r\nAccess-Control-Request-Method: GET\r\n\
                     Access-Control-Request-Headers: x-request-id\r\n";
    let open = ["/openapi.json", "/docs", "/docs/", "/docs/swagger-ui.css", "/healthz", "/readyz"];
    for path in open {
        let asked = client.request("OPTIONS", path, preflight, "");
        assert_eq!((asked.status, asked.header("Allow")), (204, Some("GET, OPTIONS")), "{path}");
        for (name, value) in [("Origin", "*"), ("Methods", "GET"), ("Headers", "*")] {
            let name = format!("Access-Control-Allow-{name}");
            assert_eq!(asked.header(&name), Some(value), "{path}: {asked:?}");
        }
        let got = client.request("GET", path, "Origin: https://other.example\r\n", "");
        assert_eq!(got.header("Access-Control-Allow-Origin"), Some("*"), "{path}");
    }
    let closed = ["/v1/cuf", "/v1/cuf/", "/v2/services/name_to_domain", "/metrics"];
    for path in closed {
        let asked = client.request("OPTIONS", path, preflight, "");
        assert_eq!(asked.status, 204, "{path}");
        assert_eq!(asked.header("Access-Control-Allow-Origin"), None, "{path}: {asked:?}");
        for method in ["GET", "POST"] {
            let got = client.request(method, path, "Origin: https://other.example\r\n", "");
            assert_eq!(got.header("Access-Control-Allow-Origin"), None, "{method} {path}");
        }
    }
    assert_eq!(client.request("OPTIONS", "/v1/cuf", "", "").header("Allow"), Some("OPTIONS, POST"));
    assert_eq!(client.request("OPTIONS", "/v1/nothing", preflight, "").status, 404);
    assert!(client.request("OPTIONS", "/healthz", "", "").header("X-Request-Id").is_some());
}

#[test]
fn a_slash_behind_an_endpoint_changes_nothing() {
    let site = Site::open();
    let answer = site.client().request("POST", "/v1/cuf/", "", &site.known());
    assert_eq!((answer.status, &answer.json()["url"]), (200, &"quill.example".into()));
}

#[test]
fn many_requests_sent_ahead_are_all_answered_in_their_order() {
    const REQUESTS: usize = 150;
    let site = Site::open();
    let mut client = site.client();
    let ahead: String = (0..REQUESTS)
        .map(|number| {
            let id = format!("X-Request-Id: n-{number}\r\n");
            request("POST", "/v1/cuf", &id, &site.known())
        })
        .collect();
    client.send(ahead);
    for number in 0..REQUESTS {
        let answer = client.next_answer();
        let id = format!("n-{number}");
        assert_eq!((answer.status, answer.header("X-Request-Id")), (200, Some(id.as_str())));
    }
}

#[test]
fn targets_that_are_no_paths_lead_nowhere() {
    let site = Site::open();
    for line in ["OPTIONS *", "CONNECT enrich.example:443"] {
        let mut client = site.client();
        client.send(format!("{line} HTTP/1.1\r\nHost: enrich.example\r\n\r\n"));
        assert_eq!(client.next_answer().status, 404, "{line}");
    }
}

#[test]
fn a_header_sent_twice_is_not_chosen_from() {
    let site = Site::open();
    let key = format!("x-api-key: {}\r\n", site.key);
    let mut client = site.client();
    let twice = format!("{key}{key}");
    let answer =
        client.request("POST", "/v2/services/name_to_domain", &twice, "company_name=Quill");
    assert_eq!(answer.status, 401, "{answer:?}");
    let twice = "Idempotency-Key: one\r\nIdempotency-Key: two\r\n";
    let answer = client.request("POST", "/v1/cuf", twice, &site.known());
    assert_eq!(answer.status, 422, "{answer:?}");
}

#[test]
fn requests_sent_in_one_go_are_answered_in_order() {
    let site = Site::open();
    let mut client = site.client();
    let first = request("POST", "/v1/cuf", "X-Request-Id: 1\r\n", &site.known());
    let second = request("GET", "/healthz", "X-Request-Id: 2\r\n", "");
    let third = request("POST", "/v1/cuf", "X-Request-Id: 3\r\n", "{}");
    client.send([first, second, third].concat());
    for (id, status) in [("1", 200), ("2", 200), ("3", 401)] {
        let answer = client.next_answer();
        assert_eq!((answer.header("X-Request-Id"), answer.status), (Some(id), status));
    }
}

#[test]
fn a_caller_who_only_stops_sending_still_gets_the_answer() {
    let site = Site::open();
    let mut client = site.client();
    client.send(request("POST", "/v1/cuf", "", &site.known())).end_sending();
    assert_eq!(client.next_answer().status, 200);
    assert_eq!(client.rest(), "");
}

#[test]
fn an_old_client_is_answered_and_let_go() {
    let site = Site::open();
    let mut client = site.client();
    let body = site.known();
    client.send(format!("POST /v1/cuf HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    assert_eq!(client.next_answer().status, 200);
    assert_eq!(client.rest(), "");
}
