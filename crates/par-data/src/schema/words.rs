//! The schema in words, for people.

use super::{
    AcceptRule, Actor, Condition, Direction, Effort, Feature, Formula, Permitted, Relation, Rule, Schema,
    Step, Takes,
};

impl Schema {
    /// A relation in words: `rent is at most income`.
    ///
    /// # Panics
    /// When the relation is of another schema.
    pub fn relation_in_words(&self, relation: &Relation) -> String {
        match relation {
            Relation::AtMost([first, second]) => {
                format!("{} is at most {}", self.name_of(*first), self.name_of(*second))
            }
            Relation::Follows { feature, formula } => self.formula_in_words(*feature, formula),
            Relation::When { when, then } => {
                format!("if {}, then {}", self.conditions_in_words(when), self.conditions_in_words(then))
            }
            Relation::Together(features) => {
                format!("{} change together or not at all", listed(&self.names_of(features), "and"))
            }
            Relation::AtMostChanges { most, of } => {
                let change = if *most == 1 { "changes" } else { "change" };
                format!("at most {most} of {} {change}", listed(&self.names_of(of), "and"))
            }
            Relation::Rule(rule) => self.rule_in_words(rule),
        }
    }

    /// A policy in words: `accepted only if age is 18 or more`.
    ///
    /// # Panics
    /// When the rule is of another schema.
    pub fn accept_rule_in_words(&self, rule: &AcceptRule) -> String {
        let mut words = format!("accepted only if {}", self.conditions_in_words(&rule.require));
        if !rule.when.is_empty() {
            words += &format!(", where {}", self.conditions_in_words(&rule.when));
        }
        match &rule.because {
            Some(because) => format!("{words} ({because})"),
            None => words,
        }
    }

    /// All relations in words, in the order of the schema.
    pub fn relations_in_words(&self) -> Vec<String> {
        self.relations.iter().map(|relation| self.relation_in_words(relation)).collect()
    }

    /// All policies in words, in the order of the schema.
    pub fn accept_rules_in_words(&self) -> Vec<String> {
        self.accept.iter().map(|rule| self.accept_rule_in_words(rule)).collect()
    }

    fn name_of(&self, feature: usize) -> &str {
        &self.features[feature].name
    }

    fn names_of(&self, features: &[usize]) -> Vec<&str> {
        features.iter().map(|&feature| self.name_of(feature)).collect()
    }

    fn formula_in_words(&self, feature: usize, formula: &Formula) -> String {
        let result = self.name_of(feature);
        let sources = self.names_of(formula.sources());
        match formula {
            Formula::Sum(_) => format!("{result} is the sum of {}", listed(&sources, "and")),
            Formula::Product(_) => format!("{result} is the product of {}", listed(&sources, "and")),
            Formula::Difference(_) => format!("{result} is {} less {}", sources[0], sources[1]),
            Formula::Ratio(_) => format!("{result} is {} divided by {}", sources[0], sources[1]),
            Formula::Lookup { table, .. } => {
                let row =
                    |(values, result): &(Permitted, String)| format!("{result} for {}", values.in_words());
                let rows: Vec<String> = table.iter().map(row).collect();
                format!("{result} follows from {}: {}", sources[0], rows.join(", "))
            }
        }
    }

    fn conditions_in_words(&self, conditions: &[Condition]) -> String {
        let condition =
            |one: &Condition| format!("{} is {}", self.name_of(one.feature), one.values.in_words());
        conditions.iter().map(condition).collect::<Vec<_>>().join(" and ")
    }

    fn rule_in_words(&self, Rule { when, then }: &Rule) -> String {
        let too = if when.direction == then.direction { " too" } else { "" };
        let [effect, cause] =
            [when, then].map(|one| format!("{} {}s", self.name_of(one.feature), one.direction.verb()));
        format!("{effect} only if {cause}{too}")
    }
}

impl Permitted {
    /// `6 to 24`, `6 or more`, `at most 24`, `A or B`.
    fn in_words(&self) -> String {
        match self {
            Self::Among(values) => listed(values, "or"),
            Self::Between([lowest, highest]) => match (lowest.is_finite(), highest.is_finite()) {
                (true, false) => format!("{lowest} or more"),
                (false, _) => format!("at most {highest}"),
                (true, true) => format!("{lowest} to {highest}"),
            },
        }
    }
}

impl Feature {
    /// How it may change beside its direction, `bounds` and `allowed` values, and at what cost, in words.
    pub fn changes_in_words(&self) -> Vec<String> {
        let mut words = self.step.in_words(self.kind.is_numeric());
        for (from, to) in &self.transitions {
            words.push(match to.as_slice() {
                _ if self.kind.is_numeric() => format!("may leave {from}"),
                [] => format!("{from} stays"),
                to => format!("{from} only to {}", listed(to, "or")),
            });
        }
        let forbidden = self.forbidden.iter().filter(|(_, to)| !to.is_empty());
        words.extend(forbidden.map(|(from, to)| format!("{from} not to {}", listed(to, "or"))));
        if !self.special.is_empty() {
            let special: Vec<String> = self.special.iter().map(ToString::to_string).collect();
            let mean = if special.len() == 1 { "means" } else { "mean" };
            words.push(format!("{} {mean} something else", listed(&special, "and")));
        }
        words.extend(self.effort.in_words());
        words.extend(self.takes.map(Takes::in_words));
        words.extend(self.improves.map(|better| format!("better if it {}s", better.verb())));
        if self.who == Actor::Lender {
            words.push("changed by the lender".to_string());
        }
        words
    }
}

impl Step {
    fn in_words(self, numeric: bool) -> Vec<String> {
        let places = |count: f64| match numeric {
            true => count.to_string(),
            false if count == 1.0 => "1 place".to_string(),
            false => format!("{count} places"),
        };
        let limit = |farthest: Option<f64>, way: &str| {
            farthest.map(|farthest| format!("at most {} {way}", places(farthest)))
        };
        let least = self.at_least.map(|least| format!("by at least {least}"));
        let grid = self.grid.map(|grid| format!("to multiples of {grid}"));
        [limit(self.up, "up"), limit(self.down, "down"), least, grid].into_iter().flatten().collect()
    }
}

impl Effort {
    /// `None` if it is as usual.
    fn in_words(self) -> Option<String> {
        if self == Self::default() {
            return None;
        }
        let word =
            Self::WORDS.iter().find(|(_, weight)| *weight == self.weight).map(|(word, _)| word.to_string());
        let effort = format!("effort {}", word.unwrap_or(self.weight.to_string()));
        Some(match self.per {
            Some(per) => format!("{effort} per {per}"),
            None => effort,
        })
    }
}

impl Takes {
    fn in_words(self) -> String {
        let months = (self.months * 100.0).round() / 100.0;
        let unit = if months == 1.0 { "month" } else { "months" };
        match self.per {
            Some(per) => format!("takes {months} {unit} per {per}"),
            None => format!("takes {months} {unit}"),
        }
    }
}

impl Direction {
    /// What a feature does that moves so: `rise` or `fall`.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Increase => "rise",
            Self::Decrease => "fall",
        }
    }
}

/// `a, b and c`.
fn listed<T: AsRef<str>>(items: &[T], last: &str) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.split_last() {
        Some((end, start)) if !start.is_empty() => format!("{} {last} {end}", start.join(", ")),
        _ => items.concat(),
    }
}
