//! Opens the directory (the look-up data) in a data folder for tests.

use std::path::Path;

use enrich_secrets::{SECRET_FILE, Secrets};
use enrich_store::Store;
use enrich_store_sqlite::{Options, in_use};

use crate::{DIRECTORY, DirectoryPorts};

/// Opens the directory (the look-up data) in the data folder `folder`. Creates the data folder if
/// it does not exist or is empty.
pub(crate) fn open(folder: &Path, options: Options) -> DirectoryPorts {
    drop(Store::open_or_create(folder).unwrap());
    let secrets = Secrets::load(&folder.join(SECRET_FILE)).unwrap();
    let in_use = in_use::lock_shared(folder).unwrap();
    crate::open(&folder.join(DIRECTORY.file), &secrets, &options, in_use).unwrap()
}
