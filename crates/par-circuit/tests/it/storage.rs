//! Circuits as bytes and text, whole and damaged.

use par_circuit::{Circuit, FormatError};
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
fn text_is_readable() {
    let circuit =
        Circuit::from_text("par circuit text 1\ncardinalities 2\nleaf 0 0.25 0.75\nchecksum 37a1c4d2\n");
    let message = circuit.expect_err("the checksum is made up").to_string();
    assert!(message.contains("checksum"), "{message}");
    assert_eq!(
        Circuit::from_text("par circuit text 7\n").expect_err("a later version").to_string(),
        "circuit format version 7 is not known, this program reads version 1"
    );
}
