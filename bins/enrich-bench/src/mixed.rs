//! Calls of all endpoints, equally many of each. The calls look up generated companies and people,
//! and find something. The expected answer of each call is known.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::call::{Call, domain_to_name};
use crate::folder::World;
use crate::generated::{Company, Person};
use crate::prober::Prober;

/// Number of calls of each endpoint. If fewer inputs are found, they are used several times.
const CALLS: usize = 200;
/// Number of names that are tried as inputs of an endpoint. More are tried than [`CALLS`], because
/// a look-up by name may find nothing.
const TRIED: usize = 2000;
/// Maximum number of companies or people that are examined for the inputs of an endpoint. If they
/// give too few inputs, the inputs are repeated. If they give no input, the program stops with an
/// error.
const LOOKED_AT: usize = 200_000;

/// Maximum length of a Twitter handle, in characters. Twitter has never allowed longer handles.
/// Some generated handles are longer; an import drops them.
const MAX_TWITTER: usize = 20;

/// The source of an endpoint's inputs: a function that makes a call from a record. The function
/// returns `None` if the record lacks the attribute.
enum Inputs {
    /// The inputs are identifiers of companies, which always find the company.
    Company(fn(&Company) -> Option<Call>),
    /// The inputs are identifiers of people, which always find the person.
    Person(fn(&Person, &People) -> Option<Call>),
    /// The inputs are names of companies. A name finds its company only if no other company fits.
    CompanyName(fn(&Company) -> Option<Call>),
    /// The inputs are names of people. A name finds its person only if no other person fits.
    PersonName(fn(&Person, &People) -> Option<Call>),
}
use Inputs::{CompanyName, PersonName};

/// All people. `phones` maps a phone number to a person, and `employers` maps a domain to an
/// employer.
struct People {
    all: Vec<Person>,
    /// The position of the first person with each phone number. Several people may have the same
    /// number.
    phones: BTreeMap<String, usize>,
    employers: BTreeMap<String, Employer>,
}

struct Employer {
    name: String,
    employees: usize,
}

/// Every endpoint, in the order of `enrich endpoints`.
const ENDPOINTS: [(&str, Inputs); 29] = [
    (
        "/v1/cuf",
        CompanyName(|company| Some(named("/v1/cuf", company).answers("/url", company.domain()))),
    ),
    (
        "/v1/lcuf",
        CompanyName(|company| {
            Some(named("/v1/lcuf", company).answers("/url", linkedin_page(company)?))
        }),
    ),
    ("/v1/dtc", Inputs::Company(|company| Some(domain_to_name(company.domain(), &company.name)))),
    (
        "/v1/dte",
        Inputs::Company(|company| emails(at("/v1/dte", "companyDomain", company), company)),
    ),
    (
        "/v1/dtl",
        Inputs::Company(|company| {
            Some(at("/v1/dtl", "companyDomain", company).answers("/url", linkedin_page(company)?))
        }),
    ),
    (
        "/v1/dtp",
        Inputs::Company(|company| {
            Some(at("/v1/dtp", "domain", company).answers("/ip", company.ip.clone()?))
        }),
    ),
    (
        "/v1/dtpp",
        Inputs::Company(|company| phones(at("/v1/dtpp", "companyDomain", company), company)),
    ),
    (
        "/v1/dtpr",
        Inputs::Company(|company| {
            Some(at("/v1/dtpr", "domain", company).answers("/pagerank", company.page_rank.clone()?))
        }),
    ),
    (
        "/v1/etc",
        Inputs::Company(|company| {
            let call = Call::new("/v1/etc", "companyEmail", company.emails.first()?);
            Some(call.answers("/company_name", company.name.as_str()))
        }),
    ),
    (
        "/v1/etl",
        Inputs::Person(|person, _| {
            let call = Call::new("/v1/etl", "email", person.emails.first()?);
            Some(call.answers("/linkedin", person.linkedin.clone()?))
        }),
    ),
    (
        "/v1/etn",
        Inputs::Person(|person, _| {
            let call = Call::new("/v1/etn", "email", person.emails.first()?);
            Some(full_name(call, person))
        }),
    ),
    (
        "/v1/ftd",
        Inputs::Company(|company| {
            page_to_domain(
                "/v1/ftd",
                "facebookURL",
                "facebook.com/",
                company.facebook.as_ref(),
                company,
            )
        }),
    ),
    (
        "/v1/itd",
        Inputs::Company(|company| {
            page_to_domain(
                "/v1/itd",
                "instagramURL",
                "instagram.com/",
                company.instagram.as_ref(),
                company,
            )
        }),
    ),
    (
        "/v1/itm",
        PersonName(|person, _| {
            let call = Call::new("/v1/itm", "firstName", &person.first_name);
            let call = call.with("lastName", &person.last_name).with("country", &person.country);
            Some(call.answers("/phone", person.phones.first()?.trim_start_matches('+')))
        }),
    ),
    (
        "/v1/lcuf_employee",
        PersonName(|person, people| {
            let employer = people.employers.get(&person.company_domain)?;
            // Only people without colleagues are used. With several employees, this program would
            // not know the order in which they are returned.
            let is_alone = employer.employees == 1;
            let employee = json!([{
                "linkedin_url": person.linkedin.as_deref().unwrap_or_default(),
                "name": person.full_name(),
                "title": person.title,
            }]);
            let call = Call::new("/v1/lcuf_employee", "companyName", &employer.name);
            is_alone.then(|| call.answers("/employees", employee))
        }),
    ),
    (
        "/v1/lpuf",
        PersonName(|person, people| {
            let employer = people.employers.get(&person.company_domain)?;
            let call = Call::new("/v1/lpuf", "personName", person.full_name());
            let call = call.with("companyName", &employer.name);
            Some(call.answers("/url", person.linkedin.clone()?))
        }),
    ),
    (
        "/v1/ltd",
        Inputs::Company(|company| {
            let call = Call::new("/v1/ltd", "companyLinkedin", linkedin_page(company)?);
            Some(call.answers("/domain", company.domain()))
        }),
    ),
    (
        "/v1/lti",
        Inputs::Person(|person, _| {
            let call = Call::new("/v1/lti", "linkedin", person.linkedin.as_ref()?);
            let call = call.answers("/first_name", person.first_name.as_str());
            let call = call.answers("/last_name", person.last_name.as_str());
            Some(call.answers("/job_title", person.title.as_str()))
        }),
    ),
    (
        "/v1/mti",
        Inputs::Person(|person, people| {
            let number = person.phones.first()?;
            let first = people.all.get(*people.phones.get(number)?)?;
            Some(full_name(Call::new("/v1/mti", "phoneNumber", number), first))
        }),
    ),
    ("/v1/nte", CompanyName(|company| emails(named("/v1/nte", company), company))),
    ("/v1/ntp", CompanyName(|company| phones(named("/v1/ntp", company), company))),
    (
        "/v1/pite",
        Inputs::Person(|person, _| {
            let call = Call::new("/v1/pite", "personName", person.full_name());
            let call = call.with("companyDomain", &person.company_domain);
            Some(call.answers("/email", person.emails.first()?.as_str()))
        }),
    ),
    (
        "/v1/ttd",
        Inputs::Company(|company| {
            let handle = company.twitter.as_ref().filter(|handle| handle.len() <= MAX_TWITTER);
            page_to_domain("/v1/ttd", "twitterURL", "twitter.com/", handle, company)
        }),
    ),
    (
        "/v1/ytd",
        Inputs::Company(|company| {
            page_to_domain(
                "/v1/ytd",
                "youtubeURL",
                "youtube.com/",
                company.youtube.as_ref(),
                company,
            )
        }),
    ),
    (
        "/v1/cone",
        Inputs::Person(|person, _| {
            let call = Call::new("/v1/cone", "linkedin", person.linkedin.as_ref()?);
            let call = call.answers("/job_title", person.title.as_str());
            Some(
                call.answers("/emails", list(&person.emails))
                    .answers("/phones", list(&person.phones)),
            )
        }),
    ),
    (
        "/v1/company_enrichment",
        CompanyName(|company| {
            let call =
                named("/v1/company_enrichment", company).answers("/domain", company.domain());
            Some(
                call.answers("/emails", list(&company.emails))
                    .answers("/phones", list(&company.phones)),
            )
        }),
    ),
    (
        "/v2/services/name_to_linkedin",
        CompanyName(|company| {
            let call = Call::new("/v2/services/name_to_linkedin", "query", &company.name);
            Some(call.answers("/data/linkedin_url", linkedin_page(company)?))
        }),
    ),
    (
        "/v2/services/domain_to_name",
        Inputs::Company(|company| {
            let call = Call::new("/v2/services/domain_to_name", "domain", company.domain());
            Some(call.answers("/data/company_name", company.name.as_str()))
        }),
    ),
    (
        "/v2/services/name_to_domain",
        CompanyName(|company| {
            let call = Call::new("/v2/services/name_to_domain", "company_name", &company.name);
            Some(call.answers("/data/domain", company.domain()))
        }),
    ),
];

pub(crate) fn calls(
    world: &World,
    prober: &mut Prober<'_>,
    chance: &mut fastrand::Rng,
) -> anyhow::Result<Vec<Call>> {
    for path in prober.paths() {
        let is_known = ENDPOINTS.iter().any(|(known, _)| *known == path);
        ensure!(is_known, "no input of {path} is known; add it to `mixed.rs`");
    }
    let people = People::of(world)?;
    let mut calls = Vec::with_capacity(ENDPOINTS.len() * CALLS);
    for (path, inputs) in &ENDPOINTS {
        let finding = inputs.finding(world, &people, prober, chance)?;
        ensure!(!finding.is_empty(), "no input of {path} finds anything in this folder");
        calls.extend(finding.iter().cycle().take(CALLS).cloned());
    }
    Ok(calls)
}

impl Inputs {
    fn finding(
        &self,
        world: &World,
        people: &People,
        prober: &mut Prober<'_>,
        chance: &mut fastrand::Rng,
    ) -> anyhow::Result<Vec<Call>> {
        let mut company = || world.generated.any_company(chance);
        match self {
            Self::Company(call) => drawn(CALLS, || Ok(call(&company()?))),
            CompanyName(call) => prober.found(drawn(TRIED, || Ok(call(&company()?)))?),
            Self::Person(call) => drawn(CALLS, || Ok(call(people.any(chance)?, people))),
            PersonName(call) => {
                prober.found(drawn(TRIED, || Ok(call(people.any(chance)?, people)))?)
            }
        }
    }
}

/// Draws random calls until there are `number` calls, or until `LOOKED_AT` records were examined.
fn drawn(
    number: usize,
    mut draw: impl FnMut() -> anyhow::Result<Option<Call>>,
) -> anyhow::Result<Vec<Call>> {
    let calls = (0..LOOKED_AT).filter_map(|_| draw().transpose());
    calls.take(number).collect()
}

impl People {
    fn of(world: &World) -> anyhow::Result<Self> {
        let people = 0..world.generated.people;
        let all: Vec<Person> =
            people.map(|index| world.generated.person(index)).collect::<Result<_, _>>()?;
        let (mut phones, mut employers) = (BTreeMap::new(), BTreeMap::new());
        for (place, person) in all.iter().enumerate() {
            for phone in &person.phones {
                phones.entry(phone.clone()).or_insert(place);
            }
            let name = world.generated.employer(person)?.name;
            let employer = employers
                .entry(person.company_domain.clone())
                .or_insert(Employer { name, employees: 0 });
            employer.employees += 1;
        }
        Ok(Self { all, phones, employers })
    }

    fn any(&self, chance: &mut fastrand::Rng) -> anyhow::Result<&Person> {
        chance.choice(&self.all).context("too few companies for a person to work there")
    }
}

fn named(path: &'static str, company: &Company) -> Call {
    Call::new(path, "companyName", &company.name)
}

fn at(path: &'static str, input: &'static str, company: &Company) -> Call {
    Call::new(path, input, company.domain())
}

fn emails(call: Call, company: &Company) -> Option<Call> {
    (!company.emails.is_empty()).then(|| call.answers("/emails", list(&company.emails)))
}

fn phones(call: Call, company: &Company) -> Option<Call> {
    (!company.phones.is_empty()).then(|| call.answers("/phones", list(&company.phones)))
}

fn full_name(call: Call, person: &Person) -> Call {
    let call = call.answers("/firstName", person.first_name.as_str());
    call.answers("/lastName", person.last_name.as_str())
}

/// Returns a company's LinkedIn page in the form that answers contain.
fn linkedin_page(company: &Company) -> Option<String> {
    company.linkedin.as_ref().map(|handle| format!("linkedin.com/company/{handle}"))
}

fn page_to_domain(
    path: &'static str,
    input: &'static str,
    host: &str,
    handle: Option<&String>,
    company: &Company,
) -> Option<Call> {
    let call = Call::new(path, input, format!("https://www.{host}{}", handle?));
    Some(call.answers("/companyDomain", company.domain()))
}

fn list(texts: &[String]) -> Value {
    Value::from(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::{FolderSpec, Keys};
    use crate::generated::Generated;

    #[test]
    fn every_endpoint_has_inputs_among_a_few_thousand_companies() {
        let keys = Keys { many: Vec::new(), hot: String::new() };
        let spec = FolderSpec { companies: 5000, charges: 0 };
        let world = World { spec, generated: Generated::new(5000), keys };
        let people = People::of(&world).unwrap();
        let mut chance = fastrand::Rng::with_seed(1);
        for (path, inputs) in &ENDPOINTS {
            let draw = || match inputs {
                Inputs::Company(call) | CompanyName(call) => {
                    Ok(call(&world.generated.any_company(&mut chance)?))
                }
                Inputs::Person(call) | PersonName(call) => {
                    Ok(call(people.any(&mut chance)?, &people))
                }
            };
            let calls = drawn(50, draw).unwrap();
            assert_eq!(calls.len(), 50, "{path}");
            assert!(calls.iter().all(|call| call.path == *path && !call.values.is_empty()));
        }
    }

    #[test]
    fn no_endpoint_stands_there_twice() {
        let paths: std::collections::BTreeSet<_> = ENDPOINTS.iter().map(|(path, _)| path).collect();
        assert_eq!(paths.len(), ENDPOINTS.len());
    }

    #[test]
    fn drawing_ends_where_nothing_fits() {
        assert!(drawn(1, || Ok(None)).unwrap().is_empty());
    }
}
