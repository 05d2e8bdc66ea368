//! Finds one half of an evaluation set: `dev` or `test`. Each half has its own query files.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// The names of the halves. If the user names no half, the first half whose query files exist is
/// used.
const NAMES: [&str; 2] = ["dev", "test"];

/// The environment variable with the path of a folder of query files. The evaluation set's
/// `score.py` uses the same variable.
const VARIABLE: &str = "EVAL_DIR";

/// One half of an evaluation set: `dev` or `test`.
///
/// A file of the half is searched for in these folders, in the same order as in the set's
/// `score.py`:
///
/// - the folder in `EVAL_DIR`
/// - the folder with the half's name
/// - the folder `dev`
/// - the set's own folder
#[derive(Debug)]
pub(crate) struct Half {
    pub(crate) name: String,
    places: Vec<PathBuf>,
}

impl Half {
    /// Finds the half with this name. Without a name, finds the first of `dev` and `test` whose
    /// files exist.
    ///
    /// # Errors
    ///
    /// When the query files of the half do not exist.
    pub(crate) fn find(set: &Path, name: Option<&str>) -> anyhow::Result<Self> {
        let named = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
        Self::among(set, named.as_deref().map(Path::new), name)
    }

    fn among(set: &Path, folder: Option<&Path>, name: Option<&str>) -> anyhow::Result<Self> {
        let names = || NAMES.into_iter().filter(|_| name.is_none()).chain(name);
        let in_folder =
            names().find(|half| folder.is_some_and(|folder| holds(folder, half).is_some()));
        let in_set = || {
            names().find(|half| folders(set, half).iter().any(|place| holds(place, half).is_some()))
        };
        let half = in_folder.or_else(in_set).with_context(|| {
            let wanted: Vec<String> = names().map(|half| of_half("observed", half)).collect();
            format!(
                "{} has no {}; unpack a half of the set to a folder of its name there, or name \
                 its folder in {VARIABLE}",
                set.display(),
                wanted.join(" and no ")
            )
        })?;
        let places = folder.map(Path::to_owned).into_iter().chain(folders(set, half)).collect();
        Ok(Self { name: half.to_owned(), places })
    }

    /// Returns the path of a file of this half; `None` if there is no such file.
    pub(crate) fn file(&self, name: &str) -> Option<PathBuf> {
        let file = of_half(name, &self.name);
        self.places.iter().map(|place| place.join(&file)).find(|path| path.is_file())
    }

    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.file("observed")?.parent().map(Path::to_owned)
    }
}

fn folders(set: &Path, half: &str) -> [PathBuf; 3] {
    [set.join(half), set.join("dev"), set.to_owned()]
}

fn holds(place: &Path, half: &str) -> Option<PathBuf> {
    Some(place.join(of_half("observed", half))).filter(|path| path.is_file())
}

fn of_half(name: &str, half: &str) -> String {
    format!("{name}_{half}.csv")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "qid\n").unwrap();
        }
        folder
    }

    #[test]
    fn the_half_that_is_there_is_found() {
        let found = |files: &[&str]| {
            let set = folder_with(files);
            Half::among(set.path(), None, None).map(|half| half.name).ok()
        };
        assert_eq!(found(&["dev/observed_dev.csv"]).as_deref(), Some("dev"));
        let both = ["dev/observed_dev.csv", "test/observed_test.csv"];
        assert_eq!(found(&both).as_deref(), Some("dev"));
        assert_eq!(found(&["test/observed_test.csv"]).as_deref(), Some("test"));
        assert_eq!(found(&["observed_test.csv"]).as_deref(), Some("test"));
        assert_eq!(found(&["test/negatives_test.csv"]), None);
    }

    #[test]
    fn a_half_that_was_named_is_not_exchanged_for_the_other() {
        let set = folder_with(&["dev/observed_dev.csv"]);
        let error = Half::among(set.path(), None, Some("test")).unwrap_err().to_string();
        assert!(error.contains("no observed_test.csv; unpack"), "{error}");
    }

    #[test]
    fn a_folder_that_was_named_goes_before_the_set() {
        let set =
            folder_with(&["dev/observed_dev.csv", "dev/social_test.csv", "dev/social_dev.csv"]);
        let elsewhere = folder_with(&["observed_test.csv"]);
        let half = Half::among(set.path(), Some(elsewhere.path()), None).unwrap();
        assert_eq!(half.name, "test");
        assert_eq!(half.folder().as_deref(), Some(elsewhere.path()));
        assert_eq!(half.file("social"), Some(set.path().join("dev/social_test.csv")));
        assert_eq!(half.file("negatives"), None);
    }
}
