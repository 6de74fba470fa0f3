//! The service as a process of its own, so that its memory and its time are its own too.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use par_serve::{Server, Settings};

/// A process with this variable is the service, of the model that it names.
pub(crate) const MODEL: &str = "PAR_BENCH_MODEL";

/// A running service.
pub(crate) struct Child {
    process: std::process::Child,
    pub(crate) address: SocketAddr,
}

impl Child {
    pub(crate) fn start(model: &Path, settings: &[(&str, usize)]) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        command.env(MODEL, model).stdout(Stdio::piped()).stderr(Stdio::null());
        for (name, value) in settings {
            command.env(name, value.to_string());
        }
        let mut process = command.spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("it is piped")).read_line(&mut line)?;
        Ok(Self { process, address: line.trim().parse()? })
    }

    /// The CPU seconds that it has used.
    pub(crate) fn cpu(&self) -> f64 {
        cpu(&self.process.id().to_string())
    }

    /// The memory that it holds, in MB.
    pub(crate) fn memory(&self) -> f64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = kilobytes.and_then(|text| text.trim().trim_end_matches(" kB").parse::<f64>().ok());
        kilobytes.unwrap_or(f64::NAN) / 1024.0
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The CPU seconds that a process has used; Linux counts them in hundredths.
pub(crate) fn cpu(process: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name in brackets may hold spaces.
    let numbers = stat.rsplit_once(')').map_or("", |(_, numbers)| numbers);
    numbers.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<f64>().ok()).sum::<f64>()
        / 100.0
}

/// Serves the model until it is killed.
pub(crate) fn serve(model: PathBuf) -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().json().flatten_event(true).with_writer(std::io::stderr).init();
    let mut settings = Settings::default();
    if let Ok(limit) = std::env::var("MAX_REQUESTS") {
        settings.max_requests = limit.parse()?;
    }
    let server = Server::bind("127.0.0.1:0", &[("german".to_string(), model)], settings)?;
    writeln!(std::io::stdout(), "{}", server.address())?;
    Ok(server.run()?)
}
