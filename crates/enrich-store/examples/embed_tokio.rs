//! Makes look-ups under tokio that are charged to an account: a list of answers with a limit, and a
//! repeated look-up that is not charged again.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use enrich_core::port::accounts::Accounts;
use enrich_core::port::importer::{ImportOptions, Importer};
use enrich_core::port::ledger::{Grant, Ledger};
use enrich_core::{
    Account, ApiKey, Clock, CompanyRecord, LookUp, NewKey, Origin, Price, Record, Refusal,
};
use enrich_store::{Store, SystemClock};
use enrich_text::{CompanyName, Domain, EmailAddress};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (store, key) = northwind(folder.path()).await?;
    // All tasks use the same service.
    let service = Arc::new(store.service());

    // Look up at most three addresses. The price is one credit for every two addresses, rounded up.
    let emails = LookUp::company_by_domain("quill.example")
        .price(Price::per_items::<2>())
        .limit(3)
        .idempotency_key("order-4711", "emails");

    for _ in 0..2 {
        let (service, key, emails) = (Arc::clone(&service), key.clone(), emails.clone());
        let task = tokio::spawn(async move {
            service.look_up(&key, emails, |found| Some(&found.company()?.emails)).await
        });
        let answer = task.await??;
        let (used, left) = (answer.credits_used, answer.credits_left);
        println!("{:?}, used: {used}, left: {left}", answer.value.unwrap_or_default());
    }

    // A look-up that finds nothing is free and has no value.
    let nobody = LookUp::company_by_domain("nobody.example");
    let answer = service.look_up(&key, nobody, |found| found.company()?.name()).await?;
    println!("{:?}, used: {}", answer.value, answer.credits_used);

    // An answer that costs more than the balance is refused.
    let dear = LookUp::company_by_name("Quill & Sons").price(Price::PerAnswer(100));
    match service.look_up(&key, dear, |found| found.company()).await {
        Err(Refusal::NotEnoughCredits { balance, .. }) => println!("{balance} are too few"),
        other => println!("{other:?}"),
    }
    Ok(())
}

/// Creates a data folder with one company, and with an account that has ten credits.
async fn northwind(folder: &Path) -> Result<(Store, ApiKey), Box<dyn Error>> {
    let store = Store::open_or_create(folder)?;
    let now = SystemClock.now();

    let mut quill = CompanyRecord::named(CompanyName::parse("Quill & Sons")?, Origin::of(b"1"));
    quill.sites.push((Domain::parse("quill.example")?, None));
    for mailbox in ["info", "jobs", "press", "sales"] {
        quill.emails.push(EmailAddress::parse(&format!("{mailbox}@quill.example"))?);
    }
    let options = ImportOptions::new("by hand", now).ok_or("a source has a name")?;
    let mut session = store.importer.begin(options).await?;
    session.import_batch(vec![Record::Company(quill)]).await?;
    session.finish().await?;

    let account = Account::new("Northwind", now);
    let first = NewKey::generate(account.id, "first key", now)?;
    store.accounts.create(account, first.clone()).await?;
    store.ledger.grant(Grant::new(first.account, 10, now)).await?;
    Ok((store, first.key))
}
