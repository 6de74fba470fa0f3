//! `par promise keygen`: a key that signs promises.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use par_promise::PrivateKey;

use crate::output;

const EXAMPLES: &str = "\
Examples:
  par promise keygen --out lender.key

Writes `lender.key`, for its owner alone, and `lender.key.pub`, for everybody. Whoever has the private key can
make promises in the lender's name, so that `par promise issue` refuses a key that others can read. Neither
file is ever replaced: a lost key cannot be made again, and the records it signed stay genuine.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Keygen {
    /// Where the private key goes; the public key goes beside it, with `.pub` after its name
    #[arg(long, short, value_name = "KEY")]
    out: PathBuf,
}

impl Keygen {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let key = PrivateKey::generate()?;
        let public = key.save(&self.out)?;
        output::print(&format!(
            "{}: the private key, for this machine alone\n{}: the public key {}, for everybody\n",
            self.out.display(),
            public.display(),
            key.public_key().bytes()
        ))?;
        Ok(ExitCode::SUCCESS)
    }
}
