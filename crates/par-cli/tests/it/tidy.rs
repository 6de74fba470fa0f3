//! Checks that the documents match the code.

use std::path::{Path, PathBuf};

use par_data::Schema;
use par_data::schema::Mutability;
use par_model::Config;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All Rust source of the workspace.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder of the workspace") {
        let path = entry.expect("an entry of it").path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&read(&path));
        }
    }
}

#[test]
fn every_test_named_beside_the_paper_exists() {
    let mut text = String::new();
    sources(&root().join("crates"), &mut text);
    let paper = read(&root().join("docs/paper.md"));
    let mut named = 0;
    for line in paper.lines().filter(|line| line.starts_with("| ") && line.contains("par_")) {
        let tests = line.rsplit('|').nth(1).expect("a last column");
        for test in tests.split('`').skip(1).step_by(2) {
            assert!(text.contains(&format!("fn {test}(")), "docs/paper.md names the test `{test}`");
            named += 1;
        }
        let items = line.split('|').nth(2).expect("a column of items");
        for item in items.split('`').skip(1).step_by(2) {
            let name = item.rsplit("::").next().expect("a path has a last part");
            let defined = ["fn", "struct", "enum"].iter().any(|kind| {
                let definition = format!("{kind} {name}");
                text.split(&definition).skip(1).any(|after| after.starts_with(['(', '<', ' ', '{', ';']))
            });
            assert!(defined, "docs/paper.md names the item `{item}`");
        }
    }
    assert!(named > 20, "only {named} tests were found in docs/paper.md");
}

#[test]
fn the_readme_has_no_placeholder_left() {
    let readme = read(&root().join("README.md"));
    let left = readme.lines().find(|line| line.contains("@@"));
    assert_eq!(left, None);
}

#[test]
fn the_readme_shows_the_example_as_it_runs() {
    let readme = read(&root().join("README.md"));
    let example = read(&root().join("crates/par/examples/02_ask_for_recourse.rs"));
    let code = example.split_once("\n\n").expect("a heading before the code").1;
    assert!(readme.contains(code), "README.md shows examples/02_ask_for_recourse.rs");
}

/// The schema that the blocks of `docs/schema.md` form together.
fn documented_schema() -> String {
    let page = read(&root().join("docs/schema.md"));
    let blocks = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().expect("an end"));
    blocks.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_blocks_of_the_schema_page_are_a_schema() {
    let text = documented_schema();
    let schema = Schema::parse(&text, "docs/schema.md").expect("a schema");
    assert_eq!((schema.version(), schema.undecided().count()), (2, 0));
    for change in Mutability::WORDS.map(|(word, _)| word) {
        assert!(schema.features().iter().any(|feature| feature.change.name() == change), "`{change}`");
    }
}

#[test]
fn the_schema_page_names_every_key() {
    let page = read(&root().join("docs/schema.md"));
    let feature = "[[feature]]\nname = \"a\"\nkind = \"discrete\"\nchange = \"free\"\n";
    for section in [
        "zzz = 1\n".to_string(),
        "[columns]\nzzz = 1\n".to_string(),
        "[label]\nzzz = 1\n".to_string(),
        format!("{feature}zzz = 1\n"),
        format!("{feature}step = {{ zzz = 1 }}\n"),
        format!("{feature}[[relation]]\nzzz = 1\n"),
        format!("{feature}[[accept]]\nzzz = 1\n"),
    ] {
        let error = Schema::parse(&format!("version = 2\n{section}"), "s").expect_err("no key").to_string();
        let (_, keys) = error.split_once("unknown key `zzz`, expected one of ").expect("all keys");
        for key in keys.split('`').skip(1).step_by(2) {
            let is_named = [format!("`{key}`"), format!("{key} = "), format!("[{key}]")];
            assert!(is_named.iter().any(|name| page.contains(name)), "docs/schema.md does not name `{key}`");
        }
    }
    for key in ["`immutable =", "`monotone =", "`[[rule]]`", "`if_increases`", "`must_increase`"] {
        let page = page.replace("\n", " ");
        assert!(page.contains(key), "docs/schema.md does not name {key} of version 1");
    }
}

#[test]
fn the_configuration_page_is_the_default_configuration() {
    let page = read(&root().join("docs/configuration.md"));
    let toml =
        page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of TOML");
    let default = toml::Table::try_from(Config::default()).expect("a configuration is a table");
    assert_eq!(toml.parse::<toml::Table>().expect("TOML"), default);
}
