//! Circuits as bytes and text, whole and damaged.

use par_circuit::{Circuit, FormatError, Node};
use proptest::prelude::*;

use crate::random;

proptest! {
    #[test]
    fn bytes_and_text_give_back_the_same_circuit(seed: u64) {
        let circuit = random::circuit(seed);
        prop_assert_eq!(&Circuit::from_bytes(&circuit.to_bytes()).expect("bytes"), &circuit);
        prop_assert_eq!(&Circuit::from_text(&circuit.to_text()).expect("text"), &circuit);
    }

    #[test]
    fn any_changed_byte_is_refused(seed: u64, position: prop::sample::Index, bit in 0..8_u8) {
        let circuit = random::circuit(seed);
        let mut bytes = circuit.to_bytes();
        let position = position.index(bytes.len());
        bytes[position] ^= 1 << bit;
        prop_assert!(Circuit::from_bytes(&bytes).is_err());
    }

    #[test]
    fn any_changed_digit_is_refused(seed: u64, position: prop::sample::Index) {
        let circuit = random::circuit(seed);
        let mut text = circuit.to_text().into_bytes();
        let digits: Vec<usize> = (0..text.len()).filter(|&at| text[at].is_ascii_digit()).collect();
        let position = digits[position.index(digits.len())];
        text[position] = if text[position] == b'9' { b'0' } else { text[position] + 1 };
        let text = String::from_utf8(text).expect("still text");
        prop_assert!(Circuit::from_text(&text).is_err());
    }

    #[test]
    fn arbitrary_bytes_never_panic(mut bytes: Vec<u8>) {
        let _ = Circuit::from_bytes(&bytes);
        bytes.splice(0..0, *b"PARCIRCT\x01\0\0\0");
        let _ = Circuit::from_bytes(&bytes);
    }
}

#[test]
fn every_truncation_is_refused() {
    let circuit = random::circuit(5);
    let bytes = circuit.to_bytes();
    for length in 0..bytes.len() {
        assert!(Circuit::from_bytes(&bytes[..length]).is_err(), "cut to {length} bytes");
    }
    let text = circuit.to_text();
    for length in 0..text.len() {
        assert!(Circuit::from_text(&text[..length]).is_err(), "cut to {length} characters");
    }
}

fn refusal(bytes: &[u8]) -> String {
    Circuit::from_bytes(bytes).expect_err("this is no circuit").to_string()
}

#[test]
fn each_kind_of_damage_has_its_message() {
    let bytes = random::circuit(5).to_bytes();
    assert_eq!(refusal(b"RIFF...."), "not a circuit: expected it to begin with `PARCIRCT`");
    let mut newer = bytes.clone();
    newer[8] = 2;
    assert_eq!(refusal(&newer), "circuit format version 2 is not known, this program reads version 1");
    assert_eq!(refusal(&bytes[..10]), "the circuit is truncated: expected 4 more bytes, found 2");
    assert_eq!(refusal(&[bytes.as_slice(), b"more"].concat()), "4 bytes follow the end of the circuit");
    let mut edited = bytes.clone();
    *edited.last_mut().expect("bytes") ^= 1;
    assert!(refusal(&edited).starts_with("the circuit was changed after it was written: checksum "));
}

#[test]
fn a_file_that_claims_billions_of_variables_is_refused_at_once() {
    let claim = [b"PARCIRCT".as_slice(), &1_u32.to_le_bytes(), &u32::MAX.to_le_bytes()].concat();
    assert_eq!(
        Circuit::from_bytes(&claim),
        Err(FormatError::Truncated { expected: u64::from(u32::MAX) * 4, found: 0 })
    );
}

#[test]
fn an_unknown_kind_of_node_is_refused() {
    let head = [1, 1, 2, 1].map(u32::to_le_bytes).concat();
    let mut bytes = [b"PARCIRCT".as_slice(), &head, &[7]].concat();
    bytes.extend([0; 4]);
    assert_eq!(refusal(&bytes), "node 0: unknown kind 7");
}

#[test]
fn invalid_text_with_a_valid_checksum_is_refused_with_its_line() {
    let refusal = |lines: &str| {
        let text = format!("par circuit text 1\n{lines}");
        let checksum = crc32fast::hash(text.as_bytes());
        Circuit::from_text(&format!("{text}checksum {checksum:08x}\n")).expect_err("no circuit").to_string()
    };
    assert_eq!(refusal(""), "line 2: expected `cardinalities` and their numbers");
    assert_eq!(refusal("cardinalities two\n"), "line 2: expected whole numbers");
    assert_eq!(
        refusal("cardinalities 2\ntwig 0 0.5 0.5\n"),
        "line 3: expected `leaf`, `product` or `sum` and its numbers"
    );
    assert_eq!(refusal("cardinalities 2\nleaf 0 1\n"), "node 0: expected 2 probabilities, found 1");
    assert_eq!(
        Circuit::from_text("par circuit text 1\ncardinalities 2\nchecksum +0000000\n")
            .expect_err("a sign")
            .to_string(),
        "line 3: expected a checksum of eight hexadecimal digits, and nothing after it"
    );
}

#[test]
fn text_is_readable() {
    let coin = Node::Leaf { variable: 0, probabilities: [0.25, 0.75].into() };
    let circuit = Circuit::new(vec![2], vec![coin]).expect("a coin");
    let text = circuit.to_text();
    assert!(text.starts_with("par circuit text 1\ncardinalities 2\nleaf 0 0.25 0.75\nchecksum "), "{text}");
}

#[test]
fn text_of_another_version_or_with_another_checksum_is_refused() {
    let circuit =
        Circuit::from_text("par circuit text 1\ncardinalities 2\nleaf 0 0.25 0.75\nchecksum 37a1c4d2\n");
    let message = circuit.expect_err("the checksum is made up").to_string();
    assert!(message.contains("checksum"), "{message}");
    assert_eq!(
        Circuit::from_text("par circuit text 7\n").expect_err("a later version").to_string(),
        "circuit format version 7 is not known, this program reads version 1"
    );
}
