//! The relations and policies of a schema as text.

use par_data::Schema;
use par_data::schema::Relation;

/// The relations and the policies, each under its title; nothing if there are none.
pub(crate) fn relations(schema: &Schema) -> String {
    let only_rules = schema.relations().iter().all(|relation| matches!(relation, Relation::Rule(_)));
    let title = if only_rules { "rules" } else { "relations" };
    section(title, &schema.relations_in_words()) + &section("policies", &schema.accept_rules_in_words())
}

/// Lines under a title; nothing if there are none.
pub(crate) fn section(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("\n{title}\n{lines}")
}
