//! The order for a new list: the endpoint, the source of each field, and the estimated cost.

use enrich_bulk::jobs::{JobError, JobId, Order};
use enrich_bulk::{Mapping, MappingError, can_have_candidates, guess};
use enrich_core::Price;
use enrich_wire::{Endpoint, Field};

use crate::fault::Fault;
use crate::form::Form;
use crate::page_context::{OwnerContext, PageContext};
use crate::shown::Number;

use super::on_list;
use super::reading::Choice;
use super::terms::{Ceiling, Complaint};

/// The content of the form in which the user orders the look-up of a list, with the estimated cost.
pub(crate) struct OrderForm {
    pub(crate) path: &'static str,
    pub(crate) title: &'static str,
    pub(crate) price: String,
    pub(crate) fields: Vec<FieldRow>,
    /// The numbers of candidates (companies that a name may mean) that can be selected; empty if
    /// the endpoint has no candidates.
    pub(crate) candidates: Vec<Choice>,
    pub(crate) estimate: Result<CostEstimate, String>,
    pub(crate) ceiling: Ceiling,
}

/// A field of the endpoint, and the source of its value: a column of the list, or a fixed text.
pub(crate) struct FieldRow {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) is_required: bool,
    /// The name of the column; empty if no column is selected.
    pub(crate) column: String,
    /// The text that this field has in every row of the list, instead of a text from a column.
    /// Empty if there is no such text.
    pub(crate) fixed: String,
}

pub(crate) struct CostEstimate {
    pub(crate) rows: Number,
    pub(crate) invalid: Number,
    pub(crate) highest: Option<Number>,
    pub(crate) balance: Number,
}

impl CostEstimate {
    /// Whether the balance is enough for the highest cost of the list.
    pub(crate) fn is_covered(&self) -> bool {
        self.highest.is_some_and(|highest| highest.0 <= self.balance.0)
    }

    /// Returns the suggested ceiling (the most credits that the list may cost). This is the
    /// highest cost of the list, or the balance if the balance is lower and not 0. If the list
    /// has no highest cost, returns an empty text, because such a list cannot start with a
    /// ceiling.
    fn ceiling(&self) -> String {
        match self.highest {
            Some(highest) if self.balance.0 == 0 => highest.0.to_string(),
            Some(highest) => highest.0.min(self.balance.0).to_string(),
            None => String::new(),
        }
    }
}

/// Returns the mapping in the form: the column or the fixed text for each field of the endpoint. If
/// the mapping is invalid, returns a message that says why. Returns `None` if there is no endpoint
/// at `path`.
pub(crate) fn of_form(
    context: &PageContext<'_>,
    path: &str,
    fields: &Form,
) -> Option<Result<Mapping, String>> {
    Some(mapping(&rows(context.endpoint(path)?, fields, &[])))
}

/// Returns the content of the form for a list with these columns. The user's values come from
/// `fields`. If `fields` maps no column, the mapping is guessed from the column names. Returns
/// `None` if `fields` contains no known endpoint.
pub(super) async fn order_form(
    context: &OwnerContext<'_>,
    id: JobId,
    columns: &[String],
    fields: &Form,
    complaint: Option<&Complaint>,
) -> Result<Option<OrderForm>, Fault> {
    let Some(endpoint) = context.endpoint(fields.text("endpoint")) else { return Ok(None) };
    let rows = rows(endpoint, fields, columns);
    let estimate = match mapping(&rows) {
        Ok(mapping) => estimate(context, id, endpoint, mapping, candidates(fields)).await?,
        Err(said) => Err(said),
    };
    let offered = estimate.as_ref().map_or_else(|_| String::new(), CostEstimate::ceiling);
    Ok(Some(OrderForm {
        path: endpoint.path,
        title: endpoint.title,
        price: endpoint.price.to_string(),
        fields: rows,
        candidates: choices(endpoint, candidates(fields)),
        estimate,
        ceiling: Ceiling::of(fields, offered, complaint),
    }))
}

/// Returns the estimated cost, or a message for the user if the cost cannot be estimated.
async fn estimate(
    context: &OwnerContext<'_>,
    id: JobId,
    endpoint: &'static Endpoint,
    mapping: Mapping,
    candidates: usize,
) -> Result<Result<CostEstimate, String>, Fault> {
    let previewed = on_list(context, move |jobs, account| {
        jobs.preview(account, id, endpoint.path, &mapping, candidates)
    });
    match previewed.await? {
        Ok(preview) => Ok(Ok(CostEstimate {
            rows: Number(preview.rows),
            invalid: Number(preview.invalid),
            highest: preview.highest_credits.map(Number),
            balance: Number(context.balance().await?.0),
        })),
        Err(JobError::Mapping(MappingError::Missing { field, .. })) => {
            Ok(Err(format!("Choose a column for {field}, or enter one value for every row.")))
        }
        Err(error) => Ok(Err(Fault::of_job(error)?)),
    }
}

/// Returns why an order with a ceiling (the most credits that it may cost) cannot run; `None` if it
/// can run, or if it has no ceiling. If the endpoint's price depends on the number of items in an
/// answer, each row of the list needs a `limit`: the maximum number of items. A row without a
/// `limit` has no highest price, so no ceiling is high enough for it.
pub(super) async fn refused(
    context: &OwnerContext<'_>,
    id: JobId,
    order: &Order,
) -> Result<Option<Complaint>, Fault> {
    let asked = context.endpoint(&order.endpoint);
    let is_open = asked.is_some_and(|asked| matches!(asked.price, Price::PerItems(_)));
    if order.max_credits.is_none() || !is_open {
        return Ok(None);
    }
    let Order { endpoint, mapping, candidates, .. } = order.clone();
    let previewed = on_list(context, move |jobs, account| {
        jobs.preview(account, id, &endpoint, &mapping, candidates)
    });
    match previewed.await?.map_err(Fault::of_job) {
        Ok(preview) if preview.highest_credits.is_some() => Ok(None),
        Ok(_) => Ok(Some(Complaint::Ceiling(
            "A ceiling needs a `limit` in every row: without one, a row has no highest price."
                .to_owned(),
        ))),
        Err(said) => Ok(Some(Complaint::Page(said?))),
    }
}

/// The numbers of candidates that can be selected, each as the value and the text of its option.
const CANDIDATES: [(&str, &str); 4] =
    [("0", "none"), ("3", "up to 3"), ("5", "up to 5"), ("10", "up to 10")];

/// Returns the maximum number of candidates for each row, as selected in the form. Returns 0 if no
/// candidates, or an unknown number of them, are selected.
pub(super) fn candidates(fields: &Form) -> usize {
    let is_choice = |value: &&str| CANDIDATES.iter().any(|(known, _)| known == value);
    let chosen = Some(fields.text("candidates")).filter(is_choice);
    chosen.and_then(|value| value.parse().ok()).unwrap_or_default()
}

fn choices(endpoint: &Endpoint, chosen: usize) -> Vec<Choice> {
    let choice = |(value, name): (&'static str, &'static str)| Choice {
        value,
        name,
        is_chosen: value.parse() == Ok(chosen),
    };
    let all = if can_have_candidates(endpoint) { &CANDIDATES[..] } else { &[] };
    all.iter().copied().map(choice).collect()
}

/// Returns the endpoint's fields with the values in the form. If the form has no values, guesses
/// the column for each field from the names of the columns.
fn rows(endpoint: &'static Endpoint, fields: &Form, columns: &[String]) -> Vec<FieldRow> {
    let inputs = endpoint.wire.inputs;
    let name = |kind: &str, field: &Field| format!("{kind}.{}", field.name);
    let is_filled = inputs.iter().any(|field| fields.has(&name("map", field)));
    let row = |field: &Field| FieldRow {
        name: field.name,
        meaning: field.meaning,
        is_required: field.is_required,
        column: if is_filled {
            fields.raw(&name("map", field)).to_owned()
        } else {
            guess(field, columns).unwrap_or_default()
        },
        fixed: fields.text(&name("fixed", field)).to_owned(),
    };
    inputs.iter().map(row).collect()
}

/// Creates the mapping from the rows of the form. Each row is an input field with a column, a fixed
/// text, or neither.
///
/// # Errors
///
/// When a field has both a column and a fixed text, because it is unclear which of the two the user
/// wants.
fn mapping(rows: &[FieldRow]) -> Result<Mapping, String> {
    let has_both = |row: &&FieldRow| !row.column.is_empty() && !row.fixed.is_empty();
    if let Some(row) = rows.iter().find(has_both) {
        return Err(format!(
            "`{}` has both a column and one value for every row. Keep one of them.",
            row.name
        ));
    }
    let pair = |row: &FieldRow, from: &str| (row.name.to_owned(), from.to_owned());
    let with_column = rows.iter().filter(|row| !row.column.is_empty());
    let fixed = rows.iter().filter(|row| !row.fixed.is_empty());
    Ok(Mapping {
        columns: with_column.map(|row| pair(row, &row.column)).collect(),
        constants: fixed.map(|row| pair(row, &row.fixed)).collect(),
    })
}
