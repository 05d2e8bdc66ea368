//! A metered look-up from a Rust program, without HTTP.

use std::io::{Write, stdout};

use enrich_core::port::{accounts::Accounts, intake::*, ledger::*};
use enrich_core::*;
use enrich_store::{Options, Store, SystemClock};

async fn look_up(folder: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let (store, now) = (Store::open(folder, Options::default())?, SystemClock.now());
    let name = enrich_text::CompanyName::parse("Quill & Sons")?;
    let mut quill = CompanyRecord::named(name.clone(), Origin::of(b"Quill & Sons"));
    quill.sites.push((enrich_text::Domain::parse("quill.example")?, None));
    let source = SourceName::new("by hand").ok_or("a source has a name")?;
    let mut load = store.intake.begin(Load { source, at: now, atomic: Atomic::Whole }).await?;
    load.take(vec![Record::Company(quill)]).await?;
    load.finish().await?;
    let account = Account::new("Northwind", now);
    let (id, key) = (account.id, NewKey::generate(account.id, "first", now)?);
    store.accounts.create(account, key.clone()).await?;
    store.ledger.grant(Grant::new(id, 10, now)).await?;

    let question = Question::Company(CompanyRef::Name { name, country: None });
    let call = Call {
        key: Some(key.key.expose()),
        endpoint: "main domain of a company",
        price: Price::PerAnswer(1),
        request_id: &RequestId::make(now),
        idempotency_key: None,
        read: &|| Ok(Ask::about(question.clone(), Want::Profile, "Quill & Sons")),
        write: &|_, found| match found.and_then(Found::company).and_then(Company::domain) {
            Some(domain) => Draft { items: 1, body: domain.into() },
            None => Draft { items: 0, body: Vec::new() },
        },
    };
    let outcome = store.service(std::sync::Arc::new(SystemClock)).answer(call).await;
    let domain = String::from_utf8(outcome.result?.body)?;
    let credits = outcome.remaining.unwrap_or_default();
    Ok(writeln!(stdout(), "{domain}, and {credits} credits are left")?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    pollster::block_on(look_up(tempfile::tempdir()?.path()))
}

#[test]
fn it_runs() {
    main().unwrap();
}
