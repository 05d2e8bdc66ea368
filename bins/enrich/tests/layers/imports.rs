//! Finds files of a crate that import each other in a circle.
//!
//! A file imports another file if it uses a path that leads to the other file. The path must begin
//! with `crate`, `super`, `self` or a module of the first file. If the path ends with a re-exported
//! name, the imported file is the one that defines the name. A module and its submodules may
//! import each other. Tests are not examined.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The path of a file's module, from the crate's root. For `src/jobs/lists.rs`, it has the parts
/// `jobs` and `lists`.
type Module = Vec<String>;

/// The files of a crate: for each module, the text of its file.
struct Sources {
    files: BTreeMap<Module, String>,
    /// The re-exports: for a module and a name in it, the full path that the name stands for.
    reexports: BTreeMap<(Module, String), Module>,
}

/// Returns the groups of files in a crate that import each other in a circle. Each group is sorted.
pub(crate) fn circles(name: &str) -> Vec<Vec<String>> {
    let sources = Sources::of(&crate_folder(name).join("src"));
    let graph = sources.graph();
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        graph.keys().map(|module| (module, reached(&graph, module))).collect();
    let mut groups = BTreeSet::new();
    for (module, there) in &reached {
        let is_back = |other: &&&Module| reached.get(**other).is_some_and(|at| at.contains(module));
        let group: Vec<String> = there.iter().filter(is_back).map(|at| at.join("::")).collect();
        if !group.is_empty() {
            groups.insert(group);
        }
    }
    groups.into_iter().collect()
}

pub(crate) fn crate_folder(name: &str) -> PathBuf {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let homes = ["crates", "bins"].map(|group| home.join(group).join(name));
    homes.into_iter().find(|folder| folder.is_dir()).unwrap()
}

/// Returns the Rust files in a folder and its subfolders, each with its text.
pub(crate) fn rust_files(folder: PathBuf) -> Vec<(PathBuf, String)> {
    let (mut open, mut files) = (vec![folder], Vec::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            files.push((path, text));
        }
    }
    files
}

/// Returns the modules that can be reached from a module. The module itself is included only if a
/// circle leads back to it.
fn reached<'g>(
    graph: &'g BTreeMap<Module, BTreeSet<Module>>,
    from: &Module,
) -> BTreeSet<&'g Module> {
    let (mut open, mut seen) = (vec![from], BTreeSet::new());
    while let Some(module) = open.pop() {
        for next in graph.get(module).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

impl Sources {
    fn of(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        for (path, text) in rust_files(folder.to_path_buf()) {
            let path = path.strip_prefix(folder).unwrap().with_extension("");
            let module: Module = path.iter().map(|name| name.to_str().unwrap().into()).collect();
            match module.last().map(String::as_str) {
                Some("tests") => {}
                Some("lib" | "main") if module.len() == 1 => {
                    files.insert(Module::new(), code(&text));
                }
                _ => {
                    files.insert(module, code(&text));
                }
            }
        }
        let mut sources = Self { files, reexports: BTreeMap::new() };
        let mut reexports = BTreeMap::new();
        for (module, text) in &sources.files {
            let (uses, _) = uses_and_rest(text);
            for (path, name) in uses.iter().filter(|used| used.is_public).flat_map(Use::paths) {
                if let Some(path) = sources.absolute(module, &path) {
                    reexports.insert((module.clone(), name), path);
                }
            }
        }
        sources.reexports = reexports;
        sources
    }

    /// Returns, for each module, the modules that it imports. The module's own submodules and the
    /// modules that contain it are left out.
    fn graph(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let is_inside = |one: &Module, other: &Module| other.starts_with(one);
        let imports = |(module, text): (&Module, &String)| {
            let (uses, rest) = uses_and_rest(text);
            let used = uses.iter().flat_map(Use::paths).map(|(path, _)| path);
            let imported = used.chain(paths_in(&rest)).filter_map(|path| {
                let path = self.absolute(module, &path)?;
                let found = self.file_of(&path);
                let is_other = !is_inside(&found, module) && !is_inside(module, &found);
                is_other.then_some(found)
            });
            (module.clone(), imported.collect())
        };
        self.files.iter().map(imports).collect()
    }

    /// Converts a path that is used in the module `module` to a path from the crate's root. Returns
    /// `None` if the path leads out of the crate.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        let mut base = module.clone();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => (base, rest) = (Module::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            name => {
                let inner = [&base[..], &[name.to_owned()]].concat();
                self.files.contains_key(&inner).then_some(())?;
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// Returns the module of the file that defines the item at a path.
    fn file_of(&self, path: &[String]) -> Module {
        const MAX_REEXPORTS: usize = 8;
        let mut path = path.to_vec();
        for _ in 0..MAX_REEXPORTS {
            let length = (0..=path.len()).rev().find(|&at| self.files.contains_key(&path[..at]));
            let (module, rest) = path.split_at(length.unwrap_or_default());
            let name = rest.first().cloned().unwrap_or_default();
            match self.reexports.get(&(module.to_vec(), name)) {
                Some(next) if *next != path => path = next.clone(),
                _ => return module.to_vec(),
            }
        }
        path
    }
}

/// Returns a file's text without comments and tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

struct Use {
    is_public: bool,
    tree: String,
}

/// Returns the `use` declarations of a file, and its other lines.
fn uses_and_rest(text: &str) -> (Vec<Use>, String) {
    let (mut uses, mut rest) = (Vec::new(), String::new());
    let mut open: Option<Use> = None;
    for line in text.lines() {
        let begun = line.trim_start();
        if open.is_none() {
            let declared = begun.strip_prefix("pub").map_or(begun, |after| {
                let after = after.strip_prefix('(').and_then(|after| after.split_once(')'));
                after.map_or(begun[3..].trim_start(), |(_, after)| after.trim_start())
            });
            match declared.strip_prefix("use ") {
                Some(_) => {
                    let is_public = begun.starts_with("pub");
                    open = Some(Use { is_public, tree: String::new() });
                }
                None => {
                    rest.push_str(line);
                    rest.push('\n');
                }
            }
        }
        if let Some(used) = &mut open {
            used.tree.push_str(begun);
            if begun.ends_with(';') {
                uses.extend(open.take());
            }
        }
    }
    for used in &mut uses {
        let tree = used.tree.split_once("use ").map_or("", |(_, tree)| tree);
        used.tree = tree.trim_end_matches(';').replace('\n', " ");
    }
    (uses, rest)
}

impl Use {
    /// Returns the imported paths, each with the name that the file uses for it.
    fn paths(&self) -> Vec<(Vec<String>, String)> {
        let mut found = Vec::new();
        expand("", &self.tree, &mut found);
        found
    }
}

/// Adds each path in a tree of imports to `found`, with the name that the file uses for it. For
/// example, `a::{b, c as d}` has the paths `a::b` with the name `b`, and `a::c` with the name
/// `d`.
fn expand(before: &str, tree: &str, found: &mut Vec<(Vec<String>, String)>) {
    let mut depth = 0_usize;
    let branches = tree.split(|letter| {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    });
    for branch in branches.map(str::trim).filter(|branch| !branch.is_empty()) {
        if let Some((start, inner)) = branch.split_once('{') {
            expand(&format!("{before}{start}"), &inner[..inner.rfind('}').unwrap()], found);
            continue;
        }
        let (path, name) = branch.split_once(" as ").unwrap_or((branch, ""));
        let path = format!("{before}{path}");
        let path: Vec<String> = path.split("::").map(|name| name.trim().to_owned()).collect();
        let last = path.last().cloned().unwrap_or_default();
        found.push((path, if name.is_empty() { last } else { name.to_owned() }));
    }
}

fn paths_in(code: &str) -> Vec<Vec<String>> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let words = code.split(|letter| !is_part(letter)).map(|word| word.trim_matches(':'));
    let paths = words.filter(|word| word.contains("::") && !word.starts_with(char::is_uppercase));
    paths.map(|path| path.split("::").map(str::to_owned).collect()).collect()
}
