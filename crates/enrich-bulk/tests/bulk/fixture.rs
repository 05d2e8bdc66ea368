//! A fixture for runs: a folder with lists, and a caller that records charges.

use std::collections::HashMap;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use enrich_bulk::{
    CallResult, Caller, Format, Input, Mapping, Opened, Options, Outcome, Output, Part, Purpose,
    RowFields, RunError, Source, Stop, Work, run,
};
use enrich_core::{Credits, Question, Timestamp};
use enrich_text::Country;
use enrich_wire::Endpoint;
use parking_lot::Mutex;
use serde_json::Value;

pub(crate) fn endpoint(path: &str) -> &'static Endpoint {
    let tables = [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];
    tables.iter().find_map(|table| table.endpoint(path)).unwrap()
}

/// A test caller. Its answer depends on the first word in the first field of a row. `bad` is
/// invalid, `broken` fails, `wrong` is refused, `gone` is never answered ([`CallResult::Later`]),
/// `nobody` is not found, and any other word is found. It charges each idempotency key once.
#[derive(Default)]
pub(crate) struct Books {
    /// The charged calls by idempotency key: what was asked, and the cost in credits.
    pub(crate) charged: Mutex<HashMap<String, (String, u64)>>,
    pub(crate) calls: AtomicU64,
    /// How many times the caller was asked for candidates.
    pub(crate) questions: AtomicU64,
    /// The credits that are left; `None` if there is no limit.
    pub(crate) left: Mutex<Option<u64>>,
    /// How many of the next calls return [`CallResult::Later`] without a pause before the retry.
    /// This simulates a busy server.
    pub(crate) busy: AtomicU64,
    /// How many of the next calls return [`CallResult::Later`] with a pause of one second before
    /// the retry. This simulates a rate limit that is reached.
    pub(crate) limited: AtomicU64,
    /// A stop signal, and the number of calls after which it is sent.
    pub(crate) at_call: Option<(u64, Stop)>,
    pub(crate) max_at_once: AtomicU64,
    pub(crate) at_once: AtomicU64,
    /// The country that is assumed for phone numbers without a country calling code.
    pub(crate) country: Mutex<Option<Country>>,
    /// While a test holds this lock, calls for the domain `stalled.example` get no answer. This
    /// simulates a slow server.
    pub(crate) stalled: Mutex<()>,
    /// The suppressed domains, which must be erased from lists, each with the time when it was
    /// suppressed.
    pub(crate) forgotten: Mutex<Vec<(String, Timestamp)>>,
}

impl Books {
    pub(crate) fn total(&self) -> u64 {
        self.charged.lock().values().map(|(_, credits)| credits).sum()
    }

    fn charge(&self, asked: &str, key: &str, credits: u64) -> Option<u64> {
        let mut charged = self.charged.lock();
        if let Some((known, credits)) = charged.get(key) {
            assert_eq!(known, asked, "a key is used for another question");
            return Some(*credits);
        }
        if let Some(left) = &mut *self.left.lock() {
            *left = left.checked_sub(credits)?;
        }
        charged.insert(key.to_owned(), (asked.to_owned(), credits));
        Some(credits)
    }
}

#[async_trait]
impl Caller for Books {
    async fn call(&self, fields: &RowFields, idempotency: &str) -> CallResult {
        let calls = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some((at, stop)) = &self.at_call
            && *at == calls
        {
            stop.now();
        }
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.max_at_once.fetch_max(now, Ordering::SeqCst);
        // The delays are random, so that a later row may be answered before an earlier one.
        tokio::time::sleep(Duration::from_millis(fastrand::u64(1..20))).await;
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        if self.busy.load(Ordering::SeqCst) > 0 {
            self.busy.fetch_sub(1, Ordering::SeqCst);
            return CallResult::Later {
                after: None,
                is_rate_limited: false,
                why: "busy".to_owned(),
            };
        }
        if self.limited.load(Ordering::SeqCst) > 0 {
            self.limited.fetch_sub(1, Ordering::SeqCst);
            let after = Some(Duration::from_secs(1));
            return CallResult::Later { after, is_rate_limited: true, why: "too many".to_owned() };
        }
        let asked = fields.first().map(|(_, value)| value.clone()).unwrap_or_default();
        match asked.split(' ').next().unwrap_or_default() {
            "bad" => CallResult::Invalid("`companyName` can't be read".to_owned()),
            "broken" => CallResult::Failed("the request failed on our side".to_owned()),
            "wrong" => CallResult::Refused("the API key is missing or invalid".to_owned()),
            "gone" => CallResult::Later {
                after: None,
                is_rate_limited: false,
                why: "connection refused".to_owned(),
            },
            "nobody" => CallResult::NotFound,
            _ => match self.charge(&asked, idempotency, 1) {
                Some(credits) => CallResult::Found {
                    values: vec![Value::from(format!("{asked}.example")), 97.into()],
                    credits: Credits(credits),
                },
                None => CallResult::OutOfCredits("0 credits are left".to_owned()),
            },
        }
    }

    async fn candidates(&self, asked: &Question, most: usize, idempotency: &str) -> CallResult {
        let Question::Candidates { name, .. } = asked else { panic!("{asked:?}") };
        let asked = name.display();
        self.questions.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(fastrand::u64(1..20))).await;
        if asked.starts_with("nobody 6") {
            return CallResult::NotFound;
        }
        match self.charge(asked, idempotency, 1) {
            Some(credits) => {
                let one = ["Quill".into(), "CH".into(), Value::Null, 55.into(), "=why".into()];
                let values = vec![one; most.min(2)].concat();
                CallResult::Found { values, credits: Credits(credits) }
            }
            None => CallResult::OutOfCredits("0 credits are left".to_owned()),
        }
    }

    fn is_metered(&self) -> bool {
        true
    }
}

pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) endpoint: &'static Endpoint,
    pub(crate) mapping: Mapping,
    /// Maximum number of candidates (companies that a name may mean) that a row gets; 0 for none.
    pub(crate) candidates: usize,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let mapping = Mapping::parse(["companyName=Company"]).unwrap();
        let (folder, endpoint) = (tempfile::tempdir().unwrap(), endpoint("/v1/cuf"));
        Self { folder, endpoint, mapping, candidates: 0 }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn purpose(&self) -> Purpose {
        let endpoint = self.endpoint.path.to_owned();
        let caller = "the test's books".to_owned();
        let (mapping, candidates) = (self.mapping.clone(), self.candidates);
        Purpose { endpoint, mapping, caller, candidates, ..Purpose::default() }
    }

    /// Runs a list. `name` is the file name of the list, and `out` the file name of the output.
    pub(crate) fn run(
        &self,
        (name, list): (&str, &str),
        out: &str,
        books: &Books,
        options: Options,
        stop: &Stop,
    ) -> Result<Outcome, RunError> {
        let source = Source::reader(name, Cursor::new(list.to_owned()));
        self.run_input(Input::open(source).unwrap(), out, books, options, stop)
    }

    pub(crate) fn run_input(
        &self,
        input: Input,
        out: &str,
        books: &Books,
        options: Options,
        stop: &Stop,
    ) -> Result<Outcome, RunError> {
        let part = match Part::open(&self.path(out), Format::Csv, &self.purpose())? {
            Opened::ToDo(part) => part,
            Opened::Whole(counts) => panic!("it is whole already: {counts:?}"),
        };
        let output = Output::Part(part);
        let work = Work { input, caller: books, endpoint: self.endpoint, output };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(work, options, stop, &mut ()))
    }

    /// Runs a list to its end with default options. Returns the text of the output.
    pub(crate) fn written(&self, list: (&str, &str), out: &str, books: &Books) -> String {
        let outcome = self.run(list, out, books, Options::default(), &Stop::default()).unwrap();
        assert_eq!(outcome.end, enrich_bulk::End::Whole);
        self.read(out)
    }

    pub(crate) fn read(&self, out: &str) -> String {
        std::fs::read_to_string(self.path(out)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn numbered(rows: usize) -> String {
    let mut list = "id,Company\n".to_owned();
    for row in 0..rows {
        let what = match row % 5 {
            1 => "nobody",
            3 if row % 2 == 1 => "bad",
            _ => "Quill",
        };
        list.push_str(&format!("{row},{what} {row}\n"));
    }
    list
}
