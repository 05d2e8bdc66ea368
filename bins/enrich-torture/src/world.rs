//! A small test world: look-up data, accounts with credits, and requests with known answers.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Grant, Granted, Ledger as _};
use enrich_core::{Account, AccountId, Clock as _, NewKey};
use enrich_store::{Store, SystemClock};
use enrich_testkit::generate::Generator;
use serde_json::{Value, json};

use crate::call_log::GrantCall;
use enrich_testkit::http::Connection;

const COMPANIES: u64 = 12;
/// Number of accounts that have more credits than they can spend.
const RICH_ACCOUNTS: usize = 6;
const RICH_CREDITS: i64 = 1_000_000_000;
/// Credits of the first grant to the last account. They are few, so that some of its charges are
/// refused.
const POOR_CREDITS: i64 = 25;

/// A data folder, with its accounts and the requests that clients send.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) data: PathBuf,
    /// The accounts. The last one has few credits, so that some of its charges are refused.
    pub(crate) payers: Vec<Payer>,
    pub(crate) questions: Vec<Question>,
}

/// An account and its API key.
#[derive(Debug)]
pub(crate) struct Payer {
    /// The id of the account.
    pub(crate) account: AccountId,
    /// The full API key, which is a secret.
    pub(crate) key: String,
}

#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) path: &'static str,
    /// The body of the request.
    pub(crate) body: String,
    /// The price of the correct answer, in credits; 0 if nothing is found.
    pub(crate) price: u64,
    /// If the balance is lower than this number of credits, the server refuses the request before
    /// the look-up.
    pub(crate) least: u64,
    /// The body of the correct answer, without the balance; empty until [`World::learn`] has
    /// stored it.
    pub(crate) answer: String,
}

impl World {
    /// Creates a data folder with companies and accounts. Also returns the first grant of each
    /// account.
    pub(crate) fn create(enrich: &Path, data: PathBuf) -> Result<(Self, Vec<GrantCall>)> {
        // The torture does not depend on which companies are generated, so any fixed seed will do.
        let generator = Generator::new(1);
        let companies: Vec<String> = (0..COMPANIES).map(|index| generator.company(index)).collect();
        import(enrich, &data, &companies)?;
        let questions = questions(&companies)?;
        let store = Store::open(&data)?;
        let mut world = Self { data, payers: Vec::new(), questions };
        let mut grants = Vec::new();
        for number in 0..=RICH_ACCOUNTS {
            let now = SystemClock.now();
            let account = Account::new(format!("Payer {number}"), now);
            let id = account.id;
            let key = NewKey::generate(id, "torture", now)?;
            let secret = key.key.expose().to_owned();
            pollster::block_on(store.accounts.create(account, key))?;
            world.payers.push(Payer { account: id, key: secret });
            let credits = if number == RICH_ACCOUNTS { POOR_CREDITS } else { RICH_CREDITS };
            grants.push(world.grant(&store, number, credits, format!("first-{number}"))?);
        }
        Ok((world, grants))
    }

    /// Returns the index in `payers` of the account with few credits.
    pub(crate) fn poor(&self) -> usize {
        self.payers.len() - 1
    }

    /// Writes a grant through the store. Returns the grant in the form in which the judge compares
    /// it with the ledger.
    pub(crate) fn grant(
        &self,
        store: &Store,
        account: usize,
        credits: i64,
        note: String,
    ) -> Result<GrantCall> {
        let to = self.payers[account].account;
        let grant = Grant { note: note.clone(), ..Grant::new(to, credits, SystemClock.now()) };
        let granted = pollster::block_on(store.ledger.grant(grant))?;
        ensure!(matches!(granted, Granted::Written { .. }), "a grant was refused: {granted:?}");
        Ok(GrantCall { note, account, credits, is_acknowledged: true })
    }

    /// Stores the expected answers. Each item of `answers` is the index of a request in
    /// `questions`, and the body of the answer that the server gave before the torture began.
    pub(crate) fn learn(&mut self, answers: impl Iterator<Item = (usize, String)>) -> Result<()> {
        for (question, body) in answers {
            let (text, _) = without_balance(&body);
            self.questions[question].answer = text;
        }
        ensure!(
            self.questions.iter().all(|question| !question.answer.is_empty()),
            "not every question was answered while nothing was broken"
        );
        Ok(())
    }
}

/// Returns the HTTP status of an admin page.
pub(crate) fn status_of(server: SocketAddr, page: &str) -> Result<u16> {
    let reply =
        Connection::to(server).get(page, &[]).with_context(|| format!("asking for {page}"))?;
    Ok(reply.status)
}

/// Returns two values: the answer without the digits of its balance, and the balance itself. The
/// second value is `None` if the answer contains no balance.
pub(crate) fn without_balance(body: &str) -> (String, Option<u64>) {
    for field in ["\"credit_count\":", "\"remaining_credits\":"] {
        if let Some((before, rest)) = body.split_once(field) {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (balance, after) = rest.split_at(digits);
            return (format!("{before}{field}{after}"), balance.parse().ok());
        }
    }
    (body.to_owned(), None)
}

fn questions(companies: &[String]) -> Result<Vec<Question>> {
    let ask = |path, body: Value, price, least| Question {
        path,
        body: body.to_string(),
        price,
        least,
        answer: String::new(),
    };
    let mut questions = Vec::new();
    for (index, line) in companies.iter().enumerate() {
        let company: Value = serde_json::from_str(line)?;
        let domain = company["domains"][0].as_str().context("a company without a domain")?;
        questions.push(ask("/v1/dtc", json!({ "companyWebsite": domain }), 1, 1));
        let by_name = json!({ "companyName": company["name"] });
        questions.push(ask("/v1/company_enrichment", by_name, 3, 3));
        let second = json!({ "domain": domain });
        questions.push(ask("/v2/services/domain_to_name", second, 1, 1));
        let nobody = json!({ "companyWebsite": format!("nobody{index}.example") });
        questions.push(ask("/v1/dtc", nobody, 0, 1));
    }
    Ok(questions)
}

/// Imports companies with `enrich import`. Each of `lines` is a record in the native format.
pub(crate) fn import(enrich: &Path, data: &Path, lines: &[String]) -> Result<()> {
    let mut child = Command::new(enrich)
        .args(["import", "-", "--source", "generated", "--strict", "--json", "--data"])
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} cannot be started", enrich.display()))?;
    let mut input = child.stdin.take().context("a pipe to the import")?;
    input.write_all((lines.join("\n") + "\n").as_bytes())?;
    drop(input);
    let done = child.wait_with_output()?;
    let complaint = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "the import failed: {complaint}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_balance_is_taken_out_of_an_answer_of_either_version() {
        let (text, balance) = without_balance(r#"{"query":"q","credit_count":939,"level":9}"#);
        assert_eq!(
            (text.as_str(), balance),
            (r#"{"query":"q","credit_count":,"level":9}"#, Some(939))
        );
        let (text, balance) = without_balance(r#"{"data":{"remaining_credits":0}}"#);
        assert_eq!((text.as_str(), balance), (r#"{"data":{"remaining_credits":}}"#, Some(0)));
        assert_eq!(without_balance("{}"), ("{}".to_owned(), None));
    }

    #[test]
    fn every_company_can_be_asked_for_at_every_price() {
        let lines: Vec<String> = (0..3).map(|index| Generator::new(1).company(index)).collect();
        let prices: Vec<u64> =
            questions(&lines).unwrap().iter().map(|question| question.price).collect();
        assert_eq!(prices, [1, 3, 1, 0, 1, 3, 1, 0, 1, 3, 1, 0]);
    }
}
