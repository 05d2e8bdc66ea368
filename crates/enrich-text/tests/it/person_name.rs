//! People's names.

use enrich_text::{InvalidPersonName, PersonName};

fn read(full: &str) -> PersonName {
    PersonName::parse(full).unwrap_or_else(|error| panic!("{full:?}: {error}"))
}

fn parts(first: &str, last: &str) -> PersonName {
    PersonName::from_parts(first, last)
        .unwrap_or_else(|error| panic!("{first:?} {last:?}: {error}"))
}

#[test]
fn a_full_name_is_split_into_given_and_family_name() {
    for (full, given, family) in [
        ("Ada Lovelace", "ada", "lovelace"),
        ("ADA LOVELACE", "ada", "lovelace"),
        ("Lovelace, Ada", "ada", "lovelace"),
        ("Lovelace,Ada", "ada", "lovelace"),
        ("Ada Augusta Lovelace", "ada augusta", "lovelace"),
        ("Ada A. Lovelace", "ada a", "lovelace"),
        ("A.A. Lovelace", "a a", "lovelace"),
        ("Lovelace, Ada Augusta", "ada augusta", "lovelace"),
        ("Dr. Ada Lovelace", "ada", "lovelace"),
        ("Prof. Dr. Ada Lovelace", "ada", "lovelace"),
        ("Prof.Dr. Ada Lovelace", "ada", "lovelace"),
        ("Mr John Smith Jr.", "john", "smith"),
        ("John Smith, Jr.", "john", "smith"),
        ("Smith, John, Jr.", "john", "smith"),
        ("John Smith Dr.", "john", "smith"),
        ("John Smith III", "john", "smith"),
        ("John Smith, PhD, MBA", "john", "smith"),
        ("John Smith Ph.D.", "john", "smith"),
        ("Smith, Dr. John", "john", "smith"),
        ("Jack Ma", "jack", "ma"),
        ("Robert \"Bob\" Smith", "robert", "smith"),
        ("Robert (Bob) Smith", "robert", "smith"),
        ("Zoë Müller", "zoe", "muller"),
        ("Jean-Luc Picard", "jean luc", "picard"),
        ("Anna Smith-Jones", "anna", "smith jones"),
        ("Siobhán O'Brien", "siobhan", "obrien"),
        ("Vincent van Gogh", "vincent", "van gogh"),
        ("Ludwig van der Berg", "ludwig", "van der berg"),
        ("María de la Cruz", "maria", "de la cruz"),
        ("de la Cruz, María", "maria", "de la cruz"),
        ("Leonardo da Vinci", "leonardo", "da vinci"),
        ("Omar bin Laith", "omar", "bin laith"),
        ("Omar Al-Rashid", "omar", "al rashid"),
        ("Van Morrison", "van", "morrison"),
        ("Gabriel García Márquez", "gabriel garcia", "marquez"),
        ("Иван Петров", "ivan", "petrov"),
        ("Anh Le", "anh", "le"),
    ] {
        let name = read(full);
        assert_eq!(name.given().join(" "), given, "{full:?}");
        assert_eq!(name.family().join(" "), family, "{full:?}");
    }
}

#[test]
fn given_parts_are_read_the_same_way() {
    assert_eq!(parts("Ada", "Lovelace"), read("Ada Lovelace"));
    assert_eq!(parts("Dr. Ada", "Lovelace, PhD"), read("Ada Lovelace"));
    assert_eq!(parts("Vincent", "van Gogh"), read("Vincent van Gogh"));
    assert_eq!(parts("Gabriel", "García Márquez").family(), ["garcia", "marquez"]);
}

#[test]
fn a_person_is_found_by_every_part_of_the_family_name() {
    assert_eq!(
        parts("Ana", "García Márquez").keys(),
        ["ana|marquez", "ana|garcia", "ana|garciamarquez"]
    );
    assert_eq!(parts("Ana María", "García").keys(), ["ana|garcia"]);
    assert_eq!(parts("Jan", "van der Berg").keys(), ["jan|berg", "jan|vanderberg"]);
    assert_eq!(parts("Anh", "Le").keys(), ["anh|le"]);
    assert_eq!(read("Ana García").key(), "ana|garcia");
    assert_eq!(read("Ana García Márquez").key(), "ana|marquez");
    assert_eq!(read("Jan Vanderberg").key(), "jan|vanderberg");
}

#[test]
fn a_name_has_few_keys_however_long_it_is() {
    let long = "aa-bb-cc-dd-".repeat(15) + "uu-vv-ww-xx-yy-zz";
    let name = parts("Ana", &long);
    assert_eq!(name.keys().len(), PersonName::MAX_KEYS - 1, "there is no particle");
    assert_eq!(name.keys()[..6], ["ana|zz", "ana|yy", "ana|xx", "ana|ww", "ana|vv", "ana|uu"]);
    assert!(name.agrees_with(&parts("Ana", "Uu")));
    assert!(!name.agrees_with(&parts("Ana", "Aa")), "who agrees shares a key");
    let six = parts("Ana", "de pp-qq-rr-ss-tt-uu");
    assert_eq!(six.keys().len(), PersonName::MAX_KEYS);
    assert!(six.agrees_with(&parts("Ana", "Pp")));
}

#[test]
fn names_that_can_be_the_same_person_agree() {
    for (one, two) in [
        ("Ada Lovelace", "LOVELACE, ADA"),
        ("Ada Lovelace", "Ada Augusta Lovelace"),
        ("A. Lovelace", "Ada Lovelace"),
        ("Ada A. Lovelace", "Ada Augusta Lovelace"),
        ("Ada B. C. Lovelace", "Ada Carla Lovelace"),
        ("Dr. Ada Lovelace", "Ada Lovelace, PhD"),
        ("Jan van der Berg", "Jan Berg"),
        ("Jan van der Berg", "Jan Vanderberg"),
        ("Zoë Müller", "Zoe Muller"),
        ("Anna Smith-Jones", "Anna Jones"),
        ("Anna Smith-Jones", "Anna Smith"),
        ("Иван Петров", "Ivan Petrov"),
        ("山田太郎", "山田 太郎"),
        ("김철수", "김 철수"),
    ] {
        assert!(read(one).agrees_with(&read(two)), "{one:?} {two:?}");
        assert!(read(two).agrees_with(&read(one)), "{two:?} {one:?}");
    }
    assert!(read("Gabriel García Márquez").agrees_with(&parts("Gabriel", "García Márquez")));
    assert!(read("Ana García Márquez").agrees_with(&parts("Ana María", "García Márquez")));
    assert!(read("Gabriel García").agrees_with(&parts("Gabriel", "García Márquez")));
    assert!(
        read("Gabriel José García Márquez").agrees_with(&parts("Gabriel José", "García Márquez"))
    );
    assert!(read("山田太郎").agrees_with(&parts("太郎", "山田")));
}

#[test]
fn names_that_cannot_be_the_same_person_disagree() {
    for (one, two) in [
        ("John A Smith", "John B Smith"),
        ("John Adam Smith", "John B. Smith"),
        ("John Adam Smith", "John Brian Smith"),
        ("John Smith", "Jane Smith"),
        ("John Smith", "John Smyth"),
        ("B. Smith", "John Smith"),
        ("Hans O Friedrich", "Hans Joachim Friedrich"),
        ("Jan van Berg", "Jan van Dyck"),
        ("Smith John", "John Smith"),
        ("山田太郎", "山田花子"),
        ("山田太郎", "Taro Yamada"),
    ] {
        assert!(!read(one).agrees_with(&read(two)), "{one:?} {two:?}");
        assert!(!read(two).agrees_with(&read(one)), "{two:?} {one:?}");
    }
}

#[test]
fn east_asian_names_are_found_with_and_without_a_space() {
    let stored = parts("太郎", "山田");
    for query in ["山田太郎", "山田 太郎", "山田　太郎", "太郎山田"] {
        assert!(stored.keys().contains(&read(query).key()), "{query}");
    }
    assert!(!stored.keys().contains(&read("山田花子").key()));
    assert!(parts("철수", "김").keys().contains(&read("김철수").key()));
}

#[test]
fn what_is_no_full_name_is_refused() {
    use InvalidPersonName::{ControlCharacter, Empty, PartMissing, TooLong};
    for (full, reason) in [
        ("", Empty),
        ("Ada", PartMissing),
        ("Dr. Lovelace", PartMissing),
        ("Lovelace,", PartMissing),
        (", Ada", PartMissing),
        ("!!! ???", PartMissing),
        ("(Ada) Lovelace", PartMissing),
        ("王", PartMissing),
        ("Ada\u{1} Lovelace", ControlCharacter),
    ] {
        assert_eq!(PersonName::parse(full), Err(reason), "{full:?}");
    }
    assert_eq!(PersonName::parse(&"ada ".repeat(200)), Err(TooLong));
    assert_eq!(PersonName::from_parts("Ada", ""), Err(Empty));
    assert_eq!(PersonName::from_parts("Ada", "."), Err(PartMissing));
}
