//! Generates companies and people as lines of the native format, in any number. The same seed gives
//! the same lines.
//!
//! Each line depends only on the seed and on the number of the line. So a person's line can contain
//! the domain of a company, although no list of companies is stored. Names are combined from words.
//! Domains are under `.example`, and phone numbers are in ranges that are reserved for fiction.

use std::fmt::Write as _;

/// Generates records of companies and people, each as a line of the native format.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    seed: u64,
}

const FIRST_WORDS: [&str; 80] = [
    "Amber",
    "Alder",
    "Arctic",
    "Atlas",
    "Aurora",
    "Azure",
    "Beacon",
    "Birch",
    "Bold",
    "Bright",
    "Cedar",
    "Cinder",
    "Clear",
    "Cobalt",
    "Copper",
    "Coral",
    "Crimson",
    "Crystal",
    "Delta",
    "Drift",
    "Eagle",
    "East",
    "Echo",
    "Ember",
    "Evergreen",
    "Falcon",
    "Fern",
    "Flint",
    "Frost",
    "Garnet",
    "Glen",
    "Golden",
    "Granite",
    "Green",
    "Grey",
    "Harbour",
    "Hazel",
    "Heather",
    "High",
    "Indigo",
    "Iron",
    "Ivory",
    "Jade",
    "Juniper",
    "Kestrel",
    "Lark",
    "Laurel",
    "Linden",
    "Lunar",
    "Maple",
    "Marble",
    "Meadow",
    "Misty",
    "Moon",
    "North",
    "Nova",
    "Oak",
    "Ocean",
    "Olive",
    "Onyx",
    "Opal",
    "Orchid",
    "Pearl",
    "Pine",
    "Prime",
    "Quartz",
    "Quill",
    "Raven",
    "River",
    "Rowan",
    "Sable",
    "Silver",
    "Solar",
    "South",
    "Stone",
    "Swift",
    "Terra",
    "Willow",
    "Zenith",
    "Zéphyr",
];

const SECOND_WORDS: [&str; 64] = [
    "bank", "bay", "berg", "borough", "bridge", "brook", "burn", "castle", "cliff", "cove",
    "craft", "creek", "crest", "croft", "dale", "den", "edge", "fall", "field", "ford", "forge",
    "gate", "glade", "grove", "hall", "ham", "haven", "heath", "hill", "hollow", "holm", "keep",
    "lake", "land", "leaf", "light", "line", "loch", "mark", "mere", "mill", "moor", "mount",
    "path", "peak", "point", "pond", "port", "reach", "ridge", "rock", "shore", "side", "spring",
    "stead", "stream", "tower", "vale", "view", "wall", "water", "way", "well", "wood",
];

const TRADES: [&str; 48] = [
    "Analytics",
    "Apparel",
    "Bakeries",
    "Biotech",
    "Brewing",
    "Capital",
    "Catering",
    "Ceramics",
    "Chemicals",
    "Cloud",
    "Consulting",
    "Dairy",
    "Design",
    "Dynamics",
    "Education",
    "Energy",
    "Engineering",
    "Farms",
    "Films",
    "Foods",
    "Freight",
    "Furniture",
    "Games",
    "Garments",
    "Health",
    "Hotels",
    "Instruments",
    "Insurance",
    "Labs",
    "Legal",
    "Logistics",
    "Media",
    "Metals",
    "Mobility",
    "Networks",
    "Optics",
    "Paper",
    "Pharma",
    "Plastics",
    "Press",
    "Printing",
    "Robotics",
    "Security",
    "Software",
    "Systems",
    "Textiles",
    "Travel",
    "Ventures",
];

/// Pairs of a country and a legal form that is usual there.
const COUNTRIES: [(&str, &str); 20] = [
    ("US", "Inc."),
    ("US", "LLC"),
    ("US", "Corp."),
    ("GB", "Ltd"),
    ("GB", "PLC"),
    ("DE", "GmbH"),
    ("DE", "AG"),
    ("FR", "SAS"),
    ("FR", "S.A."),
    ("IT", "S.p.A."),
    ("ES", "S.L."),
    ("NL", "B.V."),
    ("BE", "NV"),
    ("CH", "AG"),
    ("AT", "GmbH"),
    ("SE", "AB"),
    ("DK", "A/S"),
    ("FI", "Oy"),
    ("PL", "Sp. z o.o."),
    ("BR", "Ltda."),
];

const FIRST_NAMES: [&str; 60] = [
    "Ada", "Adam", "Alice", "Amara", "Anna", "Arjun", "Astrid", "Ben", "Bruno", "Carla", "Chiara",
    "Clara", "Daan", "David", "Diego", "Elena", "Elias", "Emil", "Emma", "Eva", "Felix", "Finn",
    "Freya", "Greta", "Hana", "Hugo", "Ida", "Ines", "Isak", "Ivan", "Jan", "José", "Julia", "Kai",
    "Lars", "Lea", "Leo", "Lina", "Lucas", "Maja", "Marta", "Max", "Mia", "Milan", "Nadia", "Nina",
    "Noah", "Olga", "Omar", "Oscar", "Paula", "Pia", "Ravi", "Rosa", "Sara", "Sofia", "Theo",
    "Tomás", "Vera", "Zoë",
];

const LAST_NAMES: [&str; 64] = [
    "Alder",
    "Andersen",
    "Baker",
    "Bauer",
    "Becker",
    "Berg",
    "Bianchi",
    "Brandt",
    "Byrne",
    "Carter",
    "Castro",
    "Clarke",
    "Costa",
    "Dahl",
    "Delgado",
    "Dubois",
    "Eriksen",
    "Evans",
    "Fischer",
    "Fontaine",
    "García",
    "Greco",
    "Haas",
    "Hansen",
    "Hughes",
    "Ivanova",
    "Jansen",
    "Jensen",
    "Kaur",
    "Keller",
    "Kowalski",
    "Lang",
    "Larsen",
    "Lefèvre",
    "Lindqvist",
    "Lopes",
    "Marino",
    "Martin",
    "Meyer",
    "Moreau",
    "Müller",
    "Nielsen",
    "Novak",
    "Okafor",
    "Olsen",
    "Patel",
    "Pereira",
    "Petrov",
    "Quinn",
    "Reyes",
    "Ricci",
    "Romano",
    "Santos",
    "Schmidt",
    "Silva",
    "Singh",
    "Smit",
    "Suzuki",
    "Taylor",
    "Vargas",
    "Virtanen",
    "Weber",
    "Wójcik",
    "Young",
];

const TITLES: [&str; 12] = [
    "Chief Executive Officer",
    "Head of Sales",
    "Account Manager",
    "Software Engineer",
    "Data Analyst",
    "Purchasing Manager",
    "Marketing Lead",
    "Accountant",
    "Site Manager",
    "Designer",
    "Legal Counsel",
    "Researcher",
];

impl Generator {
    /// Returns a generator. The same seed gives the same lines.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the line of the company with number `index`, without a line end. The company's id is
    /// `c<index>`.
    pub fn company(&self, index: u64) -> String {
        let parts = self.parts(index);
        let mut chance = self.chance(b'c', index);
        let mut line = String::with_capacity(512);
        let name = parts.name();
        let domain = parts.domain(index);
        let (country, form) = parts.country;
        write(
            &mut line,
            format_args!(r#"{{"type":"company","id":"c{index}","name":"{name} {form}""#),
        );
        if chance.is_one_in(3) {
            write(&mut line, format_args!(r#","aliases":["{name}"]"#));
        }
        write(&mut line, format_args!(r#","country":"{country}""#));
        if chance.is_one_in(8) {
            let (other, _) = chance.pick(&COUNTRIES);
            let host = other.to_ascii_lowercase();
            write(
                &mut line,
                format_args!(
                    r#","domains":["{domain}",{{"domain":"{host}.{domain}","country":"{other}"}}]"#
                ),
            );
        } else {
            write(&mut line, format_args!(r#","domains":["{domain}"]"#));
        }
        let handle = domain.trim_end_matches(".example");
        for (network, share) in
            [("linkedin", 60), ("facebook", 35), ("twitter", 25), ("instagram", 20), ("youtube", 8)]
        {
            if chance.is_percent(share) {
                write(&mut line, format_args!(r#","{network}":"{handle}""#));
            }
        }
        if chance.is_percent(60) {
            write(&mut line, format_args!(r#","emails":["info@{domain}""#));
            if chance.is_one_in(3) {
                write(&mut line, format_args!(r#","sales@{domain}""#));
            }
            line.push(']');
        }
        if chance.is_percent(55) {
            write(&mut line, format_args!(r#","phones":["{}"]"#, chance.phone()));
        }
        if chance.is_percent(30) {
            // 192.0.2.0/24 is reserved for documentation (RFC 5737).
            let (host, rank) = (chance.below(256), chance.below(10));
            write(&mut line, format_args!(r#","ip":"192.0.2.{host}","page_rank":"{rank}""#));
        }
        line.push('}');
        line
    }

    /// Returns the line of the person with number `index`, who works at one of the first
    /// `companies` companies. The person's id is `p<index>`.
    pub fn person(&self, index: u64, companies: u64) -> String {
        let mut chance = self.chance(b'p', index);
        let (first, last) = (chance.pick(&FIRST_NAMES), chance.pick(&LAST_NAMES));
        let employer = chance.below(companies.max(1));
        let parts = self.parts(employer);
        let domain = parts.domain(employer);
        let (company, country) = (parts.name(), parts.country.0);
        let title = chance.pick(&TITLES);
        let mut line = String::with_capacity(512);
        write(
            &mut line,
            format_args!(
                r#"{{"type":"person","id":"p{index}","first_name":"{first}","last_name":"{last}","#
            ),
        );
        write(
            &mut line,
            format_args!(r#""title":"{title}","company":"{company}","company_domain":"{domain}""#),
        );
        write(&mut line, format_args!(r#","country":"{country}""#));
        let handle = format!("{}-{}-{index:x}", plain(first), plain(last));
        if chance.is_percent(85) {
            write(&mut line, format_args!(r#","linkedin":"linkedin.com/in/{handle}""#));
        }
        if chance.is_percent(70) {
            write(&mut line, format_args!(r#","emails":["{handle}@{domain}"]"#));
        }
        if chance.is_percent(40) {
            write(&mut line, format_args!(r#","phones":["{}"]"#, chance.phone()));
        }
        line.push('}');
        line
    }

    fn parts(&self, index: u64) -> Parts {
        let mut chance = self.chance(b'n', index);
        Parts {
            first: chance.pick(&FIRST_WORDS),
            second: chance.pick(&SECOND_WORDS),
            trade: chance.pick(&TRADES),
            country: chance.pick(&COUNTRIES),
        }
    }

    fn chance(&self, kind: u8, index: u64) -> Chance {
        let mut chance = Chance(self.seed ^ (u64::from(kind) << 56) ^ index);
        chance.next();
        chance
    }
}

/// The parts from which a company's name and domain are made.
struct Parts {
    first: &'static str,
    second: &'static str,
    trade: &'static str,
    country: (&'static str, &'static str),
}

impl Parts {
    fn name(&self) -> String {
        format!("{}{} {}", self.first, self.second, self.trade)
    }

    fn domain(&self, index: u64) -> String {
        format!("{}{}{index}.example", plain(self.first), self.second)
    }
}

/// A random number generator (splitmix64, public domain, Sebastiano Vigna). The same seed gives the
/// same numbers.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn is_one_in(&mut self, number: u64) -> bool {
        self.below(number) == 0
    }

    fn is_percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let at = self.below(from.len() as u64) as usize;
        from[at]
    }

    /// Returns a phone number in a range that is reserved for fiction: Washington, London, or
    /// British mobiles.
    fn phone(&mut self) -> String {
        match self.below(3) {
            0 => format!("+1202555{:04}", 100 + self.below(100)),
            1 => format!("+442079460{:03}", self.below(1000)),
            _ => format!("+447700900{:03}", self.below(1000)),
        }
    }
}

/// Returns a word without accents, punctuation and spaces, for host names and handles.
fn plain(word: &str) -> String {
    enrich_text::fold(word).replace(' ', "")
}

fn write(line: &mut String, text: std::fmt::Arguments<'_>) {
    line.write_fmt(text).expect("a string takes what is written to it");
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_lines() {
        let (one, other) = (Generator::new(7), Generator::new(7));
        assert_eq!(one.company(3), other.company(3));
        assert_eq!(one.person(3, 10), other.person(3, 10));
        assert_ne!(one.company(3), Generator::new(8).company(3));
    }

    #[test]
    fn no_two_companies_have_one_domain() {
        let generator = Generator::new(1);
        let domains: HashSet<String> =
            (0..5000).map(|index| generator.parts(index).domain(index)).collect();
        assert_eq!(domains.len(), 5000);
        assert!(domains.iter().all(|domain| enrich_text::Domain::parse(domain).is_ok()));
    }

    #[test]
    fn phones_are_numbers_that_can_be() {
        let mut chance = Chance(1);
        for _ in 0..1000 {
            let phone = chance.phone();
            assert!(enrich_text::Phone::parse(&phone).is_ok(), "{phone}");
        }
    }
}
