//! What answers are like without the settings that were chosen.

use super::CaseSection;
use super::measured::{FigureKey, Measured};
use super::table::ReportTable;
use crate::experiment::settings::PREFIX;

pub(super) fn show(measured: &Measured<'_>) -> CaseSection {
    CaseSection::new([table(measured)], [])
}

fn table(measured: &Measured<'_>) -> Option<ReportTable> {
    let frame = measured.frame("settings");
    let row = |method: &&str| {
        let name = method.strip_prefix(PREFIX)?.replacen('/', ": ", 1);
        Some(frame.row(measured, name, &FigureKey::method(method)))
    };
    frame.table(measured, measured.methods.iter().filter_map(row).collect(), &[], &[])
}
