//! Files that are written, and files that are protected.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::{QUICK, Sandbox, people};

#[test]
fn input_files_are_not_overwritten() {
    let sandbox = Sandbox::with_circuit();
    let circuit = sandbox.bytes("people.circuit");
    symlink("people.csv", sandbox.path("link.csv")).expect("a link");
    let refused = |out: &str, arguments: &[&str]| {
        let error = sandbox.refused(arguments);
        assert_eq!(
            error,
            format!(
                "error: {out}: is read from, and writing would replace it\nhint: write to another file\n"
            )
        );
    };
    for out in ["people.csv", "./people.csv", "link.csv", "people.toml"] {
        let fit = ["circuit", "fit", "people.csv", "--schema", "people.toml", "--out", out];
        refused(out, &[&fit[..], &QUICK].concat());
    }
    for out in ["people.csv", "people.circuit"] {
        refused(out, &["circuit", "score", "people.circuit", "people.csv", "--per-row", out]);
    }
    refused("people.circuit", &["circuit", "sample", "people.circuit", "-n", "3", "--out", "people.circuit"]);
    refused("people.csv", &["schema", "init", "people.csv", "--out", "people.csv", "--force"]);
    assert_eq!((sandbox.read("people.csv"), sandbox.bytes("people.circuit")), (people(), circuit));
}

#[test]
fn a_link_is_followed_and_stays_a_link() {
    let sandbox = Sandbox::with_circuit();
    std::fs::create_dir(sandbox.path("far")).expect("a folder");
    sandbox.write("far/old.csv", "old");
    for (link, target) in [("link.csv", "far/old.csv"), ("again.csv", "link.csv"), ("new.csv", "far/new.csv")]
    {
        symlink(target, sandbox.path(link)).expect("a link");
    }
    let drawn = sandbox.run(&["circuit", "sample", "people.circuit", "-n", "3"]);
    for (out, target) in [("again.csv", "far/old.csv"), ("new.csv", "far/new.csv")] {
        sandbox.run(&["circuit", "sample", "people.circuit", "-n", "3", "--out", out]);
        assert!(sandbox.path(out).is_symlink() && !sandbox.path(target).is_symlink(), "{out}");
        assert_eq!(sandbox.read(target), drawn);
    }
    assert!(sandbox.path("link.csv").is_symlink());
}

#[test]
fn devices_pipes_and_folders_are_not_replaced() {
    let sandbox = Sandbox::with_circuit();
    assert!(Command::new("mkfifo").arg(sandbox.path("pipe")).status().expect("mkfifo starts").success());
    std::fs::create_dir(sandbox.path("folder")).expect("a folder");
    symlink("circle", sandbox.path("circle")).expect("a link");
    let refused = |out| sandbox.refused(&["circuit", "sample", "people.circuit", "-n", "3", "--out", out]);
    for out in ["pipe", "/dev/null", "/dev/stdout"] {
        assert_eq!(refused(out), format!("error: {out}: is a device or a pipe, expected a file to write\n"));
    }
    assert_eq!(refused("folder"), "error: folder: is a folder, expected a file to write\n");
    assert_eq!(refused("no/file"), "error: no/file: no such folder `no`\n");
    assert!(refused("circle").starts_with("error: circle: cannot be written: "));
}

#[test]
fn a_read_only_folder_is_refused_before_the_work() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_people();
    std::fs::create_dir(sandbox.path("read_only")).expect("a folder");
    std::fs::set_permissions(sandbox.path("read_only"), std::fs::Permissions::from_mode(0o555))
        .expect("its owner");
    if std::fs::File::create(sandbox.path("read_only/file")).is_ok() {
        return; // The superuser may write anywhere.
    }
    assert_eq!(
        sandbox.refused(&["fit", "none.csv", "--schema", "none.toml", "--out", "read_only/a.par"]),
        "error: read_only/a.par: cannot be written: permission denied\n"
    );
}
