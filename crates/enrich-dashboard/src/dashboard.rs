//! The account page: its parts, and who is behind a request.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use enrich_bulk::{Jobs, jobs};
use enrich_core::port::sign_ins::SignIns;
use enrich_core::{Service, Timestamp, Token};
use enrich_wire::ApiVersion;
use jiff::SignedDuration;

use crate::account_limit::AccountLimit;
use crate::account_session::AccountSession;
use crate::cookie;
use crate::fault::Fault;
use crate::host;
use crate::http::{Method, Request};
use crate::login_throttle::LoginThrottle;
use crate::password::Passwords;
use crate::scans::Scans;
use crate::settings::Settings;
use crate::threads::Threads;

/// How many reads of one account may be under way or wait: of long lists, and of files.
const SCANS_OF_ONE: usize = 4;
const FILES_OF_ONE: usize = 16;
/// How many lists are taken at once, and how many of them of one account.
const UPLOADS: usize = 8;
const UPLOADS_OF_ONE: usize = 2;

/// How often the use of a session is noted.
const NOTED_EACH: SignedDuration = SignedDuration::from_mins(1);

/// The account page.
pub struct Dashboard {
    pub(crate) service: Arc<Service>,
    pub(crate) api_versions: &'static [&'static ApiVersion],
    pub(crate) sign_ins: Arc<dyn SignIns>,
    pub(crate) settings: Settings,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) job_settings: jobs::Settings,
    pub(crate) passwords: Passwords,
    pub(crate) login_throttle: LoginThrottle,
    /// What is read of files and written to them.
    pub(crate) files: Scans,
    /// What is read without a page's size to bound it, which may take its time.
    pub(crate) scans: Scans,
    /// Lists that are being taken, as slow as their connection is.
    pub(crate) uploads: Threads,
    /// Whose they are.
    pub(crate) upload_places: AccountLimit,
}

/// What the pages stand on.
pub struct Parts {
    /// The service.
    pub service: Arc<Service>,
    /// The interface it serves.
    pub api_versions: &'static [&'static ApiVersion],
    /// Who signs in.
    pub sign_ins: Arc<dyn SignIns>,
    /// Look-ups of lists.
    pub jobs: Arc<Jobs>,
    /// How they are kept.
    pub job_settings: jobs::Settings,
}

impl Dashboard {
    /// The pages of the accounts of a service.
    ///
    /// # Errors
    ///
    /// When the system gives no threads, or no randomness.
    pub fn new(parts: Parts, settings: Settings) -> io::Result<Self> {
        let Parts { service, api_versions, sign_ins, jobs, job_settings } = parts;
        Ok(Self {
            service,
            api_versions,
            sign_ins,
            settings,
            jobs,
            job_settings,
            passwords: Passwords::start()?,
            login_throttle: LoginThrottle::default(),
            files: Scans::start("enrich-files", FILES_OF_ONE)?,
            scans: Scans::start("enrich-scan", SCANS_OF_ONE)?,
            uploads: Threads::start("enrich-upload", UPLOADS, 0)?,
            upload_places: AccountLimit::new(UPLOADS_OF_ONE),
        })
    }

    /// Who is signed in; a session that has ended is forgotten on the way.
    pub(crate) async fn session(
        &self,
        request: &Request,
        now: Timestamp,
    ) -> Result<Option<AccountSession>, Fault> {
        let Some(token) = self.token(request) else { return Ok(None) };
        let Some(session) = self.sign_ins.session(&token).await? else { return Ok(None) };
        let idle = session.seen_at.duration_until(now);
        if now >= session.ends_at || idle >= self.settings.session_idle {
            self.sign_ins.end_session(&token).await?;
            return Ok(None);
        }
        // A page that fetches its own figures anew does not keep its session alive.
        let is_refresh = request.is_from_script && request.method == Method::Get;
        if idle >= NOTED_EACH && !is_refresh {
            self.sign_ins.touch_session(&token, now).await?;
        }
        let account = self.service.accounts.account(session.account).await?;
        Ok(account.map(|account| AccountSession { account, token }))
    }

    /// The session's id that a request brings.
    pub(crate) fn token(&self, request: &Request) -> Option<Token> {
        cookie::token(request, self.settings.public_url.as_deref())
    }

    /// Who is behind a request. Over https somebody else has taken the encryption off, since the
    /// server does not: where that one says for whom, it is the last address it names. It counts for
    /// slowing down alone.
    pub(crate) fn client(&self, request: &Request) -> IpAddr {
        let is_behind_proxy =
            self.settings.public_url.as_deref().is_some_and(|url| url.starts_with("https://"));
        let named = request.forwarded_for.as_deref().filter(|_| is_behind_proxy);
        let last = named.and_then(|named| read_address(named.rsplit(',').next()?.trim()));
        last.unwrap_or(request.peer)
    }

    /// Whether a request names this server, as far as that is known: a public address is compared
    /// with the request's origin, since a proxy may name any host.
    pub(crate) fn is_own_host(&self, request: &Request) -> bool {
        match (&self.settings.public_url, self.settings.listens_on, &request.host) {
            (None, Some(listens_on), Some(named)) => host::is_own(named, listens_on),
            _ => true,
        }
    }

    /// The address that people use, as far as it is known.
    pub(crate) fn address(&self, request: &Request) -> String {
        match (&self.settings.public_url, &request.host) {
            (Some(url), _) => url.clone(),
            (None, Some(host)) => format!("http://{host}"),
            (None, None) => "http://localhost".to_owned(),
        }
    }
}

/// An address as proxies name one: `192.0.2.7`, `192.0.2.7:4431`, `2001:db8::7`, `[2001:db8::7]`,
/// `[2001:db8::7]:4431`. The port is left away: whoever tries again comes from another.
fn read_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    bare.parse().ok().or_else(with_port)
}
