//! States and provinces, with their codes in domains.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::country::Country;
use crate::fold::fold;
use crate::table;

/// A state or province.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The code in domains: `wi` for Wisconsin. Under another country's top-level domain, the same
    /// letters have another meaning (`co.uk` is not Colorado).
    pub code: &'static str,
    /// The country of the region.
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

/// Finds the state or province with this name.
pub fn region(name: &str) -> Option<Region> {
    REGIONS.get(&fold(name)).copied()
}
