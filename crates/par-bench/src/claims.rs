//! What becomes of the paper's claims: a verdict for each, from measured figures alone.
//!
//! A claim holds on a table or it does not; what that means is written beside it. Like is compared with like: the
//! published similarity of PAR with ours in codes, its robustness by its own measure. The effect of a term of the loss is
//! read with every setting of the weights that [`weights`](crate::experiment::weights) measured.

use std::fmt;

use par_plot::text::duration;

use crate::experiment::peers::PREFIX;
use crate::figures::{Figures, Metric};
use crate::paper::{Benchmark, PublishedAblation, benchmarks};
use crate::peers::Native;

/// PAR before and after local search, by the paper's preset.
const PROPOSED: &str = "paper/generate";
const SEARCHED: &str = "paper/refine";
const MEDIAN_TIME: &str = "median_time_us";
/// LiCE as in the paper's table 1.
const LICE: &str = "LiCE_median";

/// What becomes of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds on every table, with all weights.
    Confirmed,
    /// It holds on none.
    Refuted,
    /// It holds on these tables, and not on others.
    HoldsOn(Vec<String>),
    /// It holds with some weights of the loss and not with others; the paper publishes none.
    DependsOnWeights,
    /// The figures lack what it takes.
    NotMeasured,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Confirmed => write!(formatter, "confirmed"),
            Self::Refuted => write!(formatter, "refuted"),
            Self::HoldsOn(tables) => {
                write!(formatter, "confirmed on {}, refuted on the others", tables.join(", "))
            }
            Self::DependsOnWeights => write!(formatter, "depends on unpublished weights"),
            Self::NotMeasured => write!(formatter, "not measured"),
        }
    }
}

/// A claim of the paper, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What the paper says.
    pub says: &'static str,
    /// When that counts as confirmed on a table.
    pub holds_if: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// The figures behind it, table by table.
    pub evidence: String,
}

/// Claims as a table in Markdown.
pub fn markdown(claims: &[Claim]) -> String {
    let row = |claim: &Claim| {
        let Claim { says, holds_if, verdict, evidence } = claim;
        format!("| {says} | **{verdict}** | {evidence} | {holds_if} |\n")
    };
    let head = "| claim | verdict | evidence | holds on a table if |\n|---|---|---|---|\n";
    claims.iter().map(row).fold(head.to_string(), |table, row| table + &row)
}

/// The figures of one of the paper's tables.
struct CaseFigures<'f> {
    figures: &'f Figures,
    benchmark: &'static Benchmark,
}

/// Whether a claim holds somewhere, and the figures that say so.
type Finding = Option<(bool, String)>;

impl CaseFigures<'_> {
    fn mean(&self, method: &str, metric: impl Into<Metric>) -> Option<f64> {
        Some(self.figures.spread(&self.benchmark.name, method, &metric.into())?.mean)
    }

    /// A measure before and after local search.
    fn around_search(&self, measure: &str) -> Option<[f64; 2]> {
        Some([self.mean(PROPOSED, measure)?, self.mean(SEARCHED, measure)?])
    }

    fn published(&self, method: &str) -> Option<&'static crate::paper::Published> {
        self.benchmark.published.iter().find(|row| row.method == method)
    }

    fn ablation(&self, name: &str) -> Option<&'static PublishedAblation> {
        self.benchmark.ablations.iter().find(|row| row.name == name)
    }

    /// The mean over all other classifiers of a measure under each.
    fn under_other_classifiers(&self, method: &str, measure: &str) -> Option<f64> {
        let named = self.figures.named(&self.benchmark.name, method, measure);
        let values: Vec<f64> = named
            .filter(|figure| figure.metric.key("classifier").is_some())
            .filter_map(|figure| figure.value)
            .collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The median times of the native methods of others, by name.
    fn times_of_peers(&self) -> Vec<(String, f64)> {
        let mut names: Vec<&str> = Vec::new();
        let native = Native::ALL.map(Native::name);
        for figure in self.figures.0.iter().filter(|figure| figure.table == self.benchmark.name) {
            let name = figure.method.strip_prefix(PREFIX);
            let is_native = |name: &&str| native.contains(name) || name.starts_with("LiCE");
            names.extend(name.filter(is_native).filter(|name| !names.contains(name)));
        }
        let time = |name: &str| Some((name.to_string(), self.mean(&format!("{PREFIX}{name}"), MEDIAN_TIME)?));
        names.into_iter().filter_map(time).collect()
    }

    /// The settings of weights that were measured, in order.
    fn settings(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for figure in self.figures.named(&self.benchmark.name, "paper full/generate", "validity") {
            let name = figure.metric.key("weights").map(str::to_string);
            names.extend(name.filter(|name| !names.contains(name)));
        }
        names
    }

    /// The mean of a measure with every setting of the weights.
    fn by_weights(&self, method: &str, measure: &str) -> Vec<f64> {
        let at = |name: &String| self.mean(method, Metric::at(measure, &[("weights", name)]));
        self.settings().iter().filter_map(at).collect()
    }
}

/// All claims that were checked.
pub fn claims(figures: &Figures) -> Vec<Claim> {
    let cases: Vec<CaseFigures<'_>> = benchmarks()
        .iter()
        .filter(|benchmark| {
            !benchmark.published.is_empty() && figures.tables().contains(&benchmark.name.as_str())
        })
        .map(|benchmark| CaseFigures { figures, benchmark })
        .collect();
    let mut all = Vec::from(answers(&cases));
    all.extend(speed(&cases));
    all.extend(terms(&cases));
    all.extend(neighbourhood(&cases));
    all.extend(local_search(&cases));
    all.extend(bins(&cases));
    all
}

/// Q1.
fn answers(cases: &[CaseFigures<'_>]) -> [Claim; 6] {
    [
        by_table(
            cases,
            "Q1: validity is high, and local search raises it",
            "valid for 80 % and more, and for no fewer after local search",
            |case| {
                let [before, after] = case.around_search("validity")?;
                let published = ["PAR", "PAR (+LS)"].map(|name| case.published(name).map(|row| row.validity));
                let text = format!(
                    "{} → {} (published {} → {})",
                    percent(before),
                    percent(after),
                    known(published[0], percent),
                    known(published[1], percent)
                );
                Some((before >= 0.8 && after >= before, text))
            },
        ),
        by_table(cases, "Q1: every answer can be acted on", "actionability and causality of 100 %", |case| {
            let shares = [case.mean(SEARCHED, "actionability")?, case.mean(SEARCHED, "causality")?];
            Some((shares == [1.0; 2], shares.map(percent).join(" and ")))
        }),
        by_table(
            cases,
            "Q1: answers are plausible: NLL is low",
            "after local search no higher than published, both under LearnSPN over bins",
            |case| {
                let (own, [published, deviation]) =
                    (case.mean(SEARCHED, "nll")?, case.published("PAR (+LS)")?.nll?);
                Some((own <= published + deviation, format!("{own:.1} (published {published:.1})")))
            },
        ),
        by_table(
            cases,
            "Q1: the price is similarity and sparsity: LiCE changes less",
            "LiCE's answers have fewer changes and move raw numbers less than PAR (+LS)",
            |case| {
                let pair = |measure| Some([case.mean(LICE, measure)?, case.mean(SEARCHED, measure)?]);
                let ([lice, own], [lice_raw, own_raw]) = (pair("sparsity")?, pair("similarity")?);
                let text = format!(
                    "LiCE {lice:.1} changes, {lice_raw:.1} deviations; PAR (+LS) {own:.1}, {own_raw:.1}"
                );
                Some((lice < own && lice_raw < own_raw, text))
            },
        ),
        by_table(
            cases,
            "Q1: answers move as far as published (similarity, in codes)",
            "within the published deviation, after local search",
            |case| {
                let (own, [published, deviation]) =
                    (case.mean(SEARCHED, "similarity_codes")?, case.published("PAR (+LS)")?.similarity?);
                let text = format!("{own:.2} (published {published:.2} ± {deviation:.2})");
                Some(((own - published).abs() <= deviation, text))
            },
        ),
        by_table(
            cases,
            "Q1: PAR's answers hold when the classifier changes, LiCE's fail",
            "the mean score under other classifiers, which is the paper's measure, is higher for PAR (+LS) than for LiCE",
            |case| {
                let both = |measure| {
                    Some([
                        case.under_other_classifiers(SEARCHED, measure)?,
                        case.under_other_classifiers(LICE, measure)?,
                    ])
                };
                let ([own, lice], [kept, lice_kept]) = (both("score")?, both("kept")?);
                let text =
                    format!("{own:.2} to {lice:.2}; share kept {} to {}", percent(kept), percent(lice_kept));
                Some((own > lice, text))
            },
        ),
    ]
}

/// Q1: how long answers take, all measured in one run on one machine.
fn speed(cases: &[CaseFigures<'_>]) -> [Claim; 2] {
    let ours = format!("{PREFIX}{SEARCHED}");
    let compared = |case: &CaseFigures<'_>, is_other: &dyn Fn(&str) -> bool| -> Option<(f64, f64, String)> {
        let own = case.mean(&ours, MEDIAN_TIME)?;
        let times = case.times_of_peers().into_iter().filter(|(method, _)| is_other(method));
        let (method, time) = times.min_by(|one, other| one.1.total_cmp(&other.1))?;
        let text = format!("{} to {} of {method}", duration(Some(own)), duration(Some(time)));
        Some((own, time, text))
    };
    [
        by_table(
            cases,
            "Q1: PAR is faster than optimisation by an order of magnitude",
            "the median time of PAR (+LS) is at most a tenth of that of LiCE's program in the same run",
            |case| {
                let (own, lice, text) = compared(case, &|method| method.starts_with("LiCE"))?;
                Some((10.0 * own <= lice, text))
            },
        ),
        by_table(
            cases,
            "Q1: PAR is faster than methods that do not optimise",
            "the median time of PAR (+LS) is below that of every native method but LiCE in the same run",
            |case| {
                let (own, other, text) = compared(case, &|method| !method.starts_with("LiCE"))?;
                Some((own < other, text))
            },
        ),
    ]
}

/// Q2: what holds without some terms, with every setting of the weights.
fn terms(cases: &[CaseFigures<'_>]) -> [Claim; 4] {
    let validity = |case: &CaseFigures<'_>, without: &str, holds: fn(f64) -> bool| {
        let values = case.by_weights(&format!("paper {without}/generate"), "validity");
        let published = case.ablation(without).map(|row| row.validity[0]);
        let text = format!("{} (published {})", over_weights(&values, percent), known(published, percent));
        (values.into_iter().map(holds).collect(), text)
    };
    let only = |name: &'static str| cases.iter().filter(move |case| case.benchmark.name == name);
    [
        by_weights(
            only("adult"),
            "Q2: on adult plausibility alone nearly suffices",
            "without L_val, 80 % and more are valid",
            |case| validity(case, "-validity", |share| share >= 0.8),
        ),
        by_weights(
            only("credit"),
            "Q2: on credit L_val alone fails",
            "without L₊ and L₋, fewer than half are valid",
            |case| validity(case, "-p+ -p-", |share| share < 0.5),
        ),
        by_weights(
            cases.iter(),
            "Q2: without L_val, L₊ and L₋ everything collapses",
            "fewer than a fifth are valid",
            |case| validity(case, "-p+ -p- -validity", |share| share < 0.2),
        ),
        by_weights(
            cases.iter(),
            "Q2: L₊ is what makes answers plausible",
            "without L₊ alone, NLL is worse by a nat and more",
            |case| {
                let of = |name| case.by_weights(name, "nll");
                let (full, without) = (of("paper full/generate"), of("paper -p+/generate"));
                let nats = |nats: f64| format!("{nats:.1}");
                let worse: Vec<f64> =
                    full.iter().zip(&without).map(|(full, without)| without - full).collect();
                let text = format!("worse by {} nats", over_weights(&worse, nats));
                (worse.into_iter().map(|worse| worse >= 1.0).collect(), text)
            },
        ),
    ]
}

/// Q3.
fn neighbourhood(cases: &[CaseFigures<'_>]) -> [Claim; 2] {
    [
        by_weights(
            cases.iter(),
            "Q3: without neighbours logits move as published",
            "the relative ℓ1 change is within the published range, give or take half of it, and as many logits move",
            |case| {
                let Some(published) = case.benchmark.encoder else { return (Vec::new(), String::new()) };
                let [low, high] = published.relative_l1;
                let (changes, moved) = (
                    case.by_weights("paper/encoder", "relative_l1"),
                    case.by_weights("paper/encoder", "moved"),
                );
                let holds = changes.iter().zip(&moved).map(|(change, moved)| {
                    (low / 1.5..=high * 1.5).contains(change) && *moved >= published.moved / 1.5
                });
                let text = format!(
                    "relative ℓ1 {} (published {}–{}), moved {} (published {} and more)",
                    over_weights(&changes, percent),
                    percent(low),
                    percent(high),
                    over_weights(&moved, percent),
                    percent(published.moved)
                );
                (holds.collect(), text)
            },
        ),
        by_table(
            cases,
            "Q3: the neighbourhood plays a central role",
            "trained without neighbours, the preset is valid for 5 points fewer or a nat less plausible, before local search",
            |case| {
                let both = |measure| {
                    Some([
                        case.mean("paper full/generate", measure)?,
                        case.mean("paper -neighbours/generate", measure)?,
                    ])
                };
                let ([valid, valid_without], [nll, nll_without]) = (both("validity")?, both("nll")?);
                let text = format!(
                    "validity {} → {}, NLL {nll:.1} → {nll_without:.1}",
                    percent(valid),
                    percent(valid_without)
                );
                Some((valid - valid_without >= 0.05 || nll_without - nll >= 1.0, text))
            },
        ),
    ]
}

/// Q4.
fn local_search(cases: &[CaseFigures<'_>]) -> [Claim; 2] {
    [
        by_table(
            cases,
            "Q4: local search makes answers sparser and nearer",
            "fewer changes, and less similarity in codes",
            |case| {
                let (changes, similarity) =
                    (case.around_search("sparsity")?, case.around_search("similarity_codes")?);
                let text = format!(
                    "{:.1} → {:.1} changes, similarity {:.1} → {:.1}",
                    changes[0], changes[1], similarity[0], similarity[1]
                );
                Some((changes[1] < changes[0] && similarity[1] < similarity[0], text))
            },
        ),
        by_table(
            cases,
            "Q4: it improves NLL on adult and gmsc, and worsens it on credit",
            "NLL moves in the published direction",
            |case| {
                let [before, after] = case.around_search("nll")?;
                let published = [case.published("PAR")?.nll?[0], case.published("PAR (+LS)")?.nll?[0]];
                let text =
                    format!("{before:.1} → {after:.1} (published {:.1} → {:.1})", published[0], published[1]);
                Some(((after < before) == (published[1] < published[0]), text))
            },
        ),
    ]
}

/// The appendix on bins and thresholds.
fn bins(cases: &[CaseFigures<'_>]) -> [Claim; 2] {
    [
        by_table(
            cases,
            "Appendix: bins cover the test rows",
            "as many cells as published, to four digits",
            |case| {
                let (own, published) = (case.mean("bins", "coverage")?, case.benchmark.bins?.coverage);
                Some((own >= published - 1e-4, format!("{own:.6} (published {published:.6})")))
            },
        ),
        by_table(
            cases.iter().filter(|case| case.benchmark.name == "gmsc-paper"),
            "Appendix: Youden's threshold on gmsc is 0.06",
            "within 0.02",
            |case| {
                let own = case.mean("classifier", "youden")?;
                Some(((own - 0.06).abs() <= 0.02, format!("{own:.2}")))
            },
        ),
    ]
}

/// A claim that holds on a table or not.
fn by_table<'a, 'f: 'a>(
    cases: impl IntoIterator<Item = &'a CaseFigures<'f>>,
    says: &'static str,
    holds_if: &'static str,
    finding: impl Fn(&CaseFigures<'_>) -> Finding,
) -> Claim {
    let found = cases.into_iter().filter_map(|case| Some((case.benchmark.name.clone(), finding(case)?)));
    let found: Vec<(String, (bool, String))> = found.collect();
    let held: Vec<String> =
        found.iter().filter(|(_, (holds, _))| *holds).map(|(name, _)| name.clone()).collect();
    let verdict = match held.len() {
        _ if found.is_empty() => Verdict::NotMeasured,
        0 => Verdict::Refuted,
        all if all == found.len() => Verdict::Confirmed,
        _ => Verdict::HoldsOn(held),
    };
    Claim {
        says,
        holds_if,
        verdict,
        evidence: evidence(found.into_iter().map(|(name, (_, text))| (name, text))),
    }
}

/// A claim about a term of the loss: whether it holds on a table with each setting of the weights.
fn by_weights<'a, 'f: 'a>(
    cases: impl Iterator<Item = &'a CaseFigures<'f>>,
    says: &'static str,
    holds_if: &'static str,
    finding: impl Fn(&CaseFigures<'_>) -> (Vec<bool>, String),
) -> Claim {
    let found = cases.map(|case| (case.benchmark.name.clone(), finding(case)));
    let found: Vec<(String, (Vec<bool>, String))> =
        found.filter(|(_, (holds, _))| !holds.is_empty()).collect();
    let held = || found.iter().flat_map(|(_, (holds, _))| holds);
    let verdict = match (held().any(|holds| *holds), held().all(|holds| *holds)) {
        _ if found.is_empty() => Verdict::NotMeasured,
        (true, true) => Verdict::Confirmed,
        (true, false) => Verdict::DependsOnWeights,
        (false, _) => Verdict::Refuted,
    };
    Claim {
        says,
        holds_if,
        verdict,
        evidence: evidence(found.into_iter().map(|(name, (_, text))| (name, text))),
    }
}

fn evidence(found: impl Iterator<Item = (String, String)>) -> String {
    found.map(|(name, text)| format!("{name}: {text}")).collect::<Vec<_>>().join("; ")
}

/// The value with the best fit, and the range over all settings.
fn over_weights(values: &[f64], text: impl Fn(f64) -> String) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let best = values.first().map_or_else(|| "–".to_string(), |best| text(*best));
    format!("{best}, from {} to {} over the weights", text(least), text(most))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn known(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "–".to_string(), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Sheet;

    fn claim(figures: Vec<crate::Figure>, says: &str) -> Claim {
        let all = claims(&Figures(figures));
        all.into_iter().find(|claim| claim.says.contains(says)).expect("a claim")
    }

    /// With raw numbers the preset seemed to be nearer by a factor; in codes, which is what is published, it is not.
    #[test]
    fn published_similarity_is_compared_in_codes() {
        let mut sheet = Sheet::new("adult", "0");
        sheet.number(SEARCHED, "similarity", 2.39, 1);
        assert_eq!(claim(sheet.clone().into_figures(), "move as far").verdict, Verdict::NotMeasured);
        sheet.number(SEARCHED, "similarity_codes", 6.49, 1);
        let agrees = claim(sheet.into_figures(), "move as far");
        assert_eq!(agrees.verdict, Verdict::Confirmed, "{}", agrees.evidence);
        assert_eq!(agrees.evidence, "adult: 6.49 (published 6.43 ± 1.37)");
    }

    fn with_weights(sheet: &mut Sheet, method: &str, measure: &str, values: &[f64]) {
        for (place, value) in values.iter().enumerate() {
            let at = |measure| Metric::at(measure, &[("weights", &place)]);
            sheet.number("paper full/generate", at("validity"), 0.9, 1);
            sheet.number(method, at(measure), *value, 1);
        }
    }

    /// With λ₋ at a twentieth of λ₊, 24 % were valid without L_val, and the claim seemed refuted.
    #[test]
    fn one_setting_of_the_weights_neither_confirms_nor_refutes_what_another_does_not() {
        let verdict = |shares: &[f64]| {
            let mut sheet = Sheet::new("adult", "0");
            with_weights(&mut sheet, "paper -validity/generate", "validity", shares);
            claim(sheet.into_figures(), "on adult plausibility").verdict
        };
        assert_eq!(verdict(&[0.24, 0.88]), Verdict::DependsOnWeights);
        assert_eq!(verdict(&[0.86, 0.88]), Verdict::Confirmed);
        assert_eq!(verdict(&[0.24, 0.31]), Verdict::Refuted);
        assert_eq!(verdict(&[]), Verdict::NotMeasured);
    }

    /// Most logits moved, so the claim was called confirmed, though the relative change was of another size.
    #[test]
    fn logits_that_move_thirty_times_as_far_are_not_as_published() {
        let verdict = |changes: &[f64]| {
            let mut sheet = Sheet::new("credit", "0");
            with_weights(&mut sheet, "paper/encoder", "relative_l1", changes);
            with_weights(&mut sheet, "paper/encoder", "moved", &vec![0.97; changes.len()]);
            claim(sheet.into_figures(), "logits move as published").verdict
        };
        assert_eq!(verdict(&[10.77]), Verdict::Refuted);
        assert_eq!(verdict(&[10.77, 0.4]), Verdict::DependsOnWeights);
        assert_eq!(verdict(&[0.4]), Verdict::Confirmed);
    }

    /// By the share of answers kept the claim was called refuted; the paper measures the mean score.
    #[test]
    fn robustness_is_judged_by_the_papers_measure() {
        let mut sheet = Sheet::new("adult", "0");
        for (method, score, kept) in [(SEARCHED, 0.68, 0.75), (LICE, 0.52, 0.78)] {
            for classifier in ["seed 1", "seed 2"] {
                let at = |measure| Metric::at(measure, &[("classifier", &classifier)]);
                sheet.number(method, at("score"), score, 1);
                sheet.number(method, at("kept"), kept, 1);
            }
        }
        let held = claim(sheet.into_figures(), "when the classifier changes");
        assert_eq!(held.verdict, Verdict::Confirmed);
        assert_eq!(held.evidence, "adult: 0.68 to 0.52; share kept 75 % to 78 %");
    }

    /// Times of other machines and other languages do not count.
    #[test]
    fn speed_is_compared_in_one_run() {
        let mut sheet = Sheet::new("credit", "0");
        sheet.number(SEARCHED, MEDIAN_TIME, 20.0, 1);
        sheet.number("LiCE_median", MEDIAN_TIME, 2.9e6, 1);
        let faster = |sheet: &Sheet| claim(sheet.clone().into_figures(), "by an order of magnitude");
        assert_eq!(faster(&sheet).verdict, Verdict::NotMeasured);
        for (method, time) in
            [("paper/refine", 30.0), ("LiCE (median)", 9.7e6), ("VAE", 22.0), ("FACE (knn)", 40.0)]
        {
            sheet.number(&format!("{PREFIX}{method}"), MEDIAN_TIME, time, 1);
        }
        sheet.number(&format!("{PREFIX}recorded/DiCE"), MEDIAN_TIME, 1.0, 1);
        assert_eq!(
            (faster(&sheet).verdict, faster(&sheet).evidence.as_str()),
            (Verdict::Confirmed, "credit: 30 µs to 9.7 s of LiCE (median)")
        );
        let others = claim(sheet.into_figures(), "do not optimise");
        assert_eq!(
            (others.verdict, others.evidence.as_str()),
            (Verdict::Refuted, "credit: 30 µs to 22 µs of VAE")
        );
    }

    #[test]
    fn a_claim_that_holds_on_some_tables_names_them() {
        let sheet = |table: &str, after: f64| {
            let mut sheet = Sheet::new(table, "0");
            sheet.number(PROPOSED, "nll", 9.0, 1);
            sheet.number(SEARCHED, "nll", after, 1);
            sheet.into_figures()
        };
        // Published: adult falls, credit rises.
        let mixed = claim([sheet("adult", 9.4), sheet("credit", 9.4)].concat(), "improves NLL");
        assert_eq!(mixed.verdict, Verdict::HoldsOn(vec!["credit".to_string()]));
        assert!(markdown(&[mixed]).contains("**confirmed on credit, refuted on the others**"));
        assert_eq!(claim(sheet("mine", 9.4), "improves NLL").verdict, Verdict::NotMeasured);
    }
}
