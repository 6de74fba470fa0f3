//! A schema as the tests know it: drawn, written as TOML, and given a meaning by code of their own.

use std::fmt::Write;

/// What a cell holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Unknown,
    Number(f64),
    /// A place among the feature's categories.
    Category(usize),
}

impl Value {
    pub(crate) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Nominal,
    Ordinal,
    Discrete,
    Continuous,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change {
    Undecided,
    Never,
    Free,
    Increase,
    Decrease,
    /// With its unit and how many months that has.
    WithTime(&'static str, f64),
    Follows,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    pub(crate) up: Option<f64>,
    pub(crate) down: Option<f64>,
    pub(crate) at_least: Option<f64>,
    pub(crate) grid: Option<f64>,
}

/// How long a change takes: the text, months, and the distance that takes this long.
#[derive(Clone, Debug)]
pub(crate) struct Takes {
    pub(crate) text: String,
    pub(crate) months: f64,
    pub(crate) per: Option<f64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Feature {
    pub(crate) kind: Kind,
    /// Categories.
    pub(crate) values: Vec<String>,
    /// The numbers of the table lie between these.
    pub(crate) span: [f64; 2],
    /// The distance between neighbouring numbers of the table.
    pub(crate) unit: f64,
    pub(crate) change: Change,
    pub(crate) missing: bool,
    pub(crate) bins: Option<usize>,
    pub(crate) range: Option<[f64; 2]>,
    pub(crate) bounds: Option<[f64; 2]>,
    pub(crate) special: Vec<f64>,
    /// The special numbers that may be left.
    pub(crate) left: Vec<f64>,
    pub(crate) allowed: Option<Vec<String>>,
    pub(crate) step: Step,
    pub(crate) transitions: Vec<(usize, Vec<usize>)>,
    pub(crate) forbid: Vec<(usize, Vec<usize>)>,
    /// As written, and its weight.
    pub(crate) effort: Option<(String, f64)>,
    pub(crate) per: Option<f64>,
    pub(crate) takes: Option<Takes>,
    /// Whether more of it is better.
    pub(crate) improves: Option<bool>,
}

impl Feature {
    pub(crate) fn is_numeric(&self) -> bool {
        matches!(self.kind, Kind::Discrete | Kind::Continuous)
    }

    pub(crate) fn is_ordered(&self) -> bool {
        self.kind != Kind::Nominal
    }

    pub(crate) fn is_acted_on(&self) -> bool {
        matches!(self.change, Change::Free | Change::Increase | Change::Decrease)
    }

    pub(crate) fn is_special(&self, value: &Value) -> bool {
        value.number().is_some_and(|number| self.special.contains(&number))
    }

    /// The value as a table writes it.
    pub(crate) fn text(&self, value: &Value) -> String {
        match value {
            Value::Unknown => String::new(),
            Value::Number(number) => number.to_string(),
            Value::Category(place) => self.values[*place].clone(),
        }
    }

    /// The value of a cell.
    pub(crate) fn value(&self, cell: &str) -> Value {
        match self.is_numeric() {
            _ if cell.is_empty() => Value::Unknown,
            true => Value::Number(cell.parse().expect("a number")),
            false => Value::Category(self.values.iter().position(|value| value == cell).expect("a category")),
        }
    }
}

/// A set of values.
#[derive(Clone, Debug)]
pub(crate) enum Set {
    Between(f64, f64),
    Numbers(Vec<f64>),
    Categories(Vec<usize>),
}

#[derive(Clone, Debug)]
pub(crate) enum Formula {
    Sum,
    Product,
    Difference,
    Ratio,
    Lookup(Vec<(Set, Value)>),
}

/// Conditions on features (positions).
pub(crate) type Conditions = Vec<(usize, Set)>;

#[derive(Clone, Debug)]
pub(crate) enum Relation {
    AtMost(usize, usize),
    Follows {
        feature: usize,
        sources: Vec<usize>,
        formula: Formula,
    },
    When(Conditions, Conditions),
    Together(Vec<usize>),
    AtMostChanges(usize, Vec<usize>),
    /// If a feature rises (or falls), another rises (or falls).
    Rule {
        when: (usize, bool),
        then: (usize, bool),
    },
}

impl Relation {
    pub(crate) fn features(&self) -> Vec<usize> {
        match self {
            Self::AtMost(lower, upper) => vec![*lower, *upper],
            Self::Follows { feature, sources, .. } => sources.iter().chain([feature]).copied().collect(),
            Self::When(when, then) => when.iter().chain(then).map(|(feature, _)| *feature).collect(),
            Self::Together(features) | Self::AtMostChanges(_, features) => features.clone(),
            Self::Rule { when, then } => vec![when.0, then.0],
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) when: Conditions,
    pub(crate) require: Conditions,
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) features: Vec<Feature>,
    pub(crate) relations: Vec<Relation>,
    pub(crate) policies: Vec<Policy>,
    /// The section of the label, if it matters.
    pub(crate) label: &'static str,
}

impl World {
    /// The schema's TOML.
    pub(crate) fn schema(&self) -> String {
        let mut text = format!("version = 2\n{}", self.label);
        for (position, feature) in self.features.iter().enumerate() {
            text += &feature.toml(position);
        }
        for relation in &self.relations {
            text += "\n[[relation]]\n";
            text += &self.relation(relation);
        }
        for Policy { when, require } in &self.policies {
            text += "\n[[accept]]\n";
            if !when.is_empty() {
                text += &format!("when = {}\n", self.conditions(when));
            }
            text += &format!("require = {}\n", self.conditions(require));
        }
        text
    }

    fn relation(&self, relation: &Relation) -> String {
        let names = |features: &[usize]| {
            let names: Vec<String> = features.iter().map(|feature| format!("\"f{feature}\"")).collect();
            format!("[{}]", names.join(", "))
        };
        match relation {
            Relation::AtMost(lower, upper) => format!("at_most = {}\n", names(&[*lower, *upper])),
            Relation::Follows { feature, sources, formula } => {
                let what = match formula {
                    Formula::Sum => format!("sum = {}", names(sources)),
                    Formula::Product => format!("product = {}", names(sources)),
                    Formula::Difference => format!("difference = {}", names(sources)),
                    Formula::Ratio => format!("ratio = {}", names(sources)),
                    Formula::Lookup(table) => {
                        let row = |(set, value): &(Set, Value)| {
                            let result = toml_value(&self.features[*feature], value);
                            format!("[{}, {result}]", self.set(sources[0], set))
                        };
                        let rows: Vec<String> = table.iter().map(row).collect();
                        format!("lookup = \"f{}\"\ntable = [{}]", sources[0], rows.join(", "))
                    }
                };
                format!("{what}\ngives = \"f{feature}\"\n")
            }
            Relation::When(when, then) => {
                format!("when = {}\nthen = {}\n", self.conditions(when), self.conditions(then))
            }
            Relation::Together(features) => format!("together = {}\n", names(features)),
            Relation::AtMostChanges(most, of) => format!("at_most_changes = {most}\nof = {}\n", names(of)),
            Relation::Rule { when, then } => {
                let word = |rises: bool| if rises { "increase" } else { "decrease" };
                let (if_moves, must_move) = (word(when.1), word(then.1));
                format!("if_{if_moves}s = \"f{}\"\nmust_{must_move} = \"f{}\"\n", when.0, then.0)
            }
        }
    }

    fn conditions(&self, conditions: &Conditions) -> String {
        let condition = |(feature, set): &(usize, Set)| format!("f{feature} = {}", self.set(*feature, set));
        let conditions: Vec<String> = conditions.iter().map(condition).collect();
        format!("{{ {} }}", conditions.join(", "))
    }

    fn set(&self, feature: usize, set: &Set) -> String {
        let end = |number: f64| if number.is_finite() { number.to_string() } else { String::new() };
        match set {
            Set::Between(low, high) => format!("\"{}..{}\"", end(*low), end(*high)),
            Set::Numbers(numbers) => format!("{numbers:?}"),
            Set::Categories(places) => {
                let values: Vec<&String> =
                    places.iter().map(|place| &self.features[feature].values[*place]).collect();
                format!("{values:?}")
            }
        }
    }
}

fn toml_value(feature: &Feature, value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        value => format!("\"{}\"", feature.text(value)),
    }
}

impl Feature {
    fn toml(&self, position: usize) -> String {
        let kind = match self.kind {
            Kind::Nominal => "nominal",
            Kind::Ordinal => "ordinal",
            Kind::Discrete => "discrete",
            Kind::Continuous => "continuous",
        };
        let mut text = format!("\n[[feature]]\nname = \"f{position}\"\nkind = \"{kind}\"\n");
        let mut line = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = writeln!(text, "{key} = {value}");
            }
        };
        let quoted = |text: &str| format!("\"{text}\"");
        line("values", (!self.is_numeric()).then(|| format!("{:?}", self.values)));
        line("missing", self.missing.then(|| "true".to_string()));
        line("bins", self.bins.map(|bins| bins.to_string()));
        line("range", self.range.map(|[low, high]| format!("[{low}, {high}]")));
        line("bounds", self.bounds.map(|[low, high]| format!("[{low}, {high}]")));
        let change = match self.change {
            Change::Undecided => None,
            Change::Never => Some("never"),
            Change::Free => Some("free"),
            Change::Increase => Some("increase"),
            Change::Decrease => Some("decrease"),
            Change::WithTime(unit, _) => {
                line("unit", Some(quoted(unit)));
                Some("with-time")
            }
            Change::Follows => Some("follows"),
        };
        line("change", change.map(quoted));
        line("special", (!self.special.is_empty()).then(|| format!("{:?}", self.special)));
        let numbers = self.is_numeric();
        let list = |texts: &Vec<String>| {
            if numbers { format!("[{}]", texts.join(", ")) } else { format!("{texts:?}") }
        };
        line("allowed", self.allowed.as_ref().map(list));
        let Step { up, down, at_least, grid } = self.step;
        let parts = [("up", up), ("down", down), ("at_least", at_least), ("grid", grid)];
        let parts: Vec<String> =
            parts.iter().filter_map(|(key, value)| value.map(|value| format!("{key} = {value}"))).collect();
        line("step", (!parts.is_empty()).then(|| format!("{{ {} }}", parts.join(", "))));
        let mapping = |rows: &Vec<(usize, Vec<usize>)>| {
            let row = |(from, to): &(usize, Vec<usize>)| {
                let to: Vec<&String> = to.iter().map(|place| &self.values[*place]).collect();
                format!("{} = {to:?}", self.values[*from])
            };
            (!rows.is_empty())
                .then(|| format!("{{ {} }}", rows.iter().map(row).collect::<Vec<_>>().join(", ")))
        };
        let leave: Vec<String> = self.left.iter().map(|number| format!("\"{number}\" = \"leave\"")).collect();
        line("transitions", (!leave.is_empty()).then(|| format!("{{ {} }}", leave.join(", "))));
        line("transitions", mapping(&self.transitions));
        line("forbid", mapping(&self.forbid));
        line("effort", self.effort.as_ref().map(|(text, _)| text.clone()));
        line("per", self.per.map(|per| per.to_string()));
        line("takes", self.takes.as_ref().map(|takes| quoted(&takes.text)));
        line("improves", self.improves.map(|up| quoted(if up { "increase" } else { "decrease" })));
        text
    }
}
