//! The state that all requests to the account page share, such as the settings. Also finds the
//! session of a request and the client's address.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use enrich_bulk::{AccountLimit, Jobs, jobs};
use enrich_core::{Account, Service, Timestamp};
use enrich_sign_in::{SignIns, Token};
use enrich_wire::ApiVersion;
use jiff::SignedDuration;

use crate::cookie;
use crate::fault::Fault;
use crate::host;
use crate::http::{Method, Request};
use crate::login_throttle::LoginThrottle;
use crate::password::Passwords;
use crate::scans::Scans;
use crate::settings::Settings;
use crate::threads::Threads;

/// Maximum number of long reads for one account, such as exports and reads of whole lists. Running
/// and waiting reads are counted together.
const SCANS_OF_ONE: usize = 4;
/// Maximum number of short tasks of one account that read or write the files of its uploaded lists.
/// Running and waiting tasks are counted together.
const FILES_OF_ONE: usize = 16;
/// Maximum number of uploads of all accounts together that run at the same time.
const UPLOADS: usize = 8;
/// Maximum number of uploads of one account that run at the same time.
const UPLOADS_OF_ONE: usize = 2;

/// Minimum time between two updates of a session's last use in the store.
const NOTED_EACH: SignedDuration = SignedDuration::from_mins(1);

/// The state that the pages of all accounts share, such as the settings and the login throttle.
pub struct Dashboard {
    pub(crate) service: Arc<Service>,
    pub(crate) api_versions: &'static [&'static ApiVersion],
    pub(crate) sign_ins: Arc<dyn SignIns>,
    pub(crate) settings: Settings,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) job_settings: jobs::Settings,
    pub(crate) passwords: Passwords,
    pub(crate) login_throttle: LoginThrottle,
    /// Threads for reading and writing files.
    pub(crate) files: Scans,
    /// Threads for long reads, such as exports.
    pub(crate) scans: Scans,
    /// Threads for uploads, which may take long over a slow connection.
    pub(crate) uploads: Threads,
    pub(crate) upload_limit: AccountLimit,
}

/// An account whose owner is signed in.
pub(crate) struct AccountSession {
    pub(crate) account: Account,
    /// The token in the browser's session cookie.
    pub(crate) token: Token,
}

/// The parts that [`Dashboard::new`] needs.
pub struct Parts {
    /// Answers API calls, and gives access to accounts.
    pub service: Arc<Service>,
    /// The API versions that the service serves.
    pub api_versions: &'static [&'static ApiVersion],
    /// The store of sign-ins and sessions.
    pub sign_ins: Arc<dyn SignIns>,
    /// The uploaded lists of all accounts, and the jobs that look up their rows.
    pub jobs: Arc<Jobs>,
    /// The limits for uploaded lists, and how long lists are kept.
    pub job_settings: jobs::Settings,
}

impl Dashboard {
    /// Creates the state that all requests share, from the service and the stores that the pages
    /// use.
    ///
    /// # Errors
    ///
    /// When the operating system provides no random bytes.
    pub fn new(parts: Parts, settings: Settings) -> io::Result<Self> {
        let Parts { service, api_versions, sign_ins, jobs, job_settings } = parts;
        Ok(Self {
            service,
            api_versions,
            sign_ins,
            settings,
            jobs,
            job_settings,
            passwords: Passwords::new()?,
            login_throttle: LoginThrottle::default(),
            files: Scans::new(FILES_OF_ONE),
            scans: Scans::new(SCANS_OF_ONE),
            uploads: Threads::new(UPLOADS, 0),
            upload_limit: AccountLimit::new(UPLOADS_OF_ONE),
        })
    }

    /// Returns the session of a request; `None` if the request has no valid session. If the session
    /// has expired, also ends the session in the store.
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
        // A script on the page refreshes the page's figures from time to time. Such a request does
        // not count as a use of the session, because the user may be absent.
        let is_refresh = request.is_from_script && request.method == Method::Get;
        if idle >= NOTED_EACH && !is_refresh {
            self.sign_ins.touch_session(&token, now).await?;
        }
        let account = self.service.accounts.account(session.account).await?;
        Ok(account.map(|account| AccountSession { account, token }))
    }

    pub(crate) fn token(&self, request: &Request) -> Option<Token> {
        cookie::token(request, self.settings.public_url.as_deref())
    }

    /// Returns the client's address, which is used only to throttle logins. This server does not
    /// speak TLS. So if the public URL begins with `https://`, a proxy is in front of the server,
    /// and the client's address is the last one in the header `X-Forwarded-For`. Otherwise it is
    /// the address from which the connection comes.
    pub(crate) fn client(&self, request: &Request) -> IpAddr {
        let is_behind_proxy =
            self.settings.public_url.as_deref().is_some_and(|url| url.starts_with("https://"));
        let named = request.forwarded_for.as_deref().filter(|_| is_behind_proxy);
        let last = named.and_then(|named| read_address(named.rsplit(',').next()?.trim()));
        last.unwrap_or(request.peer)
    }

    /// Whether the request's header `Host` names this server. With a public URL, the result is
    /// always `true`, because a proxy may change the host. In this case, only `origin::is_ours`
    /// protects against forged requests.
    pub(crate) fn is_own_host(&self, request: &Request) -> bool {
        match (&self.settings.public_url, self.settings.listens_on, &request.host) {
            (None, Some(listens_on), Some(named)) => host::is_own(named, listens_on),
            _ => true,
        }
    }

    /// Returns the URL of this server in a browser: the public URL, or a URL made of the request's
    /// host if there is no public URL.
    pub(crate) fn address(&self, request: &Request) -> String {
        match (&self.settings.public_url, &request.host) {
            (Some(url), _) => url.clone(),
            (None, Some(host)) => format!("http://{host}"),
            (None, None) => "http://localhost".to_owned(),
        }
    }
}

/// Parses an address as proxies write it: `192.0.2.7`, `192.0.2.7:4431`, `2001:db8::7`,
/// `[2001:db8::7]`, `[2001:db8::7]:4431`. The port is ignored, because it differs for each
/// connection.
fn read_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    bare.parse().ok().or_else(with_port)
}
