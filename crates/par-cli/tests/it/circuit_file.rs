//! Damaged circuit files.

use crate::Sandbox;

const HINT: &str = "\nhint: copy it again, or make it again with `par circuit fit`\n";

#[track_caller]
fn refused(damage: impl FnOnce(&mut Vec<u8>)) -> String {
    let sandbox = Sandbox::with_circuit();
    let mut bytes = sandbox.bytes("people.circuit");
    damage(&mut bytes);
    sandbox.write("damaged.circuit", bytes);
    sandbox.refused(&["circuit", "show", "damaged.circuit"])
}

#[test]
fn a_file_cut_off_anywhere() {
    let sandbox = Sandbox::with_circuit();
    let bytes = sandbox.bytes("people.circuit");
    for length in [0, 5, 8, 10, 13, 30, bytes.len() / 2, bytes.len() - 1] {
        sandbox.write("cut.circuit", &bytes[..length]);
        let error = sandbox.refused(&["circuit", "sample", "cut.circuit", "-n", "1"]);
        let expected = if length < 8 { "not a circuit file" } else { "the file is cut off" };
        assert!(error.starts_with(&format!("error: cut.circuit: {expected}")), "{length} bytes: {error}");
        assert!(length < 8 || error.ends_with(HINT), "{length} bytes: {error}");
    }
}

#[test]
fn a_file_with_a_bit_flipped_anywhere() {
    let sandbox = Sandbox::with_circuit();
    let bytes = sandbox.bytes("people.circuit");
    for position in (8..bytes.len()).step_by(bytes.len() / 40) {
        let mut flipped = bytes.clone();
        flipped[position] ^= 4;
        sandbox.write("flipped.circuit", flipped);
        let error = sandbox.refused(&["circuit", "show", "flipped.circuit"]);
        assert!(error.starts_with("error: flipped.circuit: "), "byte {position}: {error}");
        assert!(position < 12 || error.ends_with(HINT), "byte {position}: {error}");
    }
}

#[test]
fn a_file_of_another_kind() {
    assert_eq!(
        refused(|bytes| bytes[0] = b'p'),
        "error: damaged.circuit: not a circuit file\nhint: `par circuit fit` makes one from a table\n"
    );
}

#[test]
fn a_file_of_a_later_version() {
    assert_eq!(
        refused(|bytes| bytes[8] = 9),
        "error: damaged.circuit: circuit files of version 9 are not known, this program reads version 1\n"
    );
}

#[test]
fn a_file_with_bytes_after_its_end() {
    assert_eq!(
        refused(|bytes| bytes.extend(b"more")),
        format!("error: damaged.circuit: 4 bytes follow the end of the file's last part{HINT}")
    );
}

#[test]
fn a_file_that_is_too_large() {
    let sandbox = Sandbox::with_circuit();
    let file = std::fs::File::options().write(true).open(sandbox.path("people.circuit")).expect("a file");
    // The file is sparse: its zeros take no space on disk.
    file.set_len(5 << 30).expect("a long file");
    assert_eq!(
        sandbox.refused(&["circuit", "show", "people.circuit"]),
        "error: people.circuit: larger than 4 GiB, expected a smaller circuit\n"
    );
}

#[test]
fn a_file_that_does_not_exist() {
    let sandbox = Sandbox::new();
    assert_eq!(
        sandbox.refused(&["circuit", "show", "nowhere.circuit"]),
        "error: nowhere.circuit: cannot be opened: No such file or directory (os error 2)\n"
    );
}
