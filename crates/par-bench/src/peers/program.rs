//! A mixed-integer program, and a solver that is another program: HiGHS, or one with the same arguments.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

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

    /// The values of all columns in the best solution that the solver finds; `None` if it finds none.
    pub(super) fn solve(&self, solver: &MipSolver) -> Option<Vec<f64>> {
        let folder = WorkFolder::new()?;
        let (program, solution) = (folder.0.join("program.lp"), folder.0.join("solution.txt"));
        std::fs::write(&program, self.text()).ok()?;
        // HiGHS leaves its log in the folder that it runs in.
        let status = Command::new(&solver.program)
            .current_dir(&folder.0)
            .args([program.as_os_str(), "--solution_file".as_ref(), solution.as_os_str()])
            .args(["--parallel", "off", "--time_limit", &solver.seconds.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        // A solver that ran out of time may have a solution.
        status.ok()?;
        values(&std::fs::read_to_string(&solution).ok()?, self.columns.len())
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
    fn new() -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("par-bench-{}-{number}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        Some(Self(folder))
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
    fn a_solution_is_read_and_none_without_one() {
        let text = "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 3\n# Columns 3\nx0 1\nx2 -0.5\n\
                    # Rows 1\nr0 1\n";
        assert_eq!(values(text, 3), Some(vec![1.0, 0.0, -0.5]));
        assert_eq!(values(&text.replace("Feasible", "None"), 3), None);
        assert_eq!(values(text, 2), None);
        assert_eq!(values("Model status\nInfeasible\n", 3), None);
    }
}
