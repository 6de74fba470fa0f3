use par_data::schema::Mutability;
use par_data::{Constraints, Coverage, DiscretizerConfig, Domain, Restriction, UNKNOWN, german_credit};

use crate::{all_rows, columns, fit};

#[test]
fn the_table_has_a_thousand_applicants() {
    let schema = german_credit::schema();
    assert_eq!((schema.features().len(), schema.rules().len(), schema.rows()), (20, 1, Some(1000)));
    let columns = columns(&schema, &german_credit::table()).expect("all columns");
    let batch = all_rows(german_credit::table());
    let classes = schema.classes(&columns, &batch).expect("known classes");
    let label = schema.label().expect("a label");
    let good = classes.iter().filter(|class| label.wants(**class)).count();
    assert_eq!((classes.len(), good), (1000, 700));
}

#[test]
fn only_actionable_features_change() {
    let schema = german_credit::schema();
    let movable = schema.features().iter().filter(|feature| !feature.is_immutable());
    let named: Vec<(&str, Mutability)> =
        movable.map(|feature| (feature.name.as_str(), feature.change)).collect();
    let expected = [
        ("Status of existing checking account", Mutability::Increase),
        ("Duration", Mutability::Decrease),
        ("Credit amount", Mutability::Decrease),
        ("Savings account/bonds", Mutability::Increase),
        ("Present employment since", Mutability::Increase),
        ("Other debtors / guarantors", Mutability::Free),
        ("Property", Mutability::Increase),
        ("Other installment plans", Mutability::Free),
        ("Number of existing credits at this bank", Mutability::Decrease),
        ("Telephone", Mutability::Free),
    ];
    assert_eq!(named, expected);
    // No answer says to give up a guarantor or a telephone, or to become what takes many years.
    let allowed = |name: &str| schema.features()[schema.position(name).expect("a feature")].allowed.clone();
    let only = |values: &[&str]| Some(values.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(allowed("Status of existing checking account"), only(&["A12", "A13"]));
    assert_eq!(allowed("Present employment since"), only(&["A72", "A73"]));
    assert_eq!(allowed("Other debtors / guarantors"), only(&["A102", "A103"]));
    assert_eq!(allowed("Other installment plans"), only(&["A143"]));
    assert_eq!(allowed("Telephone"), only(&["A192"]));
}

#[test]
fn without_constraints_every_feature_may_change_in_every_direction() {
    let schema = german_credit::unconstrained_schema();
    assert!(schema.features().iter().all(|feature| feature.change == Mutability::Free));
    let constraints = Constraints::new(&fit(&schema, german_credit::table()).expect("a fit"));
    let bounds = ["Duration", "Credit amount"].map(|name| schema.position(name).expect("a feature"));
    for restriction in constraints.restrictions() {
        assert!(
            matches!(restriction, Restriction::Allowed(feature) if bounds.contains(&feature)),
            "{restriction:?}"
        );
    }
}

#[test]
fn every_training_cell_is_inside_its_domain() {
    let schema = german_credit::schema();
    let discretizer = fit(&schema, german_credit::table()).expect("a fit");
    let columns = columns(&schema, &german_credit::table()).expect("all columns");
    let mut coverage = Coverage::new(20);
    for batch in german_credit::table().batches(300) {
        let encoded = discretizer.encode(&columns, &batch.expect("rows")).expect("codes");
        assert!(!encoded.codes().contains(&UNKNOWN));
        coverage.merge(encoded.coverage());
    }
    assert_eq!((coverage.rows(), coverage.coverage(), coverage.fidelity()), (1000, Some(1.0), Some(1.0)));
}

#[test]
fn numbers_become_values_or_bins_by_their_variety() {
    let schema = german_credit::schema();
    let discretizer = fit(&schema, german_credit::table()).expect("a fit");
    let domain = |name| &discretizer.domains()[schema.position(name).expect("a feature")];
    let Domain::Values { values, .. } = domain("Installment rate in percentage of disposable income") else {
        panic!("four distinct values")
    };
    assert_eq!(values, &[1.0, 2.0, 3.0, 4.0]);
    let Domain::Bins { edges, summary, .. } = domain("Credit amount") else { panic!("many distinct values") };
    assert_eq!(edges.len(), DiscretizerConfig::default().bins + 1);
    // numpy.quantile says 250, 932, 1262 and 18424, and numpy.median 2319.5 and 1097.5: rounded until ten people share
    // them.
    assert_eq!(&edges[..3], [200.0, 932.0, 1262.0]);
    assert_eq!((summary.median, summary.mad, summary.decimals), (2300.0, 1100.0, 0));
    assert_eq!((summary.low, summary.high), (200.0, 20_000.0));
}

#[test]
fn no_applicant_is_of_a_negative_age_or_asks_for_a_negative_loan() {
    let schema = german_credit::schema();
    let range = |name: &str| schema.features()[schema.position(name).expect("a feature")].range;
    assert_eq!(range("Age"), Some([0.0, 120.0]));
    assert_eq!(["Duration", "Credit amount"].map(range), [Some([0.0, f64::INFINITY]); 2]);
}
