//! Answers as CSV: a line for every way, and one for every row without a way.

use par_data::Schema;

use crate::answer::{Accepting, Way};
use crate::table::RowAnswer;

/// The columns before those of the features.
pub const COLUMNS: [&str; 22] = [
    "id",
    "rank",
    "status",
    "reason",
    "probability",
    "log_likelihood",
    "conditional_log_likelihood",
    "percentile",
    "changes",
    "effort",
    "months",
    "has_margin",
    "accepting",
    "certified",
    "similarity",
    "method",
    "solves",
    "optimal",
    "gap",
    "best_at",
    "time_us",
    "warning",
];

/// The prefix of a column of ours that has the name of a feature.
const PREFIX: &str = "par_";

/// The name of our column `own` beside the features of a schema: prefixed with `par_` until no feature has it.
pub fn column_name(schema: &Schema, own: &str) -> String {
    let is_feature = |name: &str| schema.features().iter().any(|feature| feature.name == name);
    let mut name = own.to_string();
    while is_feature(&name) {
        name.insert_str(0, PREFIX);
    }
    name
}

/// The names of all columns: ours as [`column_name`] has them, then the features.
pub fn names(schema: &Schema) -> Vec<String> {
    let own = COLUMNS.into_iter().map(|own| column_name(schema, own));
    own.chain(schema.features().iter().map(|feature| feature.name.clone())).collect()
}

/// Which of our columns are renamed because of a feature, in words; `None` if none is.
pub fn renamed(schema: &Schema) -> Option<String> {
    let pairs = COLUMNS.into_iter().map(|own| (own, column_name(schema, own)));
    let renamed: Vec<String> = pairs
        .filter(|(own, name)| own != name)
        .map(|(own, name)| format!("`{own}` is called `{name}`"))
        .collect();
    (!renamed.is_empty()).then(|| {
        format!("columns of the answers give way to features of the same name: {}", renamed.join(", "))
    })
}

/// One line of the table.
pub struct Line<'a> {
    /// The rank of the way among those of the person, from 1.
    pub rank: Option<usize>,
    /// Why there is no way.
    pub reason: Option<String>,
    /// The probability of the way, or of the row as it is.
    pub probability: Option<f64>,
    /// The way.
    pub way: Option<&'a Way>,
    /// The row and its answer.
    pub row: &'a RowAnswer<'a>,
}

impl<'a> Line<'a> {
    /// The lines of a row: at least one.
    pub fn of(schema: &Schema, row: &'a RowAnswer<'a>) -> Vec<Self> {
        let line = |rank, way: &'a Way| Self {
            rank: Some(rank),
            reason: None,
            probability: Some(way.probability),
            way: Some(way),
            row,
        };
        if row.ways().is_empty() {
            let (reason, probability) = (row.reason(schema), row.probability());
            return vec![Self { rank: None, reason, probability, way: None, row }];
        }
        (1..).zip(row.ways()).map(|(rank, way)| line(rank, way)).collect()
    }

    /// The cell of a feature in the way, or in the row itself if there is none.
    pub fn cell(&self, feature: usize) -> &str {
        self.way.map_or(self.row.cells[feature], |way| &way.cells[feature])
    }

    /// The warnings of the row, if there are any.
    pub fn warning(&self) -> Option<String> {
        let warnings = &self.row.warnings;
        (!warnings.is_empty()).then(|| warnings.join("; "))
    }

    /// What the way is best at, with `|` between.
    pub fn best_at(&self) -> Option<String> {
        let names: Vec<&str> = self.way?.best_at.iter().map(|strength| strength.name()).collect();
        (!names.is_empty()).then(|| names.join("|"))
    }

    /// Whether it is proved that nothing solves its problem better; `None` without a gap.
    pub fn optimal(&self) -> Option<bool> {
        self.way.and_then(Way::optimal)
    }
}

/// The header of the CSV: the names of its columns.
pub fn csv_header(schema: &Schema) -> Vec<u8> {
    as_csv(|csv| csv.write_record(names(schema)))
}

/// The lines of some rows as CSV; absent values are empty.
pub fn csv_lines(schema: &Schema, rows: &[RowAnswer<'_>]) -> Vec<u8> {
    as_csv(|csv| rows.iter().flat_map(|row| Line::of(schema, row)).try_for_each(|line| line.write(csv)))
}

fn as_csv(write: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>) -> Vec<u8> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    write(&mut csv).expect("writing to memory does not fail");
    csv.into_inner().expect("writing to memory does not fail")
}

impl Line<'_> {
    fn write(&self, csv: &mut csv::Writer<Vec<u8>>) -> csv::Result<()> {
        let way = self.way;
        let facts = [
            text(self.rank),
            self.row.status().to_string(),
            text(self.reason.as_ref()),
            text(self.probability),
            text(way.map(|way| way.log_likelihood)),
            text(way.map(|way| way.conditional_log_likelihood)),
            text(way.map(|way| way.percentile)),
            text(way.map(|way| way.changes.len())),
            text(way.map(|way| way.effort)),
            text(way.map(|way| way.months)),
            text(way.map(|way| way.has_margin)),
            text(way.and_then(|way| way.accepting).map(Accepting::share)),
            text(way.and_then(|way| way.certified)),
            text(way.map(|way| way.similarity)),
            text(way.map(|way| way.method.name())),
            text(way.map(|way| way.solves.name())),
            text(self.optimal()),
            text(way.and_then(|way| way.gap)),
            text(self.best_at()),
            text(self.row.time_us),
            text(self.warning()),
        ];
        csv.write_field(&self.row.id)?;
        facts.iter().try_for_each(|fact| csv.write_field(fact))?;
        (0..self.row.cells.len()).try_for_each(|feature| csv.write_field(self.cell(feature)))?;
        csv.write_record(None::<&[u8]>)
    }
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
