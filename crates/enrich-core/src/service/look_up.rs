//! Look-ups for Rust programs that use this crate as a library. A program passes a [`LookUp`]
//! instead of an HTTP request, and gets a value instead of an HTTP response.

use std::borrow::Cow;

use enrich_text::{CompanyName, Domain, EmailAddress, Network, PageUrl, PersonPage, Phone};

use crate::api_key::ApiKey;
use crate::confidence::Confidence;
use crate::credits::{Credits, Price};
use crate::idempotency::RequestId;
use crate::question::{CompanyRef, PersonRef, Projection, Question};
use crate::refusal::{InvalidFields, Refusal};
use crate::response_template::{BodyTemplate, ResponseTemplate};
use crate::subject::{Candidate, Found};

use super::Service;
use super::call::{Ask, Call};
use super::canonical::canonical;
use super::look_up_value::{Lines, LookUpValue, Stored, write_number};

/// A look-up: what is looked up, the price and the options.
///
/// ```
/// use enrich_core::{LookUp, Price};
///
/// let emails = LookUp::company_by_domain("quill.example").price(Price::per_items::<5>()).limit(20);
/// ```
///
/// By default, an answer costs one credit; [`price`](Self::price) sets another price. The
/// constructors accept any text. If a text cannot be parsed, [`Service::look_up`] refuses the
/// look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookUp {
    question: Result<Question, InvalidFields>,
    purpose: &'static str,
    price: Price,
    limit: Option<u64>,
    with_employees: bool,
    idempotency: Option<Idempotency>,
}

/// The idempotency key of a look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Idempotency {
    key: String,
    /// The name of the attribute that the program picks from the company, person or domain.
    attribute: &'static str,
}

/// The result of [`Service::look_up`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookUpAnswer<T> {
    /// The value that was found; `None` if nothing was found, which is free.
    pub value: Option<T>,
    /// The confidence that the value belongs to the requested company, person or domain; `None`
    /// if nothing was found.
    pub confidence: Option<Confidence>,
    /// The credits that this look-up was charged; 0 if nothing was found, or if `is_replayed` is
    /// `true`.
    pub credits_used: Credits,
    /// The account's remaining credits.
    pub credits_left: Credits,
    /// Whether the value comes from an earlier look-up with the same idempotency key.
    pub is_replayed: bool,
}

impl LookUp {
    /// Creates a look-up of the company with this name, in any country.
    pub fn company_by_name(name: &str) -> Self {
        let name = CompanyName::parse(name);
        let question = |name| Question::Company(CompanyRef::Name { name, country: None });
        Self::read("company_by_name", "name", name.map(question))
    }

    /// Creates a look-up of the companies that a name may mean, the likeliest first
    /// ([`Found::candidates`]). A list costs [`Candidate::PRICE`]; an empty list is free.
    ///
    /// ```
    /// # async fn example(service: &enrich_core::Service, key: &enrich_core::ApiKey)
    /// # -> Result<(), enrich_core::Refusal> {
    /// use enrich_core::LookUp;
    ///
    /// let look_up = LookUp::candidates("Quill Pens London").limit(5);
    /// let answer = service.look_up(key, look_up, |found| found.candidates()).await?;
    /// for one in answer.value.unwrap_or_default() {
    ///     println!("{} ({:?}): {} %. {}", one.name, one.domain, one.confidence.percent(), one.why);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn candidates(name: &str) -> Self {
        let name = CompanyName::parse(name);
        let question = |name| Question::Candidates { name, country: None };
        Self::read(Candidate::PURPOSE, "name", name.map(question)).price(Candidate::PRICE)
    }

    /// Creates a look-up of the company with this domain. If no company has exactly this host,
    /// its registrable domain is looked up: `quill.example` for `shop.quill.example`.
    pub fn company_by_domain(domain: &str) -> Self {
        let domain = Domain::parse(domain);
        let question = |domain| Question::Company(CompanyRef::Domain(domain));
        Self::read("company_by_domain", "domain", domain.map(question))
    }

    /// Creates a look-up of the company with this page on `network`. The page is a URL or a handle.
    pub fn company_by_page(network: Network, page: &str) -> Self {
        let page = PageUrl::parse(network, page);
        let question = |page| Question::Company(CompanyRef::Page(page));
        Self::read("company_by_page", "page", page.map(question))
    }

    /// Creates a look-up of the company that has this email address. If no company has it, looks up
    /// the employer of the person with this address. If no person has it either, looks up the
    /// company with the address's domain.
    pub fn company_by_email(email: &str) -> Self {
        let email = EmailAddress::parse(email);
        let question = |email| Question::Company(CompanyRef::Email(email));
        Self::read("company_by_email", "email", email.map(question))
    }

    /// Creates a look-up of the person with this email address.
    pub fn person_by_email(email: &str) -> Self {
        let email = EmailAddress::parse(email);
        let question = |email| Question::Person(PersonRef::Email(email));
        Self::read("person_by_email", "email", email.map(question))
    }

    /// Creates a look-up of the person with this LinkedIn page. The page is a URL or a handle.
    pub fn person_by_page(page: &str) -> Self {
        let page = PersonPage::parse(page);
        let question = |page| Question::Person(PersonRef::Page(page));
        Self::read("person_by_page", "page", page.map(question))
    }

    /// Creates a look-up of the person with this phone number, which begins with `+` and the
    /// country calling code.
    pub fn person_by_phone(phone: &str) -> Self {
        let phone = Phone::parse(phone);
        let question = |phone| Question::Person(PersonRef::Phone(phone));
        Self::read("person_by_phone", "phone", phone.map(question))
    }

    /// Creates a look-up of the facts (IP address and page rank) of a domain, or of a host below a
    /// domain. If a host such as `shop.quill.example` has no facts, its registrable domain
    /// `quill.example` is looked up.
    pub fn domain(domain: &str) -> Self {
        Self::read("domain", "domain", Domain::parse(domain).map(Question::Domain))
    }

    /// Creates a look-up from a question.
    pub fn new(question: Question) -> Self {
        Self {
            question: Ok(question),
            purpose: "look_up",
            price: Price::PerAnswer(1),
            limit: None,
            with_employees: false,
            idempotency: None,
        }
    }

    /// Creates a look-up from the result of parsing a text. If parsing failed,
    /// [`Service::look_up`] refuses the look-up.
    fn read<E: std::error::Error>(
        purpose: &'static str,
        field: &'static str,
        question: Result<Question, E>,
    ) -> Self {
        let question = question.map_err(|error| InvalidFields(vec![(field, error.to_string())]));
        Self {
            question,
            purpose,
            price: Price::PerAnswer(1),
            limit: None,
            with_employees: false,
            idempotency: None,
        }
    }

    /// Sets the price of an answer.
    #[must_use]
    pub fn price(self, price: Price) -> Self {
        Self { price, ..self }
    }

    /// Sets the name under which the look-up is charged and counted. For calls over HTTP, this
    /// name is the endpoint's path.
    ///
    /// The default is the name of the constructor, such as `company_by_name`. An idempotency key
    /// is valid for one purpose only.
    #[must_use]
    pub fn purpose(self, purpose: &'static str) -> Self {
        Self { purpose, ..self }
    }

    /// Limits how many items of a list are returned and charged. If the value is not a list, but
    /// contains lists, as a company contains email addresses, each of these lists is limited to
    /// `items`.
    #[must_use]
    pub fn limit(self, items: u64) -> Self {
        Self { limit: Some(items), ..self }
    }

    /// Reads the employees of a company too ([`crate::Company::employees`]).
    #[must_use]
    pub fn with_employees(self) -> Self {
        Self { with_employees: true, ..self }
    }

    /// Sets the idempotency key: 1 to 255 visible ASCII characters. The answer is stored for 24
    /// hours. During this time, the same look-up with the same idempotency key returns the stored
    /// answer at no cost.
    ///
    /// `attribute` names what the program picks in [`Service::look_up`], such as `domain`. The
    /// stored answer is only this attribute. So a look-up with the same key and another attribute
    /// is refused ([`Refusal::IdempotencyKeyReused`]).
    #[must_use]
    pub fn idempotency_key(self, key: impl Into<String>, attribute: &'static str) -> Self {
        Self { idempotency: Some(Idempotency { key: key.into(), attribute }), ..self }
    }

    /// Returns the look-up as a parsed request, or the field that could not be parsed.
    fn ask(&self) -> Result<Ask, InvalidFields> {
        let question = self.question.clone()?;
        let projection = match self.with_employees {
            true => Projection::Employees { limit: self.limit },
            false => Projection::Profile,
        };
        let attribute = self.idempotency.as_ref().map(|idempotency| idempotency.attribute);
        let canonical = canonical(&question, projection, self.limit, attribute);
        Ok(Ask { question, projection, echo: String::new(), limit: self.limit, canonical })
    }
}

impl Service {
    /// Makes a look-up with all checks of a [`Call`], and charges the look-up's price. `pick`
    /// returns the requested attribute of the company, person or domain that was found. If `pick`
    /// returns `None` or an empty list, the look-up is free.
    ///
    /// ```
    /// # async fn example(service: &enrich_core::Service, key: &enrich_core::ApiKey) {
    /// use enrich_core::{LookUp, Refusal};
    ///
    /// let look_up = LookUp::person_by_email("ada@quill.example").idempotency_key("order-4711", "mobile");
    /// match service.look_up(key, look_up, |found| found.person()?.mobile()).await {
    ///     Ok(answer) => println!("{:?} for {} credits", answer.value, answer.credits_used),
    ///     Err(Refusal::NotEnoughCredits { balance, .. }) => println!("only {balance} left"),
    ///     Err(refusal) => println!("{refusal}"),
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A [`Refusal`], if there is no answer. Nothing was charged then, except perhaps with
    /// [`Refusal::OutcomeUnknown`]: it is unknown whether the charge was written.
    pub async fn look_up<V: LookUpValue + ?Sized>(
        &self,
        key: &ApiKey,
        look_up: LookUp,
        pick: impl for<'a> Fn(&'a Found) -> Option<&'a V> + Send + Sync,
    ) -> Result<LookUpAnswer<V::Owned>, Refusal> {
        self.look_up_picked(key, look_up, |found| pick(found).map(Cow::Borrowed)).await
    }

    /// Makes a look-up like [`look_up`](Self::look_up), but `pick` returns a new value, such as
    /// [`Person::full_name`](crate::Person::full_name).
    ///
    /// # Errors
    ///
    /// The errors of [`look_up`](Self::look_up).
    pub async fn look_up_owned<V: LookUpValue + ToOwned<Owned = V>>(
        &self,
        key: &ApiKey,
        look_up: LookUp,
        pick: impl Fn(&Found) -> Option<V> + Send + Sync,
    ) -> Result<LookUpAnswer<V>, Refusal> {
        self.look_up_picked::<V>(key, look_up, |found| pick(found).map(Cow::Owned)).await
    }

    async fn look_up_picked<V: LookUpValue + ?Sized>(
        &self,
        key: &ApiKey,
        look_up: LookUp,
        pick: impl for<'a> Fn(&'a Found) -> Option<Cow<'a, V>> + Send + Sync,
    ) -> Result<LookUpAnswer<V::Owned>, Refusal> {
        let call = Call {
            key: key.expose(),
            endpoint: look_up.purpose,
            price: look_up.price,
            request_id: &RequestId::make(self.clock.now()),
            idempotency_key: look_up.idempotency.as_ref().map(|it| it.key.as_str()),
        };
        let write_picked = |ask: &Ask, found: Option<&Found>| {
            let picked = found.and_then(|found| Some((pick(found)?, found.confidence)));
            write(ask, picked)
        };
        let outcome = match self.admit(call).await {
            Ok(admitted) => admitted.answer(look_up.ask(), &write_picked).await,
            Err(refused) => refused,
        };
        let answer = outcome.result?;
        // If the bytes cannot be read as a `V`, they are the stored response to a look-up with the
        // same idempotency key that has picked a value of another type.
        let stored =
            read::<V>(&answer.body, answer.is_found).ok_or(Refusal::IdempotencyKeyReused)?;
        let (value, confidence) = stored.found.unzip();
        Ok(LookUpAnswer {
            value,
            confidence,
            credits_used: answer.used,
            credits_left: outcome.remaining.unwrap_or(stored.balance),
            is_replayed: answer.is_replayed,
        })
    }
}

struct StoredValue<T> {
    /// The account's balance after the charge for this answer. If an earlier answer is repeated
    /// for an idempotency key, this is the balance after the charge for the earlier look-up.
    balance: Credits,
    found: Option<(T, Confidence)>,
}

/// Writes an answer as lines: the balance, the confidence and the value. The first line, the
/// balance, is left empty: the balance is inserted after the charge.
fn write<V: Stored + ?Sized>(
    ask: &Ask,
    picked: Option<(Cow<'_, V>, Confidence)>,
) -> ResponseTemplate {
    let mut body = b"\n".to_vec();
    let limit = ask.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let items = picked.as_ref().map_or(0, |(value, _)| value.items(limit));
    if let Some((value, confidence)) = picked.filter(|_| items > 0) {
        write_number(confidence.percent().into(), &mut body);
        value.write(limit, &mut body);
    }
    ResponseTemplate { items, body: BodyTemplate::new(body, Some(0)) }
}

/// Parses an answer: the bytes that [`write`] has made, with the account's balance in the first
/// line. Returns `None` if the bytes have another form.
fn read<V: Stored + ?Sized>(body: &[u8], is_found: bool) -> Option<StoredValue<V::Owned>> {
    let mut lines = Lines::of(body);
    let balance = Credits(lines.number()?);
    if !is_found {
        return Some(StoredValue { balance, found: None });
    }
    let confidence = Confidence::new(u8::try_from(lines.number()?).ok()?)?;
    let value = V::read(&mut lines)?;
    lines.is_at_end().then_some(StoredValue { balance, found: Some((value, confidence)) })
}
