//! States and provinces, by the codes that stand for them in domains.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::country::Country;
use crate::fold::fold;
use crate::table;

/// A state or province.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// By which domains name it: `wi` of Wisconsin. Below another country's top-level domain the
    /// same letters mean something else (`co.uk` is not Colorado).
    pub code: &'static str,
    /// Where it is.
    pub country: Country,
}

static REGIONS: LazyLock<HashMap<String, Region>> = LazyLock::new(|| {
    let rows = table::rows(include_str!("../data/regions.txt"));
    rows.filter_map(|[code, names, country]| {
        let country = Country::from_code(country).ok()?;
        Some(table::values(names).map(move |name| (fold(name), Region { code, country })))
    })
    .flatten()
    .collect()
});

/// The state or province of a name.
pub fn region(name: &str) -> Option<Region> {
    REGIONS.get(&fold(name)).copied()
}
