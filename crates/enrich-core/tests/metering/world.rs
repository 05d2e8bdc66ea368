//! The test world: a service with fake stores in memory, an account that calls it, and functions
//! that make calls.

use std::sync::{Arc, LazyLock};

use enrich_core::port::ledger::Charge;
use enrich_core::port::usage::UseOutcome;
use enrich_core::{
    AccountId, ApiKey, Ask, BodyTemplate, Call, CompanyRef, Found, InvalidFields, KeyInfo, Outcome,
    Price, Projection, Question, RequestId, ResponseTemplate, Service, StoredResponse, Timestamp,
    WriteAnswer,
};
use enrich_testkit::fake_clock::FakeClock;
use enrich_testkit::fake_ports::FakePorts;
use enrich_text::Domain;
use parking_lot::MutexGuard;

pub(crate) const NOW: Timestamp = Timestamp::UNIX_EPOCH;

pub(crate) struct World {
    pub(crate) ports: Arc<FakePorts>,
    pub(crate) key: ApiKey,
    pub(crate) items: u64,
}

impl World {
    /// Creates a world with an account that has 10 credits, and a company with one email address.
    pub(crate) fn new() -> Self {
        Self::with(10, 1)
    }

    /// Creates a world with an account that has `credits`, and a company with `items` email
    /// addresses. If `items` is 0, there is no company.
    pub(crate) fn with(credits: i64, items: u64) -> Self {
        let ports = FakePorts::with_quill();
        match items {
            0 => ports.companies.lock().clear(),
            _ => {
                let emails = (0..items).map(|number| format!("{number}@quill.example"));
                ports.companies.lock()[0].emails = emails.collect();
            }
        }
        let key = ports.add_account(credits, NOW);
        Self { ports: Arc::new(ports), key, items }
    }

    /// Sets what the ledger returns when the service reads a stored response: the elements of
    /// `stored`, one for each read, in this order.
    pub(crate) fn reading(self, stored: impl IntoIterator<Item = Option<StoredResponse>>) -> Self {
        self.ports.next_stored.lock().extend(stored);
        self
    }

    pub(crate) fn without_inkwell(self) -> Self {
        self.ports.suppressed.lock().push("inkwell.example".to_owned());
        self
    }

    pub(crate) fn change_key(&self, change: impl FnOnce(&mut KeyInfo)) {
        change(&mut self.ports.keys.lock()[0].0);
    }

    pub(crate) fn service(&self) -> Service {
        self.ports.service(Arc::new(FakeClock::default()))
    }

    pub(crate) fn account(&self) -> AccountId {
        self.ports.accounts.lock()[0].id
    }

    pub(crate) fn lookups(&self) -> usize {
        self.ports.projections.lock().len()
    }

    pub(crate) fn charges(&self) -> MutexGuard<'_, Vec<Charge>> {
        self.ports.charges.lock()
    }

    pub(crate) fn first_outcome(&self) -> UseOutcome {
        self.ports.counts.lock()[0].1.outcome
    }
}

pub(crate) fn balance() -> BodyTemplate {
    template("balance ", 8)
}

pub(crate) fn template(text: &str, balance_at: usize) -> BodyTemplate {
    BodyTemplate::new(text.into(), Some(balance_at))
}

pub(crate) fn ask() -> Result<Ask, InvalidFields> {
    let question = Question::Company(CompanyRef::Domain(Domain::parse("quill.example").unwrap()));
    let (echo, canonical) = (String::new(), b"question".to_vec());
    Ok(Ask { question, projection: Projection::Profile, echo, limit: None, canonical })
}

pub(crate) fn call(world: &World, price: Price, idempotency_key: Option<&str>) -> Outcome {
    call_with(world, &world.service(), world.key.expose(), price, idempotency_key, &ask)
}

pub(crate) fn call_with(
    world: &World,
    service: &Service,
    key: &str,
    price: Price,
    idempotency_key: Option<&str>,
    read: &dyn Fn() -> Result<Ask, InvalidFields>,
) -> Outcome {
    let items = world.items;
    let write = move |_: &Ask, _: Option<&Found>| ResponseTemplate { items, body: balance() };
    send(service, Call { key, idempotency_key, ..call_at(price) }, read, &write)
}

pub(crate) fn call_at(price: Price) -> Call<'static> {
    static REQUEST_ID: LazyLock<RequestId> = LazyLock::new(|| RequestId::accept("r1").unwrap());
    let request_id = &REQUEST_ID;
    Call { key: "", endpoint: "/test", price, request_id, idempotency_key: None }
}

pub(crate) fn send(
    service: &Service,
    call: Call<'_>,
    read: &dyn Fn() -> Result<Ask, InvalidFields>,
    write: WriteAnswer<'_>,
) -> Outcome {
    pollster::block_on(async {
        match service.admit(call).await {
            Ok(admitted) => admitted.answer(read(), write).await,
            Err(refused) => refused,
        }
    })
}

pub(crate) fn text(outcome: &Outcome) -> &str {
    std::str::from_utf8(&outcome.result.as_ref().unwrap().body).unwrap()
}
