//! Connects to the database: its URL, encryption, and how a connection is driven.

use std::fs;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long each host may take to accept a connection.
const HOST_TIMEOUT: Duration = Duration::from_secs(2);
/// How long all hosts together may take, with authentication.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const KEEPALIVE: Duration = Duration::from_secs(5);

/// Why a database URL cannot be used. No message contains any part of the URL.
#[derive(Debug, thiserror::Error)]
pub enum UrlError {
    /// It is not of the form `postgres://user:password@host/database`.
    #[error("the store's URL is not of the form postgres://user:password@host1,host2/database")]
    Malformed(#[source] tokio_postgres::Error),
    /// The file of `sslrootcert` cannot be read.
    #[error("the certificates of sslrootcert cannot be read")]
    RootCertificates(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The TLS library refused its own settings.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
}

/// Why no connection could be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("the database did not answer within {} s", CONNECT_TIMEOUT.as_secs())]
    TimedOut,
    #[error("no connection to a primary of the database")]
    Refused(#[from] tokio_postgres::Error),
}

/// Opens connections to the primary.
pub(crate) struct Connector {
    config: Config,
    tls: Option<MakeRustlsConnect>,
}

/// A connection to the primary. Dropping it closes it.
pub(crate) struct Connection {
    /// Runs statements. They are sent at once and answered in order.
    pub(crate) client: Client,
    /// The number of warnings that the server has sent.
    warnings: Arc<AtomicU64>,
    /// The task that reads and writes the socket.
    driver: AbortHandle,
}

impl Drop for Connection {
    /// Closes the socket at once, also while statements wait for their answers: the server then
    /// ends their transaction.
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Connector {
    /// Reads a URL: `postgres://user:password@host1,host2/database?sslmode=…&sslrootcert=…`.
    ///
    /// `sslmode` is `disable`, `prefer` (the default), `require` or `verify-full`. The last two are
    /// the same: a certificate is always checked, by the file `sslrootcert` or the system's roots.
    pub(crate) fn new(url: &str) -> Result<Self, UrlError> {
        let (url, root_file) = split_tls_options(url);
        let mut config: Config = url.parse().map_err(UrlError::Malformed)?;
        config
            .connect_timeout(HOST_TIMEOUT)
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
        Ok(Self { config, tls })
    }

    /// Connects to the first host that is a primary.
    pub(crate) async fn connect(&self) -> Result<Connection, ConnectError> {
        let connecting = async {
            match &self.tls {
                Some(tls) => self.connect_by(tls.clone()).await,
                None => self.connect_by(NoTls).await,
            }
        };
        match timeout(CONNECT_TIMEOUT, connecting).await {
            Ok(connected) => Ok(connected?),
            Err(_) => Err(ConnectError::TimedOut),
        }
    }

    async fn connect_by<T>(&self, tls: T) -> Result<Connection, tokio_postgres::Error>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let (client, mut connection) = self.config.connect(tls).await?;
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
                    // The client's statements report it.
                    Err(_) => return,
                }
            }
        });
        Ok(Connection { client, warnings, driver: driver.abort_handle() })
    }
}

impl Connection {
    /// The number of warnings so far. A `COMMIT` that raises it may not have reached the standby.
    pub(crate) fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Acquire)
    }
}

/// The URL without the options that the client library does not know, and the file of
/// `sslrootcert`.
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
        // Certificates of the system that cannot be read are left out, as by other programs.
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
    fn an_error_of_a_url_does_not_show_its_password() {
        let error = Connector::new("postgres://a:hunter2@db.example:port/e").err().unwrap();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
