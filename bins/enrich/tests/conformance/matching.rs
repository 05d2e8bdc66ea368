//! Tests the interface's rules for matching: which record an input finds, and which value of the
//! record is the answer.

use serde_json::json;

use crate::world::{Account, Fields, World};

/// The option that lowers the minimum confidence of a match by name from 90 (the default) to 30.
const LESS_SURE: [&str; 2] = ["--min-confidence", "30"];

#[test]
fn company_names_match_without_case_diacritics_punctuation_and_legal_form() {
    let world = World::new(&[]);
    let account = world.account(200);
    for (domain, names) in [
        (
            "telefonica.com",
            &["telefonica", "TELEFÓNICA S.A.", "Telefonica, S. A.", "  Telefónica,SA", "ctne"][..],
        ),
        ("nestle.com", &["Nestle", "NESTLÉ S.A.", "nestle sa", "雀巢", "ネスレ", "НЕСТЛЕ"]),
        ("orsted.com", &["Orsted", "ørsted a/s", "DONG Energy"]),
        (
            "quillmark.example",
            &[
                "Quillmark",
                "quillmark analytics",
                "QUILLMARK ANALYTICS GMBH",
                "Quillmark-Analytics",
            ],
        ),
        ("sosnovy-mayak.example", &["Сосновый Маяк", "сосновый маяк", "Sosnovy Mayak"]),
        ("yandex.ru", &["Яндекс", "ООО «Яндекс»", "ПАО Яндекс", "АО «Яндекс»", "яндекс"]),
        ("kaito-denshi.example", &["海灯電子", "海灯電子株式会社", "Kaito Electronics"]),
        (
            "northmoor-lanterns.example",
            &["Northmoor Lanterns", "Northmoor Lamp and Lantern Company"],
        ),
        ("xn--gla-studio-enb60f.example", &["Gesla Studio"]),
    ] {
        for name in names {
            let reply = world.ask(&account, "/v1/cuf", &[("companyName", name)]);
            // The answer may have an international domain name in Unicode or in ASCII.
            let url = reply.json()["url"].as_str().unwrap_or_default().to_owned();
            let url = url.replace("gęśla-studio", "xn--gla-studio-enb60f");
            world.same(&format!("/v1/cuf {name:?}"), &url.as_str(), &domain);
        }
    }
    world.finish();
}

#[test]
fn person_names_match_in_any_order_case_and_spelling() {
    let world = World::new(&LESS_SURE);
    let account = world.account(100);
    let lpuf = |person: &str, company: &str, page: &str, price: i64| {
        let confidence = if price == 0 { "0" } else { "<confidence>" };
        let query = format!("{} in {}", person.trim(), company.trim());
        let template = format!(
            "{{\"query\":{},\"url\":\"{page}\",\"credit_count\":<balance>,\
             \"confidence_level\":{confidence}}}",
            json!(query)
        );
        let fields = [("personName", person), ("companyName", company)];
        world.answers(&account, "/v1/lpuf", &fields, &template, price);
    };
    let heide = "linkedin.com/in/maximilian-von-der-heide-example";
    for name in [
        "maximilian von der heide",
        "VON DER HEIDE, Maximilian",
        "von der Heide, Maximilian",
        "Maximilian K. von der Heide",
        "  Maximilian  von der Heide ",
    ] {
        lpuf(name, "Quillmark", heide, 1);
    }
    let gross = "linkedin.com/in/juergen-gross-example";
    for name in ["Jurgen Gross", "JÜRGEN GROSS", "Groß, Jürgen", "Jürgen M. Groß"] {
        lpuf(name, "Quillmark Analytics GmbH", gross, 1);
    }
    let hargreave = "linkedin.com/in/robert-t-hargreave-example";
    for name in ["Robert T. Hargreave", "Robert Hargreave", "Hargreave, Robert T."] {
        lpuf(name, "Copperlane Works LLC", hargreave, 1);
    }
    let aubrac = "linkedin.com/in/eloise-d-aubrac-example";
    for name in ["Eloise d'Aubrac", "d'Aubrac, Éloïse", "ÉLOÏSE D’AUBRAC"] {
        lpuf(name, "Maison Orbeval", aubrac, 1);
    }
    // The name in another spelling, with initials, or with the family name first, finds the same
    // person with a lower confidence.
    for name in ["Juergen Gross", "J. Groß", "Groß Jürgen", "Gross J."] {
        lpuf(name, "Quillmark", gross, 1);
    }
    for name in ["Bob Hargreave", "R. T. Hargreave", "Robert Thomas Hargreave", "Hargreave Bob"] {
        lpuf(name, "Copperlane Works LLC", hargreave, 1);
    }
    for name in ["Maximilian Vonderheide", "Max von der Heide", "M. von der Heide"] {
        lpuf(name, "Quillmark", heide, 1);
    }
    for name in ["Georg Groß", "Juliane Groß", "Jürgen Grossmann", "K. Groß"] {
        lpuf(name, "Quillmark", "", 0);
    }
    for name in ["Robert B. Hargreave", "Roberta Hargreave", "Rupert Hargreave"] {
        lpuf(name, "Copperlane Works LLC", "", 0);
    }
    // Two people have this name. The company decides which of them is found.
    let kaethe = "Käthe Sommerfeldt";
    lpuf(kaethe, "Quillmark", "linkedin.com/in/kaethe-sommerfeldt-quillmark-example", 1);
    lpuf(kaethe, "Maison Orbeval", "linkedin.com/in/kaethe-sommerfeldt-orbeval-example", 1);
    lpuf(kaethe, "Northmoor Lanterns", "", 0);
    lpuf("Maximilian Heidenreich", "Quillmark", "", 0);
    world.finish();
}

#[test]
fn an_address_leads_to_its_owner_then_its_owners_employer_then_its_domain() {
    let world = World::new(&[]);
    let account = world.account(50);
    for (email, company) in [
        // If a company has exactly this email address, that company is found. (The domain of the
        // address belongs to the same company, so it would lead to this company too.)
        ("kontakt@gesla-studio-cz.example", "Gęśla Studio sp. z o.o."),
        // If no company has the address, but a person has it, the person's employer is found. No
        // company has the domains `daubrac.example` and `asgard-keramikk.example`, so only the
        // person leads to the company.
        ("eloise@daubrac.example", "Maison Orbeval SARL"),
        ("bjorn@asgard-keramikk.example", "Fjellvind Keramikk AS"),
        ("juergen.gross@quillmark.example", "Quillmark Analytics GmbH"),
        // If neither a company nor a person has the address, the company that has the address's
        // domain is found.
        ("anybody@quillmark.example", "Quillmark Analytics GmbH"),
        ("anybody@quillmark-uk.example", "Quillmark Analytics GmbH"),
        ("anybody@nestle.co.uk", "Nestlé"),
    ] {
        expect(&world, &account, "/v1/etc", &[("companyEmail", email)], "company_name", company);
    }
    for email in ["a@gmail.com", "a@outlook.com", "a@yahoo.com", "a@daubrac.example"] {
        expect(&world, &account, "/v1/etc", &[("companyEmail", email)], "company_name", "");
    }
    world.finish();
}

#[test]
fn an_ip_address_belongs_to_the_host_alone_and_a_page_rank_to_the_domain() {
    let world = World::new(&[]);
    let account = world.account(50);
    for (host, ip) in [
        ("dockyard.example", "198.51.100.7"),
        ("www.dockyard.example", "198.51.100.7"),
        ("https://dockyard.example/x", "198.51.100.7"),
        ("shop.dockyard.example", "198.51.100.8"),
        ("other.dockyard.example", ""),
        ("shop.lighthouse-bay.example", ""),
        ("quillmark.example", "192.0.2.10"),
        ("quillmark-fr.example", ""),
        ("orbeval.example", "2001:db8:10::11"),
        ("granite-quay.test", "2001:db8:ff00::42"),
        ("saltmarsh.example", "2001:db8:5a::1"),
        ("xn--bcherwald-q9a.example", "203.0.113.91"),
    ] {
        expect(&world, &account, "/v1/dtp", &[("domain", host)], "ip", ip);
    }
    for (host, rank) in [
        ("shop.lighthouse-bay.example", "5.21"),
        ("a.b.lighthouse-bay.example", "5.21"),
        ("shop.dockyard.example", ""),
    ] {
        expect(&world, &account, "/v1/dtpr", &[("domain", host)], "pagerank", rank);
    }
    world.finish();
}

#[test]
fn private_suffixes_end_a_domain() {
    let world = World::new(&[]);
    let account = world.account(10);
    let fact = r#"{"type":"domain","domain":"enrich-example.github.io","page_rank":"1.11"}"#;
    world.json_of(&["import", &world.file("private.jsonl", fact)]);
    for (host, rank) in [
        ("enrich-example.github.io", "1.11"),
        ("docs.enrich-example.github.io", "1.11"),
        ("enrich-other-example.github.io", ""),
    ] {
        expect(&world, &account, "/v1/dtpr", &[("domain", host)], "pagerank", rank);
    }
    world.finish();
}

#[test]
fn pite_takes_a_domain_a_domain_as_name_or_a_name() {
    let world = World::new(&[]);
    let account = world.account(50);
    let pite = |fields: Fields<'_>, email: &str| {
        expect(&world, &account, "/v1/pite", fields, "email", email);
    };
    let eloise = ("personName", "Éloïse d'Aubrac");
    let at_orbeval = "eloise.daubrac@orbeval.example";
    pite(&[eloise, ("companyDomain", "https://www.orbeval.example/")], at_orbeval);
    pite(&[eloise, ("companyName", "orbeval.example")], at_orbeval);
    pite(&[eloise, ("companyName", "orbeval-be.example")], at_orbeval);
    pite(&[eloise, ("companyName", "Maison Orbeval")], at_orbeval);
    pite(&[eloise, ("companyDomain", ""), ("companyName", "Maison Orbeval")], at_orbeval);
    let both = [eloise, ("companyDomain", "orbeval.example"), ("companyName", "quillmark.example")];
    pite(&both, at_orbeval);
    let other =
        [eloise, ("companyDomain", "quillmark.example"), ("companyName", "orbeval.example")];
    pite(&other, "");
    // `Wickerly.example` looks like a domain, but no company has this domain. So, as a company
    // name, it is compared with the names of companies.
    let priya = ("personName", "Priya Ramaswamy-Iyer");
    pite(&[priya, ("companyName", "Wickerly.example")], "priya@wickerly-baskets.example");
    pite(&[priya, ("companyDomain", "Wickerly.example")], "");
    // The person has no address at the company's domain, so the answer is the person's first
    // address.
    let bjorn = [("personName", "Bjørn Åsgård"), ("companyName", "Fjellvind Keramikk AS")];
    pite(&bjorn, "bjorn@asgard-keramikk.example");
    world.refuses(&account, "/v1/pite", &[eloise], &["companyDomain"]);
    let bad = [eloise, ("companyDomain", "localhost"), ("companyName", "orbeval.example")];
    world.refuses(&account, "/v1/pite", &bad, &["companyDomain"]);
    world.refuses(&account, "/v1/pite", &[], &["companyDomain", "personName"]);
    world.finish();
}

#[test]
fn name_to_linkedin_takes_a_name_or_a_domain() {
    let world = World::new(&[]);
    let account = world.account(50);
    for (query, page) in [
        ("Quillmark Analytics GmbH", "linkedin.com/company/quillmark-analytics-example"),
        ("tintenmark statistik", "linkedin.com/company/quillmark-analytics-example"),
        ("quillmark.example", "linkedin.com/company/quillmark-analytics-example"),
        ("https://www.quillmark-fr.example/x", "linkedin.com/company/quillmark-analytics-example"),
        ("Booking.com", "linkedin.com/company/booking.com"),
        ("Wickerly.example", "linkedin.com/company/wickerly-baskets-example"),
        ("wickerly-baskets.example", "linkedin.com/company/wickerly-baskets-example"),
        ("nobody-here.example", ""),
        ("Nobody Hereabouts Ltd", ""),
    ] {
        let path = "/v2/services/name_to_linkedin";
        expect(&world, &account, path, &[("query", query)], "linkedin_url", page);
    }
    world.finish();
}

#[test]
fn a_country_code_limits_the_domains() {
    let world = World::new(&[]);
    let account = world.account(50);
    for (name, code, domain) in [
        ("Nestlé", "ch", "nestle.ch"),
        ("Nestlé", " De ", "nestle.de"),
        ("Nestlé", "UK", "nestle.co.uk"),
        ("Nestlé", "gb", "nestle.co.uk"),
        ("Nestlé", "US", "nestleusa.com"),
        ("Nestlé", "", "nestle.com"),
        ("Nestlé", "  ", "nestle.com"),
        ("Nestlé", "XK", ""),
        ("Nestlé", "EL", ""),
        ("OPAP", "EL", "opap.gr"),
        ("OPAP", "gr", "opap.gr"),
        ("Aegean Airlines", "GR", "aegeanair.com"),
        ("Booking.com", "NL", "booking.com"),
        ("Booking.com", "US", ""),
        ("Petrobras", "BR", "petrobras.com.br"),
        ("Yandex", "RU", "yandex.ru"),
        ("Quillmark", "DE", "quillmark.example"),
        ("Quillmark", "FR", "quillmark-fr.example"),
        ("Northmoor Lanterns", "IE", "northmoor-ireland.example"),
        ("Northmoor Lanterns", "UK", "northmoor-lanterns.example"),
        ("Copperlane Works", "US", "copperlane.example"),
        ("Copperlane Works", "IE", "copperlane-works.example"),
        ("Wickerly.example", "CA", "wickerly-ca.example"),
        ("Wickerly.example", "US", "wickerly-baskets.example"),
    ] {
        let fields = [("company_name", name), ("country_code", code)];
        expect(&world, &account, NAME_TO_DOMAIN, &fields, "domain", domain);
    }
    for code in ["ZZ", "AA", "CHE", "Switzerland", "C", "4", "É!"] {
        let fields = [("company_name", "Nestlé"), ("country_code", code)];
        world.refuses(&account, NAME_TO_DOMAIN, &fields, &["country_code"]);
    }
    world.finish();
}

#[test]
fn itm_takes_a_country_by_any_of_its_names() {
    let world = World::new(&LESS_SURE);
    let account = world.account(50);
    let itm = |first: &str, last: &str, country: &str, phone: &str, price: i64| {
        let confidence = if price == 0 { "0" } else { "<confidence>" };
        let template = format!(
            "{{\"query\":\"{first} {last} in {country}\",\"phone\":\"{phone}\",\
             \"credit_count\":<balance>,\"confidence_level\":{confidence}}}"
        );
        let fields = [("firstName", first), ("lastName", last), ("country", country)];
        world.answers(&account, "/v1/itm", &fields, &template, price);
    };
    for country in ["germany", "GERMANY", "DE", "de", "DEU", "deu"] {
        itm("Jürgen", "Groß", country, "491713920015", 1);
    }
    for country in ["USA", "usa", "US", "United States", "United States of America"] {
        itm("Robert T.", "Hargreave", country, "12025550143", 1);
    }
    itm("Robert", "Hargreave", "USA", "12025550143", 1);
    for country in ["UK", "uk", "GB", "GBR", "United Kingdom", "Great Britain"] {
        itm("Siân", "O'Connor-Price", country, "447700900123", 1);
    }
    itm("Jürgen", "Groß", "Holland", "", 0);
    itm("Jürgen", "Groß", "Netherlands", "", 0);
    itm("Jürgen", "Groß", "Austria", "", 0);
    for country in ["Atlantis", "ZZ", "XXX", "9", "D"] {
        let fields = [("firstName", "Jürgen"), ("lastName", "Groß"), ("country", country)];
        world.refuses(&account, "/v1/itm", &fields, &["country"]);
    }
    world.finish();
}

const NAME_TO_DOMAIN: &str = "/v2/services/name_to_domain";

/// Expects this value in the answer field. The value `""` means a miss, which costs nothing.
fn expect(
    world: &World,
    account: &Account,
    path: &str,
    fields: Fields<'_>,
    name: &str,
    value: &str,
) {
    let reply = world.ask(account, path, fields);
    let body = reply.json();
    let answer = body.get(name).or_else(|| body["data"].get(name)).cloned();
    let what = format!("{path} {fields:?}");
    world.same(&format!("{what}: {name}"), &answer, &Some(json!(value)));
    let price = i64::from(!value.is_empty());
    world.same(&format!("{what}: price"), &reply.number("X-Credits-Used"), &Some(price));
    account.balance.set(account.balance.get() - price);
    let left = reply.number("X-Credits-Remaining");
    world.same(&format!("{what}: balance"), &left, &Some(account.balance.get()));
    if let Some(exists) = body["data"].get("exists") {
        world.same(&format!("{what}: exists"), exists, &json!(price == 1));
    }
}
