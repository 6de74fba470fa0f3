//! A mixed-integer program, and a solver that is another program: HiGHS, or one with the same arguments.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;

/// Minimize the costs of the columns, within their bounds and those of the rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

/// A variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) cost: f64,
    /// Whether it is 0 or 1.
    pub(super) is_binary: bool,
}

/// A sum of columns that is within bounds.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Columns and their factors.
    pub(super) terms: Vec<(usize, f64)>,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Program {
    /// Adds a variable that is 0 or 1.
    pub(super) fn binary(&mut self, cost: f64) -> usize {
        self.columns.push(Column { low: 0.0, high: 1.0, cost, is_binary: true });
        self.columns.len() - 1
    }

    /// Adds a variable.
    pub(super) fn number(&mut self, low: f64, high: f64, cost: f64) -> usize {
        self.columns.push(Column { low, high, cost, is_binary: false });
        self.columns.len() - 1
    }

    /// Requires that a sum is at least a number.
    pub(super) fn at_least(&mut self, terms: Vec<(usize, f64)>, low: f64) {
        self.rows.push(Row { terms, low, high: f64::INFINITY });
    }

    /// Requires that a sum is a number.
    pub(super) fn equal(&mut self, terms: Vec<(usize, f64)>, value: f64) {
        self.rows.push(Row { terms, low: value, high: value });
    }

    /// The program in the LP format.
    fn text(&self) -> String {
        let mut text = String::from("Minimize\n cost:");
        let costs = self.columns.iter().enumerate().filter(|(_, column)| column.cost != 0.0);
        write_terms(&mut text, costs.map(|(place, column)| (place, column.cost)));
        text += "\nSubject To\n";
        for (place, Row { terms, low, high }) in self.rows.iter().enumerate() {
            let sides = [("=", *low, low == high), (">=", *low, low < high), ("<=", *high, low < high)];
            for (sign, side, _) in sides.into_iter().filter(|(_, side, holds)| *holds && side.is_finite()) {
                let name = if sign == "<=" { "u" } else { "r" };
                let _ = write!(text, " {name}{place}:");
                write_terms(&mut text, terms.iter().copied());
                let _ = writeln!(text, " {sign} {side}");
            }
        }
        text += "Bounds\n";
        for (place, column) in self.columns.iter().enumerate().filter(|(_, column)| !column.is_binary) {
            let _ = writeln!(text, " {} <= x{place} <= {}", bound(column.low), bound(column.high));
        }
        text += "Binary\n";
        for (place, _) in self.columns.iter().enumerate().filter(|(_, column)| column.is_binary) {
            let _ = writeln!(text, " x{place}");
        }
        text + "End\n"
    }

    /// The best solution that the solver finds.
    ///
    /// # Errors
    /// When a file cannot be written, or the solver cannot be started or does not say what it found.
    pub(super) fn solve(&self, solver: &MipSolver) -> Result<Solved, Error> {
        let failed = |problem: String| Error::Solver { program: solver.program.clone(), problem };
        let cannot = |what: &str, error: std::io::Error| failed(format!("{what}: {error}"));
        let folder =
            WorkFolder::new().map_err(|error| cannot("cannot make a folder for its files", error))?;
        let (program, solution) = (folder.0.join("program.lp"), folder.0.join("solution.txt"));
        std::fs::write(&program, self.text()).map_err(|error| cannot("cannot write its program", error))?;
        // HiGHS leaves its log in the folder that it runs in.
        let said = Command::new(&solver.program)
            .current_dir(&folder.0)
            .args([program.as_os_str(), "--solution_file".as_ref(), solution.as_os_str()])
            .args(["--parallel", "off", "--time_limit", &solver.seconds.to_string()])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| cannot("cannot be started", error))?;
        // Its exit status says nothing: it is 0 for a program that cannot be parsed, and 1 for a warning. A solution file
        // is written only in the end.
        let text = std::fs::read_to_string(&solution).unwrap_or_default();
        solved(&text, self.columns.len()).ok_or_else(|| {
            let log =
                String::from_utf8_lossy(if said.stderr.is_empty() { &said.stdout } else { &said.stderr });
            let last = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it wrote nothing");
            failed(format!("no solution ({}): {}", said.status, last.trim()))
        })
    }
}

fn write_terms(text: &mut String, terms: impl Iterator<Item = (usize, f64)>) {
    for (place, factor) in terms {
        let _ = write!(text, "\n  {}{factor} x{place}", if factor < 0.0 { "" } else { "+" });
    }
}

fn bound(bound: f64) -> String {
    if bound.is_infinite() {
        format!("{}inf", if bound < 0.0 { "-" } else { "+" })
    } else {
        bound.to_string()
    }
}

/// What the solver found.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Solved {
    /// The values of all columns in the best solution, or in the best until its time was over.
    Found(Vec<f64>),
    /// There is no solution.
    Infeasible,
    /// It found no solution in its time.
    OutOfTime,
}

/// What a solution file of HiGHS says; `None` if it is none, or says something else.
fn solved(text: &str, columns: usize) -> Option<Solved> {
    let status = text.strip_prefix("Model status")?.lines().map(str::trim).find(|line| !line.is_empty())?;
    match status {
        // Columns are bounded, so that a program that is infeasible or unbounded is infeasible.
        "Infeasible" | "Primal infeasible or unbounded" => Some(Solved::Infeasible),
        "Optimal" => values(text, columns).map(Solved::Found),
        "Time limit reached" => Some(values(text, columns).map_or(Solved::OutOfTime, Solved::Found)),
        _ => None,
    }
}

/// The primal values in a solution file of HiGHS.
fn values(text: &str, columns: usize) -> Option<Vec<f64>> {
    let primal = text.split("# Primal solution values").nth(1)?;
    let mut lines = primal.lines().map(str::trim).filter(|line| !line.is_empty());
    (lines.next()? == "Feasible").then_some(())?;
    let mut values = vec![0.0; columns];
    for line in lines.skip_while(|line| !line.starts_with("# Columns")).skip(1) {
        let Some((name, value)) = line.split_once(' ').filter(|(name, _)| name.starts_with('x')) else {
            break;
        };
        *values.get_mut(name[1..].parse::<usize>().ok()?)? = value.trim().parse().ok()?;
    }
    Some(values)
}

/// The program that solves, and the most seconds that it may take.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MipSolver {
    program: PathBuf,
    seconds: u64,
}

impl MipSolver {
    /// A solver. It runs in another folder, so that a path to it is made absolute; a bare name is looked up.
    pub(super) fn new(program: &Path, seconds: u64) -> Self {
        let absolute =
            (program.components().count() > 1).then(|| std::path::absolute(program).ok()).flatten();
        Self { program: absolute.unwrap_or_else(|| program.to_path_buf()), seconds }
    }
}

/// A folder for the files of one solution, which is removed at the end.
struct WorkFolder(PathBuf);

impl WorkFolder {
    fn new() -> std::io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("par-bench-{}-{number}", std::process::id()));
        std::fs::create_dir(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // A file that stays behind does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether a program starts and calls itself a solver.
pub fn is_solver(program: &Path) -> std::io::Result<bool> {
    let said = Command::new(program).arg("--version").stdin(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&said.stdout).contains("HiGHS"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_written_in_the_lp_format() {
        let mut program = Program::default();
        let (take, much) = (program.binary(2.0), program.number(f64::NEG_INFINITY, 4.5, -1.0));
        program.at_least(vec![(take, 3.0), (much, -1.0)], 0.5);
        program.equal(vec![(much, 1.0)], 1.0);
        program.rows.push(Row { terms: vec![(take, 1.0)], low: f64::NEG_INFINITY, high: 1.0 });
        let expected = "Minimize\n cost:\n  +2 x0\n  -1 x1\nSubject To\n r0:\n  +3 x0\n  -1 x1 >= 0.5\n r1:\n  +1 x1 = 1\n \
                        u2:\n  +1 x0 <= 1\nBounds\n -inf <= x1 <= 4.5\nBinary\n x0\nEnd\n";
        assert_eq!(program.text(), expected);
    }

    #[test]
    fn a_solution_is_read_and_no_solution_is_told_from_no_time_and_from_no_answer() {
        let text = "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 3\n# Columns 3\nx0 1\nx2 -0.5\n\
                    # Rows 1\nr0 1\n";
        let found = Some(Solved::Found(vec![1.0, 0.0, -0.5]));
        assert_eq!(solved(text, 3), found);
        assert_eq!(solved(text, 2), None, "a column that the program does not have");
        let late = text.replace("Optimal", "Time limit reached");
        assert_eq!(solved(&late, 3), found);
        assert_eq!(solved(&late.replace("Feasible", "None"), 3), Some(Solved::OutOfTime));
        assert_eq!(solved("Model status\nInfeasible\n", 3), Some(Solved::Infeasible));
        for other in ["", "Model status\nNot Set\n", &text.replace("Feasible", "None")] {
            assert_eq!(solved(other, 3), None, "{other}");
        }
    }

    /// A folder of its own for each test.
    fn script(name: &str, text: &str) -> (PathBuf, PathBuf) {
        let folder = std::env::temp_dir().join(format!("par-bench-solver-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let script = folder.join("highs");
        std::fs::write(&script, text).expect("a script");
        #[cfg(unix)]
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("rights");
        (folder, script)
    }

    #[cfg(unix)]
    #[test]
    fn a_solver_that_fails_is_an_error_and_not_no_solution() {
        let said = |program: &Path| {
            Program::default().solve(&MipSolver::new(program, 1)).expect_err("no solution").to_string()
        };
        let missing = Path::new("/nowhere/highs");
        assert!(said(missing).starts_with("/nowhere/highs: cannot be started: "), "{}", said(missing));
        let (folder, parser) = script("fails", "#!/bin/sh\necho 'ERROR:   Parser error'\nexit 0\n");
        assert_eq!(
            said(&parser),
            format!("{}: no solution (exit status: 0): ERROR:   Parser error", parser.display())
        );
        std::fs::remove_dir_all(folder).expect("removed");
        let (folder, late) =
            script("late", "#!/bin/sh\nprintf 'Model status\\nTime limit reached\\n' > \"$3\"\nexit 1\n");
        assert_eq!(Program::default().solve(&MipSolver::new(&late, 1)).expect("no error"), Solved::OutOfTime);
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
