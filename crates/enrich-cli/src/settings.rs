//! The server's settings. A setting comes from a flag, else from an environment variable, else from
//! a TOML file, else from the defaults.
//!
//! A field of [`Settings`] defines a setting for all of these. For example, the field `rate_limit`
//! defines the flag `--rate-limit`, the variable `ENRICH_RATE_LIMIT` and the key `rate_limit` of
//! the file.

mod listen;
mod look_up;
mod min_confidence;
mod public_url;
mod store_url;

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::ValueEnum;
use confique::{Config, File, FileFormat, Layer};
use enrich_server::{AccountPageSettings, ServerSettings};
use jiff::SignedDuration;
use serde::Deserialize;

use crate::telemetry::{LogFormat, LogLevel};

pub(crate) use listen::listen_address;
pub(crate) use look_up::LookUpSettings;
pub(crate) use min_confidence::MinConfidence;
pub(crate) use public_url::PublicUrl;
pub(crate) use store_url::StoreUrl;

/// What happens to requests above a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RatePolicy {
    /// Answer them as usual; headers, metrics and the log show that they are above the limit.
    Observe,
    /// Refuse them with status 429; they are not looked up and not charged.
    Reject,
}

impl From<RatePolicy> for enrich_core::RatePolicy {
    fn from(policy: RatePolicy) -> Self {
        match policy {
            RatePolicy::Observe => Self::Observe,
            RatePolicy::Reject => Self::Reject,
        }
    }
}

/// Whether, and in which form, the server counts missed names: company names that look-ups did not
/// find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CountMisses {
    /// Do not count them.
    Off,
    /// Count each name by its keyed hash: `enrich stats --missed NAME` works, but no command can
    /// list the names.
    Hashed,
    /// Count each name, and store its text.
    Texts,
}

impl From<CountMisses> for enrich_store::CountMisses {
    fn from(what: CountMisses) -> Self {
        match what {
            CountMisses::Off => Self::Off,
            CountMisses::Hashed => Self::Hashed,
            CountMisses::Texts => Self::Texts,
        }
    }
}

/// By default, one client address may have a quarter of all connections: the maximum number of
/// connections is divided by this number.
const ADDRESS_SHARE: usize = 4;

/// The settings of the server. The type `SettingsLayer`, which is derived from this type, contains
/// the settings from one source, such as the settings file, and defines the flags.
#[derive(Clone, Debug, Config)]
#[config(layer_attr(derive(Clone, Debug, clap::Args)))]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub(crate) struct Settings {
    /// PostgreSQL database with the accounts and the ledger,
    /// postgres://USER:PASSWORD@HOST/DATABASE; safer in ENRICH_STORE or the settings file, because
    /// other users of the machine can see command lines [default: the data folder]
    #[config(layer_attr(arg(
        long,
        env = "ENRICH_STORE",
        hide_env_values = true,
        value_name = "URL"
    )))]
    pub(crate) store: Option<StoreUrl>,

    /// Accept a database without a synchronous standby; if such a database is lost, acknowledged
    /// charges are lost
    #[config(default = false)]
    #[config(layer_attr(arg(
        long,
        env = "ENRICH_ONE_COPY",
        value_name = "true|false",
        num_args = 0..=1,
        default_missing_value = "true",
        require_equals = true
    )))]
    pub(crate) one_copy: bool,

    /// Folder with the snapshots that `enrich directory publish` writes; only with --store.
    /// Look-ups are answered from the snapshot in use [default: the directory in the data folder]
    #[config(layer_attr(arg(long, env = "ENRICH_DIRECTORY_FROM", value_name = "LOCATION")))]
    pub(crate) directory_from: Option<PathBuf>,

    /// Shared folder for the lists of the account page, if several servers share a store; any of
    /// the servers may run a list [default: bulk/ in the data folder; only this server runs its
    /// lists]
    #[config(layer_attr(arg(long, env = "ENRICH_LISTS", value_name = "DIR")))]
    pub(crate) lists: Option<PathBuf>,

    /// Address to listen on. PORT alone listens on 127.0.0.1, :PORT on all addresses; port 0
    /// selects a free port [default: 127.0.0.1:8080]
    #[config(default = "127.0.0.1:8080", deserialize_with = listen::deserialize)]
    #[config(layer_attr(arg(
        long,
        env = "ENRICH_LISTEN",
        value_name = "ADDR:PORT",
        value_parser = listen_address
    )))]
    pub(crate) listen: SocketAddr,

    /// Separate address for /healthz, /readyz and /metrics; --listen then does not serve them
    #[config(deserialize_with = listen::deserialize)]
    #[config(layer_attr(arg(
        long,
        env = "ENRICH_ADMIN_LISTEN",
        value_name = "ADDR:PORT",
        value_parser = listen_address
    )))]
    pub(crate) admin_listen: Option<SocketAddr>,

    /// URL at which browsers reach the server, for links to the account page [default: http:// and
    /// the address of --listen]
    #[config(layer_attr(arg(long, env = "ENRICH_PUBLIC_URL", value_name = "URL")))]
    pub(crate) public_url: Option<PublicUrl>,

    /// Do not serve the account page
    #[config(default = false)]
    #[config(layer_attr(arg(
        long,
        env = "ENRICH_NO_ACCOUNT_PAGE",
        value_name = "true|false",
        num_args = 0..=1,
        default_missing_value = "true",
        require_equals = true
    )))]
    pub(crate) no_account_page: bool,

    /// Seconds without use after which a session of the account page ends [default: 43200]
    #[config(default = 43_200)]
    #[config(layer_attr(arg(long, env = "ENRICH_SESSION_IDLE", value_name = "SECONDS")))]
    pub(crate) session_idle: NonZeroU32,

    /// Seconds after the sign-in at which a session of the account page ends [default: 1209600]
    #[config(default = 1_209_600)]
    #[config(layer_attr(arg(long, env = "ENRICH_SESSION_LIFETIME", value_name = "SECONDS")))]
    pub(crate) session_lifetime: NonZeroU32,

    /// Maximum size of a list on the account page, in MiB [default: 256]
    #[config(default = 256)]
    #[config(layer_attr(arg(long, env = "ENRICH_BULK_MAX_UPLOAD", value_name = "MIB")))]
    pub(crate) bulk_max_upload: NonZeroU32,

    /// Seconds for which a list and its answers are kept after the list has ended [default: 604800]
    #[config(default = 604_800)]
    #[config(layer_attr(arg(long, env = "ENRICH_BULK_KEEP", value_name = "SECONDS")))]
    pub(crate) bulk_keep: NonZeroU32,

    /// What the server does with requests above a rate limit [default: observe]
    #[config(default = "observe")]
    #[config(layer_attr(arg(long, env = "ENRICH_RATE_POLICY")))]
    pub(crate) rate_policy: RatePolicy,

    /// Maximum requests of a key in a window; a key may have its own limit instead [default: 100]
    #[config(default = 100)]
    #[config(layer_attr(arg(long, env = "ENRICH_RATE_LIMIT", value_name = "REQUESTS")))]
    pub(crate) rate_limit: NonZeroU32,

    /// Maximum requests of all keys of an account together in a window [default: no limit]
    #[config(layer_attr(arg(long, env = "ENRICH_ACCOUNT_RATE_LIMIT", value_name = "REQUESTS")))]
    pub(crate) account_rate_limit: Option<NonZeroU32>,

    /// Length of the rate-limit window, in seconds [default: 60]
    #[config(default = 60)]
    #[config(layer_attr(arg(long, env = "ENRICH_RATE_WINDOW", value_name = "SECONDS")))]
    pub(crate) rate_window: NonZeroU32,

    /// Number of threads that answer requests [default: one for each processor]
    #[config(layer_attr(arg(long, env = "ENRICH_WORKERS", value_name = "THREADS")))]
    pub(crate) workers: Option<NonZeroUsize>,

    /// Maximum number of open connections. Requests on further connections get status 503, except
    /// for the admin pages [default: 8192]
    #[config(default = 8192)]
    #[config(layer_attr(arg(long, env = "ENRICH_MAX_CONNECTIONS", value_name = "CONNECTIONS")))]
    pub(crate) max_connections: NonZeroUsize,

    /// Maximum number of open connections from one address; 0 for no limit. Connections from this
    /// machine are not counted [default: a quarter of max_connections; 0 if public_url begins with
    /// https://, because a proxy then makes all connections]
    #[config(layer_attr(arg(
        long,
        env = "ENRICH_MAX_CONNECTIONS_PER_ADDRESS",
        value_name = "CONNECTIONS"
    )))]
    pub(crate) max_connections_per_address: Option<usize>,

    /// Maximum seconds for the head of a connection's first request to arrive [default: 5]
    #[config(default = 5)]
    #[config(layer_attr(arg(long, env = "ENRICH_HEAD_TIMEOUT", value_name = "SECONDS")))]
    pub(crate) head_timeout: NonZeroU32,

    /// Maximum seconds for a request's body to arrive [default: 10]
    #[config(default = 10)]
    #[config(layer_attr(arg(long, env = "ENRICH_BODY_TIMEOUT", value_name = "SECONDS")))]
    pub(crate) body_timeout: NonZeroU32,

    /// Seconds for which a connection stays open between requests [default: 75]
    #[config(default = 75)]
    #[config(layer_attr(arg(long, env = "ENRICH_KEEP_ALIVE", value_name = "SECONDS")))]
    pub(crate) keep_alive: NonZeroU32,

    /// Maximum number of stored answers of calls with an Idempotency-Key; each is stored for 24
    /// hours [default: 1000000]
    #[config(default = 1_000_000)]
    #[config(layer_attr(arg(long, env = "ENRICH_MAX_KEPT", value_name = "ANSWERS")))]
    pub(crate) max_kept: u64,

    /// Least confidence of a match by the name of a company or a person, from 1 to 100; a match
    /// below it is answered as not found, and costs nothing [default: 90]
    #[config(default = 90)]
    #[config(layer_attr(arg(long, env = "ENRICH_MIN_CONFIDENCE", value_name = "PERCENT")))]
    pub(crate) min_confidence: MinConfidence,

    /// Whether to count, for 30 days, the company names for which nothing was found [default: off]
    #[config(default = "off")]
    #[config(layer_attr(arg(long, env = "ENRICH_COUNT_MISSES")))]
    pub(crate) count_misses: CountMisses,

    /// Maximum number of email addresses, and of phone numbers, in an answer of
    /// /v1/company_enrichment or /v1/cone; the price of these endpoints is fixed [default: all]
    #[config(layer_attr(arg(long, env = "ENRICH_MAX_ENRICHMENT_ITEMS", value_name = "ITEMS")))]
    pub(crate) max_enrichment_items: Option<NonZeroU64>,

    /// Log one line for each request
    #[config(default = false)]
    #[config(layer_attr(arg(
        long,
        env = "ENRICH_LOG_REQUESTS",
        value_name = "true|false",
        num_args = 0..=1,
        default_missing_value = "true",
        require_equals = true
    )))]
    pub(crate) log_requests: bool,

    /// Format of the log on standard error [default: text]
    #[config(default = "text")]
    #[config(layer_attr(arg(long, env = "ENRICH_LOG_FORMAT")))]
    pub(crate) log_format: LogFormat,

    /// Least level of logged events [default: info]
    #[config(default = "info")]
    #[config(layer_attr(arg(long, env = "ENRICH_LOG_LEVEL")))]
    pub(crate) log_level: LogLevel,

    /// Seconds for which a shutdown waits for requests that are being answered [default: 5]
    #[config(default = 5)]
    #[config(layer_attr(arg(long, env = "ENRICH_SHUTDOWN_TIMEOUT", value_name = "SECONDS")))]
    pub(crate) shutdown_timeout: u32,
}

pub(crate) type SettingsLayer = <Settings as Config>::Layer;

impl Settings {
    /// Combines the settings. A setting comes from `flags`, which include the environment; else
    /// from `file`; else from the defaults.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or contains an unknown setting or an invalid value.
    pub(crate) fn load(flags: SettingsLayer, file: Option<PathBuf>) -> anyhow::Result<Self> {
        // If the flag or the variable for the public URL is empty, it is ignored, as if it was not
        // set.
        let public_url = flags.public_url.filter(PublicUrl::is_given);
        let builder = Self::builder().preloaded(SettingsLayer { public_url, ..flags });
        let Some(path) = file else { return Ok(builder.load()?) };
        let from_file = File::with_format(path, FileFormat::Toml).required();
        let layer = from_file.load().context("the settings cannot be used")?;
        builder.preloaded(layer).load().context("the settings cannot be used")
    }

    /// Returns the default settings with this listening address.
    ///
    /// # Errors
    ///
    /// This cannot fail, because every setting has a default.
    pub(crate) fn listening_on(address: SocketAddr) -> anyhow::Result<Self> {
        let layer = SettingsLayer { listen: Some(address), ..SettingsLayer::empty() };
        Self::load(layer, None)
    }

    /// Returns how many connections one client address may have; `None` for no limit. By default,
    /// it is a share of all connections. If the public URL is https, the default is no limit,
    /// because then a proxy makes all connections.
    fn connections_per_address(&self) -> Option<NonZeroUsize> {
        let has_proxy = self.public_url.as_ref().is_some_and(PublicUrl::is_https);
        let share = if has_proxy { 0 } else { self.max_connections.get().div_ceil(ADDRESS_SHARE) };
        NonZeroUsize::new(self.max_connections_per_address.unwrap_or(share))
    }

    /// Returns the public URL: the beginning of every link to the account page.
    pub(crate) fn public_url(&self) -> PublicUrl {
        self.public_url.clone().unwrap_or_else(|| PublicUrl::of_listener(self.listen))
    }

    /// Returns the settings of the server process. The listening address in the settings of the
    /// account page is only a placeholder: `enrich_server::serve` replaces it by the address that
    /// it has bound.
    pub(crate) fn server(&self) -> ServerSettings {
        let account_page =
            || AccountPageSettings { dashboard: self.dashboard(), jobs: self.jobs() };
        ServerSettings {
            listen: self.listen,
            admin_listen: self.admin_listen,
            workers: self.workers(),
            max_connections: self.max_connections,
            max_connections_per_address: self.connections_per_address(),
            head_timeout: seconds(self.head_timeout),
            body_timeout: seconds(self.body_timeout),
            keep_alive: seconds(self.keep_alive),
            shutdown_timeout: Duration::from_secs(self.shutdown_timeout.into()),
            logs_requests: self.log_requests,
            account_page: (!self.no_account_page).then(account_page),
        }
    }

    fn dashboard(&self) -> enrich_dashboard::Settings {
        let length = |seconds: NonZeroU32| SignedDuration::from_secs(seconds.get().into());
        enrich_dashboard::Settings {
            public_url: self.public_url.as_ref().map(ToString::to_string),
            listens_on: None,
            session_idle: length(self.session_idle),
            session_lifetime: length(self.session_lifetime),
        }
    }

    fn jobs(&self) -> enrich_bulk::jobs::Settings {
        enrich_bulk::jobs::Settings {
            keep_seconds: self.bulk_keep.get().into(),
            ..enrich_bulk::jobs::Settings::with_max_upload(
                u64::from(self.bulk_max_upload.get()) * 1024 * 1024,
            )
        }
    }

    fn workers(&self) -> NonZeroUsize {
        let processors = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.workers.unwrap_or_else(processors)
    }
}

fn seconds(number: NonZeroU32) -> Duration {
    Duration::from_secs(number.get().into())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use clap::Parser;
    use confique::meta::{Expr, Field, FieldKind, LeafKind};
    use enrich_core::Confidence;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        layer: SettingsLayer,
    }

    fn load(flags: &[&str], file: &str) -> anyhow::Result<Settings> {
        let mut there = tempfile::NamedTempFile::new().unwrap();
        there.write_all(file.as_bytes()).unwrap();
        let typed = Typed::try_parse_from(["enrich"].iter().chain(flags))?;
        Settings::load(typed.layer, Some(there.path().to_owned()))
    }

    fn complaint(file: &str) -> String {
        format!("{:#}", load(&[], file).unwrap_err())
    }

    #[test]
    fn the_interfaces_own_limits_are_the_defaults() {
        let settings = load(&[], "").unwrap();
        assert_eq!((settings.rate_limit.get(), settings.rate_window.get()), (100, 60));
        assert_eq!(settings.rate_policy, RatePolicy::Observe);
        assert_eq!(settings.min_confidence, MinConfidence::default());
        assert_eq!(settings.listen, "127.0.0.1:8080".parse().unwrap());
        assert!(settings.admin_listen.is_none() && !settings.log_requests);
    }

    #[test]
    fn a_port_is_an_address_to_listen_on_as_a_flag_and_in_the_file() {
        let of = |flags: &[&str], file| {
            let settings = load(flags, file).unwrap();
            (settings.listen.to_string(), settings.admin_listen.map(|address| address.to_string()))
        };
        let both = |one: &str, other: &str| (one.to_owned(), Some(other.to_owned()));
        let flags = ["--listen", "9000", "--admin-listen", ":9001"];
        assert_eq!(of(&flags, ""), both("127.0.0.1:9000", "0.0.0.0:9001"));
        let file = "listen = \":9000\"\nadmin_listen = 9001";
        assert_eq!(of(&[], file), both("0.0.0.0:9000", "127.0.0.1:9001"));
        assert!(complaint("listen = 65536").contains("127.0.0.1:8080"));
    }

    #[test]
    fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
        let file = "rate_limit = 7\nrate_window = 8\nrate_policy = \"reject\"\n";
        let settings = load(&["--rate-limit", "9", "--log-requests"], file).unwrap();
        assert_eq!((settings.rate_limit.get(), settings.rate_window.get()), (9, 8));
        assert_eq!(settings.rate_policy, RatePolicy::Reject);
        assert!(settings.log_requests);
    }

    #[test]
    fn the_least_confidence_is_any_whole_number_from_1_to_100() {
        let of = |flags: &[&str], file| load(flags, file).map(|settings| settings.min_confidence.0);
        let percent = |number| Confidence::new(number).unwrap();
        assert_eq!(of(&[], "min_confidence = 1").unwrap(), percent(1));
        assert_eq!(of(&[], "min_confidence = 100").unwrap(), percent(100));
        let flags = ["--min-confidence", "40"];
        assert_eq!(of(&flags, "min_confidence = 70").unwrap(), percent(40));
        for value in ["0", "101", "-1", "85.5", "1000000000000", "\"high\"", "true"] {
            let said = complaint(&format!("min_confidence = {value}"));
            assert!(said.contains("min_confidence"), "{value}: {said}");
            assert!(said.contains("a whole number from 1 to 100"), "{value}: {said}");
        }
        for value in ["0", "101", "-1", "85.5", "1000000000000", "high", ""] {
            let flag = format!("--min-confidence={value}");
            let said = load(&[&flag], "").unwrap_err().to_string();
            assert!(said.contains("a whole number from 1 to 100"), "{value}: {said}");
        }
    }

    #[test]
    fn links_begin_with_the_public_address_else_with_the_one_listened_on() {
        let of = |flags: &[&str], file| load(flags, file).unwrap().public_url().to_string();
        assert_eq!(of(&[], ""), "http://127.0.0.1:8080");
        assert_eq!(of(&[], "listen = \"0.0.0.0:9000\""), "http://127.0.0.1:9000");
        let file = "listen = \"0.0.0.0:9000\"\npublic_url = \"https://enrich.quill.example/\"";
        assert_eq!(of(&[], file), "https://enrich.quill.example");
        let flags = ["--public-url", "https://other.quill.example"];
        assert_eq!(of(&flags, file), "https://other.quill.example");
        assert_eq!(of(&["--public-url", ""], file), "https://enrich.quill.example");
        assert_eq!(of(&["--public-url", " "], ""), "http://127.0.0.1:8080");
        assert!(complaint("public_url = \"\"").contains("nothing behind it"));
        assert!(complaint("public_url = \"enrich.quill.example\"").contains("nothing behind it"));
    }

    #[test]
    fn missed_names_are_counted_only_where_that_is_said() {
        let of = |flags: &[&str], file| load(flags, file).unwrap().count_misses;
        assert_eq!(of(&[], ""), CountMisses::Off);
        assert_eq!(of(&[], "count_misses = \"hashed\""), CountMisses::Hashed);
        let flags = ["--count-misses", "texts"];
        assert_eq!(of(&flags, "count_misses = \"off\""), CountMisses::Texts);
        assert!(complaint("count_misses = true").contains("count_misses"));
    }

    #[test]
    fn an_address_has_a_quarter_of_the_connections_unless_a_proxy_is_in_front() {
        let of = |flags: &[&str], file| {
            load(flags, file).unwrap().connections_per_address().map(NonZeroUsize::get)
        };
        assert_eq!(of(&[], ""), Some(2048));
        assert_eq!(of(&["--max-connections", "3"], ""), Some(1));
        assert_eq!(of(&["--max-connections-per-address", "7"], ""), Some(7));
        assert_eq!(of(&["--max-connections-per-address", "0"], ""), None);
        let proxied = "public_url = \"https://enrich.quill.example\"";
        assert_eq!(of(&[], proxied), None);
        assert_eq!(of(&["--max-connections-per-address", "7"], proxied), Some(7));
        assert_eq!(of(&[], "public_url = \"http://127.0.0.1:8080\""), Some(2048));
    }

    #[test]
    fn a_flag_can_take_back_what_the_file_says() {
        assert!(load(&[], "log_requests = true").unwrap().log_requests);
        assert!(!load(&["--log-requests=false"], "log_requests = true").unwrap().log_requests);
    }

    #[test]
    fn a_key_that_is_no_setting_is_named() {
        assert!(complaint("listne = \"127.0.0.1:1\"").contains("listne"));
        assert!(complaint("[server]\nlisten = \"127.0.0.1:1\"").contains("server"));
    }

    #[test]
    fn a_value_that_cannot_be_is_refused_wherever_it_stands() {
        let lines = [
            "rate_limit = 0",
            "rate_window = -1",
            "rate_policy = \"block\"",
            "listen = \"localhost\"",
            "workers = 0",
            "log_requests = \"maybe\"",
            "body_timeout = 1.5",
        ];
        for line in lines {
            let name = line.split(' ').next().unwrap();
            assert!(complaint(line).contains(name), "{line}: {}", complaint(line));
        }
        for flags in [["--rate-limit", "0"], ["--listen", "localhost"], ["--workers", "no"]] {
            assert!(load(&flags, "").is_err(), "{flags:?}");
        }
    }

    #[test]
    fn a_file_that_is_named_has_to_be_there() {
        let nowhere = Some(PathBuf::from("/nowhere/enrich.toml"));
        let error = Settings::load(SettingsLayer::empty(), nowhere).unwrap_err();
        assert!(format!("{error:#}").contains("/nowhere/enrich.toml"), "{error:#}");
    }

    fn reference() -> &'static str {
        include_str!("../../../docs/reference/settings.md")
    }

    #[test]
    fn the_documented_file_is_complete_and_holds_the_defaults() {
        let (_, rest) = reference().split_once("## A complete file\n\n```toml\n").unwrap();
        let file = rest.split_once("```").unwrap().0;
        let lines: Vec<(&str, &str)> = file.lines().filter_map(|it| it.split_once(" = ")).collect();
        let mut documented: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
        let mut known: Vec<&str> = Settings::META.fields.iter().map(|field| field.name).collect();
        documented.sort_unstable();
        known.sort_unstable();
        assert_eq!(documented, known);
        load(&[], file).unwrap();
        // Some settings have no fixed default. In the complete settings file in the documentation,
        // such a setting has the comment `default: …`, and its value is only an example. All other
        // values in the file must be the defaults.
        let defaults = lines.iter().filter(|(_, rest)| !rest.contains("default: "));
        let defaults: Vec<String> =
            defaults.map(|(name, rest)| format!("{name} = {rest}")).collect();
        let read = load(&[], &defaults.join("\n")).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", load(&[], "").unwrap()));
    }

    #[test]
    fn every_setting_has_its_row_in_the_reference() {
        for Field { name, .. } in Settings::META.fields {
            let (flag, variable) = (name.replace('_', "-"), name.to_uppercase());
            let row = reference().lines().find(|line| line.contains(&format!("| `{name}` |")));
            let row = row.unwrap_or_else(|| panic!("`{name}` has no row"));
            assert!(row.starts_with(&format!("| `--{flag}")), "{row}");
            assert!(row.contains(&format!("| `ENRICH_{variable}` |")), "{row}");
        }
    }

    /// Checks that the defaults in the help are the real defaults.
    #[test]
    fn every_default_is_told_and_every_setting_has_one_name() {
        let command = <Typed as clap::CommandFactory>::command();
        for Field { name, doc, kind, .. } in Settings::META.fields {
            let argument = command.get_arguments().find(|argument| argument.get_id() == *name);
            let argument = argument.unwrap();
            assert_eq!(argument.get_long(), Some(name.replace('_', "-").as_str()));
            let variable = argument.get_env().and_then(|name| name.to_str());
            assert_eq!(variable, Some(format!("ENRICH_{}", name.to_uppercase()).as_str()));
            let FieldKind::Leaf { kind: LeafKind::Required { default: Some(default) }, .. } = kind
            else {
                continue;
            };
            let told = match default {
                Expr::Str(text) => (*text).to_owned(),
                Expr::Integer(number) => number.to_string(),
                Expr::Bool(false) => continue,
                other => panic!("`{name}` has a default of another kind: {other:?}"),
            };
            assert!(doc.concat().ends_with(&format!("[default: {told}]")), "`{name}`: {doc:?}");
        }
    }
}
