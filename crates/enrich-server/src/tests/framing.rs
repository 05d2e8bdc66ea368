//! Tests of how the server finds the end of a request. Bodies in every framing are read, and an
//! ambiguous framing is refused.

use super::Site;
use enrich_testkit::http::request;

const HEAD: &str = "POST /v1/cuf HTTP/1.1\r\nHost: enrich.example\r\n";

#[test]
fn a_body_may_come_in_chunks_and_in_single_bytes() {
    let site = Site::open();
    let mut client = site.client();
    let body = site.known();
    let (one, other) = body.split_at(11);
    client.send(format!(
        "{HEAD}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{one}\r\n{:x}\r\n{other}\r\n0\r\n\r\n",
        one.len(),
        other.len()
    ));
    assert_eq!(client.next_answer().status, 200);
    for byte in request("POST", "/v1/cuf", "", &body).bytes() {
        client.send([byte]);
    }
    assert_eq!(client.next_answer().status, 200);
}

#[test]
fn a_caller_who_asks_first_is_told_to_go_on() {
    let site = Site::open();
    let mut client = site.client();
    let body = site.known();
    let length = body.len();
    client.send(format!("{HEAD}Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n"));
    assert_eq!(client.next_answer().status, 100);
    client.send(body);
    assert_eq!(client.next_answer().status, 200);
}

#[test]
fn a_request_behind_another_is_answered_when_the_rest_of_its_body_comes() {
    let site = Site::open();
    let mut client = site.client();
    let request = request("POST", "/v1/cuf", "", &site.known());
    let (begun, rest) = request.split_at(request.len() - 9);
    client.send(request.clone() + begun);
    assert_eq!(client.next_answer().status, 200);
    client.send(rest);
    assert_eq!(client.next_answer().status, 200);
}

#[test]
fn a_caller_who_asks_first_behind_another_request_is_told_to_go_on() {
    let site = Site::open();
    let mut client = site.client();
    let body = site.known();
    let (first, length) = (request("POST", "/v1/cuf", "", &body), body.len());
    let second = format!("{HEAD}Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n");
    client.send(first + &second);
    assert_eq!([client.next_answer().status, client.next_answer().status], [200, 100]);
    client.send(body);
    assert_eq!(client.next_answer().status, 200);
}

#[test]
fn a_body_that_was_not_read_is_never_the_next_request() {
    let site = Site::open();
    let inner = request("POST", "/v1/cuf", "X-Request-Id: smuggled\r\n", &site.known());
    let chunked = format!(
        "POST /nothing HTTP/1.1\r\nHost: enrich.example\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{inner}\r\n0\r\n\r\n",
        inner.len()
    );
    let asked = [
        request("POST", "/nothing", "", &inner),
        request("GET", "/v1/cuf", "", &inner),
        request("GET", "/healthz", "", &inner),
        request("POST", "/metrics", "", &inner),
        chunked.clone(),
    ];
    for asked in asked {
        let mut client = site.client();
        client.send(&asked);
        assert_eq!(client.next_answer().header("Connection"), Some("close"), "{asked}");
        assert_eq!(client.rest(), "", "{asked}");
    }
    // The answer has announced that the server closes the connection. So the bytes after the body
    // must not be read as a request.
    let mut client = site.client();
    client.send(format!("{chunked}{inner}"));
    assert_eq!(client.next_answer().status, 404);
    client.try_send(&inner);
    assert_eq!(client.rest(), "");
    // Here the body arrives only after the answer. This body must not be read as a request.
    let mut client = site.client();
    let (head, body) = asked_apart(&inner);
    client.send(head);
    assert_eq!(client.next_answer().status, 404);
    client.try_send(body);
    assert_eq!(client.rest(), "");
    let charged = site.charged();
    assert_eq!(charged, 0);
}

fn asked_apart(inner: &str) -> (String, String) {
    let asked = request("POST", "/nothing", "", inner);
    let (head, body) = asked.split_once("\r\n\r\n").unwrap();
    (format!("{head}\r\n\r\n"), body.to_owned())
}

#[test]
fn a_length_that_can_be_read_in_two_ways_is_no_request() {
    let site = Site::open();
    let inner = request("POST", "/v1/cuf", "", &site.known());
    let heads = [
        "Content-Length: 0\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 99999999999999999999999\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        " Transfer-Encoding: chunked\r\n",
        "Content-Length\r\n",
    ];
    for head in heads {
        let mut client = site.client();
        client.send(format!("{HEAD}{head}\r\n0\r\n\r\n{inner}"));
        let answer = client.next_answer();
        assert_eq!(answer.status, 400, "{head:?} {answer:?}");
        assert_eq!(client.rest(), "", "{head:?}");
    }
}

#[test]
fn a_request_without_one_host_is_none() {
    let site = Site::open();
    for hosts in ["", "Host: a.example\r\nHost: b.example\r\n"] {
        let mut client = site.client();
        client.send(format!("POST /v1/cuf HTTP/1.1\r\n{hosts}\r\n"));
        assert_eq!(client.next_answer().status, 400, "{hosts:?}");
        assert_eq!(client.rest(), "");
    }
}

#[test]
fn malformed_chunks_end_the_connection_and_charge_nothing() {
    let site = Site::open();
    for chunks in ["zz\r\n", "5\r\nabcdefgh", "ffffffffffffffffff\r\n", "-1\r\n"] {
        let mut client = site.client();
        client.send(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{chunks}"));
        let answer = client.next_answer();
        assert!([400, 422].contains(&answer.status), "{chunks:?} {answer:?}");
        assert_eq!(answer.header("Connection"), Some("close"), "{chunks:?} {answer:?}");
        let rest = client.rest();
        assert!(!rest.contains("200 OK"), "{chunks:?} {rest}");
    }
}

#[test]
fn a_body_cut_off_is_not_read_as_a_whole_one() {
    let site = Site::open();
    let mut client = site.client();
    let body = site.known();
    client.send(format!("{HEAD}Content-Length: {}\r\n\r\n{body}", body.len() + 1)).end_sending();
    let rest = client.rest();
    assert!(!rest.contains("200 OK"), "{rest}");
    assert_eq!(site.charged(), 0);
}

#[test]
fn a_compressed_body_is_refused_and_the_connection_goes_on() {
    let site = Site::open();
    let mut client = site.client();
    for coding in ["gzip", "br", "identity, gzip", "whatever"] {
        let headers = format!("Content-Encoding: {coding}\r\n");
        let answer = client.request("POST", "/v1/cuf", &headers, &site.known());
        assert_eq!(answer.status, 422, "{coding}");
        assert!(answer.body.contains("compressed"), "{answer:?}");
    }
    for coding in ["identity", "Identity", ""] {
        let headers = format!("Content-Encoding: {coding}\r\n");
        let answer = client.request("POST", "/v1/cuf", &headers, &site.known());
        assert_eq!(answer.status, 200, "{coding:?} {answer:?}");
    }
}
