//! The interface that is served: its generations.

use enrich_wire::Generation;

/// Every generation, the first one first; its form also says what is wrong outside all of them.
pub(crate) static GENERATIONS: [&Generation; 2] =
    [&enrich_wire_v1::GENERATION, &enrich_wire_v2::GENERATION];
