//! The yardstick: a bare actix-web handler with the same bodies and answer sizes as the service.
//!
//! The handler parses the same JSON as the service, and writes JSON of the same shape and size as
//! the service's answers. The handler does nothing else: it checks no key, looks up nothing,
//! charges nothing and adds no headers. Its allocator, build profile and number of workers are
//! those of `enrich serve`.

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZeroUsize;

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The value of `credit_count` in all answers. It has as many digits as the balances in a run.
const CREDITS: u64 = 999_999_999_999;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich-bench echo --answer /v1/dtc=25

Prints where it listens as its first line, as `enrich serve` does.")]
pub(crate) struct Echo {
    /// Number of threads that answer requests [default: one for each processor]
    #[arg(long, value_name = "THREADS")]
    workers: Option<NonZeroUsize>,
    /// Size of the text in the answers at a path, in bytes; the repeated query does not count
    #[arg(long = "answer", value_name = "PATH=BYTES", value_parser = filled_path)]
    answers: Vec<(String, usize)>,
}

fn filled_path(text: &str) -> Result<(String, usize), String> {
    let (path, bytes) = text.split_once('=').ok_or("it is a path, `=` and a number of bytes")?;
    Ok((path.to_owned(), bytes.parse().map_err(|error| format!("{bytes}: {error}"))?))
}

/// The text that the answers at each path contain. The keys of `others` are paths.
struct Texts {
    domain_to_name: String,
    name_to_domain: String,
    others: BTreeMap<String, String>,
}

/// The request body of `/v1/dtc`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ByDomain {
    #[serde(rename = "apiKey")]
    _api_key: String,
    company_website: String,
}

/// The request body of `/v1/cuf`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ByName {
    #[serde(rename = "apiKey")]
    _api_key: String,
    company_name: String,
}

/// An answer of version 1, whose fields are not nested in an object `data`.
#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    url: &'a str,
    credit_count: u64,
    confidence_level: u8,
}

/// Returns the length, in bytes, of an answer without its query and text.
pub(crate) fn bare_bytes() -> usize {
    // The conversion cannot fail: an answer of two texts always converts to JSON.
    serde_json::to_vec(&answer("", "")).map_or(0, |bytes| bytes.len())
}

fn answer<'a>(query: &'a str, url: &'a str) -> Answer<'a> {
    Answer { query, url, credit_count: CREDITS, confidence_level: 100 }
}

async fn domain_to_name(asked: web::Json<ByDomain>, texts: web::Data<Texts>) -> HttpResponse {
    HttpResponse::Ok().json(answer(&asked.company_website, &texts.domain_to_name))
}

async fn name_to_domain(asked: web::Json<ByName>, texts: web::Data<Texts>) -> HttpResponse {
    HttpResponse::Ok().json(answer(&asked.company_name, &texts.name_to_domain))
}

/// Answers requests at all paths except `/v1/dtc` and `/v1/cuf`. The body may be any JSON object.
async fn other(
    request: HttpRequest,
    asked: web::Json<Map<String, Value>>,
    texts: web::Data<Texts>,
) -> HttpResponse {
    let mut fields = asked.iter().filter(|(name, _)| *name != "apiKey");
    let query = fields.find_map(|(_, value)| value.as_str()).unwrap_or_default();
    let text = texts.others.get(request.path()).map_or("", String::as_str);
    HttpResponse::Ok().json(answer(query, text))
}

impl Echo {
    pub(crate) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut others: BTreeMap<String, String> =
            self.answers.into_iter().map(|(path, bytes)| (path, "x".repeat(bytes))).collect();
        let mut take = |path| others.remove(path).unwrap_or_default();
        let (domain_to_name_text, name_to_domain_text) = (take("/v1/dtc"), take("/v1/cuf"));
        let texts = web::Data::new(Texts {
            domain_to_name: domain_to_name_text,
            name_to_domain: name_to_domain_text,
            others,
        });
        let processors = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let workers = self.workers.unwrap_or_else(processors).get();
        actix_web::rt::System::new().block_on(async move {
            let server = HttpServer::new(move || {
                App::new()
                    .app_data(texts.clone())
                    .route("/v1/dtc", web::post().to(domain_to_name))
                    .route("/v1/cuf", web::post().to(name_to_domain))
                    .default_service(web::post().to(other))
            });
            let server = server.workers(workers).bind("127.0.0.1:0")?;
            for address in server.addrs() {
                writeln!(out, "enrich listening on http://{address}")?;
            }
            out.flush()?;
            server.run().await?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test as service;

    use super::*;

    #[test]
    fn a_path_is_told_with_its_bytes() {
        assert_eq!(filled_path("/v1/dtc=25"), Ok(("/v1/dtc".to_owned(), 25)));
        assert!(filled_path("/v1/dtc").is_err() && filled_path("/v1/dtc=x").is_err());
    }

    #[actix_web::test]
    async fn an_answer_has_the_bytes_that_were_asked_for() {
        let others = BTreeMap::from([("/v1/dte".to_owned(), "x".repeat(30))]);
        let texts = Texts { domain_to_name: "x".repeat(25), name_to_domain: String::new(), others };
        let app = App::new()
            .app_data(web::Data::new(texts))
            .route("/v1/dtc", web::post().to(domain_to_name))
            .default_service(web::post().to(other));
        let app = service::init_service(app).await;
        for (path, field, bytes) in
            [("/v1/dtc", "companyWebsite", 25), ("/v1/dte", "companyDomain", 30)]
        {
            let body = serde_json::json!({"apiKey": "k", field: "quill.example"});
            let request = service::TestRequest::post().uri(path).set_json(body).to_request();
            let answer = service::call_and_read_body(&app, request).await;
            assert_eq!(answer.len(), bare_bytes() + "quill.example".len() + bytes, "{path}");
        }
    }
}
