//! `enrich lookup`: makes the same look-up as an endpoint, prints the answer and can explain it.
//! Nothing is charged.

mod candidates;
mod company;
mod explanation;
mod reading;
mod shown;

use clap::Args;
use enrich_bulk::Target;
use enrich_core::port::directory::Directory;
use enrich_core::{CompanyRef, Credits, Question, Refusal};
use enrich_server::API_VERSIONS;
use enrich_store::{DirectoryStore, Options};
use enrich_text::Country;
use enrich_wire::{Fields, Value};

use super::{Common, Console, Failure, Verdict, named};
use crate::settings::LookUpSettings;
use candidates::Candidates;
pub(crate) use company::candidates;
use company::{CompanyArgs, LookedUp, Wanted};
use explanation::LookUpToExplain;
use shown::Explained;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich lookup /v1/cuf companyName=Quill
  enrich lookup name_to_domain company_name=\"Quill Ltd\" country_code=GB
  enrich lookup cuf companyName=\"Quil Ldt\" --min-confidence 50 --explain
  enrich lookup mti phoneNumber=\"020 7946 0123\" --country GB
  enrich lookup company --id wikidata:Q42
  enrich lookup company --name \"Quil Ldt\" --candidates 5
  enrich lookup company --name \"Quil Ldt\" --explain

Prints the body of the endpoint's answer, with 0 as the balance: the call is not charged or counted.
`enrich endpoints` lists the paths and their fields.

With --explain, it also prints how the fields were read, and why something was found or not. For a
company's name, it lists the most likely companies: the confidence of each, its name that fits best,
and the features that speak most for it (+) and against it (-), each as the feature's value times
its weight. With --explain and --json, it prints one object {\"body\",\"explained\"}, with all
compared companies and all their features.

`company` is not an endpoint: it shows the company that has an id or a name, with all of its ids and
the company that it belongs to. JSON: {\"company\"}, null if no company is found. With --candidates,
it lists the companies that the name may mean, the most likely first. JSON: {\"candidates\"}, a list
of {\"name\",\"country\",\"domain\",\"confidence\",\"why\"}.

Exit status: 0 if the request was answered, whether something was found or not; 1 if the fields
cannot be used: the body says why.")]
pub(crate) struct Lookup {
    /// Path of the endpoint, or the path's last part, such as `cuf`; `company` shows the company
    /// that --id or --name means
    #[arg(value_name = "PATH", value_parser = asked)]
    asked: Asked,
    /// The fields of the request
    #[arg(value_name = "FIELD=VALUE", value_parser = field)]
    fields: Vec<(String, String)>,
    #[command(flatten)]
    company: CompanyArgs,
    #[command(flatten)]
    settings: LookUpSettings,
    /// Country (alpha-2 code) of national phone numbers; with --name, country of the company
    #[arg(long, value_name = "CC", value_parser = named::country)]
    country: Option<Country>,
    /// Print, after the answer, how the answer was found
    #[arg(long)]
    explain: bool,
    // With an endpoint, the option `--json` changes the output only together with `--explain`.
    // Without `--explain`, the output is the body of an answer, which is JSON anyway.
    #[command(flatten)]
    common: Common,
}

/// The first argument of the command: the thing that is looked up.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// The answer of an endpoint.
    Endpoint(Target),
    /// A company, by its id or its name.
    Company,
}

fn asked(text: &str) -> Result<Asked, String> {
    if text == "company" { Ok(Asked::Company) } else { endpoint(text).map(Asked::Endpoint) }
}

/// Parses the path of an endpoint. `/v1/cuf`, `v1/cuf` and `cuf` all mean the same endpoint.
pub(crate) fn endpoint(text: &str) -> Result<Target, String> {
    let end = format!("/{}", text.trim_start_matches('/'));
    let found = Target::all(&API_VERSIONS).find(|target| target.endpoint.path.ends_with(&end));
    found.ok_or_else(|| "there is no such endpoint; `enrich endpoints` lists them".to_owned())
}

/// Parses a field and its value, such as `companyName=Quill`.
fn field(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it is a field's name, `=` and its value, like companyName=Quill".to_owned()),
    }
}

impl Lookup {
    fn open(&self) -> Result<DirectoryStore, Failure> {
        let min_name_confidence = self.settings.min_confidence.0;
        self.common.data.open_directory(&Options { min_name_confidence, ..Options::default() })
    }

    /// Shows the company, or the companies, that the options name.
    fn company(&self, wanted: Wanted<'_>, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let store = self.open()?;
        let directory = &store.directory;
        let company = match wanted {
            Wanted::Candidates(..) if self.explain => {
                return Err(Failure::Impossible(
                    "--candidates gives a reason with each company; leave out --explain".to_owned(),
                ));
            }
            Wanted::Candidates(name, most) => {
                let list = Candidates::of(directory, name, self.country, most)?;
                return self.common.show(&list, console);
            }
            Wanted::Id(id) => CompanyRef::Id(id.clone()),
            Wanted::Name(name) => CompanyRef::Name { name: name.clone(), country: self.country },
        };
        let question = Question::Company(company);
        let found = company::find(directory, &question)?;
        let shown = LookedUp::of(directory, found.as_ref())?;
        if !self.explain {
            return self.common.show(&shown, console);
        }
        let explanation = LookUpToExplain {
            question: &question,
            found: found.as_ref(),
            is_answered: found.is_some(),
            min_name_confidence: self.settings.min_confidence.0,
        };
        let body = serde_json::to_vec(&shown).map_err(|error| Failure::impossible(&error))?;
        let explanation = explanation.explained(directory)?;
        self.common.show(&Explained::new(&body, Some(explanation))?, console)
    }

    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let Target { api_version, endpoint } = match (self.asked, self.company.wanted()) {
            (Asked::Endpoint(target), None) => target,
            (Asked::Company, Some(wanted)) if self.fields.is_empty() => {
                return self.company(wanted, console);
            }
            _ => {
                return Err(Failure::Impossible(
                    "a company is looked up by `enrich lookup company --id SCHEME:ID` or `--name \
                     NAME`, without fields"
                        .to_owned(),
                ));
            }
        };
        let mut fields = Fields::default();
        for (name, value) in &self.fields {
            if !fields.insert(name.into(), Value::Text(value.into())) {
                return Err(Failure::Impossible(format!("the field `{name}` is given twice")));
            }
        }
        let min_name_confidence = self.settings.min_confidence.0;
        let store = self.open()?;
        let (body, explanation, verdict) = match endpoint.read(&fields, self.country) {
            Ok(ask) => {
                let ask = ask.bounded(endpoint.price, self.settings.max_enrichment_items);
                let found =
                    pollster::block_on(store.directory.find(&ask.question, ask.projection))?;
                let template = (endpoint.wire.write)(&ask, found.as_ref());
                let looked = LookUpToExplain {
                    question: &ask.question,
                    found: found.as_ref(),
                    is_answered: template.items > 0,
                    min_name_confidence,
                };
                let explanation = self.explain.then(|| looked.explained(&store.directory));
                let explanation = explanation.transpose()?;
                (template.body.fill(Credits::ZERO), explanation, Verdict::Yes)
            }
            Err(invalid) => {
                let (_, body) = (api_version.refuse)(&Refusal::Fields(invalid).into());
                (body, None, Verdict::No)
            }
        };
        if self.explain {
            self.common.show(&Explained::new(&body, explanation)?, console)?;
        } else {
            console.out.write_all(&body)?;
            console.out.write_all(b"\n")?;
        }
        Ok(verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_named_by_its_path_or_the_end_of_it() {
        for text in ["/v1/cuf", "v1/cuf", "/cuf", "cuf"] {
            assert_eq!(endpoint(text).unwrap().endpoint.path, "/v1/cuf", "{text}");
        }
        let chosen = endpoint("name_to_domain").unwrap();
        assert_eq!(chosen.endpoint.path, "/v2/services/name_to_domain");
        for text in ["", "/", "uf", "/v2/cuf", "cuf/", "services"] {
            assert!(endpoint(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_end_of_a_path_names_one_endpoint() {
        let mut ends: Vec<_> = Target::all(&API_VERSIONS)
            .map(|target| target.endpoint.path.rsplit('/').next())
            .collect();
        let all = ends.len();
        ends.sort_unstable();
        ends.dedup();
        assert_eq!(ends.len(), all);
    }
}
