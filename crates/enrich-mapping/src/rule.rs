//! Rules: where the values of a field come from, and how they change.

use serde_json::{Map, Value};

use crate::condition::Condition;
use crate::error::MappingError;
use crate::hidden_signs::restore;
use crate::no_value::is_no_value;
use crate::node::{Node, Table, list};
use crate::path::{Path, texts};
use crate::phone_text::{phone_texts, with_area_code};
use crate::template::Template;
use crate::transform::Transform;

/// A rule of a mapping: says where an input record has the values of a field.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    /// The values of all these rules, in order.
    All(Vec<Rule>),
    /// The values of the first rule that has any.
    First(Vec<Rule>),
    /// The values at one or more places (such as columns) of the input record, or a text that is
    /// made from a template.
    One(Box<Values>),
}

/// A rule that takes values from places of the input record, or makes a text from a template. Then
/// it splits, selects or changes the values or the text.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    origin: Origin,
    when: Vec<Condition>,
    split: Vec<String>,
    null: Vec<String>,
    strip_prefix: Vec<String>,
    pick: Pick,
    apply: Vec<Transform>,
    prefix: String,
    /// Where the input record has the area code, such as a column. [`with_area_code`] puts it
    /// before phone numbers.
    area_code: Option<Path>,
    /// Where the input record has a text that is put before the values, such as `van` before
    /// `Dijk`.
    particle: Option<Path>,
    /// Whether a line break becomes a semicolon. Otherwise, it becomes a blank.
    has_lines: bool,
}

#[derive(Clone, Debug)]
enum Origin {
    Places(Vec<Path>),
    /// Selects those objects at `places` that all `filters` accept, and takes from these objects
    /// the values at `take`.
    Objects {
        places: Vec<Path>,
        filters: Vec<Filter>,
        take: Vec<Path>,
    },
    Text(Template),
}

/// A condition on an object: its value at `place` is one of `allowed`. If `allowed` contains an
/// empty text, an object without a value there meets the condition too.
#[derive(Clone, Debug)]
struct Filter {
    place: Path,
    allowed: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pick {
    All,
    First,
    Last,
}

/// The keys that a rule may have if it is a table.
const KEYS: [&str; 12] = [
    "from",
    "value",
    "first",
    "when",
    "where",
    "take",
    "split",
    "null",
    "strip-prefix",
    "pick",
    "apply",
    "prefix",
];

/// Maximum number of levels of nested rules.
const MOST_LEVELS: usize = 8;

impl Rule {
    /// Reads a rule: a place of the input record (see [`Path`]), a table, or a list of rules.
    pub(crate) fn read(node: Node<'_, '_>) -> Result<Self, MappingError> {
        Self::read_within(node, MOST_LEVELS)
    }

    /// Creates a rule for the values of one column.
    pub(crate) fn column(name: &str) -> Self {
        Self::One(Box::new(Values::of(Origin::Places(vec![Path::column(name)]))))
    }

    /// Creates a rule for the values of one column. Each text is split at the separators.
    /// `transform` changes each value; values that it does not accept are left out.
    pub(crate) fn column_of_values(
        name: &str,
        separators: &[&str],
        transform: Option<Transform>,
    ) -> Self {
        let values = Values::of(Origin::Places(vec![Path::column(name)]));
        let split = separators.iter().copied().map(str::to_owned).collect();
        Self::One(Box::new(Values { split, apply: transform.into_iter().collect(), ..values }))
    }

    /// Reads the lines of a cell as if semicolons separated them, because each may name a person.
    pub(crate) fn set_lines(&mut self) {
        if let Self::One(values) = self {
            values.has_lines = true;
        }
    }

    /// If the rule reads the column `phones`, sets `area_codes` as the column with the area codes
    /// of its phone numbers.
    pub(crate) fn set_area_codes(&mut self, phones: &str, area_codes: &str) {
        if let Self::One(values) = self
            && values.origin.is_column(phones)
        {
            values.area_code = Some(Path::column(area_codes));
        }
    }

    /// Makes the rule put the particle of a record before each value: `van` before `Dijk`.
    /// `particles` is the name of the column with the particles.
    pub(crate) fn set_particles(&mut self, particles: &str) {
        if let Self::One(values) = self {
            values.particle = Some(Path::column(particles));
        }
    }

    fn read_within(node: Node<'_, '_>, levels: usize) -> Result<Self, MappingError> {
        let Some(levels) = levels.checked_sub(1) else {
            return Err(node.wrong("is nested too deep"));
        };
        if node.is_text() {
            let places = read_places(node)?;
            return Ok(Self::One(Box::new(Values::of(Origin::Places(places)))));
        }
        let rules = |nodes: Vec<Node<'_, '_>>| -> Result<Vec<Self>, MappingError> {
            nodes.into_iter().map(|node| Self::read_within(node, levels)).collect()
        };
        if node.is_list() {
            return Ok(Self::All(rules(node.list())?));
        }
        let table = node.table().map_err(|_| {
            node.wrong("is a column, a list of columns, or a table with `from` or `value`")
        })?;
        table.only(&KEYS)?;
        match table.get("first") {
            Some(first) => {
                table.only(&["first"])?;
                Ok(Self::First(rules(first.list())?))
            }
            None => Ok(Self::One(Box::new(Values::read(&table)?))),
        }
    }

    /// Returns the values that the rule takes from a record, in order. Texts that stand for no
    /// value are left out: usual ones such as `n/a`, and those of this source, which `null` lists.
    pub(crate) fn values(&self, record: &Map<String, Value>, null: &[String]) -> Vec<String> {
        match self {
            Self::All(rules) => rules.iter().flat_map(|rule| rule.values(record, null)).collect(),
            Self::First(rules) => rules
                .iter()
                .map(|rule| rule.values(record, null))
                .find(|values| !values.is_empty())
                .unwrap_or_default(),
            Self::One(values) => values.values(record, null),
        }
    }

    /// Adds to `found` the columns or top-level keys that the rule reads.
    pub(crate) fn columns_read<'a>(
        &'a self,
        record: &Map<String, Value>,
        found: &mut Vec<&'a str>,
    ) {
        match self {
            Self::All(rules) | Self::First(rules) => {
                rules.iter().for_each(|rule| rule.columns_read(record, found));
            }
            Self::One(values) => match &values.origin {
                Origin::Places(places) | Origin::Objects { places, .. } => {
                    found.extend(places.iter().map(|place| place.first(record)));
                }
                Origin::Text(template) => template.columns_read(record, found),
            },
        }
    }
}

impl Values {
    fn of(origin: Origin) -> Self {
        Self {
            origin,
            when: Vec::new(),
            split: Vec::new(),
            null: Vec::new(),
            strip_prefix: Vec::new(),
            pick: Pick::All,
            apply: Vec::new(),
            prefix: String::new(),
            area_code: None,
            particle: None,
            has_lines: false,
        }
    }

    fn read(table: &Table<'_, '_>) -> Result<Self, MappingError> {
        let mut values = Self::of(Origin::read(table)?);
        values.when = table.get("when").map_or(Ok(Vec::new()), Condition::read_all)?;
        values.split = table.texts("split")?;
        if values.split.iter().any(String::is_empty) {
            return Err(table.wrong("can't be split at an empty text"));
        }
        values.null = table.texts("null")?;
        values.strip_prefix = table.texts("strip-prefix")?;
        values.prefix = table.text("prefix")?.unwrap_or_default();
        if let Some(node) = table.get("pick") {
            values.pick = match node.text()?.as_str() {
                "all" => Pick::All,
                "first" => Pick::First,
                "last" => Pick::Last,
                _ => return Err(node.wrong("is `all`, `first` or `last`")),
            };
        }
        if let Some(node) = table.get("apply") {
            for node in node.list() {
                let name = node.text()?;
                let Some(transform) = Transform::from_name(&name) else {
                    let names = list(&Transform::names());
                    return Err(
                        node.refused(format!("`{name}` is no transform; there are {names}"))
                    );
                };
                values.apply.push(transform);
            }
        }
        Ok(values)
    }

    fn values(&self, record: &Map<String, Value>, null: &[String]) -> Vec<String> {
        if !self.when.iter().all(|condition| condition.is_met(record)) {
            return Vec::new();
        }
        let is_value =
            |text: &String| !is_no_value(text) && !null.contains(text) && !self.null.contains(text);
        let mut found = self.origin.texts(record);
        found.iter_mut().for_each(restore);
        // `k. A.` is German for "not stated". Such a text must be left out before the split,
        // because its parts, `k.` and `A.`, would look like values.
        found.retain(is_value);
        for separator in &self.split {
            found = found
                .iter()
                .flat_map(|text| split(text, separator))
                .map(|part| part.trim().to_owned())
                .collect();
        }
        found.retain(is_value);
        if !self.split.is_empty() {
            // If `a.example / b.example` is split at blanks, one part is the slash. A part
            // without letters or digits is no value.
            found.retain(|text| text.contains(char::is_alphanumeric));
        }
        match self.pick {
            Pick::All => {}
            Pick::First => found.truncate(1),
            Pick::Last => found = found.pop().into_iter().collect(),
        }
        if let Some(area_code) = &self.area_code {
            let code = area_code.find(record).into_iter().flat_map(texts).find(is_value);
            let numbers = found.iter().flat_map(|text| phone_texts(text));
            found = numbers.map(|number| with_area_code(code.as_deref(), number)).collect();
        }
        if let Some(particle) = &self.particle {
            let particle = particle.find(record).into_iter().flat_map(texts).find(is_value);
            let before = particle.map_or_else(String::new, |particle| format!("{particle} "));
            found = found.into_iter().map(|text| format!("{before}{text}")).collect();
        }
        found.into_iter().filter_map(|text| self.changed(text)).collect()
    }

    fn changed(&self, text: String) -> Option<String> {
        let stripped = self.strip_prefix.iter().find_map(|prefix| {
            let start = text.get(..prefix.len())?;
            start.eq_ignore_ascii_case(prefix).then(|| text.get(prefix.len()..))?
        });
        let mut text = stripped.map_or_else(|| text.clone(), |rest| rest.trim().to_owned());
        for transform in &self.apply {
            text = transform.apply(&text)?;
        }
        // A cell of a table may have several lines; they are joined.
        if self.has_lines {
            text = text.replace('\n', ";");
        }
        if text.contains(['\n', '\r', '\t']) {
            text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        let text = text.trim();
        (!text.is_empty()).then(|| format!("{}{text}", self.prefix))
    }
}

impl Origin {
    fn is_column(&self, name: &str) -> bool {
        matches!(self, Self::Places(places) if *places == [Path::column(name)])
    }

    fn read(table: &Table<'_, '_>) -> Result<Self, MappingError> {
        match (table.get("from"), table.get("value")) {
            (Some(from), None) => {
                let places = read_places(from)?;
                let filters = Self::filters(table)?;
                let take = table.get("take").map(read_places).transpose()?;
                if take.is_none() && filters.is_empty() {
                    return Ok(Self::Places(places));
                }
                let Some(take) = take else { return Err(table.wrong("with `where` needs `take`")) };
                Ok(Self::Objects { places, filters, take })
            }
            (None, Some(value)) => Ok(Self::Text(Template::read(&value.text()?))),
            _ => Err(table.wrong("needs either `from` or `value`")),
        }
    }

    fn filters(table: &Table<'_, '_>) -> Result<Vec<Filter>, MappingError> {
        let Some(node) = table.get("where") else { return Ok(Vec::new()) };
        let mut filters = Vec::new();
        for (key, node) in node.table()?.entries() {
            filters.push(Filter { place: Path::column(key), allowed: node.texts()? });
        }
        Ok(filters)
    }

    fn texts(&self, record: &Map<String, Value>) -> Vec<String> {
        match self {
            Self::Places(places) => {
                places.iter().flat_map(|place| place.find(record)).flat_map(texts).collect()
            }
            Self::Text(template) => template.fill(record).into_iter().collect(),
            Self::Objects { places, filters, take } => {
                let found = places.iter().flat_map(|place| place.find(record)).flat_map(objects);
                let fitting = found.filter(|object| filters.iter().all(|f| f.accepts(object)));
                let taken = fitting.flat_map(|object| take.iter().flat_map(|at| at.find(object)));
                taken.flat_map(texts).collect()
            }
        }
    }
}

impl Filter {
    fn accepts(&self, object: &Map<String, Value>) -> bool {
        let values: Vec<String> = self.place.find(object).into_iter().flat_map(texts).collect();
        match values.is_empty() {
            true => self.allowed.iter().any(String::is_empty),
            false => values.iter().any(|value| self.allowed.contains(value)),
        }
    }
}

/// Splits a text at a separator. But a URL with a `|` is not split at `|` if a part would have
/// neither a dot nor a slash, such as `b` in `https://quill.example/?q=a|b`.
fn split<'t>(text: &'t str, separator: &'t str) -> Vec<&'t str> {
    let parts: Vec<&str> = text.split(separator).collect();
    let is_whole = |part: &&str| part.contains(['.', '/']);
    let is_url = separator == "|" && text.contains("://") && !parts.iter().all(is_whole);
    if is_url { vec![text] } else { parts }
}

/// Returns the objects of a value: the value itself if it is an object, or the objects in a list.
fn objects(value: &Value) -> Vec<&Map<String, Value>> {
    match value {
        Value::Object(object) => vec![object],
        Value::Array(values) => values.iter().filter_map(Value::as_object).collect(),
        _ => Vec::new(),
    }
}

fn read_places(node: Node<'_, '_>) -> Result<Vec<Path>, MappingError> {
    let mut places = Vec::new();
    for node in node.list() {
        let wrong = "has a numbered range that is not like `{1..10}`";
        places.extend(Path::read(&node.text()?).ok_or_else(|| node.wrong(wrong))?);
    }
    Ok(places)
}
