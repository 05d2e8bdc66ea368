//! Tests of the help texts.

use crate::fixture::Fixture;

/// Returns the names of the subcommands that a command's help lists.
fn below(help: &str) -> Vec<&str> {
    let list = help.split("Commands:\n").nth(1).unwrap_or_default();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").collect()
}

#[test]
fn the_help_of_every_command_shows_an_example_of_it() {
    let fixture = Fixture::new();
    let mut to_visit: Vec<Vec<String>> = vec![Vec::new()];
    let mut visited = 0;
    while let Some(words) = to_visit.pop() {
        let mut asked: Vec<&str> = words.iter().map(String::as_str).collect();
        asked.push("--help");
        let ran = fixture.run(&asked);
        assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{words:?}");
        let name = ["enrich"].into_iter().chain(words.iter().map(String::as_str));
        let name = name.collect::<Vec<_>>().join(" ");
        let example = format!("\n  {name} ");
        let bare = format!("\n  {name}\n");
        let (_, after) = ran.out.split_once("Example").unwrap_or_default();
        assert!(after.contains(&example) || after.contains(&bare), "{name}: {}", ran.out);
        to_visit.extend(
            below(&ran.out)
                .into_iter()
                .map(|command| words.iter().cloned().chain([command.to_owned()]).collect()),
        );
        visited += 1;
    }
    assert!(visited > 28, "{visited}");
    assert!(!fixture.data().exists());
}

#[test]
fn a_wrong_command_line_ends_with_two() {
    let fixture = Fixture::new();
    for words in [&["imports"][..], &["import"], &["account", "create"], &["check", "--jason"]] {
        let ran = fixture.run(words);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{words:?}");
        assert!(ran.err.contains("Usage:"), "{ran:?}");
    }
}
