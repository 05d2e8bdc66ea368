//! Attack: a customer sends names that are expensive to search, over many connections. Meanwhile,
//! another customer sends misspelt names, one at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use enrich_testkit::generate::Generator;
use serde_json::{Value, json};

use super::victim::{Answers, VICTIM};
use super::{Case, Figure, Target};
use crate::setting::Setting;
use crate::world::{World, import};
use enrich_testkit::http::Connection;

const CONNECTIONS: usize = 320;
const COMPANIES: u64 = 20_000;
/// Number of words in a name that is expensive to search. The words are taken from other names.
const WORDS: usize = 16;
/// The pause of a connection after a refused request.
const PAUSE_REFUSED: Duration = Duration::from_millis(100);
/// The index in `World::payers` of the account that sends the expensive names.
const FLOODER: usize = 0;
const PATH: &str = "/v1/cuf";

pub(crate) static CASE: Case = Case {
    name: "expensive-names",
    about: "320 connections of a customer send expensive names while another asks for misspelt ones",
    options: &["--log-level", "error"],
    has_admin_listener: false,
    prepare,
    attack,
};

fn prepare(setting: &Setting, world: &World) -> Result<()> {
    let generator = Generator::new(1);
    let companies: Vec<String> = (0..COMPANIES).map(|index| generator.company(index)).collect();
    import(&setting.enrich, &world.data, &companies)
}

/// How many calls succeeded (status 200), and how many failed. `searched` and `refused` are the
/// calls of the attacker that succeeded and failed; `misspelt` and `misspelt_refused` are those of
/// the other customer.
#[derive(Default)]
struct Counts {
    searched: AtomicUsize,
    refused: AtomicUsize,
    misspelt: AtomicUsize,
    misspelt_refused: AtomicUsize,
}

fn attack(target: &Target<'_>) -> Result<Vec<Figure>> {
    let counts = Counts::default();
    let before = Answers::before(target)?;
    let answers = thread::scope(|scope| {
        let flood = |number| flood(target, number, &counts);
        let flooders: Vec<_> =
            (0..CONNECTIONS).map(|number| scope.spawn(move || flood(number))).collect();
        let victim = scope.spawn(|| ask_misspelt(target, &counts));
        let answers = before.during(target);
        for flooder in flooders {
            flooder.join().map_err(|_| anyhow!("a flooder panicked"))??;
        }
        victim.join().map_err(|_| anyhow!("the victim panicked"))??;
        answers
    })?;
    let count = |count: &AtomicUsize| count.load(Ordering::Relaxed) as f64;
    let mut figures = vec![
        Figure::at_least("names searched for", count(&counts.searched), "", 1.0),
        Figure::unjudged("names refused", count(&counts.refused), ""),
        Figure::at_least("misspelt names answered", count(&counts.misspelt), "", 10.0),
        Figure::below("misspelt names refused", count(&counts.misspelt_refused), "", 1.0),
    ];
    figures.extend(answers.figures());
    Ok(figures)
}

fn name_of(index: u64) -> Result<String> {
    let company: Value = serde_json::from_str(&Generator::new(1).company(index))?;
    Ok(company["name"].as_str().context("a company without a name")?.to_owned())
}

/// Sends names that are expensive to search: many companies have some of the words, but no company
/// has all of them.
fn flood(target: &Target<'_>, number: usize, counts: &Counts) -> Result<()> {
    let mut words = Vec::new();
    for index in (number as u64 * 31..).take(WORDS) {
        let name = name_of(index % COMPANIES)?;
        words.extend(name.split(' ').map(str::to_owned));
    }
    words.truncate(WORDS);
    let body =
        json!({ "apiKey": target.world.payers[FLOODER].key, "companyName": words.join(" ") });
    let (body, mut connection) = (body.to_string(), Connection::to(target.server));
    while !target.is_over() {
        // If the server has closed the connection, the next call opens a new one.
        match connection.post(PATH, &[], &body).map(|reply| reply.status) {
            Ok(200) => {
                counts.searched.fetch_add(1, Ordering::Relaxed);
            }
            _ => {
                counts.refused.fetch_add(1, Ordering::Relaxed);
                thread::sleep(PAUSE_REFUSED);
            }
        }
    }
    Ok(())
}

/// Sends names in which the third and the fourth letter are exchanged, one name at a time.
fn ask_misspelt(target: &Target<'_>, counts: &Counts) -> Result<()> {
    let mut connection = Connection::to(target.server);
    for index in (0..COMPANIES).cycle() {
        if target.is_over() {
            break;
        }
        let name = misspelt(&name_of(index)?);
        let body = json!({ "apiKey": target.world.payers[VICTIM].key, "companyName": name });
        let reply = connection.post(PATH, &[], &body.to_string())?;
        let count = if reply.status == 200 { &counts.misspelt } else { &counts.misspelt_refused };
        count.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn misspelt(name: &str) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    if letters.len() > 3 {
        letters.swap(2, 3);
    }
    letters.into_iter().collect()
}
