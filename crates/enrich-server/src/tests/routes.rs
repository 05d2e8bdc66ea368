//! Checks that each listener serves exactly its own paths.

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::test::{TestRequest, call_service, init_service};
use actix_web::web::Data;

use super::{BODY_TIMEOUT, service};
use crate::app::app;
use crate::versions::API_VERSIONS;
use crate::{AppState, ListenerState, Serves};

/// Sends requests to a listener without an account page. Returns the status and the body of each
/// response.
async fn answers(serves: Serves, requests: &[(Method, &str)]) -> Vec<(u16, String)> {
    let (service, _, _) = service();
    let state = Arc::new(AppState::new(Arc::new(service), BODY_TIMEOUT, false));
    let service = init_service(app(Data::new(ListenerState { app: state, serves }))).await;
    let mut answers = Vec::new();
    for (method, path) in requests {
        let request = TestRequest::with_uri(path).method(method.clone()).to_request();
        let response = call_service(&service, request).await;
        let status = response.status().as_u16();
        let body = actix_web::test::read_body(response).await;
        answers.push((status, String::from_utf8_lossy(&body).into_owned()));
    }
    answers
}

async fn statuses(serves: Serves, requests: &[(Method, &str)]) -> Vec<u16> {
    answers(serves, requests).await.into_iter().map(|(status, _)| status).collect()
}

#[actix_web::test]
async fn every_endpoint_is_found_with_and_without_a_slash_behind_it() {
    for endpoint in API_VERSIONS.iter().flat_map(|version| version.endpoints) {
        let with_slash = format!("{}/", endpoint.path);
        let requests = [(Method::POST, endpoint.path), (Method::POST, with_slash.as_str())];
        let found = statuses(Serves::Everything, &requests).await;
        assert!(!found.contains(&404), "{}: {found:?}", endpoint.path);
        assert_eq!(statuses(Serves::Admin, &requests).await, [404, 404], "{}", endpoint.path);
    }
}

#[actix_web::test]
async fn a_path_is_matched_whole_and_as_it_is() {
    let paths = ["/v1/cuf//", "/v1//cuf", "/V1/cuf", "/v1/%63uf", "/v1/cuf;a", "//", "/v1", "/v1/"];
    let requests = paths.map(|path| (Method::POST, path));
    for (path, status) in paths.iter().zip(statuses(Serves::Everything, &requests).await) {
        assert_eq!(status, 404, "{path}");
    }
}

#[actix_web::test]
async fn the_document_is_found_with_a_slash_behind_it() {
    let requests = [(Method::GET, "/docs"), (Method::GET, "/docs/"), (Method::GET, "/docs//")];
    assert_eq!(statuses(Serves::Interface, &requests).await, [200, 200, 404]);
    assert_eq!(statuses(Serves::Admin, &requests).await, [404, 404, 404]);
}

#[actix_web::test]
async fn what_leads_nowhere_is_refused_in_the_form_of_its_prefix() {
    let requests = ["/v1/nothing", "/v2/nothing"].map(|path| (Method::POST, path));
    let [first, second] = answers(Serves::Everything, &requests).await.try_into().unwrap();
    assert_eq!((first.0, second.0), (404, 404));
    assert_ne!(first.1, second.1, "both versions write an error in one form");
    let requests = ["/v2", "/v22/x"].map(|path| (Method::POST, path));
    for answer in answers(Serves::Everything, &requests).await {
        assert_eq!(answer, first);
    }
}

#[actix_web::test]
async fn a_listener_serves_its_own_side_alone() {
    let requests = [(Method::GET, "/metrics"), (Method::GET, "/v1/cuf"), (Method::GET, "/healthz")];
    assert_eq!(statuses(Serves::Interface, &requests).await, [404, 405, 404]);
    assert_eq!(statuses(Serves::Admin, &requests).await, [200, 404, 200]);
    assert_eq!(statuses(Serves::Everything, &requests).await, [200, 405, 200]);
}

#[actix_web::test]
async fn without_an_account_page_nothing_is_at_its_paths() {
    let requests = ["/", "/account", "/account/keys", "/accounts"].map(|path| (Method::GET, path));
    assert_eq!(statuses(Serves::Everything, &requests).await, [404; 4]);
}
