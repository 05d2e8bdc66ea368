//! Connects to the database: parses the URL, sets up encryption, and runs the task that reads and
//! writes the socket.
//!
//! All hosts of the URL are tried at the same time. If they were tried one after the other, a
//! frozen host (which accepts connections but never answers) would delay the connection to a
//! working host.

use std::fs;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::config::{Host as HostName, SslMode, TargetSessionAttrs};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Time limit for connecting to a host, including authentication.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// The time for which a host is suspected after it did not confirm a commit, or lacked rows that
/// this node has read. A suspected host may be an old primary, or a primary that has lost its
/// standby. Other hosts are preferred to it.
const SUSPECTED_FOR: Duration = Duration::from_secs(10);
/// How long other hosts may still answer after a suspected host (probably an old primary) has
/// answered. If no other host answers in this time, the suspected host is used.
const PREFERENCE_WAIT: Duration = Duration::from_millis(300);
const KEEPALIVE: Duration = Duration::from_secs(5);

/// Why a database URL cannot be used. No message contains any part of the URL.
#[derive(Debug, thiserror::Error)]
pub enum UrlError {
    /// The URL is not of the form `postgres://user:password@host/database`.
    #[error("the store's URL is not of the form postgres://user:password@host1,host2/database")]
    Malformed(#[source] tokio_postgres::Error),
    /// The file of `sslrootcert` cannot be read, or contains no valid PEM.
    #[error("the certificates of sslrootcert cannot be read")]
    RootCertificates(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The TLS library refused a root certificate or its own settings.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
}

/// Why no connection could be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("the database did not answer within {} s", CONNECT_TIMEOUT.as_secs())]
    TimedOut,
    #[error("no connection to a primary of the database")]
    Refused(#[from] tokio_postgres::Error),
}

/// Opens connections to the primary.
pub(crate) struct Connector {
    hosts: Vec<Arc<Host>>,
    tls: Option<MakeRustlsConnect>,
}

/// A database host that is named in the URL.
struct Host {
    config: Config,
    /// When the host last did not confirm a commit, or lacked rows that this node has read;
    /// `None` if this has not happened.
    suspected: Mutex<Option<Instant>>,
}

/// A connection to the primary. Dropping this value closes the connection.
pub(crate) struct Connection {
    /// The client that runs statements. It sends each statement immediately, without waiting for
    /// the answers to earlier statements. The answers arrive in the order of the statements.
    pub(crate) client: Client,
    /// The number of warnings that PostgreSQL has sent on this connection. A warning during a
    /// `COMMIT` means that the commit may not have reached the standby.
    warnings: Arc<AtomicU64>,
    /// The task that reads and writes the socket.
    driver: AbortHandle,
    host: Arc<Host>,
}

impl Drop for Connection {
    /// Closes the socket immediately, even if statements wait for their answers. PostgreSQL then
    /// ends their transaction.
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Connector {
    /// Parses a URL: `postgres://user:password@host1,host2/database?sslmode=…&sslrootcert=…`.
    ///
    /// `sslmode` is `disable`, `prefer` (the default), `require` or `verify-full`. With `disable`,
    /// the connection is not encrypted; with `prefer`, it is encrypted if the server supports this.
    /// `require` and `verify-full` mean the same, because a certificate is always checked: with the
    /// root certificates in the file `sslrootcert`, or with the root certificates of the system.
    pub(crate) fn new(url: &str) -> Result<Self, UrlError> {
        let (url, root_file) = split_tls_options(url);
        let mut config: Config = url.parse().map_err(UrlError::Malformed)?;
        config
            .connect_timeout(CONNECT_TIMEOUT)
            .keepalives_idle(KEEPALIVE)
            .keepalives_interval(KEEPALIVE)
            .tcp_user_timeout(2 * KEEPALIVE)
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_application_name().is_none() {
            config.application_name("enrich");
        }
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => None,
            _ => Some(MakeRustlsConnect::new(client_config(root_file.as_deref())?)),
        };
        let hosts = each_host(&config);
        let host = |config| Arc::new(Host { config, suspected: Mutex::default() });
        Ok(Self { hosts: hosts.into_iter().map(host).collect(), tls })
    }

    /// Connects to the host that answers first as a primary. A suspected host may be an old
    /// primary that still runs and answers as a primary. So it is used only if no other host
    /// answers within [`PREFERENCE_WAIT`].
    pub(crate) async fn connect(&self) -> Result<Connection, ConnectError> {
        let attempts = self.hosts.iter().map(|host| async move {
            let connecting = timeout(CONNECT_TIMEOUT, self.connect_to(host)).await;
            connecting.unwrap_or(Err(ConnectError::TimedOut))
        });
        let mut attempts: FuturesUnordered<_> = attempts.collect();
        let (mut suspected, mut failed) = (None, ConnectError::TimedOut);
        let mut limit = CONNECT_TIMEOUT;
        while let Ok(Some(connected)) = timeout(limit, attempts.next()).await {
            match connected {
                Ok(connection) if connection.host.is_suspected() => {
                    (suspected, limit) = (Some(connection), PREFERENCE_WAIT);
                }
                Ok(connection) => return Ok(connection),
                Err(error) => failed = error,
            }
        }
        suspected.ok_or(failed)
    }

    async fn connect_to(&self, host: &Arc<Host>) -> Result<Connection, ConnectError> {
        Ok(match &self.tls {
            Some(tls) => connect_by(host, tls.clone()).await?,
            None => connect_by(host, NoTls).await?,
        })
    }
}

async fn connect_by<T>(host: &Arc<Host>, tls: T) -> Result<Connection, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let (client, mut connection) = host.config.connect(tls).await?;
    let warnings = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&warnings);
    let driver = tokio::spawn(async move {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            match message {
                Ok(AsyncMessage::Notice(notice)) if notice.severity() == "WARNING" => {
                    counted.fetch_add(1, Ordering::AcqRel);
                    let code = notice.code().code();
                    tracing::warn!(code, "the database sent a warning");
                }
                Ok(_) => {}
                // The connection has failed. The statements of the client report the failure.
                Err(_) => return,
            }
        }
    });
    let (driver, host) = (driver.abort_handle(), Arc::clone(host));
    Ok(Connection { client, warnings, driver, host })
}

impl Host {
    fn is_suspected(&self) -> bool {
        self.suspected.lock().is_some_and(|since| since.elapsed() < SUSPECTED_FOR)
    }
}

impl Connection {
    /// Makes the next connection attempts prefer other hosts. Call this if the host did not
    /// confirm a commit, or lacks rows that this node has read.
    pub(crate) fn suspect(&self) {
        *self.host.suspected.lock() = Some(Instant::now());
    }

    /// Returns the number of warnings that PostgreSQL has sent on this connection. If the number
    /// grows during a `COMMIT`, the commit may not have reached the standby.
    pub(crate) fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Acquire)
    }
}

/// Returns the configuration of each host in a URL.
fn each_host(config: &Config) -> Vec<Config> {
    let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
    let ports = config.get_ports();
    let one = |index: usize| {
        let mut one = base_of(config);
        match hosts.get(index) {
            Some(HostName::Tcp(name)) => {
                one.host(name);
            }
            #[cfg(unix)]
            Some(HostName::Unix(path)) => {
                one.host_path(path);
            }
            None => {}
        }
        if let Some(address) = addresses.get(index) {
            one.hostaddr(*address);
        }
        if let Some(port) = ports.get(index).or(ports.first()) {
            one.port(*port);
        }
        one
    };
    (0..hosts.len().max(addresses.len())).map(one).collect()
}

/// Returns a copy of the configuration without its hosts and ports.
fn base_of(config: &Config) -> Config {
    let mut base = Config::new();
    if let Some(user) = config.get_user() {
        base.user(user);
    }
    if let Some(password) = config.get_password() {
        base.password(password);
    }
    if let Some(name) = config.get_dbname() {
        base.dbname(name);
    }
    if let Some(options) = config.get_options() {
        base.options(options);
    }
    if let Some(name) = config.get_application_name() {
        base.application_name(name);
    }
    if let Some(timeout) = config.get_connect_timeout() {
        base.connect_timeout(*timeout);
    }
    if let Some(timeout) = config.get_tcp_user_timeout() {
        base.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = config.get_keepalives_interval() {
        base.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        base.keepalives_retries(retries);
    }
    base.keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .channel_binding(config.get_channel_binding())
        .target_session_attrs(config.get_target_session_attrs());
    base
}

/// Returns the URL without the options that the client library does not know, and the value of the
/// option `sslrootcert`. The returned URL has no `sslrootcert`, and `sslmode=require` in place of
/// `verify-full` and `verify-ca`. The certificate is checked all the same, as on every encrypted
/// connection ([`Connector::new`]).
fn split_tls_options(url: &str) -> (String, Option<String>) {
    let Some((base, query)) = url.split_once('?') else {
        return (url.to_owned(), None);
    };
    let mut root_file = None;
    let options: Vec<&str> = query
        .split('&')
        .filter_map(|option| match option.split_once('=') {
            Some(("sslrootcert", path)) => {
                root_file = Some(path.to_owned());
                None
            }
            Some(("sslmode", "verify-full" | "verify-ca")) => Some("sslmode=require"),
            _ => Some(option),
        })
        .collect();
    let separator = if options.is_empty() { "" } else { "?" };
    (format!("{base}{separator}{}", options.join("&")), root_file)
}

fn client_config(root_file: Option<&str>) -> Result<ClientConfig, UrlError> {
    let mut roots = RootCertStore::empty();
    match root_file {
        Some(path) => {
            let failed = |source: Box<dyn std::error::Error + Send + Sync>| {
                UrlError::RootCertificates(source)
            };
            let pem = fs::read(path).map_err(|error| failed(error.into()))?;
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                let certificate = certificate.map_err(|error| failed(error.to_string().into()))?;
                roots.add(certificate).map_err(UrlError::Tls)?;
            }
        }
        // Certificates of the system that cannot be parsed are left out; other programs do the
        // same.
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(UrlError::Tls)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_options_that_the_client_does_not_know_are_taken_out() {
        let split = |url| split_tls_options(url);
        let plain = "postgres://a@db.example/enrich";
        assert_eq!(split(plain), (plain.to_owned(), None));
        let (url, file) =
            split("postgres://a@db.example/e?sslmode=verify-full&sslrootcert=/ca.pem");
        assert_eq!(url, "postgres://a@db.example/e?sslmode=require");
        assert_eq!(file.as_deref(), Some("/ca.pem"));
    }

    #[test]
    fn each_host_has_its_port_and_the_settings_of_all() {
        let url = "postgres://a:b@one.example:1,two.example:2/e?connect_timeout=7&options=-c%20x=1";
        let config: Config = url.parse().unwrap();
        let hosts = each_host(&config);
        let expected = ["one.example:1", "two.example:2"].map(|host| {
            let url = url.replace("one.example:1,two.example:2", host);
            url.parse::<Config>().unwrap()
        });
        assert_eq!(hosts, expected);
        let one_port: Config = "host=one.example,two.example port=7".parse().unwrap();
        assert!(each_host(&one_port).iter().all(|host| host.get_ports() == [7]));
    }

    #[test]
    fn an_error_of_a_url_does_not_show_its_password() {
        let error = Connector::new("postgres://a:hunter2@db.example:port/e").err().unwrap();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
