//! Every operator in small graphs. `make.py` beside the graphs wrote them and their scores.

use serde::Deserialize;

use crate::scored::ScoredRows;

#[derive(Deserialize)]
struct OperatorCase {
    name: String,
    graph: String,
    #[serde(flatten)]
    scored: ScoredRows,
}

impl OperatorCase {
    fn check(&self) -> Result<(), String> {
        let bytes = bytes(&self.graph);
        self.scored.check(&bytes)?;
        self.scored.check_end(&bytes)
    }
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hexadecimal.chars().map(|digit| digit.to_digit(16).expect("hexadecimal") as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn every_operator_scores_as_in_onnxruntime() {
    let cases: Vec<OperatorCase> =
        serde_json::from_str(include_str!("../operators/operators.json")).expect("graphs");
    let problems: Vec<String> = cases
        .iter()
        .filter_map(|case| case.check().err().map(|problem| format!("{}: {problem}", case.name)))
        .collect();
    assert!(cases.len() >= 150, "found {} graphs", cases.len());
    assert!(problems.is_empty(), "{} of {}\n{}", problems.len(), cases.len(), problems.join("\n"));
}
