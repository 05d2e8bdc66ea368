//! States and provinces, by the codes that stand for them in domains.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::fold::fold;
use crate::table;

static REGIONS: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    table::rows(include_str!("../data/regions.txt"))
        .flat_map(|[code, names]| table::values(names).map(move |name| (fold(name), code)))
        .collect()
});

/// The code by which domains name a state or province: `wi` of Wisconsin.
pub fn region_code(name: &str) -> Option<&'static str> {
    REGIONS.get(&fold(name)).copied()
}
