//! Model files.

use par_answer::{Answer, Method, Request, Solver, answer};
use par_circuit::Stop;
use par_fit::refit;
use par_model::{Model, ModelError, Order};

use crate::{applicants, denied, german};

#[test]
fn a_model_is_loaded_as_it_was_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.par");
    german().save(&path).expect("written");
    let loaded = Model::load(&path).expect("read");
    assert_eq!(loaded.to_bytes(), german().to_bytes());
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else is left");
    for cells in denied(10) {
        assert_eq!(
            answer(&loaded, &cells, &Request::default()).ok(),
            answer(german(), &cells, &Request::default()).ok()
        );
    }
}

#[test]
fn truncated_damaged_and_foreign_files_are_refused() {
    let bytes = german().to_bytes();
    for length in (0..bytes.len()).step_by(bytes.len() / 97).chain([bytes.len() - 1]) {
        assert!(Model::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
    }
    for place in (0..bytes.len()).step_by(bytes.len() / 97) {
        let mut flipped = bytes.clone();
        flipped[place] ^= 0x10;
        assert!(Model::from_bytes(&flipped).is_err(), "byte {place}");
    }
    let message = |bytes: &[u8]| Model::from_bytes(bytes).expect_err("no model").to_string();
    assert_eq!(message(b"savings,plan\n1,a\n"), "the file is of another kind");
    let mut newer = bytes.clone();
    newer[8] = 9;
    assert_eq!(message(&newer), "version 9 of this file is not known, this program reads versions up to 3");
    assert!(matches!(Model::load("/nowhere/model.par"), Err(ModelError::Io(_))));
}

#[test]
fn a_file_too_large_for_a_model_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("huge.par");
    // A sparse file, which takes no space on disk.
    std::fs::File::create(&path).and_then(|file| file.set_len(5 << 30)).expect("a sparse file");
    let error = Model::load(&path).expect_err("five gibibytes").to_string();
    assert_eq!(error, "the file has 5368709120 bytes, expected at most 4294967296");
}

/// A part of another model is detected although the checksum is right.
#[test]
fn parts_that_do_not_fit_each_other_are_refused() {
    let bytes = german().to_bytes();
    let mut parts: [&[u8]; 9] = par_model::container::parts(&bytes, b"PARMODL\n", 3).expect("parts");
    let small = &parts[4][..parts[4].len() - 4];
    parts[4] = small;
    let framed = par_model::container::frame(b"PARMODL\n", 3, &parts);
    let error = Model::from_bytes(&framed).expect_err("a parameter is missing").to_string();
    assert_eq!(error, "the model's parts do not belong together: the generator has another shape");
}

/// Even if the checksum is right.
#[test]
fn impossible_descriptions_and_parameters_are_refused() {
    let bytes = std::fs::read(FIXTURE).expect("a file");
    let parts: [&[u8]; 7] = par_model::container::parts(&bytes, b"PARMODL\n", 1).expect("parts");
    let description: serde_json::Value = serde_json::from_slice(parts[0]).expect("a description");
    let refusal = |place: &str, value: serde_json::Value, classifier: &[u8]| {
        let mut description = description.clone();
        *description.pointer_mut(place).expect("a place") = value;
        let description = serde_json::to_vec(&description).expect("text");
        let mut parts = parts;
        (parts[0], parts[3]) = (&description, classifier);
        let framed = par_model::container::frame(b"PARMODL\n", 1, &parts);
        Model::from_bytes(&framed).expect_err("no model").to_string()
    };
    let one_bias = (-5.0_f32).to_le_bytes();
    let error = refusal("/config/classifier/hidden", serde_json::json!([0]), &one_bias);
    assert!(error.ends_with("a setting is out of its range"), "{error}");
    for category in ["", " c ", "NaN"] {
        let error = refusal("/discretizer/domains/1/Categories/values/2", category.into(), parts[3]);
        assert!(error.contains("a category cannot be read back"), "{category:?}: {error}");
    }
    let huge: Vec<u8> = parts[3].chunks(4).flat_map(|_| f32::MAX.to_le_bytes()).collect();
    let error = refusal("/threshold", 0.5.into(), &huge);
    assert!(error.ends_with("the classifier has another shape"), "{error}");
}

/// Pool and generator are functions of the rest of the model: a refit makes them again, bit for bit. The rest are bins,
/// and parameters of the classifier and the circuits.
#[test]
fn no_training_row_is_inside() {
    let model = german();
    let schema = model.schema();
    let immutable: Vec<&str> = schema
        .features()
        .iter()
        .filter(|feature| feature.is_immutable())
        .map(|feature| feature.name.as_str())
        .collect();
    let again = refit(model, &immutable, &mut |_| {}, Stop::never()).expect("a refit");
    assert_eq!(again.pool(), model.pool());
    assert_eq!(again.generator(), model.generator());

    // No training row is in the file either, as text or as codes.
    let bytes = model.to_bytes();
    let (columns, batch) = applicants();
    let drawn: Vec<&[u16]> = model.pool().rows().rows().collect();
    let encoded = model.discretizer().encode(columns, batch).expect("its own rows");
    for (row, codes) in encoded.rows().enumerate() {
        let cells = columns.cells(batch, row).join(",");
        assert!(!contains(&bytes, cells.as_bytes()), "row {row} as text");
        let little_endian: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
        assert!(drawn.contains(&codes) || !contains(&bytes, &little_endian), "row {row} as codes");
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    let first = wanted[..2].to_vec();
    bytes.windows(2).enumerate().any(|(place, start)| start == first && bytes[place..].starts_with(wanted))
}

/// Models of every released version can be read.
#[test]
fn a_model_of_version_1_still_answers() {
    let model = Model::load(FIXTURE).expect("a model of version 1");
    assert_eq!(model.card().classes, ["yes", "no, later"]);
    let Ok(Answer::Found(found)) = answer(&model, &["10", "a", "here"], &Request::default()) else {
        panic!("more savings, or plan c, are enough");
    };
    assert_eq!(found.ways[0].changes.len(), 1);
}

/// Its schema has a rule whose cause is immutable, which schema files may no longer contain.
#[test]
fn a_model_of_version_2_still_answers_as_it_did() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/version_2.par");
    let model = Model::load(path).expect("a model of version 2");
    let applicant = [
        "A11", "42", "A32", "A42", "7882", "A61", "A74", "2", "A93", "A103", "4", "A122", "45", "A143",
        "A153", "1", "A173", "2", "A191", "A201",
    ];
    let order = Some(Order::Likelihood);
    let request = Request { method: Method::Exact, order, margin: Some(0.0), ..Request::default() };
    let Ok(Answer::Found(found)) = Solver::new(&model).answer(&applicant, &request) else {
        panic!("an account elsewhere, no guarantor and a home of their own are enough");
    };
    let point = found.frontier.iter().find(|point| point.changes.len() == 3).expect("three changes");
    // From `par recourse --method exact` at the time of the file.
    assert!((point.log_likelihood + 18.549_950_303_381_38).abs() < 1e-9, "{}", point.log_likelihood);
    assert_eq!(point.gap, Some(0.0));
}

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/version_1.par");
