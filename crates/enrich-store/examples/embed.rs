//! Makes a look-up from a Rust program, without HTTP. The look-up is charged to an account.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use enrich_core::port::accounts::Accounts;
use enrich_core::port::importer::{ImportOptions, Importer};
use enrich_core::port::ledger::{Grant, Ledger};
use enrich_core::{Account, Clock, CompanyRecord, LookUp, NewKey, Origin, Price, Record};
use enrich_store::{Store, SystemClock};
use enrich_text::{CompanyName, Domain};

async fn embed(folder: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::open_or_create(folder)?;
    let now = SystemClock.now();

    // Load a company.
    let mut quill = CompanyRecord::named(CompanyName::parse("Quill & Sons")?, Origin::of(b"1"));
    quill.sites.push((Domain::parse("quill.example")?, None));
    let options = ImportOptions::new("by hand", now).ok_or("a source has a name")?;
    let mut session = store.importer.begin(options).await?;
    session.import_batch(vec![Record::Company(quill)]).await?;
    session.finish().await?;

    // Create an account with a key, and grant it ten credits.
    let account = Account::new("Northwind", now);
    let first = NewKey::generate(account.id, "first key", now)?;
    store.accounts.create(account, first.clone()).await?;
    store.ledger.grant(Grant::new(first.account, 10, now)).await?;

    // Look the company up.
    let service = store.service();
    let look_up = LookUp::company_by_name("Quill & Sons").price(Price::PerAnswer(1));
    let answer = service.look_up(&first.key, look_up, |found| found.company()?.domain()).await?;
    println!("{:?}, credits left: {}", answer.value, answer.credits_left);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    pollster::block_on(embed(tempfile::tempdir()?.path()))
}
