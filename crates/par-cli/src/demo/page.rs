//! The demo's report on a model and its answers: one self-contained HTML page.
//!
//! | file      | what it holds              |
//! |-----------|----------------------------|
//! | `figures` | the charts of the report   |
//! | `people`  | the answers of some people |

mod figures;
mod people;

use par_answer::evaluate::{Evaluation, MethodMetrics};
use par_answer::{Answer, Method};
use par_data::schema::Mutability;
use par_model::{Mean, Model};
use par_plot::text::{duration, grouped, share};
use par_plot::{Markup, page};

/// The contents of the report.
pub(crate) struct DemoReport<'a> {
    /// The name of the table.
    pub(crate) name: &'a str,
    pub(crate) model: &'a Model,
    /// How many people are classified correctly, if their classes are known.
    pub(crate) right: Option<usize>,
    pub(crate) evaluation: &'a Evaluation,
    /// The denied people.
    pub(crate) people: &'a [DeniedPerson],
}

/// A denied person, and the answers of all methods.
pub(crate) struct DeniedPerson {
    pub(crate) id: String,
    /// In the order of [`Method::ALL`].
    pub(crate) answers: [Answer; 3],
}

impl DeniedPerson {
    pub(crate) fn answer(&self, method: Method) -> &Answer {
        &self.answers[method as usize]
    }
}

/// At most this many answers are shown in full.
const SAMPLE: usize = 6;

impl DemoReport<'_> {
    /// The page. It holds running times, so two runs differ.
    pub(crate) fn html(&self) -> String {
        let mut page = page::head(&format!("Recourse for {}", self.name), "");
        page.add(&self.heading()).raw("<main>\n").add(&self.metrics());
        page.add(&people::section(self.model, &self.sample()));
        page.raw(
            "<section>\n<h2>What more changes buy</h2>\n<p>With more changes a row can be more usual among ",
        );
        page.raw("accepted people, or take less effort in all. Each person can choose.</p>\n");
        page.raw("<div class=\"charts\">\n").add(&figures::frontier(self.model, self.people));
        page.add(&figures::features(self.model, self.people)).raw("</div>\n</section>\n");
        page.raw(
            "<section>\n<h2>Three methods compared</h2>\n<p>The generator proposes, a local search refines, ",
        );
        page.raw("an exact search proves. The nearer the first two come to the third, the better.</p>\n");
        page.raw("<div class=\"charts\">\n").add(&figures::changes(self.people));
        page.add(&figures::likelihoods(self.people)).raw("</div>\n</section>\n");
        page.raw("<section>\n<h2>How it learned</h2>\n<div class=\"charts\">\n");
        page.add(&figures::classifier(&self.model.card().classifier));
        page.add(&figures::validity(&self.model.card().generator));
        page.add(&figures::losses(&self.model.card().generator)).raw("</div>\n</section>\n</main>\n");
        page.add(&self.footer()).raw("</body>\n</html>\n");
        page.into_string()
    }

    /// The features that are never advised, with the reason.
    fn never_advised(&self) -> String {
        let constraints = self.model.constraints();
        let named = |reason: &str, is_so: fn(Mutability) -> bool| {
            let features = self.model.schema().features().iter().enumerate();
            let names: Vec<&str> = features
                .filter(|(position, feature)| constraints.is_immutable(*position) && is_so(feature.change))
                .map(|(_, feature)| feature.name.as_str())
                .collect();
            (!names.is_empty()).then(|| format!("{reason}: {}.", names.join(", ")))
        };
        let moves = |change| matches!(change, Mutability::WithTime | Mutability::Follows);
        let sentences: Vec<String> = [
            named("What nobody can change is never advised", |change| {
                !matches!(change, Mutability::Undecided | Mutability::WithTime | Mutability::Follows)
            }),
            named("Nor is what the schema leaves undecided", |change| change == Mutability::Undecided),
            named("What moves with time or follows from others changes only with them", moves),
        ]
        .into_iter()
        .flatten()
        .collect();
        match sentences[..] {
            [] => "The schema lets every feature change, so any of them may be advised.".to_string(),
            _ => sentences.join(" "),
        }
    }

    fn heading(&self) -> Markup {
        let Evaluation { rows, denied, possible, .. } = self.evaluation;
        let [accepted, _] = &self.model.card().classes;
        let mut heading = Markup::default();
        heading.raw("<header>\n<p class=\"over\">Plausible algorithmic recourse</p>\n");
        heading.element("<h1>", format!("Recourse for {}", self.name), "</h1>\n<p class=\"lead\">");
        heading.text(format!(
            "A classifier decides who is accepted, here as “{accepted}”. For everyone it denies, this report \
             asks: which changes would have them accepted with the least effort, as someone who is not unusual \
             among accepted people, and make nothing worse? {}",
            self.never_advised()
        ));
        heading.raw("</p>\n<dl class=\"tiles\">\n");
        tile(&mut heading, &format!("of {} people are denied", grouped(*rows)), &grouped(*denied));
        tile(&mut heading, "of them can be accepted", &grouped(*possible));
        if let Some(exact) = self.of_method(Method::Exact) {
            tile(&mut heading, "changes on average", &decimals(exact.sparsity.mean, 1));
            tile(&mut heading, "effort on average", &decimals(exact.effort.mean, 1));
            tile(&mut heading, "months on average", &decimals(exact.months.mean, 1));
            tile(&mut heading, "of the answers are proved best", &share(exact.optimal.mean));
        }
        if let Some(refine) = self.of_method(Method::Refine) {
            tile(&mut heading, "for a refined answer", &duration(refine.time_us));
        }
        if let Some(right) = self.right {
            let right = (*rows > 0).then(|| right as f64 / *rows as f64);
            let title = format!("of {} people are classified correctly", grouped(*rows));
            tile(&mut heading, &title, &share(right));
        }
        heading.raw("</dl>\n</header>\n");
        heading
    }

    fn of_method(&self, method: Method) -> Option<&MethodMetrics> {
        self.evaluation.methods.iter().find(|metrics| metrics.method == method)
    }

    fn metrics(&self) -> Markup {
        let mut section = Markup::default();
        section.raw("<section>\n<h2>How good the answers are</h2>\n<p>");
        section.text(format!(
            "Means over the {} of {} people who are denied. Below each mean is the number of people that it is over.",
            grouped(self.evaluation.denied),
            grouped(self.evaluation.rows)
        ));
        section.raw(
            "</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Measures by method\">",
        );
        section.raw("<table>\n<thead><tr><th scope=\"col\">method</th>");
        for (title, ..) in MEASURES {
            section.element("<th scope=\"col\">", title, "</th>");
        }
        section.raw("</tr></thead>\n<tbody>\n");
        for metrics in &self.evaluation.methods {
            section.element("<tr><th scope=\"row\">", metrics.method.name(), "</th>");
            for (_, _, value) in MEASURES {
                let (value, over) = value(metrics);
                section.element("<td>", value, "");
                section.element("<small>", over, "</small></td>");
            }
            section.raw("</tr>\n");
        }
        section.raw("</tbody>\n</table></div>\n<dl class=\"terms\">\n");
        for (title, meaning, _) in MEASURES {
            section.element("<div><dt>", title, "</dt> ").element("<dd>", meaning, "</dd></div>\n");
        }
        section.raw("</dl>\n</section>\n");
        section
    }

    /// People at even distances in the table.
    fn sample(&self) -> Vec<&DeniedPerson> {
        let shown = self.people.len().min(SAMPLE);
        (0..shown).map(|place| &self.people[place * self.people.len() / shown]).collect()
    }

    fn footer(&self) -> Markup {
        let card = self.model.card();
        let mut footer = Markup::default();
        footer.raw("<footer>\n<p>").text(format!(
            "Made by {} with seed {}. Learned from {} rows of class “{}” and {} of “{}”, of which the model keeps \
             none: its pool of {} accepted people and all that the generator learned from are drawn from its \
             circuits. Log-likelihoods are in nats, of the circuit of accepted rows.",
            card.program,
            self.model.config().seed,
            grouped(card.rows[0]),
            card.classes[0],
            grouped(card.rows[1]),
            card.classes[1],
            grouped(self.model.pool().len())
        ));
        footer.raw("</p>\n</footer>\n");
        footer
    }
}

/// A line of the table of measures: title, meaning, and value with the number of people it is over.
type MeasureLine = (&'static str, &'static str, fn(&MethodMetrics) -> (String, String));

const MEASURES: [MeasureLine; 14] = [
    ("validity", "the share with an accepted recourse", |of| (share(of.validity.mean), over(&of.validity))),
    ("actionability", "the share of recourses that keep immutable features and directions", |of| {
        (share(of.actionability.mean), over(&of.actionability))
    }),
    ("causality", "the share that keeps the rules between features", |of| {
        (share(of.causality.mean), over(&of.causality))
    }),
    ("NLL", "−log-likelihood among accepted rows; lower is more plausible", |of| {
        (decimals(of.nll.mean, 2), over(&of.nll))
    }),
    ("percentile", "the share of accepted people who are no likelier, given what cannot change", |of| {
        (share(of.percentile.mean), over(&of.percentile))
    }),
    ("sparsity", "features that change", |of| (decimals(of.sparsity.mean, 2), over(&of.sparsity))),
    ("effort", "what the changes cost the person", |of| (decimals(of.effort.mean, 2), over(&of.effort))),
    ("months", "how long they take", |of| (decimals(of.months.mean, 1), over(&of.months))),
    ("margin", "the share above the threshold by the margin", |of| (share(of.margin.mean), over(&of.margin))),
    ("similarity", "how far numbers move, in median absolute deviations", |of| {
        (decimals(of.similarity.mean, 2), over(&of.similarity))
    }),
    ("distance", "the same, and one for each other feature that changes", |of| {
        (decimals(of.distance.mean, 2), over(&of.distance))
    }),
    ("median gap", "effort or nats to the best with as many changes that the exact search knows", |of| {
        (decimals(of.median_gap, 2), over(&of.gap))
    }),
    ("proved", "the share with a proof that nothing with at most as many changes is better", |of| {
        (share(of.optimal.mean), over(&of.optimal))
    }),
    ("median time", "an answer, on one thread", |of| (duration(of.time_us), String::new())),
];

fn tile(page: &mut Markup, title: &str, value: &str) {
    page.element("<div><dt>", title, "</dt>").element("<dd>", value, "</dd></div>\n");
}

fn over(mean: &Mean) -> String {
    format!("{} of {}", grouped(mean.over), grouped(mean.of))
}

fn decimals(number: Option<f64>, decimals: usize) -> String {
    number.map_or("–".to_string(), |number| format!("{number:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use par_answer::Request;
    use par_answer::evaluate::evaluate;
    use par_data::{Schema, Table, TableOptions};
    use par_fit::ModelBuilder;
    use par_model::Config;

    use super::*;

    const HOSTILE: &str = "<script>alert('1')</script>";

    /// A model whose schema and people are full of tags.
    fn hostile() -> (Model, Vec<Vec<String>>) {
        let schema = format!(
            r#"
[label]
column = "class"
classes = ["no", "{HOSTILE}"]
favourable = "{HOSTILE}"

[[feature]]
name = "{HOSTILE}"
kind = "nominal"
values = ["a", "b", "c"]
labels = {{ a = "{HOSTILE}", b = "{HOSTILE} & so on", c = "\"c\"" }}

[[feature]]
name = "hours & <b>"
kind = "discrete"
unit = "{HOSTILE}"
"#
        );
        let row = |number: usize| {
            let (job, hours) = (["a", "b", "c"][number % 3], number * 7 % 23);
            let class = if number % 3 + hours / 6 > 2 { HOSTILE } else { "no" };
            [job.to_string(), hours.to_string(), class.to_string()]
        };
        let rows: Vec<[String; 3]> = (0..80).map(row).collect();
        let lines = rows.iter().map(|row| row.join(",") + "\n");
        let text = format!("{HOSTILE},hours & <b>,class\n") + &lines.collect::<String>();
        let schema = Schema::parse(&schema, "hostile.toml").expect("a schema");
        let mut config = Config::default();
        config.generator.steps = 3;
        config.generator.examples = 50;
        config.pool.size = 50;
        let open = || {
            Table::from_reader("hostile.csv", std::io::Cursor::new(text.clone()), &TableOptions::default())
        };
        let model = ModelBuilder::new(schema, config).fit(open).expect("a model");
        (model, rows.into_iter().map(|row| row[..2].to_vec()).collect())
    }

    #[test]
    fn text_of_tables_and_schemas_is_escaped() {
        let (model, rows) = hostile();
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let evaluation = evaluate(&model, &rows).expect("rows that fit");
        let mut solver = par_answer::Solver::new(&model);
        let mut answer = |row: &[&str], method| {
            solver.answer(row, &Request { method, ..Request::default() }).expect("a row that fits")
        };
        let people: Vec<DeniedPerson> = rows
            .iter()
            .map(|row| DeniedPerson {
                id: HOSTILE.to_string(),
                answers: Method::ALL.map(|method| answer(row, method)),
            })
            .filter(|person| !matches!(person.answer(Method::Exact), Answer::Accepted { .. }))
            .collect();
        assert!(people.iter().any(|person| !person.answer(Method::Exact).ways().is_empty()));
        let html = DemoReport {
            name: HOSTILE,
            model: &model,
            right: None,
            evaluation: &evaluation,
            people: &people,
        };
        let html = html.html();
        assert!(html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"));
        assert!(!html.contains("<script"));
        page::check_tags(&html);
    }

    #[test]
    fn a_report_without_denied_people_is_complete() {
        let (model, _) = hostile();
        let evaluation = evaluate(&model, &[]).expect("no rows");
        let html =
            DemoReport { name: "empty", model: &model, right: Some(0), evaluation: &evaluation, people: &[] };
        let html = html.html();
        page::check_tags(&html);
        assert!(!html.contains("NaN"));
        assert!(html.contains("The schema lets every feature change, so any of them may be advised."));
    }
}
