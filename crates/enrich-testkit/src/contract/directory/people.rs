//! Tests of look-ups of people.

use enrich_core::{
    CompanyRecord, CompanyRef, Confidence, PersonRecord, PersonRef, Question, Record,
};
use enrich_text::{Network, PersonName};

use super::{Harness, Ports, ada, called, quill};
use crate::loading::{ask, load, person_of};
use crate::records::{
    company, company_name, countries, country, domain, email, emails, employed_at, hashed,
    page_url, person, person_page, phone, phones, sites, trusted,
};

async fn first_email(ports: &Ports, person: PersonRef) -> Option<String> {
    person_of(ports, person).await.and_then(|person| person.emails.first().cloned())
}

fn named(full: &str) -> PersonName {
    PersonName::parse(full).expect("a person's name")
}

pub(super) fn in_country(full: &str, code: &str) -> PersonRef {
    PersonRef::InCountry { name: named(full), country: country(code) }
}

fn at(full: &str, company: CompanyRef) -> PersonRef {
    PersonRef::AtCompany { name: named(full), company }
}

pub async fn a_person_is_found_by_address_page_and_phone(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(ada())]).await;
    let asked = [
        PersonRef::Email(email("ada@home.example")),
        PersonRef::Email(email("Ada+news@quill.example")),
        PersonRef::Page(person_page("https://uk.linkedin.com/in/Ada-Byte/")),
        PersonRef::Phone(phone("0044 7700 900001")),
    ];
    for asked in asked {
        let found = person_of(&ports, asked).await.expect("a person");
        assert_eq!((found.first_name.as_str(), found.last_name.as_str()), ("Ada", "Byte"));
        assert_eq!(found.title.as_deref(), Some("Engineer"));
        assert_eq!(found.page.as_deref(), Some("linkedin.com/in/ada-byte"));
        assert_eq!(found.employer.expect("an employer").domains, ["quill.example"]);
    }
    for asked in [
        PersonRef::Email(email("bob@quill.example")),
        PersonRef::Page(person_page("bob")),
        PersonRef::Phone(phone("+447700900002")),
    ] {
        assert_eq!(person_of(&ports, asked).await, None);
    }
}

pub async fn what_two_people_share_is_not_sure(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let bob = PersonRecord { phones: phones(&["+447700900001"]), ..person("Bob", "Bit") };
    load(&ports, "a", vec![hashed(ada()), hashed(bob)]).await;
    let asked = Question::Person(PersonRef::Phone(phone("+447700900001")));
    let found = ask(&ports, asked).await.expect("a person");
    assert_eq!(found.person().unwrap().first_name, "Ada");
    assert_eq!(found.confidence, Confidence::AMBIGUOUS);
}

pub async fn a_person_is_found_by_name_in_a_country(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let garcia = PersonRecord {
        country: Some(country("ES")),
        emails: emails(&["ana@garcia.example"]),
        ..person("Ana", "García Márquez")
    };
    load(&ports, "a", vec![hashed(ada()), hashed(garcia)]).await;
    let found = async |name, code| first_email(&ports, in_country(name, code)).await;
    assert_eq!(found("BYTE, Ada", "GB").await.as_deref(), Some("ada@quill.example"));
    assert_eq!(found("Ada Byte", "US").await, None);
    assert_eq!(found("Eva Byte", "GB").await, None);
    assert_eq!(found("Ana Garcia", "ES").await.as_deref(), Some("ana@garcia.example"));
}

pub async fn two_people_of_one_name_in_a_country_cannot_be_told_apart(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let other = PersonRecord {
        country: Some(country("GB")),
        page: Some(person_page("the-other-ada")),
        ..person("Ada", "Byte")
    };
    load(&ports, "a", vec![hashed(ada()), hashed(other)]).await;
    assert_eq!(person_of(&ports, in_country("Ada Byte", "GB")).await, None);
}

pub async fn a_middle_name_may_be_missing_but_not_contradict(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ada_maria = PersonRecord {
        country: Some(country("GB")),
        emails: emails(&["maria@x.example"]),
        ..person("Ada Maria", "Byte")
    };
    load(&ports, "a", vec![hashed(ada_maria)]).await;
    let found = async |name| first_email(&ports, in_country(name, "GB")).await;
    assert_eq!(found("Ada Byte").await.as_deref(), Some("maria@x.example"));
    assert_eq!(found("Ada M. Byte").await.as_deref(), Some("maria@x.example"));
    assert_eq!(found("Ada Karin Byte").await, None);
}

pub async fn a_person_is_found_by_name_at_a_company(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    for company in [
        CompanyRef::Domain(domain("www.quill.example")),
        CompanyRef::Page(page_url(Network::LinkedIn, "quill")),
        CompanyRef::Email(email("post@quill.example")),
        called("quill"),
        CompanyRef::DomainOrName(domain("quill.example"), company_name("quill.example")),
    ] {
        let found = first_email(&ports, at("Ada Byte", company.clone())).await;
        assert_eq!(found.as_deref(), Some("ada@quill.example"), "{company:?}");
    }
    assert_eq!(first_email(&ports, at("Eva Byte", called("quill"))).await, None);
}

pub async fn an_employee_tells_companies_of_one_name_apart(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let other = CompanyRecord { sites: sites(&["other.example"]), ..company("Quill Ltd") };
    let bob = |address: &str| PersonRecord {
        employer: employed_at("other.example"),
        emails: emails(&[address]),
        page: Some(person_page(address.split('@').next().unwrap())),
        ..person("Bob", "Bit")
    };
    let records = vec![hashed(quill()), hashed(other), hashed(ada()), hashed(bob("bob@x.example"))];
    load(&ports, "a", records).await;
    let found = ask(&ports, Question::Person(at("Bob Bit", called("Quill Ltd")))).await;
    let found = found.expect("a person");
    assert_eq!(found.person().unwrap().emails, ["bob@x.example"]);
    assert!(found.confidence > Confidence::AMBIGUOUS, "{:?}", found.confidence);
    // With this second record, both companies with the name `Quill Ltd` have a person `Bob Bit`. So
    // the look-up is ambiguous, and no person is found.
    let second = PersonRecord { employer: employed_at("quill.example"), ..bob("bob2@x.example") };
    load(&ports, "a", vec![hashed(second)]).await;
    assert_eq!(person_of(&ports, at("Bob Bit", called("Quill Ltd"))).await, None);
}

pub async fn an_employee_tells_dozens_of_companies_of_one_name_apart(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let one = |number: u32| {
        let sites = sites(&[&format!("quill{number}.example")]);
        hashed(CompanyRecord { sites, seats: countries(&["GB"]), ..company("Quill") })
    };
    let bob = PersonRecord {
        employer: employed_at("quill40.example"),
        emails: emails(&["bob@x.example"]),
        ..person("Bob", "Bit")
    };
    load(&ports, "a", (0..60).map(one).chain([hashed(bob)]).collect()).await;
    let found = first_email(&ports, at("Bob Bit", called("Quill"))).await;
    assert_eq!(found.as_deref(), Some("bob@x.example"));
}

pub async fn a_person_is_found_by_a_part_of_a_long_name(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ana = PersonRecord {
        country: Some(country("ES")),
        emails: emails(&["ana@garcia.example"]),
        ..person("Ana", "Sol Luna Mar Paz Vega Rios")
    };
    load(&ports, "a", vec![hashed(ana)]).await;
    for last in ["Sol", "Mar", "Rios", "Luna-Rios", "SolLunaMarPazVegaRios"] {
        let asked = in_country(&format!("{last}, Ana"), "ES");
        assert_eq!(
            first_email(&ports, asked).await.as_deref(),
            Some("ana@garcia.example"),
            "{last}"
        );
    }
}

pub async fn a_person_is_not_found_at_another_company(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let other = CompanyRecord { sites: sites(&["other.example"]), ..company("Other") };
    load(&ports, "a", vec![hashed(quill()), hashed(other), hashed(ada())]).await;
    assert_eq!(person_of(&ports, at("Ada Byte", called("Other"))).await, None);
    assert_eq!(person_of(&ports, at("Ada Byte", called("Nobody"))).await, None);
}

pub async fn a_persons_answer_follows_the_employers_name(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let mentioned = PersonRecord { origin: trusted(50), ..ada() };
    load(&ports, "a", vec![hashed(mentioned)]).await;
    load(&ports, "b", vec![hashed(quill())]).await;
    let found = person_of(&ports, PersonRef::Page(person_page("ada-byte"))).await;
    let employer = found.expect("a person").employer.expect("an employer");
    assert_eq!(employer.name, "Quill Ltd");
    assert_eq!(employer.domains, ["quill.example", "quill-ink.example"]);
}

fn colleague(first: &str, last: &str, address: &str) -> Record {
    hashed(PersonRecord {
        employer: employed_at("quill.example"),
        country: Some(country("GB")),
        emails: emails(&[address]),
        ..person(first, last)
    })
}

/// Imports people with these names. The person with index `n` has the email address
/// `n@quill.example`.
async fn colleagues(harness: &dyn Harness, names: &[(&str, &str)]) -> Ports {
    let ports = harness.fresh().await;
    let numbered = names.iter().enumerate();
    let people =
        numbered.map(|(at, (first, last))| colleague(first, last, &format!("{at}@quill.example")));
    load(&ports, "a", std::iter::once(hashed(quill())).chain(people).collect()).await;
    ports
}

/// Looks up `person`. If one of the [`colleagues`] is found, returns the index of this colleague
/// and the confidence in percent.
async fn who(ports: &Ports, person: PersonRef) -> Option<(usize, u8)> {
    let found = ask(ports, Question::Person(person)).await?;
    let address = found.person()?.emails.first()?.clone();
    let number = address.split('@').next()?.parse().ok()?;
    Some((number, found.confidence.percent()))
}

async fn who_at_quill(ports: &Ports, full: &str) -> Option<(usize, u8)> {
    who(ports, at(full, CompanyRef::Domain(domain("quill.example")))).await
}

/// Asserts that each name in `asked` finds the person with the index beside the name. No name is
/// spelt exactly as the person's name, so the confidence must be from 50 % to 96 %; an exact name
/// has 97 %.
async fn are_found(ports: &Ports, asked: &[(&str, usize)]) {
    for (full, number) in asked {
        let (found, sure) = who_at_quill(ports, full).await.expect(full);
        assert_eq!(found, *number, "{full}");
        assert!((50..97).contains(&sure), "{full}: {sure}");
    }
}

async fn are_not_found(ports: &Ports, asked: &[&str]) {
    for full in asked {
        assert_eq!(who_at_quill(ports, full).await, None, "{full}");
    }
}

pub async fn a_persons_name_is_found_in_any_spelling(harness: &dyn Harness) {
    let held = [
        ("Jürgen", "Müller"),
        ("Aase", "Sorensen"),
        ("Dmitriy", "Medvedev"),
        ("Mohammed", "Hassan"),
        ("Jean-Luc", "van der Berg"),
    ];
    let ports = colleagues(harness, &held).await;
    let asked = [
        ("Juergen Mueller", 0),
        ("Jurgen Mueller", 0),
        ("Åse Soerensen", 1),
        ("Dmitri Medwedew", 2),
        ("Muhammad Hasan", 3),
        ("Jean-Luc Vanderberg", 4),
        ("Jeanluc van der Berg", 4),
    ];
    are_found(&ports, &asked).await;
    assert_eq!(who_at_quill(&ports, "JURGEN MULLER").await, Some((0, 97)));
    assert_eq!(who_at_quill(&ports, "Дмитрий Медведев").await, Some((2, 97)));
    are_not_found(&ports, &["Jürgen Möller", "Ahmed Hassan", "Jean-Marc van der Berg"]).await;
}

pub async fn a_persons_name_is_found_in_another_script(harness: &dyn Harness) {
    let held = [("Sharif", "Al-Rashid"), ("خالد", "الرفاعي"), ("Γιάννης", "Παπαδόπουλος")];
    let ports = colleagues(harness, &held).await;
    let asked = [("شريف الرشيد", 0), ("Khalid Alrifai", 1), ("Yannis Papadopoulos", 2)];
    are_found(&ports, &asked).await;
    are_not_found(&ports, &["شريف الراشدين", "محمد الرشيد"]).await;
}

pub async fn a_person_is_found_by_a_usual_short_form(harness: &dyn Harness) {
    let held = [("Robert", "Byte"), ("Liz", "Byte"), ("Francisco", "Vega"), ("Sasha", "Petrov")];
    let ports = colleagues(harness, &held).await;
    let asked = [("Bob Byte", 0), ("Elizabeth Byte", 1), ("Paco Vega", 2), ("Александр Petrov", 3)];
    are_found(&ports, &asked).await;
    are_not_found(&ports, &["Betty Byte", "Bill Byte", "Pepe Vega"]).await;
}

pub async fn a_short_form_of_several_names_finds_the_only_one(harness: &dyn Harness) {
    let held = [("Alexander", "Byte"), ("Alexandra", "Bit"), ("Alexander", "Bit")];
    let ports = colleagues(harness, &held).await;
    are_found(&ports, &[("Alex Byte", 0)]).await;
    are_not_found(&ports, &["Alex Bit"]).await;
    assert_eq!(who_at_quill(&ports, "Alexandra Bit").await, Some((1, 97)));
}

pub async fn an_initial_finds_the_only_one_it_can_be(harness: &dyn Harness) {
    let held = [("John", "Byte"), ("Jane", "Bit"), ("John", "Bit"), ("Q.", "Nibble")];
    let ports = colleagues(harness, &held).await;
    are_found(&ports, &[("J. Byte", 0), ("Byte, J.", 0), ("Byte J.", 0), ("Quinn Nibble", 3)])
        .await;
    are_not_found(&ports, &["J. Bit", "B. Byte"]).await;
    assert_eq!(who_at_quill(&ports, "Jane Bit").await, Some((1, 97)));
}

pub async fn a_name_is_found_with_the_family_name_first(harness: &dyn Harness) {
    let held = [("Ada", "Lovelace"), ("Minh Hạnh", "Nguyễn"), ("James", "Thomas")];
    let ports = colleagues(harness, &held).await;
    are_found(&ports, &[("Lovelace Ada", 0), ("Nguyen Minh Hanh", 1)]).await;
    are_not_found(&ports, &["Thomas James"]).await;
    let by_comma = who_at_quill(&ports, "Lovelace, Ada").await;
    assert_eq!(by_comma, Some((0, 97)));
}

pub async fn a_person_is_found_by_one_of_two_family_names(harness: &dyn Harness) {
    let held = [("Ana", "García Márquez"), ("Eva", "Smith-Jones"), ("Luis", "Vega")];
    let ports = colleagues(harness, &held).await;
    let asked = [
        ("Ana García", 0),
        ("Ana Márquez", 0),
        ("Eva Smith", 1),
        ("Eva Jones", 1),
        ("Luis Vega Rios", 2),
    ];
    are_found(&ports, &asked).await;
    assert_eq!(who_at_quill(&ports, "Ana García Márquez").await, Some((0, 97)));
    are_not_found(&ports, &["García López, Ana", "Eva Smith-Brown", "A. García"]).await;
}

pub async fn people_of_like_names_are_not_found(harness: &dyn Harness) {
    let held = [("Michael", "Smith"), ("Anna", "Smith"), ("John A.", "Smith"), ("Wei", "Wang")];
    let ports = colleagues(harness, &held).await;
    let asked = [
        "Michelle Smith",
        "Anne Smith",
        "Hanna Smith",
        "John B. Smith",
        "Jack Smith",
        "Michael Smyth",
        "Michael Schmidt",
        "Wei Vang",
    ];
    are_not_found(&ports, &asked).await;
}

pub async fn the_very_name_wins_over_one_like_it_but_is_not_sure(harness: &dyn Harness) {
    let held = [("John", "Byte"), ("John A.", "Byte"), ("Eva M.", "Bit"), ("Eva K.", "Bit")];
    let ports = colleagues(harness, &held).await;
    assert_eq!(who_at_quill(&ports, "John Byte").await, Some((0, 80)));
    assert_eq!(who_at_quill(&ports, "John A. Byte").await, Some((1, 80)));
    are_not_found(&ports, &["Eva Bit"]).await;
    assert_eq!(who_at_quill(&ports, "Eva K. Bit").await, Some((3, 97)));
}

pub async fn a_name_suffix_tells_two_of_one_name_apart(harness: &dyn Harness) {
    let ports = colleagues(harness, &[("Robert", "Byte, Jr."), ("Robert", "Byte Sr.")]).await;
    assert_eq!(who_at_quill(&ports, "Robert Byte junior").await, Some((0, 97)));
    assert_eq!(who_at_quill(&ports, "Robert Byte, Sr.").await, Some((1, 97)));
    are_not_found(&ports, &["Robert Byte", "Robert Byte III"]).await;
}

pub async fn an_agreement_is_less_sure_in_a_country_than_at_a_company(harness: &dyn Harness) {
    let ports = colleagues(harness, &[("Robert Karl", "Müller")]).await;
    for full in ["Robert Karl Müller", "Robert Müller", "Bob Müller", "Muller Robert"] {
        let (_, at_company) = who_at_quill(&ports, full).await.expect(full);
        let (_, here) = who(&ports, in_country(full, "GB")).await.expect(full);
        assert!(here < at_company, "{full}: {here} {at_company}");
    }
    assert_eq!(who(&ports, in_country("Robert Müller", "DE")).await, None);
}

pub async fn a_rare_first_name_is_found_among_hundreds_of_one_family_name(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let smith = |number: usize| {
        let page = Some(person_page(&format!("smith-{number}")));
        let first = if number < 200 { "John" } else { "Jane" };
        hashed(PersonRecord { country: Some(country("GB")), page, ..person(first, "Smith") })
    };
    let rare = colleague("Jebediah", "Smith", "0@quill.example");
    load(&ports, "a", (0..400).map(smith).chain([rare]).collect()).await;
    assert!(who(&ports, in_country("Jebediah Smith", "GB")).await.is_some());
    assert_eq!(who(&ports, in_country("John Smith", "GB")).await, None);
    assert_eq!(who(&ports, in_country("J. Smith", "GB")).await, None);
}
