//! Removes suppressed values (values that no answer may contain) from what a look-up has found, if
//! the look-up data still contains them.

use enrich_text::{Domain, EmailAddress, PersonPage, Phone};

use super::{SuppressedValues, holds_suppressed, is_domain, is_email};
use crate::port::importer::Suppressed;
use crate::question::{CompanyRef, PersonRef, Question};
use crate::subject::{Candidate, Company, DomainFacts, Employee, Found, Person, Subject};

/// Whether a look-up request contains a suppressed value (one that no answer may contain). If it
/// does, the answer must be "nothing found".
pub fn names_suppressed(values: &dyn SuppressedValues, question: &Question) -> bool {
    match question {
        Question::Company(company) => company_ref(values, company),
        Question::Person(PersonRef::Email(email)) => is_email(values, email.clone()),
        Question::Person(PersonRef::Page(page)) => is_page(values, page.clone()),
        Question::Person(PersonRef::Phone(phone)) => is_phone(values, phone.clone()),
        Question::Candidates { .. } | Question::Person(PersonRef::InCountry { .. }) => false,
        Question::Person(PersonRef::AtCompany { company, .. }) => company_ref(values, company),
        Question::Host(domain) | Question::Domain(domain) => is_domain(values, domain),
    }
}

/// Removes the suppressed values, which no answer may contain, from the company, person or domain
/// that was found. Returns `None` if the person or domain itself is suppressed, or if the company
/// has no name left.
pub fn without_suppressed(values: &dyn SuppressedValues, found: Found) -> Option<Found> {
    let subject = match found.subject {
        Subject::Company(company) => Subject::Company(screened_company(values, company)?),
        Subject::Candidates(candidates) => {
            Subject::Candidates(screened_candidates(values, candidates)?)
        }
        Subject::Person(person) => Subject::Person(screened_person(values, person)?),
        Subject::Domain(facts) => Subject::Domain(screened_domain(values, facts)?),
    };
    Some(Found { subject, ..found })
}

fn company_ref(values: &dyn SuppressedValues, company: &CompanyRef) -> bool {
    match company {
        CompanyRef::Domain(domain) | CompanyRef::DomainOrName(domain, _) => {
            is_domain(values, domain)
        }
        CompanyRef::Email(email) => is_email(values, email.clone()),
        CompanyRef::Page(_) | CompanyRef::Id(_) | CompanyRef::Name { .. } => false,
    }
}

fn screened_company(values: &dyn SuppressedValues, mut company: Company) -> Option<Company> {
    company.aliases.retain(|alias| !is_domain_text(values, alias));
    if is_domain_text(values, &company.name) {
        // The name of this company is a suppressed domain. (If no source gives a name, the
        // company's domain is stored as its name.) So the first alias becomes the name.
        if company.aliases.is_empty() {
            return None;
        }
        company.name = company.aliases.remove(0);
    }
    company.sites.retain(|site| !is_domain_text(values, &site.domain));
    company.emails.retain(|email| !is_email_text(values, email));
    company.phones.retain(|phone| !is_phone_text(values, phone));
    let is_suppressed = |employee: &Employee| is_page_text(values, employee.page.as_deref());
    company.parent = company.parent.filter(|parent| !is_domain_text(values, parent));
    company.employees.retain(|employee| !is_suppressed(employee));
    Some(company)
}

/// Removes each candidate whose name is a suppressed domain (one that no answer may contain).
/// Removes suppressed domains from the other candidates. Returns `None` when no candidate is left.
fn screened_candidates(
    values: &dyn SuppressedValues,
    mut candidates: Vec<Candidate>,
) -> Option<Vec<Candidate>> {
    candidates.retain(|one| !is_domain_text(values, &one.name));
    for one in &mut candidates {
        one.domain = one.domain.take().filter(|domain| !is_domain_text(values, domain));
        // The explanation `why` may contain another name of the company. If this name is a
        // suppressed domain, which no answer may contain, a fixed text replaces the explanation.
        if holds_suppressed(values, &one.why) {
            one.why = Candidate::WHY_WITHOUT_NAMES.to_owned();
        }
    }
    (!candidates.is_empty()).then_some(candidates)
}

fn screened_person(values: &dyn SuppressedValues, mut person: Person) -> Option<Person> {
    if is_page_text(values, person.page.as_deref()) {
        return None;
    }
    person.emails.retain(|email| !is_email_text(values, email));
    person.phones.retain(|phone| !is_phone_text(values, phone));
    if let Some(employer) = &mut person.employer {
        employer.domains.retain(|domain| !is_domain_text(values, domain));
        if is_domain_text(values, &employer.name) {
            person.employer = None;
        }
    }
    Some(person)
}

fn screened_domain(values: &dyn SuppressedValues, facts: DomainFacts) -> Option<DomainFacts> {
    (!is_domain_text(values, &facts.domain)).then_some(facts)
}

fn is_page(values: &dyn SuppressedValues, page: PersonPage) -> bool {
    values.holds(&Suppressed::PersonPage(page))
}

fn is_phone(values: &dyn SuppressedValues, phone: Phone) -> bool {
    values.holds(&Suppressed::Phone(phone))
}

fn is_page_text(values: &dyn SuppressedValues, page: Option<&str>) -> bool {
    page.is_some_and(|page| PersonPage::parse(page).is_ok_and(|page| is_page(values, page)))
}

fn is_phone_text(values: &dyn SuppressedValues, phone: &str) -> bool {
    Phone::parse(phone).is_ok_and(|phone| is_phone(values, phone))
}

fn is_email_text(values: &dyn SuppressedValues, email: &str) -> bool {
    EmailAddress::parse(email).is_ok_and(|email| is_email(values, email))
}

/// Whether a text is a suppressed domain (one that no answer may contain), or a host below a
/// suppressed domain.
fn is_domain_text(values: &dyn SuppressedValues, domain: &str) -> bool {
    domain.contains('.') && Domain::parse(domain).is_ok_and(|domain| is_domain(values, &domain))
}

#[cfg(test)]
mod tests {
    use enrich_text::{CompanyName, PersonName};

    use super::super::tests::values;
    use super::*;
    use crate::confidence::Confidence;
    use crate::subject::{DirectoryRevision, Employer, Site, SubjectId};

    fn found(subject: Subject) -> Found {
        Found { subject, confidence: Confidence::FULL, revision: DirectoryRevision(7) }
    }

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    fn person() -> Person {
        Person {
            id: SubjectId(1),
            first_name: "Ben".to_owned(),
            last_name: "Quill".to_owned(),
            title: None,
            employer: Some(Employer {
                id: SubjectId(2),
                name: "Inkwell".to_owned(),
                domains: texts(&["inkwell.example", "quill.example"]),
            }),
            country: None,
            page: Some("https://www.linkedin.com/in/ben-example".to_owned()),
            emails: texts(&["ada+news@quill.example", "ben@quill.example", "b@inkwell.example"]),
            phones: texts(&["+442079460123", "+442079460124"]),
        }
    }

    #[test]
    fn suppressed_values_are_taken_from_a_person() {
        let screened = without_suppressed(&values(), found(Subject::Person(person()))).unwrap();
        assert_eq!(
            (screened.revision, screened.confidence),
            (DirectoryRevision(7), Confidence::FULL)
        );
        let screened = screened.person().unwrap();
        assert_eq!(screened.emails, ["ben@quill.example"]);
        assert_eq!(screened.phones, ["+442079460124"]);
        assert_eq!(screened.employer.as_ref().unwrap().domains, ["quill.example"]);
    }

    #[test]
    fn a_suppressed_person_is_not_found() {
        let page = Some("https://www.linkedin.com/in/Ada-Example".to_owned());
        let person = Person { page, ..person() };
        assert_eq!(without_suppressed(&values(), found(Subject::Person(person))), None);
    }

    #[test]
    fn suppressed_values_are_taken_from_a_company() {
        let site = |domain: &str| Site { domain: domain.to_owned(), country: None };
        let employee = |handle: &str| Employee {
            name: handle.to_owned(),
            title: None,
            page: Some(format!("https://www.linkedin.com/in/{handle}")),
        };
        let company = Company {
            aliases: texts(&["Quill Ltd"]),
            sites: vec![site("shop.inkwell.example"), site("quill.example")],
            emails: texts(&["info@inkwell.example", "info@quill.example"]),
            phones: texts(&["+442079460123"]),
            employees: vec![employee("ada-example"), employee("ben-example")],
            ..Company::named(SubjectId(1), "inkwell.example".to_owned())
        };
        let screened = without_suppressed(&values(), found(Subject::Company(company))).unwrap();
        let screened = screened.company().unwrap();
        assert_eq!((&*screened.name, screened.aliases.len()), ("Quill Ltd", 0));
        assert_eq!(screened.domain(), Some("quill.example"));
        assert_eq!((&screened.emails, screened.phones.len()), (&texts(&["info@quill.example"]), 0));
        assert_eq!(screened.employees, [employee("ben-example")]);
        let nameless = Company::named(SubjectId(1), "inkwell.example".to_owned());
        assert_eq!(without_suppressed(&values(), found(Subject::Company(nameless))), None);
        let facts = DomainFacts { domain: "eu.inkwell.example".to_owned(), ..Default::default() };
        assert_eq!(without_suppressed(&values(), found(Subject::Domain(facts))), None);
    }

    #[test]
    fn suppressed_values_are_taken_from_candidates() {
        let candidate = |name: &str, domain: &str, why: &str| Candidate {
            id: SubjectId(1),
            name: name.to_owned(),
            country: None,
            domain: Some(domain.to_owned()),
            confidence: Confidence::AMBIGUOUS,
            why: why.to_owned(),
        };
        let candidates = vec![
            candidate("inkwell.example", "quill.example", "one"),
            candidate("Inkwell", "shop.inkwell.example", "Its other name \"inkwell.example\" is."),
            candidate("Quill", "quill.example", "two"),
        ];
        let screened = without_suppressed(&values(), found(Subject::Candidates(candidates)));
        let screened = screened.unwrap();
        let [inkwell, quill] = screened.candidates().unwrap() else { unreachable!("{screened:?}") };
        assert_eq!((inkwell.name.as_str(), &inkwell.domain), ("Inkwell", &None));
        assert_eq!(inkwell.why, Candidate::WHY_WITHOUT_NAMES);
        assert_eq!(*quill, candidate("Quill", "quill.example", "two"));
        let only = vec![candidate("inkwell.example", "quill.example", "one")];
        assert_eq!(without_suppressed(&values(), found(Subject::Candidates(only))), None);
    }

    #[test]
    fn a_question_by_a_suppressed_value_is_recognised() {
        let (values, domain) = (values(), |text| Domain::parse(text).unwrap());
        let email = |text| EmailAddress::parse(text).unwrap();
        let name = || PersonName::from_parts("Ben", "Quill").unwrap();
        let at = |company| PersonRef::AtCompany { name: name(), company };
        for question in [
            Question::Company(CompanyRef::Domain(domain("shop.inkwell.example"))),
            Question::Company(CompanyRef::Email(email("ada+x@quill.example"))),
            Question::Person(PersonRef::Email(email("ada@quill.example"))),
            Question::Person(PersonRef::Phone(Phone::parse("+44 20 7946 0123").unwrap())),
            Question::Person(PersonRef::Page(
                PersonPage::parse("linkedin.com/in/ada-example").unwrap(),
            )),
            Question::Person(at(CompanyRef::Domain(domain("inkwell.example")))),
            Question::Host(domain("inkwell.example")),
        ] {
            assert!(names_suppressed(&values, &question), "{question:?}");
        }
        let named = CompanyName::parse("Inkwell").unwrap();
        for question in [
            Question::Candidates { name: named.clone(), country: None },
            Question::Company(CompanyRef::Name { name: named, country: None }),
            Question::Company(CompanyRef::Email(email("ben@quill.example"))),
            Question::Person(at(CompanyRef::Domain(domain("quill.example")))),
            Question::Domain(domain("quill.example")),
        ] {
            assert!(!names_suppressed(&values, &question), "{question:?}");
        }
    }
}
