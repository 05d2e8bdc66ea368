//! A metered look-up from a Rust program, without HTTP.

use std::error::Error;
use std::io::Write;

use enrich_core::port::{accounts::Accounts, importer::*, ledger::*};
use enrich_core::*;
use enrich_store::{Options, Store, SystemClock};
use enrich_text::{CompanyName, Domain};

async fn look_up(folder: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let (store, now) = (Store::open_or_create(folder, Options::default())?, SystemClock.now());
    let name = CompanyName::parse("Quill & Sons")?;
    let mut quill = CompanyRecord::named(name.clone(), Origin::of(b"Quill & Sons"));
    quill.sites.push((Domain::parse("quill.example")?, None));
    let source = SourceName::new("by hand").ok_or("a source has a name")?;
    let mut load =
        store.importer.begin(Load { source, file: None, at: now, atomic: Atomic::Whole }).await?;
    load.take(vec![Record::Company(quill)]).await?;
    load.finish().await?;
    let account = Account::new("Northwind", now);
    let (id, key) = (account.id, NewKey::generate(account.id, "first", now)?);
    store.accounts.create(account, key.clone()).await?;
    store.ledger.grant(Grant::new(id, 10, now)).await?;

    let service = store.service(std::sync::Arc::new(SystemClock));
    let question = Question::Company(CompanyRef::Name { name, country: None });
    let pick = |found: &Found| Some(Picked::one(found.company()?.domain()?));
    let asked =
        service.ask(key.key.expose(), "name to domain", Price::PerAnswer(1), question, &pick);
    let Outcome { result, remaining, .. } = asked.await;
    let domain = String::from_utf8(result?.body)?;
    Ok(writeln!(std::io::stdout(), "{domain}, credits left: {}", remaining.unwrap_or_default())?)
}

fn main() -> Result<(), Box<dyn Error>> {
    pollster::block_on(look_up(tempfile::tempdir()?.path()))
}
