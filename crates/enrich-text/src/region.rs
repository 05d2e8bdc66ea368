//! States and provinces, each with its code in domains: `wi` for Wisconsin in `jackson.wi.us`.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::country::Country;
use crate::fold::fold;
use crate::table;

/// A state or province.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The code of the region in domains: `wi` for Wisconsin. Under the top-level domain of another
    /// country, these letters mean something else: `co.uk` is not Colorado.
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

/// Returns the state or province with this name; `None` if there is none.
pub fn region(name: &str) -> Option<Region> {
    REGIONS.get(&fold(name)).copied()
}
