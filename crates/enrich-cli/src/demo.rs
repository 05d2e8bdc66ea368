//! `enrich demo`: serves sample data, which consists of a few hundred companies and of invented
//! people. The demo does the same as `enrich serve` with default settings, on a temporary data
//! folder.

use std::fmt::Write as _;
use std::io::Cursor;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use enrich_core::port::importer::{Atomic, ImportOptions, NewSubjects};
use enrich_core::port::ledger::{Grant, Granted};
use enrich_core::{Account, AccountId, ApiKey, Clock, NewKey, SourceName, Timestamp};
use enrich_import::{Source, import};
use enrich_server::Prepared;
use enrich_sign_in::Token;
use enrich_store::{DirectoryStore, SqliteImporter, Store, SystemClock, load_or_create_secrets};
use enrich_store_postgres as postgres;
use enrich_text::EmailAddress;
use jiff::SignedDuration;

use crate::account_ports::AccountPorts;
use crate::commands::import::import_files;
use crate::commands::{Console, Shown};
use crate::node::Node;
use crate::served::{LISTS, with_settings};
use crate::settings::{Settings, StoreUrl, listen_address};
use crate::telemetry;

/// The files of records that are imported, in this order: companies come before the people who work
/// there.
const RECORDS: [(&str, &str); 3] = [
    ("companies.jsonl", include_str!("../../../fixtures/directory/companies.jsonl")),
    ("examples.jsonl", include_str!("../../../fixtures/directory/examples.jsonl")),
    ("domains.jsonl", include_str!("../../../fixtures/directory/domains.jsonl")),
];

/// The email address with which the user of the demo signs in to the account page.
const EMAIL: &str = "demo@enrich.example";

/// The last part of the greeting, if the user has given a PostgreSQL database.
const IN_DATABASE: &str = "What it writes to the database stays there, and is of no use without that \
                           folder: drop the database.\n\n";

/// The credits that the account of the demo is granted at the beginning.
const CREDITS: i64 = 1000;

// The arguments of the command. (A doc comment here would become the help of the command.)
#[derive(Clone, Debug, Args)]
pub(crate) struct DemoArgs {
    /// Address to listen on. PORT alone listens on 127.0.0.1, :PORT on all addresses; port 0
    /// selects a free port
    #[arg(
        long,
        env = "ENRICH_LISTEN",
        value_name = "ADDR:PORT",
        default_value = "127.0.0.1:8080",
        value_parser = listen_address
    )]
    listen: SocketAddr,
    /// Empty PostgreSQL database for the account and the ledger,
    /// postgres://USER:PASSWORD@HOST/DATABASE; it cannot be used again afterwards
    #[arg(long, env = "ENRICH_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<StoreUrl>,
    /// Serve the records of these files instead of the sample data; their formats are detected as
    /// by `enrich import`
    #[arg(long, value_name = "FILE", num_args = 1..)]
    with: Vec<PathBuf>,
}

/// Serves the sample data, or the records of the user's files, until the process gets a stop
/// signal. For files, the greeting also says what was imported.
///
/// # Errors
///
/// When the address or the temporary folder cannot be used, or a file cannot be imported.
pub(crate) fn run(args: &DemoArgs, console: &mut Console<'_>) -> anyhow::Result<ExitCode> {
    let settings = Settings {
        store: args.store.clone(),
        one_copy: true,
        ..Settings::listening_on(args.listen)?
    };
    telemetry::begin(settings.log_format, settings.log_level)?;
    let folder = tempfile::Builder::new().prefix("enrich-demo-").tempdir();
    let folder = folder.context("no folder for the data can be made")?;
    enrich_server::serve(&settings.server(), |address| -> anyhow::Result<Prepared> {
        let data = folder.path().join("data");
        if let Some(url) = &settings.store {
            let (node, directory) = new_node(&data, url, &settings)?;
            let ports = AccountPorts::open(url, directory.secrets())?;
            let begun = fill(&directory.importer, &ports, &args.with, console)?;
            let greeting = greeting(address, &begun, folder.path()) + IN_DATABASE;
            return Ok(node.prepared(&settings, greeting));
        }
        let store = Store::open_or_create(&data)?;
        let ports = AccountPorts::from(&store);
        let begun = fill(&store.importer, &ports, &args.with, console)?;
        let greeting = greeting(address, &begun, folder.path());
        let service = with_settings(store.service(), &settings);
        let (sign_ins, lists) = (store.sign_ins.clone(), data.join(LISTS));
        Ok(Prepared {
            service,
            sign_ins,
            lists,
            job_records: None,
            shares_lists: false,
            shared_store: None,
            greeting,
        })
    })?;
    folder.close().context("the folder of the data cannot be removed")?;
    Ok(ExitCode::SUCCESS)
}

/// Creates the tables in an empty PostgreSQL database, and opens a node that uses it.
fn new_node(
    data: &Path,
    url: &StoreUrl,
    settings: &Settings,
) -> anyhow::Result<(Node, DirectoryStore)> {
    let (secrets, _) = load_or_create_secrets(data)?;
    match postgres::migrate(url.expose(), &secrets) {
        Err(postgres::OpenError::Secret(_)) => {
            bail!("the database is not empty; the demo needs an empty one")
        }
        migrated => migrated?,
    };
    Node::with_directory(data, url, settings)
}

/// The values that the greeting of the demo shows.
struct Begun {
    /// The key of the demo's account.
    key: ApiKey,
    /// The token of the account's invitation.
    invitation: Token,
    /// A text that says what was imported from the user's files; `None` if the demo serves the
    /// sample data.
    came_in: Option<String>,
}

/// Imports the user's files, or the sample records if the user has given no files. Then creates the
/// account of the demo.
fn fill(
    importer: &SqliteImporter,
    ports: &AccountPorts,
    files: &[PathBuf],
    console: &mut Console<'_>,
) -> anyhow::Result<Begun> {
    let now = SystemClock.now();
    let came_in = if files.is_empty() {
        pollster::block_on(import_samples(importer, now))?;
        None
    } else {
        let counts = import_files(files, importer, console);
        let counts =
            counts.map_err(|failure| anyhow!(failure.message().unwrap_or_default().to_owned()))?;
        let mut text = Vec::new();
        counts.write_text(&mut text)?;
        Some(String::from_utf8_lossy(&text).into_owned())
    };
    let (key, invitation) = pollster::block_on(begin(ports, now))?;
    Ok(Begun { key, invitation, came_in })
}

async fn import_samples(importer: &SqliteImporter, now: Timestamp) -> anyhow::Result<()> {
    for (name, lines) in RECORDS {
        let source = Source::reader(name, Cursor::new(lines));
        let called = source.name().cloned().or_else(|| SourceName::new("demo"));
        let called = called.ok_or_else(|| anyhow!("{name} cannot be a source"))?;
        let options = ImportOptions {
            source: called,
            file: None,
            terms: None,
            at: now,
            atomic: Atomic::Whole,
            new_subjects: NewSubjects::Add,
        };
        import(source, importer, options, None, &mut ()).await?;
    }
    Ok(())
}

/// Creates an account with a key, credits and an invitation.
async fn begin(ports: &AccountPorts, now: Timestamp) -> anyhow::Result<(ApiKey, Token)> {
    let account = Account::new("Demo", now);
    let id = account.id;
    let first_key = NewKey::generate(id, "demo", now).context("the system gives no randomness")?;
    let key = first_key.key.clone();
    ports.accounts.create(account, first_key).await?;
    let note = "to try things out".to_owned();
    let grant = Grant { note, ..Grant::new(id, CREDITS, now) };
    match ports.ledger.grant(grant).await? {
        Granted::Written { .. } => Ok((key, invite(ports, id, now).await?)),
        refused => bail!("the ledger refused the first credits: {refused:?}"),
    }
}

/// Creates an invitation, with which the user sets a password for the account page. Returns its
/// token.
async fn invite(ports: &AccountPorts, account: AccountId, now: Timestamp) -> anyhow::Result<Token> {
    let email = EmailAddress::parse(EMAIL)?;
    ports.sign_ins.set_email(account, &email, now).await?;
    let invitation = Token::generate().context("the system gives no randomness")?;
    let until = now.checked_add(SignedDuration::from_hours(24))?;
    ports.sign_ins.invite(account, &invitation, until).await?;
    Ok(invitation)
}

/// Returns the text that is printed when the server has started: the key, calls to try, and the
/// link to the account page.
fn greeting(address: SocketAddr, begun: &Begun, folder: &Path) -> String {
    let key = begun.key.expose();
    let (came_in, calls) = match &begun.came_in {
        None => (String::new(), sample_calls(key)),
        Some(came_in) => (format!("\nFrom your files:\n\n{came_in}"), own_calls(key)),
    };
    let mut text = format!("{came_in}\nKey of an account with {CREDITS} credits:\n\n  {key}\n");
    for (what, call) in calls {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{what}:\n\n  curl http://{address}{call}\n");
    }
    let invitation = begun.invitation.expose();
    let _ = write!(
        text,
        "\nIts page, with keys, usage and a playground (set a password first):\n\n  \
         http://{address}/account/invitation/{invitation}\n"
    );
    let folder = folder.display();
    let _ = write!(text, "\nCtrl-C ends it; the data in {folder} is removed then.\n\n");
    text
}

/// Calls that find something in the sample data, each with its title.
fn sample_calls(key: &str) -> Vec<(&'static str, String)> {
    vec![
        (
            "A company's name to its domain (version 1)",
            format!(r#"/v1/cuf -d '{{"apiKey":"{key}","companyName":"Telefónica"}}'"#),
        ),
        (
            "The same in one country (version 2)",
            format!(
                "/v2/services/name_to_domain -H 'x-api-key: {key}' \
                 -d 'company_name=Nestlé' -d country_code=CH"
            ),
        ),
        (
            "The addresses of an invented company: 5 items, 1 credit",
            format!(r#"/v1/dte -d '{{"apiKey":"{key}","companyDomain":"quillmark.example"}}'"#),
        ),
    ]
}

/// Returns calls in which the user replaces a placeholder by a name or domain from the imported
/// files.
fn own_calls(key: &str) -> Vec<(&'static str, String)> {
    vec![
        (
            "A company's name to its domain (put a name of your files for NAME)",
            format!(r#"/v1/cuf -d '{{"apiKey":"{key}","companyName":"NAME"}}'"#),
        ),
        (
            "A domain's company (put a domain of your files for DOMAIN)",
            format!("/v2/services/domain_to_name -H 'x-api-key: {key}' -d 'domain=DOMAIN'"),
        ),
    ]
}
