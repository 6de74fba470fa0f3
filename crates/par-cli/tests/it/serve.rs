//! `par serve` as a process: its address, its signals, its logs, and its refusals at the start.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Sandbox;
use crate::model::{QUICK, SCHEMA};

/// The longest that a test waits.
const LONGEST: Duration = Duration::from_secs(30);

/// A running service, killed when dropped.
struct ServiceProcess {
    process: Child,
    address: String,
}

impl ServiceProcess {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::logging_to(Stdio::piped(), sandbox, arguments)
    }

    fn logging_to(stderr: Stdio, sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_par"));
        command.current_dir(sandbox.path("")).arg("serve").args(arguments).args(["--listen", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).stderr(stderr).spawn().expect("par starts");
        let mut line = String::new();
        let mut response = BufReader::new(process.stdout.take().expect("it is piped"));
        response.read_line(&mut line).expect("a line");
        let address = line.trim_end().strip_prefix("listening on http://").expect("an address").to_string();
        Self { process, address }
    }

    /// The status and the body of a response.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(LONGEST)).expect("a time above zero");
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        write!(
            stream,
            "{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("an open connection");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        let (head, body) = response.split_once("\r\n\r\n").expect("a head");
        (head[9..12].parse().expect("a status"), body.to_string())
    }

    fn get(&self, path: &str) -> Value {
        serde_json::from_str(&self.ask("GET", path, "").1).expect("JSON")
    }

    /// A number from its metrics.
    fn metric(&self, name: &str) -> f64 {
        let (_, text) = self.ask("GET", "/metrics", "");
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.map_or(0.0, |value| value.trim().parse().expect("a number"))
    }

    #[cfg(unix)]
    fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status().expect("kill starts");
        assert!(sent.success());
    }

    /// Waits for its end; returns the exit code and the logs.
    fn ended(mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.process.try_wait().expect("a process") {
                break status;
            }
            assert!(begun.elapsed() < LONGEST, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut logs = String::new();
        self.process.stderr.take().expect("it is piped").read_to_string(&mut logs).expect("UTF-8");
        (status.code(), logs)
    }
}

impl Drop for ServiceProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONGEST, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Another model of the same table.
fn other_model() -> Vec<u8> {
    let sandbox = Sandbox::with_applicants();
    sandbox.write("quick.toml", format!("seed = 7\n{QUICK}"));
    sandbox.run(&crate::model::FIT);
    sandbox.bytes("a.par")
}

const POOR: &str = r#"{"row": {"age": 30, "city": "Ulm", "education": "low", "income": 1000, "debt": 7}}"#;

#[cfg(unix)]
#[test]
fn it_answers_until_it_is_terminated() {
    let sandbox = Sandbox::with_model();
    for signal in ["-TERM", "-INT"] {
        let service = ServiceProcess::start(&sandbox, &["a.par"]);
        assert_eq!(service.get("/healthz"), json!({"status": "ok"}));
        let (status, response) = service.ask("POST", "/v1/recourse", POOR);
        assert_eq!(status, 200, "{response}");
        assert!(
            response.starts_with("{\"model\":\"a\",\"answers\":[{\"id\":\"1\",\"status\":\"found\""),
            "{response}"
        );
        service.signal(signal);
        let (code, logs) = service.ended();
        assert_eq!(code, Some(0), "{logs}");
        let lines: Vec<Value> =
            logs.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
        let messages: Vec<&Value> = lines.iter().map(|line| &line["message"]).collect();
        assert_eq!(messages, ["request", "request", "ending"]);
        assert_eq!((&lines[1]["route"], &lines[1]["status"]), (&json!("/v1/recourse"), &json!(200)));
        for mut line in lines {
            // Random ids and times may have any digits.
            for key in ["id", "timestamp", "micros"] {
                line[key].take();
            }
            let line = line.to_string();
            assert!(!line.contains("1000") && !line.contains("Ulm"), "{line}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_log_that_cannot_be_written_does_not_stop_the_service() {
    let sandbox = Sandbox::with_model();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device of Linux");
    let onto_full = ServiceProcess::logging_to(full.into(), &sandbox, &["a.par"]);
    let mut into_nothing = ServiceProcess::start(&sandbox, &["a.par"]);
    drop(into_nothing.process.stderr.take());
    for service in [&onto_full, &into_nothing] {
        for _ in 0..20 {
            assert_eq!(service.get("/healthz"), json!({"status": "ok"}));
            assert_eq!(service.ask("POST", "/v1/recourse", POOR).0, 200);
        }
        until("lines are counted", || service.metric("par_log_lines_dropped_total") >= 40.0);
    }
}

#[cfg(unix)]
#[test]
fn a_log_that_is_not_read_does_not_stop_the_service() {
    let sandbox = Sandbox::with_model();
    let mut service = ServiceProcess::start(&sandbox, &["a.par"]);
    // A pipe holds 64 KiB, a few hundred lines.
    for _ in 0..1_500 {
        assert_eq!(service.ask("GET", "/healthz", "").0, 200);
    }
    assert_eq!(service.ask("POST", "/v1/recourse", POOR).0, 200);
    assert_eq!(service.metric("par_log_lines_dropped_total"), 0.0);
    service.signal("-TERM");
    let mut status = None;
    until("it ends", || {
        status = service.process.try_wait().expect("a process");
        status.is_some()
    });
    assert!(status.is_some_and(|status| status.success()));
}

#[cfg(unix)]
#[test]
fn sighup_reloads_the_models() {
    let sandbox = Sandbox::with_model();
    let service = ServiceProcess::start(&sandbox, &["a.par"]);
    service.signal("-HUP");
    until("it is read again", || service.metric("par_reloads_total{model=\"a\",outcome=\"loaded\"}") >= 1.0);
    sandbox.write("a.par", "nonsense");
    service.signal("-HUP");
    until("it is refused", || service.metric("par_reloads_total{model=\"a\",outcome=\"refused\"}") >= 1.0);
    assert_eq!(service.ask("POST", "/v1/recourse", POOR).0, 200);
    service.signal("-TERM");
    let (code, logs) = service.ended();
    assert_eq!(code, Some(0));
    assert!(logs.contains("the model was read again"), "{logs}");
    assert!(logs.contains("the one before goes on answering"), "{logs}");
}

#[test]
fn a_kill_during_a_reload_leaves_the_file_unchanged() {
    let sandbox = Sandbox::with_model();
    let models = [sandbox.bytes("a.par"), other_model()];
    assert_ne!(models[0], models[1]);
    for round in 0..6 {
        let mut service = ServiceProcess::start(&sandbox, &["a.par"]);
        for number in 0..6 + round {
            sandbox.write("new.par", &models[number % 2]);
            fs::rename(sandbox.path("new.par"), sandbox.path("a.par")).expect("a file can be renamed");
            #[cfg(unix)]
            service.signal("-HUP");
        }
        service.process.kill().expect("a process");
        service.process.wait().expect("a process");
        let file = sandbox.bytes("a.par");
        assert!(models.contains(&file));
    }
    let service = ServiceProcess::start(&sandbox, &["a.par"]);
    assert_eq!(service.ask("POST", "/v1/recourse", POOR).0, 200);
    assert_eq!(sandbox.files(), ["a.par", "applicants.csv"]);
}

#[test]
fn a_model_is_named_after_its_file_or_by_its_argument() {
    let sandbox = Sandbox::with_model();
    sandbox.write("b.par", other_model());
    let service = ServiceProcess::start(&sandbox, &["a.par", "cards=b.par"]);
    assert_eq!(service.get("/v1/models"), json!({"models": ["a", "cards"]}));
    assert_eq!(service.get("/v1/schema?model=cards")["model"], json!("cards"));
    assert_eq!(service.ask("GET", "/v1/schema?model=b", "").0, 404);
}

#[test]
fn a_configured_token_is_required() {
    let sandbox = Sandbox::with_model();
    sandbox.write("token.txt", "s3cret\n");
    let service = ServiceProcess::start(&sandbox, &["a.par", "--token-file", "token.txt"]);
    assert_eq!(service.ask("GET", "/healthz", "").0, 200);
    assert_eq!(service.ask("POST", "/v1/recourse", POOR).0, 401);
    let with = |token: &str| {
        let mut stream = TcpStream::connect(&service.address).expect("it listens");
        write!(
            stream,
            "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
        )
        .expect("an open connection");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        response[9..12].to_string()
    };
    assert_eq!((with("s3cret"), with("other")), ("200".to_string(), "401".to_string()));
}

#[test]
fn invalid_arguments_are_refused_with_one_message() {
    let sandbox = Sandbox::with_model();
    sandbox.write("nonsense.par", "nonsense");
    sandbox.write("empty.par", "");
    let whole = sandbox.bytes("a.par");
    sandbox.write("half.par", &whole[..whole.len() / 2]);
    sandbox.write("empty.txt", " \n");
    sandbox.write("two.txt", "two words\n");
    sandbox.write("schema.toml", SCHEMA);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = listener.local_addr().expect("an address").to_string();
    let refused = |arguments: &[&str]| sandbox.refused(&[&["serve"], arguments].concat());
    for (arguments, expected) in [
        (
            &["absent.par"][..],
            "error: absent.par: cannot be opened: No such file or directory (os error 2)\n",
        ),
        (
            &["nonsense.par"],
            "error: nonsense.par: not a model file\nhint: `par fit` makes one from a table and its schema\n",
        ),
        (
            &["schema.toml"],
            "error: schema.toml: not a model file\nhint: `par fit` makes one from a table and its schema\n",
        ),
        (&["a.par", "a.par"], "error: two models are called `a`\nhint: name them: NAME=FILE\n"),
        (
            &["a.par", "--token-file", "absent.txt"],
            "error: absent.txt: cannot be read: No such file or directory (os error 2)\n",
        ),
        (
            &["a.par", "--token-file", "empty.txt"],
            "error: empty.txt: expected a token of one word in letters, digits and signs\n",
        ),
        (
            &["a.par", "--token-file", "two.txt"],
            "error: two.txt: expected a token of one word in letters, digits and signs\n",
        ),
        (
            &["a.par", "--cors", "example.org"],
            "error: `example.org` is no origin, expected for instance `https://example.org`\n",
        ),
        (
            &["a.par", "--host", "https://example.org"],
            "error: `https://example.org` cannot be the name of a host, expected for instance `par.example.org`, or `*` for any\n",
        ),
        (
            &["a.par", "--cors", "https://example.org/"],
            "error: `https://example.org/` is no origin, expected for instance `https://example.org`\n",
        ),
    ] {
        assert_eq!(refused(arguments), expected, "{arguments:?}");
    }
    for (arguments, expected) in [
        (&["empty.par"][..], "error: empty.par: "),
        (&["half.par"], "error: half.par: "),
        (&["a b=a.par"], "error: `a b` cannot be the name of a model, expected letters, digits"),
        (&["a.par", "--listen", "nowhere"], "error: cannot listen on nowhere: "),
        (&["a.par", "--listen", &taken], &format!("error: cannot listen on {taken}: Address already in use")),
        (&[], "error: the following required arguments were not provided"),
        (
            &["a.par", "--threads", "0"],
            "error: invalid value '0' for '--threads <N>': expected a whole number, at least 1",
        ),
        (&["a.par", "--patience", "-1"], "error: "),
        (
            &["a.par", "--time", "nan"],
            "error: invalid value 'nan' for '--time <S>': expected a number of seconds above 0",
        ),
        (
            &["a.par", "--max-body", "1k"],
            "error: invalid value '1k' for '--max-body <N>': expected a whole number, at least 1",
        ),
    ] {
        let response = refused(arguments);
        assert!(response.starts_with(expected), "{arguments:?}: {response}");
    }
}
