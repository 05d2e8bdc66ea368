//! `enrich endpoints`: lists the endpoints.

use clap::Args;
use enrich_bulk::Target;
use enrich_core::Price;
use enrich_wire::Field;
use serde::Serialize;

use super::table::Row;
use super::{Common, Console, Failure, Verdict};
use enrich_server::API_VERSIONS;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich endpoints

Inputs in [brackets] may be missing. JSON: a list of objects
{\"generation\",\"path\",\"title\",\"inputs\",\"answer\",\"price\"}.")]
pub(crate) struct Endpoints {
    // The options are not used here, but scripts may give `--data` to every command.
    #[command(flatten)]
    common: Common,
}

impl Endpoints {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let list: Vec<EndpointRecord> =
            Target::all(&API_VERSIONS).map(EndpointRecord::from).collect();
        self.common.show(&list, console)
    }
}

#[derive(Serialize)]
struct EndpointRecord {
    #[serde(rename = "generation")]
    api_version: u8,
    path: &'static str,
    title: &'static str,
    inputs: Vec<Input>,
    answer: Vec<String>,
    price: PriceRule,
}

#[derive(Serialize)]
struct Input {
    name: &'static str,
    required: bool,
    meaning: &'static str,
}

/// The price of an endpoint: `credits` for an answer, or for each `per_items` items of an answer.
#[derive(Serialize)]
struct PriceRule {
    rule: String,
    credits: u64,
    per_items: Option<u64>,
}

impl From<Target> for EndpointRecord {
    fn from(Target { api_version, endpoint: row }: Target) -> Self {
        let input = |field: &Field| Input {
            name: field.name,
            required: field.is_required,
            meaning: field.meaning,
        };
        Self {
            api_version: api_version.number,
            path: row.path,
            title: row.title,
            inputs: row.wire.inputs.iter().map(input).collect(),
            answer: row.wire.answer_fields(),
            price: PriceRule::from(row.price),
        }
    }
}

impl EndpointRecord {
    fn inputs(&self) -> String {
        let names = self.inputs.iter().map(|input| match input.required {
            true => input.name.to_owned(),
            false => format!("[{}]", input.name),
        });
        names.collect::<Vec<_>>().join(", ")
    }
}

impl From<Price> for PriceRule {
    fn from(price: Price) -> Self {
        let per_items = match price {
            Price::PerAnswer(_) => None,
            Price::PerItems(items) => Some(items.get()),
        };
        Self { rule: price.to_string(), credits: price.least().0, per_items }
    }
}

impl Row for EndpointRecord {
    const TITLES: &'static [&'static str] = &["PATH", "PRICE", "INPUTS", "ANSWER"];

    fn cells(&self) -> Vec<String> {
        vec![self.path.into(), self.price.rule.clone(), self.inputs(), self.answer.join(", ")]
    }
}
