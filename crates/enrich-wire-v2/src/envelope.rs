//! The envelope around every answer: `{"status":1,"code":1000,"errors":{},"data":{…}}`.

use enrich_core::Draft;
use enrich_wire::written;
use serde::Serialize;

#[derive(Serialize)]
struct Envelope<T> {
    status: u8,
    code: u16,
    errors: Empty,
    data: T,
}

/// `{}`
#[derive(Serialize)]
pub(crate) struct Empty {}

/// The draft of an answer: `data` in its envelope. Status and code are those of a successful
/// response, whether something exists or not.
pub(crate) fn enveloped(exists: bool, data: impl Serialize) -> Draft {
    let envelope = Envelope { status: 1, code: 1000, errors: Empty {}, data };
    written(u64::from(exists), &envelope)
}
