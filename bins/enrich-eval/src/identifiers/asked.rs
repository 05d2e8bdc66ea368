//! Looks up companies by identifiers, and counts the answers.

use std::io::Write;

use enrich_core::port::directory::Directory;
use enrich_core::{CompanyRef, Found, Projection, Question};
use enrich_store::Store;

/// Maximum number of wrong answers that are shown.
const MAX_SHOWN: usize = 10;
/// The share of answers that must be correct.
pub(crate) const REQUIRED: f64 = 0.99;

/// Looks up a company, as an endpoint does, and checks the answer. If `expected` is a domain, the
/// answer must be the company with this main domain. If `expected` is `None`, the answer must be
/// "not found". For a wrong answer, the inner result is an `Err` with a description.
pub(crate) fn ask(
    store: &Store,
    company: Result<CompanyRef, String>,
    expected: Option<&str>,
) -> anyhow::Result<Result<(), String>> {
    let company = match company {
        Ok(company) => company,
        Err(reason) => return Ok(Err(format!("is refused: {reason}"))),
    };
    let question = Question::Company(company);
    let found = pollster::block_on(store.directory.find(&question, Projection::Profile))?;
    let company = found.as_ref().and_then(Found::company);
    let domain = company.and_then(|company| company.domain());
    Ok(match (domain, expected) {
        (found, expected) if found == expected => Ok(()),
        (None, _) => Err("finds nobody".to_owned()),
        (Some(domain), Some(expected)) => Err(format!("finds {domain} and not {expected}")),
        (Some(domain), None) => Err(format!("finds {domain}")),
    })
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    subject: String,
    subjects: usize,
    asked: usize,
    right: usize,
    wrong: Vec<Wrong>,
}

/// A value that got a wrong answer for at least one of its spellings.
#[derive(Debug)]
struct Wrong {
    subject: String,
    forms: usize,
    /// The kind of the first spelling that got a wrong answer, such as `upper case`. The spelling
    /// itself is `text`.
    form: &'static str,
    text: String,
    reason: String,
}

impl Tally {
    /// Sets the value whose spellings are looked up next.
    pub(crate) fn begin(&mut self, subject: &str) {
        self.subjects += 1;
        self.subject = subject.to_owned();
    }

    /// Counts the answer to one spelling of the value.
    pub(crate) fn note(&mut self, form: &'static str, text: &str, outcome: Result<(), String>) {
        self.asked += 1;
        let Err(reason) = outcome else {
            self.right += 1;
            return;
        };
        match self.wrong.last_mut().filter(|last| last.subject == self.subject) {
            Some(last) => last.forms += 1,
            None => self.wrong.push(Wrong {
                subject: self.subject.clone(),
                forms: 1,
                form,
                text: text.to_owned(),
                reason,
            }),
        }
    }

    /// Returns the share of correct answers; NaN if there were no look-ups.
    fn share(&self) -> f64 {
        self.right as f64 / self.asked as f64
    }

    /// Adds `title` to `short`, the list of reports whose share of correct answers is below
    /// [`REQUIRED`]. Adds nothing if the share is high enough, or if there were no look-ups.
    pub(crate) fn hold_to_required(&self, title: &str, short: &mut Vec<String>) {
        if self.asked > 0 && self.share() < REQUIRED {
            short.push(title.to_owned());
        }
    }

    /// Writes a report: the number of correct answers, and the first wrong ones.
    pub(crate) fn tell(&self, title: &str, what: &str, out: &mut dyn Write) -> anyhow::Result<()> {
        if self.asked == 0 {
            writeln!(out, "{title}: no {what} to ask")?;
            return Ok(());
        }
        writeln!(
            out,
            "{title}: {} {what}, asked {} times in all; {} right, {:.4}",
            self.subjects,
            self.asked,
            self.right,
            self.share()
        )?;
        for wrong in self.wrong.iter().take(MAX_SHOWN) {
            writeln!(
                out,
                "  wrong in {} of its forms, first as {}: {} {}",
                wrong.forms, wrong.form, wrong.text, wrong.reason
            )?;
        }
        if self.wrong.len() > MAX_SHOWN {
            writeln!(out, "  and {} more", self.wrong.len() - MAX_SHOWN)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_asked_is_neither_right_nor_wrong() {
        let (mut told, mut short) = (Vec::new(), Vec::new());
        let tally = Tally::default();
        tally.hold_to_required("twitter", &mut short);
        tally.tell("twitter", "pages", &mut told).unwrap();
        assert!(short.is_empty());
        assert_eq!(String::from_utf8(told).unwrap(), "twitter: no pages to ask\n");
    }

    #[test]
    fn what_is_wrong_is_told_once_for_all_its_forms() {
        let mut tally = Tally::default();
        for (subject, is_right) in [("quill", true), ("inkwell", false)] {
            tally.begin(subject);
            for form in ["handle", "@handle"] {
                let outcome = if is_right { Ok(()) } else { Err("finds nobody".to_owned()) };
                tally.note(form, subject, outcome);
            }
        }
        let mut short = Vec::new();
        tally.hold_to_required("twitter", &mut short);
        assert_eq!(short, ["twitter"]);
        let mut told = Vec::new();
        tally.tell("twitter", "pages", &mut told).unwrap();
        assert_eq!(
            String::from_utf8(told).unwrap(),
            "twitter: 2 pages, asked 4 times in all; 2 right, 0.5000\n  wrong in 2 of its forms, first \
             as handle: inkwell finds nobody\n"
        );
    }
}
