//! What an unknown cell would decide.

use par_data::{Code, Domain, UNKNOWN};

use super::{Person, Solver};
use crate::answer::IfKnown;
use crate::request::Request;
use crate::words;

impl Solver<'_> {
    /// For each unknown cell that alone decides, the values with which the row is accepted as it is.
    pub(super) fn if_known(&self, person: Person<'_>, request: &Request) -> Vec<IfKnown> {
        let unknown = person.own.codes().iter().enumerate().filter(|(_, code)| **code == UNKNOWN);
        unknown.filter_map(|(feature, _)| self.if_one_known(person, feature, request)).collect()
    }

    fn if_one_known(&self, person: Person<'_>, feature: usize, request: &Request) -> Option<IfKnown> {
        let (model, described) = (self.model, &self.model.schema().features()[feature]);
        let domain = &model.discretizer().domains()[feature];
        let threshold = model.classifier().offered_from(request.threshold_for(model), model.scale());
        let is_accepted = |text: &str| {
            let mut cells = person.cells.to_vec();
            cells[feature] = text;
            model.is_accepted(&cells, threshold)
        };
        let codes = 0..domain.ordinary() as Code;
        let values = match domain {
            Domain::Categories { values, .. } => {
                let accepted: Vec<String> = (values.iter())
                    .filter(|value| is_accepted(value))
                    .map(|value| words::cell(described, value))
                    .collect();
                (!accepted.is_empty() && accepted.len() < values.len()).then(|| accepted.join(" or "))?
            }
            Domain::Values { .. } | Domain::Bins { .. } => {
                let ends: Vec<[f64; 2]> = codes.map(|code| model.constraints().ends(feature, code)).collect();
                let accepts =
                    |[low, high]: &[f64; 2]| [low, high].iter().all(|end| is_accepted(&end.to_string()));
                let accepted: Vec<bool> = ends.iter().map(accepts).collect();
                words::with_unit(described, &number_words(&ends, &accepted)?)
            }
        };
        Some(IfKnown { feature, name: described.name.clone(), values })
    }
}

/// The numbers of the accepted codes in words, if they are an end of the column; `None` if they are all or none.
fn number_words(ends: &[[f64; 2]], accepted: &[bool]) -> Option<String> {
    let first = accepted.iter().position(|accepted| *accepted)?;
    let last = accepted.iter().rposition(|accepted| *accepted)?;
    if accepted[first..=last].contains(&false) {
        return None;
    }
    match (first == 0, last + 1 == accepted.len()) {
        (true, true) => None,
        (false, true) => Some(format!("at least {}", ends[first][0])),
        (true, false) => Some(format!("at most {}", ends[last][1])),
        (false, false) => Some(format!("{} to {}", ends[first][0], ends[last][1])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_codes_become_a_range_in_words() {
        let ends = [[0.0, 9.0], [10.0, 19.0], [20.0, 30.0]];
        let words = |accepted: [bool; 3]| number_words(&ends, &accepted);
        assert_eq!(words([false, false, true]).as_deref(), Some("at least 20"));
        assert_eq!(words([true, true, false]).as_deref(), Some("at most 19"));
        assert_eq!(words([false, true, false]).as_deref(), Some("10 to 19"));
        assert_eq!(words([true, true, true]), None, "it does not decide");
        assert_eq!(words([false, false, false]), None);
        assert_eq!(words([true, false, true]), None, "not one range");
    }
}
