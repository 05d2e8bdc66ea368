//! `enrich demo`: serves sample data: a few hundred companies, and invented people.
//!
//! The demo does the same as `enrich serve` with default settings, on a temporary data folder.

use std::fmt::Write;
use std::io::Cursor;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use enrich_core::port::importer::{Atomic, Load, Subjects};
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

/// The end of the greeting, if the user gave the demo a PostgreSQL database.
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
}

/// Serves the sample data until the process gets a stop signal.
///
/// # Errors
///
/// When the address or the temporary folder cannot be used.
pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<ExitCode> {
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
            let begun = pollster::block_on(fill(&directory.importer, &ports))?;
            let greeting = greeting(address, &begun, folder.path()) + IN_DATABASE;
            return Ok(node.prepared(&settings, greeting));
        }
        let store = Store::open_or_create(&data)?;
        let begun = pollster::block_on(fill(&store.importer, &AccountPorts::from(&store)))?;
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

/// What the greeting needs: the key of the demo's account, and the token of its invitation.
struct Begun {
    key: ApiKey,
    invitation: Token,
}

/// Imports the sample records, and creates an account with a key, credits and an invitation.
async fn fill(importer: &SqliteImporter, ports: &AccountPorts) -> anyhow::Result<Begun> {
    let now = SystemClock.now();
    for (name, lines) in RECORDS {
        let source = Source::reader(name, Cursor::new(lines));
        let called = source.name().cloned().or_else(|| SourceName::new("demo"));
        let called = called.ok_or_else(|| anyhow!("{name} cannot be a source"))?;
        let load = Load {
            source: called,
            file: None,
            at: now,
            atomic: Atomic::Whole,
            subjects: Subjects::All,
        };
        import(source, importer, load, None, &mut ()).await?;
    }
    let account = Account::new("Demo", now);
    let id = account.id;
    let first_key = NewKey::generate(id, "demo", now).context("the system gives no randomness")?;
    let key = first_key.key.clone();
    ports.accounts.create(account, first_key).await?;
    let note = "to try things out".to_owned();
    let grant = Grant { note, ..Grant::new(id, CREDITS, now) };
    match ports.ledger.grant(grant).await? {
        Granted::Written { .. } => Ok(Begun { key, invitation: invite(ports, id, now).await? }),
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
    let calls = [
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
    ];
    let mut text = format!("\nKey of an account with {CREDITS} credits:\n\n  {key}\n");
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
