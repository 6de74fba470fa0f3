//! The dialogue of `par schema init --ask`.

use std::io::{BufRead, Write};

use anyhow::Result;
use par_data::schema::{Decision, Draft, Effort, Mutability, Question, TimeUnit};

use crate::aligned::printable;

/// The words for answers about a feature.
const CHANGES: [(&str, Mutability); 5] = [
    ("never", Mutability::Never),
    ("free", Mutability::Free),
    ("increase", Mutability::Increase),
    ("decrease", Mutability::Decrease),
    ("with-time", Mutability::WithTime),
];
const SKIP: &str = "skip";
const QUIT: &str = "quit";

/// Asks at most `most` questions, and writes the answers into the draft. The end of the input ends the dialogue.
pub(super) fn ask(
    draft: &mut Draft,
    most: usize,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<()> {
    let questions: Vec<Question> = draft.questions().into_iter().take(most).collect();
    let count = questions.len();
    writeln!(output, "questions: {count}; Enter takes the answer in brackets, `{QUIT}` ends")?;
    let mut dialogue = Dialogue { input, output };
    for (number, question) in (1..).zip(&questions) {
        let asked = format!("{number} of {count}: {}: {}", question.name, question.values);
        writeln!(dialogue.output, "\n{}", printable(&asked))?;
        writeln!(dialogue.output, "  {}", printable(&question.reason))?;
        match dialogue.answer(question)? {
            Answer::Decided(decision) => draft.decide(question.feature, decision),
            Answer::Kept => {}
            Answer::Ended => break,
        }
    }
    Ok(())
}

enum Answer {
    Decided(Decision),
    /// The draft's own guess, or undecided.
    Kept,
    Ended,
}

struct Dialogue<'a, R, W> {
    input: &'a mut R,
    output: &'a mut W,
}

impl<R: BufRead, W: Write> Dialogue<'_, R, W> {
    fn answer(&mut self, question: &Question) -> Result<Answer> {
        let mut words: Vec<&str> = CHANGES
            .iter()
            .filter(|(_, change)| question.choices.contains(change))
            .map(|(word, _)| *word)
            .collect();
        words.extend([SKIP, QUIT]);
        let usual =
            CHANGES.iter().find(|(_, change)| *change == question.change).map_or(SKIP, |(word, _)| *word);
        let Some(word) = self.word("change", &words, usual)? else {
            return Ok(Answer::Ended);
        };
        let Some((_, change)) = CHANGES.iter().find(|(known, _)| *known == word.text) else {
            return Ok(if word.text == QUIT { Answer::Ended } else { Answer::Kept });
        };
        if word.is_usual {
            return Ok(Answer::Kept);
        }
        Ok(Answer::Decided(match change {
            Mutability::WithTime => {
                let units = TimeUnit::ALL.map(TimeUnit::name);
                let usual = question.unit.unwrap_or(TimeUnit::Years).name();
                let unit = self.word("unit", &units, usual)?.map_or(usual, |word| word.text);
                Decision::Clock(TimeUnit::parse(unit).unwrap_or(TimeUnit::Years))
            }
            Mutability::Free | Mutability::Increase | Mutability::Decrease => {
                let efforts = Effort::WORDS.map(|(word, _)| word);
                let usual = question.usual_effort();
                let effort = self.word("effort", &efforts, usual)?.map_or(usual, |word| word.text);
                Decision::Changes(*change, effort)
            }
            other => Decision::Stays(*other),
        }))
    }

    /// One of the words, by its first letters; the usual one for an empty line, `None` at the end of the input.
    fn word<'w>(&mut self, what: &str, words: &[&'w str], usual: &'w str) -> Result<Option<Word<'w>>> {
        loop {
            write!(self.output, "  {what}: {} [{usual}] ", words.join(", "))?;
            self.output.flush()?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                writeln!(self.output)?;
                return Ok(None);
            }
            let said = line.trim().to_lowercase();
            if said.is_empty() {
                return Ok(Some(Word { text: usual, is_usual: true }));
            }
            if let Some(text) = words.iter().find(|word| word.starts_with(&said)) {
                return Ok(Some(Word { text, is_usual: false }));
            }
            writeln!(self.output, "  `{said}` is none of them")?;
        }
    }
}

struct Word<'w> {
    text: &'w str,
    /// Whether the line was empty.
    is_usual: bool,
}
