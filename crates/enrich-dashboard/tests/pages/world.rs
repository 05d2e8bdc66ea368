//! The test world: the pages of several accounts, and a minimal browser.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use enrich_bulk::Jobs;
use enrich_bulk::jobs::{self, MeteredCallers};
use enrich_core::port::accounts::Accounts;
use enrich_core::port::ledger::{Grant, Ledger};
use enrich_core::{Account, AccountId, Clock, KeyId, NewKey, RateLimit, Service};
use enrich_dashboard::{Dashboard, Method, Parts, Request, Response, ResponseBody, Settings};
use enrich_sign_in::{SignIns, Token};
use enrich_testkit::fake_clock::FakeClock;
use enrich_testkit::fake_ports::{FakePorts, MemoryJobs};
use enrich_text::EmailAddress;
use enrich_wire::ApiVersion;
use futures_util::{StreamExt, stream};
use tokio::runtime::Runtime;

pub(crate) const PASSWORD: &str = "correct horse battery";

static API_VERSIONS: [&ApiVersion; 2] =
    [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];

pub(crate) struct World {
    pub(crate) dashboard: Dashboard,
    pub(crate) ports: Arc<FakePorts>,
    pub(crate) clock: Arc<FakeClock>,
    /// The job records that several servers share. Each server stores in them which uploaded lists
    /// it has, so that the other servers can show this.
    pub(crate) announced: Arc<MemoryJobs>,
    /// The folder in which lists are stored.
    pub(crate) folder: tempfile::TempDir,
    pub(crate) runtime: Runtime,
}

/// The owner of an account, and the browser in which the owner is signed in.
pub(crate) struct Owner {
    pub(crate) account: AccountId,
    pub(crate) key: KeyId,
    pub(crate) browser: Browser,
}

/// A browser with one cookie. Its POST requests have the headers `Origin` and `Sec-Fetch-Site`,
/// which show the server that a form comes from its own pages.
#[derive(Clone, Default)]
pub(crate) struct Browser {
    pub(crate) cookie: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self::serving(settings, |_| {})
    }

    /// Returns a world in which the server has these settings. `change` may change the service of
    /// the server.
    pub(crate) fn serving(settings: Settings, change: impl Fn(&mut Service)) -> Self {
        let ports = Arc::new(FakePorts::with_quill());
        let clock = Arc::new(FakeClock::at("2026-03-04T12:00:30Z"));
        let mut service = ports.service(clock.clone());
        service.rate_limit = RateLimit::new(100, 60).unwrap();
        change(&mut service);
        let sign_ins: Arc<dyn SignIns> = ports.clone();
        let service = Arc::new(service);
        let folder = tempfile::tempdir().unwrap();
        let job_settings =
            jobs::Settings { max_upload_bytes: 4 * 1024 * 1024, ..jobs::Settings::default() };
        let callers = Arc::new(MeteredCallers(Arc::clone(&service)));
        let jobs =
            Jobs::open(folder.path(), &API_VERSIONS, callers, clock.clone(), job_settings).unwrap();
        let announced: Arc<MemoryJobs> = Arc::default();
        jobs.announce_to(announced.clone()).unwrap();
        let parts = Parts {
            service,
            api_versions: &API_VERSIONS,
            sign_ins,
            jobs: Arc::new(jobs),
            job_settings,
        };
        let dashboard = Dashboard::new(parts, settings).unwrap();
        let runtime = Runtime::new().unwrap();
        Self { dashboard, ports, clock, announced, folder, runtime }
    }

    /// Creates an account with a key, 1,000 credits and an email address, and an invitation to this
    /// account.
    pub(crate) fn invited(&self, name: &str, email: &str) -> (AccountId, KeyId, Token) {
        let now = self.clock.now();
        let account = Account::new(name, now);
        let id = account.id;
        let key = NewKey::generate(id, "first", now).unwrap();
        let key_id = key.id;
        let token = Token::generate().unwrap();
        let address = EmailAddress::parse(email).unwrap();
        let until = now + jiff::SignedDuration::from_hours(24);
        pollster::block_on(async {
            self.ports.create(account, key).await.unwrap();
            self.ports.grant(Grant::new(id, 1000, now)).await.unwrap();
            self.ports.set_email(id, &address, now).await.unwrap();
            self.ports.invite(id, &token, until).await.unwrap();
        });
        (id, key_id, token)
    }

    /// Creates an account and accepts its invitation.
    pub(crate) fn owner(&self, name: &str, email: &str) -> Owner {
        let (account, key, token) = self.invited(name, email);
        let mut browser = Browser::default();
        let path = format!("/account/invitation/{}", token.expose());
        let fields = [("password", PASSWORD), ("again", PASSWORD)];
        let seen = browser.post(self, &path, &fields);
        assert_eq!(seen.header("location"), Some("/account/welcome"), "{seen:?}");
        Owner { account, key, browser }
    }

    pub(crate) fn send(&self, request: Request) -> Seen {
        let seen = async { Seen::read(self.dashboard.answer(request).await).await };
        self.runtime.block_on(seen)
    }
}

impl Browser {
    pub(crate) fn request(&self, method: Method, target: &str) -> Request {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Request::new(method, path, query, IpAddr::from([192, 0, 2, 7]));
        request.host = Some("enrich.example".to_owned());
        request.cookies.clone_from(&self.cookie);
        if method == Method::Post {
            request.origin = Some("null".to_owned());
            request.fetch_site = Some("same-origin".to_owned());
        }
        request
    }

    pub(crate) fn get(&self, world: &World, target: &str) -> Seen {
        world.send(self.request(Method::Get, target))
    }

    pub(crate) fn post(&mut self, world: &World, path: &str, fields: &[(&str, &str)]) -> Seen {
        let mut request = self.request(Method::Post, path);
        request.body = body(fields);
        let seen = world.send(request);
        if let Some(set) = seen.header("set-cookie") {
            self.cookie = Some(set.split(';').next().unwrap().to_owned());
        }
        seen
    }
}

/// Returns the body of a form, as browsers send it.
pub(crate) fn body(fields: &[(&str, &str)]) -> enrich_dashboard::Body {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    let bytes = Bytes::from(form.extend_pairs(fields).finish());
    stream::iter([Ok(bytes)]).boxed_local()
}

impl Seen {
    async fn read(response: Response) -> Self {
        assert!(response.error.is_none(), "{:?}", response.error);
        let body = match response.body {
            ResponseBody::Whole(bytes) => bytes.into_owned(),
            ResponseBody::File { plain, .. } => plain.to_vec(),
            ResponseBody::Pieces(mut pieces) => {
                let mut bytes = Vec::new();
                while let Some(piece) = pieces.next().await {
                    bytes.extend_from_slice(&piece.unwrap());
                }
                bytes
            }
        };
        let headers = response.headers.into_iter();
        Self {
            status: response.status,
            headers: headers.map(|(name, value)| (name.to_owned(), value.into_owned())).collect(),
            body: String::from_utf8(body).unwrap(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn between(&self, before: &str, after: &str) -> &str {
        let (_, rest) = self.body.split_once(before).unwrap_or_else(|| panic!("{}", self.body));
        rest.split_once(after).unwrap().0
    }
}
