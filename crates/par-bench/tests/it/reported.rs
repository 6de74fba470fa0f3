//! The report of figures with every measure of every experiment, odd names and gaps.

use par_bench::figures::COLUMNS;
use par_bench::{Experiment, Figures, Metric, Report, Sheet};
use par_model::Mean;
use par_plot::page::check_tags;

const HOSTILE: &str = "<script>alert('1')</script>; \"x\" = 1";
const OURS: [&str; 3] = ["generate", "refine", "exact"];
const FOLDS: usize = 3;

/// A deterministic pseudo-random number between 0 and 1.
fn noise(seed: usize) -> f64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / (1_u64 << 24) as f64
}

/// The measures of answers.
fn judged(sheet: &mut Sheet, method: &str, nll: f64, over: usize, of: usize) {
    let share = |mean: f64, over: usize| Mean { mean: (over > 0).then_some(mean), over, of };
    sheet.mean(method, "validity", share(over as f64 / of.max(1) as f64, of));
    sheet.mean(method, "actionability", share(1.0, over));
    sheet.mean(method, "causality", share(1.0, over));
    for (name, value) in [
        ("nll", nll),
        ("similarity", nll / 9.0),
        ("similarity_codes", nll / 3.0),
        ("distance", nll / 7.0),
        ("sparsity", nll / 6.0),
        ("score", 0.7),
    ] {
        sheet.mean(method, name, share(value, over));
    }
}

fn answers(sheet: &mut Sheet, fold: usize) {
    sheet.mean("people", "denied", Mean { mean: Some(0.2), over: 100, of: 100 });
    sheet.mean("people", "possible", Mean { mean: Some(1.0), over: 20, of: 20 });
    for (place, method) in OURS.into_iter().enumerate() {
        for (prefix, more) in [("", 0.0), ("paper/", 1.5)] {
            let method = &format!("{prefix}{method}");
            judged(sheet, method, 18.0 + more - place as f64 * 0.3 + noise(fold), 20 - fold, 20);
            sheet.distribution(method, "gap", vec![0.0, 0.0, 0.9], 20);
            let time = 40.0 * 8_f64.powi(place as i32);
            sheet.distribution(method, "time_us", vec![time, time, 3.0 * time], 20);
        }
        for person in 0..20 {
            let at = |name| Metric::at(name, &[("person", &format!("{fold}-{person}"))]);
            sheet.number(method, at("nll"), 15.0 + 8.0 * noise(person + 31 * place), 1);
            sheet.number(method, at("sparsity"), (1.0 + 5.0 * noise(person + 7 * place)).floor(), 1);
        }
    }
    sheet.number("exact", "optimal", 1.0, 20);
    for (place, peer) in ["LiCE_median", "DiCE", HOSTILE].into_iter().enumerate() {
        judged(sheet, peer, 22.0 + 4.0 * place as f64 + noise(fold), 12, 20);
        sheet.distribution(peer, "time_us", vec![3e6; 12], 20);
    }
    judged(sheet, "found nothing", 0.0, 0, 20);
    for changes in 1..=5_usize {
        let at = |name| Metric::at(name, &[("changes", &changes)]);
        sheet.number("frontier", at("nll"), 22.0 - changes as f64 * 1.2, 18);
        sheet.number("frontier", at("validity"), 0.9, 20);
    }
    for person in 0..2 {
        for (place, feature) in
            ["Age", "Duration", "Purpose of the credit, in words", HOSTILE].iter().enumerate()
        {
            for (method, cell) in [("factual", "6"), ("exact", if place == 1 { "24" } else { "6" })] {
                let id = format!("{fold}-{person}");
                let keys: [(&str, &dyn std::fmt::Display); 3] =
                    [("person", &id), ("feature", feature), ("cell", &cell)];
                let height = if cell == "24" { 0.9 } else { noise(place) };
                sheet.number(method, Metric::at("coordinate", &keys), height, 1);
            }
        }
    }
}

fn training(sheet: &mut Sheet, fold: usize) {
    for (place, name) in ["full", "-validity", "-p+ -p-", "-entropy -ppt", HOSTILE].into_iter().enumerate() {
        for preset in ["paper", "ours"] {
            judged(
                sheet,
                &format!("{preset} {name}/generate"),
                17.0 + place as f64 + noise(fold),
                20 - 4 * place,
                20,
            );
            judged(sheet, &format!("{preset} {name}/refine"), 16.0 + place as f64 + noise(fold), 20, 20);
        }
    }
    for name in ["full", "-validity", "-p+ -p-", "-p+ -p- -validity", "-p+"] {
        let at = |measure| Metric::at(measure, &[("weights", &HOSTILE)]);
        sheet.number(&format!("paper {name}/generate"), at("validity"), 0.6, 20);
        sheet.number(&format!("paper {name}/generate"), at("nll"), 18.0 + noise(fold), 20);
    }
    for preset in ["paper", "ours"] {
        let method = &format!("{preset}/encoder");
        sheet.number(method, "relative_l1", 0.4, 15);
        sheet.number(method, "moved", 0.8, 15);
        for (place, feature) in ["Duration", HOSTILE].iter().enumerate() {
            let at = |name| Metric::at(name, &[("feature", feature)]);
            sheet.number(method, at("logit_change"), 0.5 + place as f64 + noise(fold), 15);
            sheet.number(method, at("moved"), 0.7, 15);
        }
        judged(sheet, &format!("{preset} -neighbours/generate"), 19.0, 18, 20);
        judged(sheet, &format!("{preset} -neighbours/refine"), 18.0, 20, 20);
    }
}

fn peers(sheet: &mut Sheet, fold: usize) {
    sheet.number("peers/people", "denied", 0.2, 100);
    for method in ["generate", "paper/refine", "NICE", "recorded/VAE", HOSTILE] {
        let method = &format!("peers/{method}");
        judged(sheet, method, 18.0 + noise(fold), 19, 20);
        sheet.number(method, "prepare_us", 2e6, 1);
    }
}

fn robustness(sheet: &mut Sheet) {
    for method in ["as reported/refine", HOSTILE] {
        judged(sheet, &format!("setting: {method}"), 18.0, 20, 20);
    }
    for (place, method) in
        ["generate", "refine", "exact", "paper/refine", "LiCE_median"].into_iter().enumerate()
    {
        for (number, classifier) in ["seed 1", "bootstrap 1", "width 40-20", HOSTILE].iter().enumerate() {
            let at = |name| Metric::at(name, &[("classifier", classifier)]);
            sheet.number(method, at("score"), 0.4 + 0.5 * noise(place + 11 * number), 20);
            sheet.number(method, at("kept"), 0.5 + 0.5 * noise(place + 13 * number), 20);
        }
    }
    let at = Metric::at("agreement", &[("classifier", &"seed 1")]);
    sheet.number("classifier", at, 0.95, 200);
}

fn quality(sheet: &mut Sheet, fold: usize) {
    sheet.number("bins", "coverage", 0.999_996, 4000);
    sheet.number("bins", "fidelity", 0.999, 200);
    for (name, value) in
        [("threshold", 0.5), ("auc", 0.8), ("accuracy", 0.75), ("brier", 0.17), ("calibration_error", 0.04)]
    {
        sheet.number("classifier", name, value, 200);
    }
    sheet.mean("classifier", "youden", Mean { mean: None, over: 0, of: 200 });
    for bin in 0..10_usize {
        let at = |name| Metric::at(name, &[("bin", &bin)]);
        let over = if bin == 3 { 0 } else { 20 };
        let mean = |value: f64| Mean { mean: (over > 0).then_some(value), over, of: 200 };
        sheet.mean("classifier", at("calibration"), mean((bin as f64 / 10.0 + 0.1 * noise(bin)).min(1.0)));
        sheet.mean("classifier", at("predicted"), mean(bin as f64 / 10.0 + 0.05));
    }
    for pass in 1..=30 - fold {
        let at = |rows: &str| Metric::at("loss", &[("pass", &pass), ("rows", &rows)]);
        sheet.number("classifier", at("training"), 0.4 + 0.3 / pass as f64, 1);
        sheet.number("classifier", at("validation"), 0.5 + 0.2 / pass as f64 + 0.02 * noise(pass + fold), 1);
    }
    for circuit in ["circuit of the accepted", "circuit of the denied"] {
        sheet.number(circuit, "log_likelihood", -20.5 - noise(fold), 140);
        sheet.number(circuit, "edges", 5000.0, 1);
        sheet.number(circuit, "parameters", 3000.0, 1);
    }
    for step in (0..=2000_usize).step_by(100) {
        sheet.number(
            "generator",
            Metric::at("valid", &[("step", &step)]),
            1.0 - 1.0 / (1.0 + step as f64 / 80.0),
            500,
        );
        for term in ["total", "validity", "proximity", "never"] {
            let loss = if term == "never" {
                0.0
            } else {
                1.0 / (1.0 + step as f64 / 200.0) + 0.1 * noise(step + fold)
            };
            sheet.number("generator", Metric::at("loss", &[("step", &step), ("term", &term)]), loss, 1);
        }
    }
}

fn density(sheet: &mut Sheet, fold: usize) {
    for (place, density) in ["labels", "decisions"].into_iter().enumerate() {
        let (refine, circuit) = (&format!("{density}/refine"), &format!("{density}/circuit"));
        judged(sheet, refine, 17.0 + place as f64 + noise(fold), 20 - place, 20);
        sheet.number(refine, "kept", 0.7 + 0.2 * noise(place + fold), 20 - place);
        for judge in ["labels", "decisions", HOSTILE] {
            sheet.number(refine, Metric::at("nll", &[("circuit", &judge)]), 17.0 + noise(fold), 20);
        }
        for rows in ["favourable", "accepted", "both", HOSTILE] {
            let at = |name| Metric::at(name, &[("rows", &rows)]);
            sheet.number(refine, at("nearest"), 3.0 + noise(place), 20);
            sheet.number(circuit, at("log_likelihood"), -20.0 - noise(fold), 140);
        }
        sheet.number(circuit, "accepted", 0.6 + 0.2 * noise(place), 1000);
        let at = Metric::at("log_likelihood", &[("rows", &"both"), ("given", &"accepted")]);
        sheet.number(circuit, at, -19.0 - noise(fold), 140);
    }
}

fn fairness(sheet: &mut Sheet, fold: usize) {
    let groups = [
        ("sex", "female"),
        ("sex", "male"),
        ("Age", "19 to under 30"),
        ("Age", "30 to 75"),
        (HOSTILE, HOSTILE),
    ];
    for (place, (feature, group)) in groups.iter().enumerate() {
        let at = |name| Metric::at(name, &[("feature", feature), ("group", group)]);
        let people = 60 - 10 * place;
        sheet.number("refine", at("denied"), 0.2 + 0.2 * noise(place), people);
        sheet.number("refine", at("validity"), 0.95, people / 4);
        for (name, deviation, value) in [
            ("conditional_nll", "sd_conditional_nll", 17.0),
            ("sparsity", "sd_sparsity", 2.9),
            ("distance", "sd_distance", 3.0),
        ] {
            sheet.number("refine", at(name), value + noise(place + fold), people / 4);
            sheet.number("refine", at(deviation), 1.5, people / 4);
        }
        for changes in 1..=4_usize {
            let keys: [(&str, &dyn std::fmt::Display); 3] =
                [("feature", feature), ("group", group), ("changes", &changes)];
            sheet.number("refine", Metric::at("within", &keys), 0.25 * changes as f64, people / 4);
        }
    }
    sheet.number("refine", Metric::at("none", &[("reason", &"out_of_reach")]), 0.05, 20);
    sheet.number("refine", Metric::at("none", &[("reason", &"out_of_reach"), ("budget", &1)]), 0.25, 20);
    sheet.number(
        "refine",
        Metric::at("obstacle", &[("kind", &"immutable"), ("feature", &HOSTILE)]),
        0.05,
        20,
    );
    sheet.number("refine", Metric::at("needs", &[("changes", &2), ("budget", &1)]), 0.2, 20);
}

fn growth(sheet: &mut Sheet) {
    for (stage, seconds) in
        [("read", 0.01), ("classifier", 0.4), ("circuits", 0.9), ("pool", 0.05), ("generator", 1.2)]
    {
        sheet.number("fit", Metric::at("seconds", &[("stage", &stage)]), seconds, 1);
    }
    for (place, method) in OURS.into_iter().enumerate() {
        let time = 30.0 * 6_f64.powi(place as i32);
        sheet.number(method, Metric::at("time_us", &[("alone", &1)]), time, 100);
        for (key, sizes) in
            [("rows", [1000, 10_000, 100_000]), ("bins", [4, 10, 40]), ("edges", [500, 5000, 50_000])]
        {
            for size in sizes {
                let slow = time * f64::from(size) / f64::from(sizes[0]);
                sheet.number(method, Metric::at("time_us", &[(key, &size)]), slow, 100);
                sheet.number("fit", Metric::at("seconds", &[(key, &size)]), slow / 100.0, 1);
            }
        }
        for columns in [10, 50, 200] {
            let at = |name: &str| Metric::at(name, &[("columns", &columns), ("rows", &1000)]);
            sheet.number("fit", at("memory_mb"), f64::from(columns), 1);
            sheet.summary(method, "time_us", &at, vec![time, time * f64::from(columns)], 100);
        }
    }
    sheet.number("fit", Metric::at("seconds", &[("states", &8)]), 3.0, 1);
    for threads in [1, 2] {
        let at = Metric::at("rows_per_second", &[("threads", &threads)]);
        sheet.number("refine", at, 9000.0 * f64::from(threads), 1000);
    }
}

/// Two cases with every measure of every experiment, and one with answers only.
fn fixture() -> Figures {
    let mut all = Vec::new();
    for case in ["credit", HOSTILE, "answers alone"] {
        for fold in 0..FOLDS {
            let mut sheet = Sheet::new(case, &fold.to_string());
            answers(&mut sheet, fold);
            if case != "answers alone" {
                training(&mut sheet, fold);
                peers(&mut sheet, fold);
                robustness(&mut sheet);
                quality(&mut sheet, fold);
                density(&mut sheet, fold);
                fairness(&mut sheet, fold);
            }
            all.extend(sheet.into_figures());
        }
        if case != "answers alone" {
            let mut sheet = Sheet::new(case, "");
            growth(&mut sheet);
            all.extend(sheet.into_figures());
        }
    }
    Figures(all)
}

fn everything(figures: &Figures) -> Vec<String> {
    let report = Report::new(figures);
    let mut texts = vec![report.html()];
    texts.extend(report.svgs().into_iter().map(|(_, svg)| svg));
    texts.extend(Experiment::ALL.map(|topic| report.text(topic)));
    texts.extend(Experiment::ALL.map(|topic| serde_json::to_string(&report.json(&[topic])).expect("tables")));
    texts
}

#[test]
fn every_chart_has_a_description_and_a_unique_name() {
    let figures = fixture();
    let report = Report::new(&figures);
    let names: Vec<String> = report.svgs().into_iter().map(|(name, _)| name).collect();
    for name in [
        "local-search-1",
        "local-search-2",
        "local-search-3",
        "credit-pareto",
        "credit-nll-1",
        "credit-nll-3",
        "credit-changes",
        "credit-people-1",
        "credit-people-4",
        "credit-timings",
        "credit-ablations-1",
        "credit-ablations-4",
        "credit-encoder",
        "credit-robustness-1",
        "credit-robustness-2",
        "credit-classifier",
        "credit-generator-validity",
        "credit-generator-loss-1",
        "credit-calibration",
        "credit-fairness-1",
        "credit-fairness-5",
        "credit-amortization",
        "credit-growth-1",
        "credit-growth-4",
        "credit-sizes",
    ] {
        assert!(names.contains(&format!("{name}.svg")), "{name} is not among {names:?}");
    }
    let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
    for plot in report.plots() {
        assert!(
            !plot.caption.is_empty() && plot.charts.iter().all(|(_, chart)| !chart.description().is_empty())
        );
    }
}

#[test]
fn every_experiment_has_tables_of_every_measured_case() {
    let figures = fixture();
    let report = Report::new(&figures);
    for topic in Experiment::ALL {
        let tables = report.tables(topic);
        for case in ["credit", HOSTILE] {
            assert!(tables.iter().any(|table| table.case == case), "{}", topic.name());
        }
        assert!(
            tables
                .iter()
                .all(|table| table.rows.iter().all(|row| row.cells.len() + 1 == table.columns.len()))
        );
        assert_eq!(tables.iter().any(|table| table.case == "answers alone"), topic == Experiment::Answers);
    }
}

#[test]
fn text_of_figures_is_escaped() {
    let figures = fixture();
    let report = Report::new(&figures);
    let html = report.html();
    assert!(html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"));
    for needed_from_elsewhere in ["<script", "http:", "https:", "//", "@import", "url(", "src=", "<link"] {
        assert!(!html.contains(needed_from_elsewhere), "{needed_from_elsewhere}");
    }
    check_tags(&html);
    for (name, svg) in report.svgs() {
        assert!(!svg.contains("<script") && !name.contains(['/', '<', ' ']), "{name}");
        check_tags(&svg);
    }
}

#[test]
fn links_of_the_page_have_targets() {
    let html = Report::new(&fixture()).html();
    let targets: Vec<&str> =
        html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(targets.len() > 20, "{targets:?}");
    for target in targets {
        assert_eq!(html.matches(&format!("id=\"{target}\"")).count(), 1, "{target}");
    }
}

#[test]
fn the_same_figures_give_the_same_bytes_after_a_round_trip() {
    let mut csv = Vec::new();
    fixture().write(&mut csv).expect("memory");
    let read = Figures::read(csv.as_slice(), "figures.csv").expect("figures");
    assert_eq!(everything(&read), everything(&fixture()));
}

#[test]
fn no_number_is_nan_or_infinite() {
    let mut hard = fixture();
    // The largest numbers, zeros, negative ones, means over none, and every third figure removed.
    for (place, figure) in hard.0.iter_mut().enumerate() {
        match place % 11 {
            0 => figure.value = Some(f64::MAX),
            1 => figure.value = Some(f64::MIN),
            2 => figure.value = Some(0.0),
            3 => (figure.value, figure.over) = (None, 0),
            4 => figure.value = figure.value.map(|value| -value),
            5 => (figure.over, figure.of) = (0, 0),
            _ => {}
        }
    }
    let mut place = 0;
    hard.0.retain(|_| {
        place += 1;
        place % 3 > 0
    });
    for figures in [fixture(), hard] {
        for text in everything(&figures) {
            let mut words = text.split(|character: char| !character.is_alphanumeric());
            assert!(words.all(|word| !["NaN", "inf", "Infinity", "infinity"].contains(&word)), "{}", {
                let place = ["NaN", "inf"].iter().filter_map(|wrong| text.find(wrong)).min().unwrap_or(0);
                text.chars().skip(place.saturating_sub(300)).take(400).collect::<String>()
            });
        }
    }
}

#[test]
fn unknown_figures_make_a_page() {
    for figures in [Figures::default(), {
        let mut sheet = Sheet::new("", "");
        sheet.number("", "", 1.0, 0);
        sheet.number("who", Metric::at("nll", &[("", &"")]), 1.0, 0);
        sheet.number("refine", Metric::at("denied", &[("feature", &"f")]), 1.0, 0);
        sheet.number("fit", Metric::at("seconds", &[("rows", &"many")]), 1.0, 0);
        sheet.number("frontier", Metric::at("nll", &[("changes", &"NaN")]), 1.0, 0);
        Figures(sheet.into_figures())
    }] {
        check_tags(&Report::new(&figures).html());
        everything(&figures);
    }
    let header = COLUMNS.join(",");
    let empty = Figures::read(header.as_bytes(), "figures.csv").expect("no figures");
    assert!(Report::new(&empty).html().contains("There are no figures."));
}
