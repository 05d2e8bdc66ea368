//! The order of the checks, with ports that record their calls.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use enrich_core::port::accounts::{AccountChanged, Accounts, KeyStored};
use enrich_core::port::directory::Directory;
use enrich_core::port::error::StoreError;
use enrich_core::port::importer::Suppressed;
use enrich_core::port::ledger::{
    Charge, ChargeError, Charged, Grant, Granted, Ledger, Verification,
};
use enrich_core::port::usage::{DayCount, Usage, Use, UseOutcome};
use enrich_core::{
    Account, AccountChange, AccountId, Answer, ApiKey, Ask, BodyTemplate, Call, Clock, Company,
    CompanyRef, Confidence, Credits, DirectoryRevision, Entry, Found, IdempotencyKey,
    InvalidFields, KeyId, KeyInfo, KeyLimit, LookUp, LookUpAnswer, MemoryWindows, Needed, NewKey,
    Outcome, Price, Projection, Question, RateLimit, RateOverride, RatePolicy, RateScope, Refusal,
    RequestId, ResponseTemplate, Service, ServicePorts, StoredResponse, Subject, SubjectId,
    SuppressedValues, Timestamp, WriteAnswer,
};
use enrich_text::Domain;
use parking_lot::Mutex;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// The answers of the ports, and the calls they got.
struct World {
    key: ApiKey,
    info: KeyInfo,
    second_key: Option<(ApiKey, KeyInfo)>,
    balance: Credits,
    /// Credits granted later.
    granted: AtomicU64,
    /// The cached balance, if it differs from the exact one.
    glanced: Option<Credits>,
    /// Whether `inkwell.example` was forgotten.
    has_forgotten: bool,
    items: u64,
    kept: Option<StoredResponse>,
    kept_later: Option<StoredResponse>,
    keeps_asked: AtomicUsize,
    charge: fn() -> Result<Charged, ChargeError>,
    lookups: AtomicUsize,
    wants: Mutex<Vec<Projection>>,
    charges: Mutex<Vec<Charge>>,
    uses: Mutex<Vec<Use>>,
}

impl World {
    fn new() -> Self {
        let info = KeyInfo {
            id: KeyId::new(NOW),
            account: AccountId::new(NOW),
            label: String::new(),
            hint: String::new(),
            rate: RateOverride::default(),
            created_at: NOW,
            expires_at: None,
            has_ended: false,
            last_used_at: None,
            is_account_active: true,
            country: None,
        };
        Self {
            key: ApiKey::generate().unwrap(),
            info,
            second_key: None,
            balance: Credits(10),
            granted: AtomicU64::new(0),
            glanced: None,
            has_forgotten: false,
            items: 1,
            kept: None,
            kept_later: None,
            keeps_asked: AtomicUsize::new(0),
            charge: || Ok(Charged::Taken { balance: Credits(9) }),
            lookups: AtomicUsize::new(0),
            wants: Mutex::default(),
            charges: Mutex::default(),
            uses: Mutex::default(),
        }
    }

    fn left(&self) -> Credits {
        Credits(self.balance.0 + self.granted.load(Ordering::Relaxed))
    }

    fn lookups(&self) -> usize {
        self.lookups.load(Ordering::Relaxed)
    }
}

/// Suppresses one domain.
struct Inkwell;

impl SuppressedValues for Inkwell {
    fn count(&self) -> u64 {
        1
    }

    fn holds_since(&self, value: &Suppressed, _: Timestamp) -> bool {
        self.holds(value)
    }

    fn holds(&self, value: &Suppressed) -> bool {
        matches!(value, Suppressed::Domain(domain) if domain.as_str() == "inkwell.example")
    }
}

#[async_trait]
impl Directory for World {
    async fn find(
        &self,
        _: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        self.wants.lock().push(projection);
        self.lookups.fetch_add(1, Ordering::Relaxed);
        let company = Company {
            id: SubjectId(1),
            name: "Quill".to_owned(),
            aliases: vec![],
            seats: vec![],
            sites: vec![],
            pages: vec![],
            emails: (0..self.items).map(|number| format!("{number}@quill.example")).collect(),
            phones: vec![],
            employees: vec![],
        };
        let subject = Subject::Company(company);
        let (confidence, revision) = (Confidence::FULL, DirectoryRevision(7));
        Ok((self.items > 0).then_some(Found { subject, confidence, revision }))
    }

    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        Ok(self.has_forgotten.then(|| Arc::new(Inkwell) as _))
    }

    async fn revision(&self) -> Result<DirectoryRevision, StoreError> {
        Ok(DirectoryRevision(7))
    }
}

#[async_trait]
impl Accounts for World {
    async fn create(&self, _: Account, _: NewKey) -> Result<(), StoreError> {
        unreachable!()
    }
    async fn account(&self, _: AccountId) -> Result<Option<Account>, StoreError> {
        unreachable!()
    }
    async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        unreachable!()
    }
    async fn change(&self, _: AccountId, _: AccountChange) -> Result<AccountChanged, StoreError> {
        unreachable!()
    }
    async fn add_key(&self, _: NewKey, _: KeyLimit) -> Result<KeyStored, StoreError> {
        unreachable!()
    }
    async fn rotate_key(
        &self,
        _: KeyId,
        _: Timestamp,
        _: NewKey,
        _: KeyLimit,
    ) -> Result<KeyStored, StoreError> {
        unreachable!()
    }
    async fn find_key(&self, key: &ApiKey) -> Result<Option<Arc<KeyInfo>>, StoreError> {
        let second = self.second_key.as_ref().filter(|(second, _)| key.expose() == second.expose());
        let second = second.map(|(_, info)| Arc::new(info.clone()));
        let first = (key.expose() == self.key.expose()).then(|| Arc::new(self.info.clone()));
        Ok(first.or(second))
    }
    async fn key(&self, _: KeyId) -> Result<Option<KeyInfo>, StoreError> {
        unreachable!()
    }
    async fn keys(&self, _: AccountId) -> Result<Vec<KeyInfo>, StoreError> {
        unreachable!()
    }
    async fn reveal(&self, _: KeyId) -> Result<Option<ApiKey>, StoreError> {
        unreachable!()
    }
    async fn set_rate(&self, _: KeyId, _: RateOverride) -> Result<bool, StoreError> {
        unreachable!()
    }
    async fn set_label(&self, _: KeyId, _: &str) -> Result<bool, StoreError> {
        unreachable!()
    }
    async fn expire_key(&self, _: KeyId, _: Timestamp, _: Timestamp) -> Result<bool, StoreError> {
        unreachable!()
    }
    async fn settle_ends(&self, _: Timestamp) -> Result<u64, StoreError> {
        unreachable!("a call makes no end final: the clock may be wrong")
    }
}

#[async_trait]
impl Ledger for World {
    async fn balance(&self, _: AccountId) -> Result<Option<Credits>, StoreError> {
        Ok(Some(self.left()))
    }
    async fn cached_balance(&self, _: AccountId) -> Result<Option<Credits>, StoreError> {
        Ok(Some(self.glanced.unwrap_or(self.left())))
    }
    async fn kept(
        &self,
        _: AccountId,
        _: &IdempotencyKey,
        _: &[u8],
        _: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        let is_first = self.keeps_asked.fetch_add(1, Ordering::Relaxed) == 0;
        Ok(if is_first { self.kept.clone() } else { self.kept_later.clone() })
    }
    async fn charge(&self, charge: Charge) -> Result<Charged, ChargeError> {
        self.charges.lock().push(charge);
        (self.charge)()
    }
    async fn grant(&self, _: Grant) -> Result<Granted, ChargeError> {
        unreachable!()
    }
    async fn entries(&self, _: AccountId, _: u64, _: u32) -> Result<Vec<Entry>, StoreError> {
        unreachable!()
    }
    async fn newest_entries(
        &self,
        _: AccountId,
        _: Option<u64>,
        _: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        unreachable!()
    }
    async fn first_entry_at(&self, _: AccountId, _: Timestamp) -> Result<u64, StoreError> {
        unreachable!()
    }
    async fn end_of_entries_before(&self, _: AccountId, _: Timestamp) -> Result<u64, StoreError> {
        unreachable!()
    }
    async fn verify(&self) -> Result<Verification, StoreError> {
        unreachable!()
    }
    fn is_charging(&self) -> bool {
        true
    }
}

#[async_trait]
impl Usage for World {
    fn count(&self, used: Use) {
        self.uses.lock().push(used);
    }
    async fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
    async fn days(&self, _: AccountId, _: i64, _: i64) -> Result<Vec<DayCount>, StoreError> {
        unreachable!()
    }
}

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        NOW
    }
}

/// A clock that the test sets, in seconds since 1970.
#[derive(Default)]
struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap()
    }
}

fn service(world: &Arc<World>) -> Service {
    service_at(world, Arc::new(Fixed))
}

fn service_at(world: &Arc<World>, clock: Arc<dyn Clock>) -> Service {
    let rate_limiter = Arc::new(MemoryWindows::default());
    Service::new(ServicePorts {
        directory: world.clone(),
        accounts: world.clone(),
        ledger: world.clone(),
        rate_limiter,
        usage: world.clone(),
        clock,
    })
}

/// An answer that contains the balance.
fn balance() -> BodyTemplate {
    template("balance ", 8)
}

fn template(text: &str, balance_at: usize) -> BodyTemplate {
    BodyTemplate::new(text.into(), Some(balance_at))
}

fn ask() -> Result<Ask, InvalidFields> {
    let question = Question::Company(CompanyRef::Domain(Domain::parse("quill.example").unwrap()));
    let (echo, asked) = (String::new(), b"asked".to_vec());
    Ok(Ask { question, projection: Projection::Profile, echo, limit: None, asked })
}

/// Sends a call with the right key.
fn call(world: &Arc<World>, price: Price, idempotency_key: Option<&str>) -> Outcome {
    call_with(world, &service(world), world.key.expose(), price, idempotency_key, &ask)
}

fn call_with(
    world: &Arc<World>,
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

/// A call without a key.
fn call_at(price: Price) -> Call<'static> {
    static REQUEST_ID: LazyLock<RequestId> = LazyLock::new(|| RequestId::accept("r1").unwrap());
    let request_id = &REQUEST_ID;
    Call { key: "", endpoint: "/test", price, request_id, idempotency_key: None }
}

fn send(
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

fn text(outcome: &Outcome) -> &str {
    std::str::from_utf8(&outcome.result.as_ref().unwrap().body).unwrap()
}

#[test]
fn an_answer_leaves_with_the_balance_after_its_charge() {
    let world = Arc::new(World::new());
    let outcome = call(&world, Price::PerAnswer(1), None);
    assert_eq!(text(&outcome), "balance 9");
    assert_eq!(outcome.remaining, Some(Credits(9)));
    assert_eq!(outcome.result.unwrap().used, Credits(1));
    let charges = world.charges.lock();
    assert_eq!((charges.len(), charges[0].credits()), (1, Credits(1)));
    assert_eq!(charges[0].revision, DirectoryRevision(7));
    assert_eq!(world.uses.lock()[0].outcome, UseOutcome::Found);
}

#[test]
fn nothing_found_is_not_charged() {
    let world = Arc::new(World { items: 0, ..World::new() });
    let outcome = call(&world, Price::PerAnswer(3), None);
    assert_eq!(text(&outcome), "balance 10");
    assert!(world.charges.lock().is_empty());
    assert_eq!(world.uses.lock()[0].outcome, UseOutcome::NotFound);
}

#[test]
fn a_caller_without_a_key_learns_nothing_about_the_fields() {
    let world = Arc::new(World::new());
    let read = || unreachable!("fields are read after the key is known");
    let keys = ["", "enr_live_wrong"];
    let service = service(&world);
    for key in keys {
        let outcome = call_with(&world, &service, key, Price::PerAnswer(1), None, &read);
        assert!(matches!(outcome.result, Err(Refusal::InvalidKey)));
        assert_eq!((outcome.remaining, outcome.rate_limit_status), (None, None));
    }
    assert!(world.uses.lock().is_empty());
}

#[test]
fn an_expired_key_is_an_unknown_key() {
    let mut world = World::new();
    world.info.expires_at = Some(NOW);
    let outcome = call(&Arc::new(world), Price::PerAnswer(1), None);
    assert!(matches!(outcome.result, Err(Refusal::InvalidKey)));
}

#[test]
fn a_call_after_the_end_of_its_key_makes_nothing_final() {
    let mut world = World::new();
    world.info.expires_at = Some(NOW);
    // A look-up would panic.
    let outcome = call(&Arc::new(world), Price::PerAnswer(1), None);
    assert!(matches!(outcome.result, Err(Refusal::InvalidKey)));
}

#[test]
fn a_key_that_was_revoked_under_a_clock_ahead_is_refused() {
    let mut world = World::new();
    let ahead = Timestamp::from_second(7_200).unwrap();
    (world.info.expires_at, world.info.has_ended) = (Some(ahead), true);
    let outcome = call(&Arc::new(world), Price::PerAnswer(1), None);
    assert!(matches!(outcome.result, Err(Refusal::InvalidKey)));
}

#[test]
fn a_key_of_a_suspended_account_is_an_unknown_key_whatever_the_time() {
    let mut world = World::new();
    world.info.is_account_active = false;
    world.info.expires_at = Some(Timestamp::MAX);
    let outcome = call(&Arc::new(world), Price::PerAnswer(1), None);
    assert!(matches!(outcome.result, Err(Refusal::InvalidKey)));
}

#[test]
fn the_window_is_counted_before_the_fields_are_read() {
    let world = Arc::new(World::new());
    let mut service = service(&world);
    service.rate_limit = RateLimit::new(1, 60).unwrap();
    service.rate_policy = RatePolicy::Reject;
    let bad = || Err(InvalidFields(vec![("name", "is required".to_owned())]));
    let key = world.key.expose();
    let send = || call_with(&world, &service, key, Price::PerAnswer(1), None, &bad).result;
    assert!(matches!(send(), Err(Refusal::Fields(_))));
    assert!(matches!(send(), Err(Refusal::OverRate(_))));
}

#[test]
fn the_observing_policy_answers_beyond_the_limit_and_tells_once() {
    let world = Arc::new(World::new());
    let mut service = service(&world);
    service.rate_limit = RateLimit::new(1, 60).unwrap();
    let key = world.key.expose();
    let send = || call_with(&world, &service, key, Price::PerAnswer(1), None, &ask);
    let outcomes = [send(), send(), send()];
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
    let told = outcomes.map(|outcome| outcome.rate_limit_status.unwrap().is_first_over);
    assert_eq!(told, [false, true, false]);
}

#[test]
fn the_keys_of_an_account_share_its_limit() {
    let mut world = World::new();
    let second =
        (ApiKey::generate().unwrap(), KeyInfo { id: KeyId::new(NOW), ..world.info.clone() });
    world.second_key = Some(second.clone());
    let world = Arc::new(world);
    let mut service = service(&world);
    service.rate_limit = RateLimit::new(5, 60).unwrap();
    service.account_rate_limit = RateLimit::new(3, 60);
    for policy in [RatePolicy::Observe, RatePolicy::Reject] {
        service.rate_policy = policy;
        service.rate_limiter = Arc::new(MemoryWindows::default());
        let send = |key: &ApiKey| {
            call_with(&world, &service, key.expose(), Price::PerAnswer(1), None, &ask)
        };
        let (one, two) = (&world.key, &second.0);
        let outcomes = [one, two, two, one, two].map(send);
        let standings = outcomes.each_ref().map(|outcome| outcome.rate_limit_status.unwrap());
        assert_eq!(standings.map(|rate_limit_status| rate_limit_status.remaining), [2, 1, 0, 0, 0]);
        assert!(
            standings.iter().all(|rate_limit_status| rate_limit_status.scope == RateScope::Account)
        );
        let told = standings.map(|rate_limit_status| rate_limit_status.is_first_over);
        assert_eq!(told, [false, false, false, true, false]);
        let is_refused = |outcome: &Outcome| matches!(outcome.result, Err(Refusal::OverRate(_)));
        let refused = outcomes.each_ref().map(is_refused);
        let is_rejecting = policy == RatePolicy::Reject;
        assert_eq!(refused, [false, false, false, is_rejecting, is_rejecting]);
    }
}

#[test]
fn a_limit_of_the_account_that_leaves_more_does_not_show() {
    let world = Arc::new(World::new());
    let mut service = service(&world);
    service.account_rate_limit = RateLimit::new(1_000, 60);
    let key = world.key.expose();
    let outcome = call_with(&world, &service, key, Price::PerAnswer(1), None, &ask);
    let rate_limit_status = outcome.rate_limit_status.unwrap();
    assert_eq!((rate_limit_status.scope, rate_limit_status.remaining), (RateScope::Key, 99));
}

#[test]
fn an_empty_account_cannot_probe_what_exists() {
    let world = Arc::new(World { balance: Credits(2), ..World::new() });
    let outcome = call(&world, Price::PerAnswer(3), None);
    assert!(matches!(
        outcome.result,
        Err(Refusal::NotEnoughCredits { needed: Needed::Least(Credits(3)), .. })
    ));
    assert_eq!(world.lookups(), 0);
}

#[test]
fn a_balance_too_low_for_what_was_found_gives_no_answer() {
    let short = || Ok(Charged::Insufficient { balance: Credits(1) });
    let world = Arc::new(World { items: 11, charge: short, ..World::new() });
    let outcome = call(&world, Price::PerItems(5), None);
    let refusal = outcome.result.unwrap_err();
    assert!(matches!(refusal, Refusal::NotEnoughCredits { needed: Needed::MoreThanLeft, .. }));
    let said = "the 1 credit that is left; ask for at most 5 items with `limit`";
    assert!(refusal.to_string().contains(said), "{refusal}");
    assert!(!refusal.to_string().contains('3'), "what there is costs 3: {refusal}");
    assert_eq!(outcome.remaining, Some(Credits(1)));
}

#[test]
fn a_repeat_is_answered_before_the_balance_is_looked_at() {
    let kept = StoredResponse::Answer { body: balance(), balance: Credits(5), items: 3 };
    let world = Arc::new(World { kept: Some(kept), balance: Credits::ZERO, ..World::new() });
    let outcome = call(&world, Price::PerAnswer(1), Some("k1"));
    assert_eq!(text(&outcome), "balance 5");
    assert_eq!(outcome.remaining, Some(Credits::ZERO));
    let answer = outcome.result.unwrap();
    assert!(answer.is_replayed && answer.used == Credits::ZERO);
    assert!(answer.is_found && answer.items == 3, "as the first answer was: {answer:?}");
    assert_eq!(answer.first_charge, Credits(1));
    assert_eq!(world.lookups(), 0);
    assert_eq!(world.uses.lock()[0].outcome, UseOutcome::Replayed);
}

#[test]
fn a_repeat_of_a_miss_is_a_miss() {
    let kept = StoredResponse::Answer {
        body: BodyTemplate::new(b"nothing".to_vec(), None),
        balance: Credits(5),
        items: 0,
    };
    let world = Arc::new(World { kept: Some(kept), ..World::new() });
    let answer = call(&world, Price::PerAnswer(1), Some("k1")).result.unwrap();
    assert!(answer.is_replayed && !answer.is_found && answer.items == 0, "{answer:?}");
    assert_eq!(answer.first_charge, Credits::ZERO);
}

/// Looks up as an embedding program does.
fn look_up(
    world: &World,
    service: &Service,
    look_up: LookUp,
    pick: impl for<'a> Fn(&'a Found) -> Option<&'a Vec<String>> + Send + Sync,
) -> Result<LookUpAnswer<Vec<String>>, Refusal> {
    pollster::block_on(service.look_up(&world.key, look_up, pick))
}

fn emails() -> LookUp {
    LookUp::company_by_domain("quill.example").price(Price::PerItems(5))
}

fn eleven(found: &Found) -> Option<&Vec<String>> {
    Some(&found.company()?.emails)
}

/// A world whose company has eleven addresses.
fn eleven_addresses() -> World {
    World { items: 11, ..World::new() }
}

#[test]
fn an_embedding_program_pays_for_every_item_it_takes() {
    let world = Arc::new(eleven_addresses());
    let service = service(&world);
    let answer = look_up(&world, &service, emails(), eleven).unwrap();
    assert_eq!(answer.value.map(|emails| emails.len()), Some(11));
    assert_eq!(answer.credits_used, Credits(3));
    assert_eq!(world.charges.lock()[0].items, 11);

    let answer = look_up(&world, &service, emails().limit(6), eleven).unwrap();
    assert_eq!(answer.value.map(|emails| emails.len()), Some(6));
    assert_eq!(answer.credits_used, Credits(2));
    assert_eq!(world.charges.lock()[1].items, 6);

    let name = service.look_up(&world.key, emails(), |found| found.company()?.name());
    let answer = pollster::block_on(name).unwrap();
    assert_eq!((answer.value.as_deref(), answer.credits_used), (Some("Quill"), Credits(1)));
    assert_eq!(world.charges.lock()[2].items, 1);
}

#[test]
fn an_embedding_program_pays_nothing_for_a_miss_or_an_empty_list() {
    let world = Arc::new(World::new());
    let service = service(&world);
    let missed = look_up(&world, &service, emails(), |_| None);
    let empty = look_up(&world, &service, emails(), |found| Some(&found.company()?.phones));
    for answer in [missed.unwrap(), empty.unwrap()] {
        assert_eq!((answer.value, answer.confidence), (None, None));
        assert_eq!((answer.credits_used, answer.credits_left), (Credits::ZERO, world.balance));
    }
    assert!(world.charges.lock().is_empty());
    assert_eq!(world.uses.lock()[0].outcome, UseOutcome::NotFound);
}

#[test]
fn a_text_that_cannot_be_read_is_refused_by_its_field() {
    let world = Arc::new(World::new());
    let refused = look_up(&world, &service(&world), LookUp::company_by_name(" "), eleven);
    let Err(Refusal::Fields(InvalidFields(fields))) = refused else {
        unreachable!("an empty name is no name: {refused:?}")
    };
    assert_eq!(fields[0].0, "name");
    assert_eq!(world.lookups(), 0);
}

#[test]
fn a_repeated_look_up_returns_the_first_value_and_costs_nothing() {
    let first = Arc::new(eleven_addresses());
    let named = || emails().idempotency_key("k1");
    let answer = look_up(&first, &service(&first), named(), eleven).unwrap();
    let record = first.charges.lock()[0].idempotency.clone().unwrap();
    let kept = StoredResponse::Answer { body: record.body, balance: Credits(5), items: 11 };
    let again = Arc::new(World { kept: Some(kept.clone()), ..World::new() });
    let repeated = look_up(&again, &service(&again), named(), eleven).unwrap();
    assert_eq!((&repeated.value, repeated.confidence), (&answer.value, answer.confidence));
    assert_eq!((repeated.credits_used, repeated.is_replayed), (Credits::ZERO, true));
    assert_eq!(again.lookups(), 0);

    // The same key for an attribute of another kind.
    let again = Arc::new(World { kept: Some(kept), ..World::new() });
    let service = service(&again);
    let name = service.look_up(&again.key, named(), |found| found.company()?.name());
    let refused = pollster::block_on(name);
    assert!(matches!(refused, Err(Refusal::IdempotencyKeyReused)), "{refused:?}");
}

#[test]
fn a_repeated_look_up_does_not_return_what_was_forgotten_since() {
    let body = template("\n100\n1\n22\nanybody@inkwell.example\n", 0);
    let kept = StoredResponse::Answer { body, balance: Credits(5), items: 1 };
    let world = Arc::new(World { kept: Some(kept), has_forgotten: true, ..World::new() });
    let named = emails().idempotency_key("k1");
    let answer = look_up(&world, &service(&world), named, eleven).unwrap();
    assert_eq!((answer.value, answer.credits_used), (None, Credits::ZERO));
    assert!(answer.is_replayed);
}

#[test]
fn look_ups_that_differ_in_what_they_ask_for_are_kept_apart() {
    let world = Arc::new(eleven_addresses());
    let service = service(&world);
    let other = LookUp::company_by_domain("inkwell.example").price(Price::PerItems(5));
    for asked in [emails(), emails().limit(5), emails().purpose("emails"), other] {
        look_up(&world, &service, asked.idempotency_key("k1"), eleven).unwrap();
    }
    let charges = world.charges.lock();
    let asked = charges.iter().map(|charge| &charge.idempotency.as_ref().unwrap().asked);
    assert_eq!(asked.collect::<std::collections::BTreeSet<_>>().len(), 4);
}

#[test]
fn a_setting_bounds_the_lists_of_answers_with_one_price_alone() {
    let world = Arc::new(World::new());
    let mut service = service(&world);
    let seen = Mutex::new(Vec::new());
    let mut limits = |most: Option<u64>, price, limit| {
        service.max_enrichment_items = most.and_then(NonZeroU64::new);
        let write = |ask: &Ask, _: Option<&Found>| {
            seen.lock().push(ask.limit);
            ResponseTemplate { items: 1, body: BodyTemplate::default() }
        };
        let key = world.key.expose();
        let read = || Ok(Ask { limit, ..ask()? });
        send(&service, Call { key, ..call_at(price) }, &read, &write).result.unwrap();
    };
    limits(None, Price::PerAnswer(3), None);
    limits(Some(20), Price::PerAnswer(3), None);
    limits(Some(20), Price::PerItems(5), None);
    limits(Some(20), Price::PerItems(5), Some(50));
    assert_eq!(*seen.lock(), [None, Some(20), None, Some(50)]);
}

#[test]
fn a_repeat_of_what_was_forgotten_since_finds_nothing_and_costs_nothing() {
    let body = template("{\"domain\":\"Shop.Inkwell.example\"} ", 34);
    let kept = || StoredResponse::Answer { body: body.clone(), balance: Credits(5), items: 1 };
    let replayed = || {
        let body = template("anybody@inkwell.example ", 24);
        Ok(Charged::Replayed(StoredResponse::Answer { body, balance: Credits(5), items: 1 }))
    };
    let known = World { kept: Some(kept()), ..World::new() };
    let later = World { kept_later: Some(kept()), balance: Credits::ZERO, ..World::new() };
    let elsewhere = World { charge: replayed, ..World::new() };
    for world in [known, later, elsewhere] {
        let world = Arc::new(World { has_forgotten: true, ..world });
        let outcome = call(&world, Price::PerAnswer(1), Some("k1"));
        assert_eq!(text(&outcome), "balance 5");
        let answer = outcome.result.unwrap();
        assert!(answer.is_replayed && answer.used == Credits::ZERO);
    }
}

#[test]
fn a_repeat_while_another_runs_is_answered_if_the_first_was_and_else_refused() {
    let kept = StoredResponse::Answer { body: balance(), balance: Credits(5), items: 3 };
    for (kept_later, is_answered) in [(Some(kept), true), (None, false)] {
        let world = Arc::new(World { kept: None, kept_later, ..World::new() });
        let (service, repeated) = (service(&world), Mutex::new(None));
        let key = world.key.expose();
        let again = || call_with(&world, &service, key, Price::PerAnswer(1), Some("k1"), &ask);
        // The call runs while its answer is written.
        let write = |_: &Ask, _: Option<&Found>| {
            *repeated.lock() = Some(again().result);
            ResponseTemplate { items: 1, body: balance() }
        };
        let call = Call { key, idempotency_key: Some("k1"), ..call_at(Price::PerAnswer(1)) };
        send(&service, call, &ask, &write).result.unwrap();
        match repeated.into_inner().unwrap() {
            Ok(answer) => assert!(is_answered && answer.is_replayed, "{answer:?}"),
            Err(refusal) => {
                assert!(!is_answered && matches!(refusal, Refusal::StillRunning), "{refusal:?}");
            }
        }
        assert_eq!(world.charges.lock().len(), 1);
    }
}

#[test]
fn a_repeat_that_another_process_answered_is_not_charged_again() {
    let replayed = || {
        let body = balance();
        Ok(Charged::Replayed(StoredResponse::Answer { body, balance: Credits(5), items: 1 }))
    };
    let world = Arc::new(World { charge: replayed, ..World::new() });
    let outcome = call(&world, Price::PerAnswer(1), Some("k1"));
    assert_eq!(text(&outcome), "balance 5");
    assert_eq!(outcome.result.unwrap().used, Credits::ZERO);
}

#[test]
fn a_repeat_whose_first_call_took_the_last_credits_meanwhile_is_answered() {
    let kept_later =
        Some(StoredResponse::Answer { body: balance(), balance: Credits::ZERO, items: 1 });
    let world = Arc::new(World { kept_later, balance: Credits::ZERO, ..World::new() });
    let outcome = call(&world, Price::PerAnswer(1), Some("k1"));
    assert_eq!(text(&outcome), "balance 0");
}

/// Asks for all employees of a company, which are `World::items`.
fn call_for_all(world: &Arc<World>, price: Price) -> Outcome {
    let read_most = || match world.wants.lock().last() {
        Some(Projection::Employees { limit: Some(most) }) => *most,
        wanted => unreachable!("employees are wanted up to some number, not {wanted:?}"),
    };
    let read = || Ok(Ask { projection: Projection::Employees { limit: None }, ..ask()? });
    let write = |_: &Ask, _: Option<&Found>| ResponseTemplate {
        items: world.items.min(read_most()),
        body: balance(),
    };
    let key = world.key.expose();
    send(&service(world), Call { key, ..call_at(price) }, &read, &write)
}

#[test]
fn no_more_of_a_list_is_read_than_can_be_paid() {
    let reads = [(Price::PerItems(5), 51), (Price::PerItems(500), 5_001)];
    for (price, most) in reads {
        let world = Arc::new(World { items: 10_000, ..World::new() });
        let refusal = call_for_all(&world, price).result.unwrap_err();
        assert!(matches!(refusal, Refusal::NotEnoughCredits { needed: Needed::MoreThanLeft, .. }));
        assert!(!refusal.to_string().contains("10000"), "{refusal}");
        assert_eq!(*world.wants.lock(), [Projection::Employees { limit: Some(most) }]);
        assert!(world.charges.lock().is_empty());
    }
}

/// Asks for a list with or without a limit.
fn ask_for(world: &Arc<World>, service: &Service, limit: Option<u64>) -> Result<Answer, Refusal> {
    let read = || Ok(Ask { limit, ..ask()? });
    let key = world.key.expose();
    call_with(world, service, key, Price::PerItems(5), None, &read).result
}

/// A service that has refused an account's answers after look-ups as often as it does in a day. The
/// account has 2 credits, and there are 11 items.
fn probed(world: &Arc<World>, clock: Arc<SetClock>) -> Service {
    let service = service_at(world, clock);
    for lookups in 1..=100 {
        let refusal = ask_for(world, &service, None).unwrap_err();
        assert!(refusal.to_string().contains("at most 10 items"), "{refusal}");
        assert_eq!(world.lookups(), lookups);
    }
    service
}

fn with_two_credits() -> World {
    let charge = || Ok(Charged::Insufficient { balance: Credits(2) });
    World { items: 11, balance: Credits(2), charge, ..World::new() }
}

#[test]
fn after_a_hundred_refusals_in_a_day_nothing_is_looked_up_that_may_not_be_paid() {
    let world = Arc::new(with_two_credits());
    let clock = Arc::new(SetClock::default());
    let service = probed(&world, Arc::clone(&clock));
    for limit in [None, Some(11)] {
        let refusal = ask_for(&world, &service, limit).unwrap_err();
        let needed = Needed::PerhapsMore;
        assert!(matches!(refusal, Refusal::NotEnoughCredits { needed: n, .. } if n == needed));
        assert!(refusal.to_string().contains("at most 10 items"), "{refusal}");
    }
    assert_eq!(world.lookups(), 100);
    // A call that can be paid in any case is looked up; on the next day all are.
    let _ = ask_for(&world, &service, Some(10));
    let single = call_with(&world, &service, world.key.expose(), Price::PerAnswer(2), None, &ask);
    assert!(single.key.is_some());
    assert_eq!(world.lookups(), 102);
    clock.0.store(86_400, Ordering::Relaxed);
    let refusal = ask_for(&world, &service, None).unwrap_err();
    let needed = Needed::MoreThanLeft;
    assert!(matches!(refusal, Refusal::NotEnoughCredits { needed: n, .. } if n == needed));
    assert_eq!(world.lookups(), 103);
}

#[test]
fn credits_end_the_refusals_before_the_look_up() {
    let world = Arc::new(with_two_credits());
    let service = probed(&world, Arc::default());
    assert!(ask_for(&world, &service, None).is_err());
    assert_eq!(world.lookups(), 100);
    world.granted.store(1, Ordering::Relaxed);
    let _ = ask_for(&world, &service, None);
    assert_eq!(world.lookups(), 101);
}

#[test]
fn a_list_that_was_cut_short_is_read_whole_where_credits_were_granted_since() {
    let glanced = Some(Credits(1));
    let world = World { items: 3_000, balance: Credits(10_000), glanced, ..World::new() };
    let world = Arc::new(world);
    let outcome = call_for_all(&world, Price::PerItems(5));
    assert_eq!(outcome.result.unwrap().used, Credits(600));
    let reads = [6, 50_001].map(|most| Projection::Employees { limit: Some(most) });
    assert_eq!(*world.wants.lock(), reads);
    let charges = world.charges.lock();
    assert_eq!((charges.len(), charges[0].items), (1, 3_000));
}

#[test]
fn a_keyed_miss_is_kept() {
    let world = Arc::new(World { items: 0, ..World::new() });
    call(&world, Price::PerAnswer(1), Some("k1"));
    let charges = world.charges.lock();
    assert_eq!(charges[0].credits(), Credits::ZERO);
    assert!(charges[0].idempotency.is_some());
}

#[test]
fn an_idempotency_key_for_another_question_is_refused() {
    let world = Arc::new(World { kept: Some(StoredResponse::OtherQuestion), ..World::new() });
    let outcome = call(&world, Price::PerAnswer(1), Some("k1"));
    assert!(matches!(outcome.result, Err(Refusal::IdempotencyKeyReused)));
    let outcome = call(&world, Price::PerAnswer(1), Some("no spaces"));
    assert!(matches!(outcome.result, Err(Refusal::BadIdempotencyKey(_))));
}

#[test]
fn a_charge_that_failed_or_cannot_be_told_gives_no_answer() {
    type Decide = fn() -> Result<Charged, ChargeError>;
    let cases: [(Decide, &str); 5] = [
        (|| Err(ChargeError::NotTaken("disk".into())), "nothing was charged"),
        (|| Err(ChargeError::Overloaded), "too many requests"),
        (|| Err(ChargeError::IdempotencyStoreFull), "Idempotency-Key"),
        (|| Err(ChargeError::Unknown("fsync".into())), "will not be charged twice"),
        (|| Err(ChargeError::Stopped), "charging is stopped"),
    ];
    for (charge, said) in cases {
        let world = Arc::new(World { charge, ..World::new() });
        let refusal = call(&world, Price::PerAnswer(1), None).result.unwrap_err();
        let message = refusal.to_string();
        assert!(message.contains(said), "{message}");
        assert!(!message.contains("disk") && !message.contains("fsync"), "{message}");
        assert_eq!(world.uses.lock()[0].outcome, UseOutcome::Refused);
    }
}
