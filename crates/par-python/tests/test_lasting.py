"""Ways that last: other versions of the classifier, a certificate, and room for a step."""

import pytest
from conftest import QUICK

from par_recourse import Recourse, errors


@pytest.fixture(scope="module")
def versioned(german):
    return Recourse(german.schema, versions=3, config=QUICK).fit(german.X, german.y)


def found(lines):
    return lines.to_pandas().query("status == 'found'")


def test_every_version_accepts_a_robust_way(versioned, german):
    rows = german.X.slice(0, 200)
    plain = found(versioned.recourse(rows))
    assert (plain["accepting"] < 1).any() and plain["certified"].isna().all()
    assert (found(versioned.recourse(rows, robust=True))["accepting"] == 1).all()
    assert (found(versioned.recourse(rows, robust=0.5))["accepting"] >= 0.5).all()


def test_a_certified_way_says_for_how_much(versioned, german):
    certified = found(versioned.recourse(german.X.slice(0, 100), certify=0.002))["certified"]
    assert len(certified) > 0 and (certified >= 0.002 - 1e-5).all()


def test_an_explanation_says_what_lasting_costs(versioned, german):
    plain = found(versioned.recourse(german.X)).query("accepting < 1")
    lasting = found(versioned.recourse(german.X, robust=True))
    wanted = set(plain["id"]) & set(lasting["id"])
    denied = next(row for row in german.X.to_pylist() if row["id"] in wanted)
    told = versioned.explain(denied, robust=True)
    assert told.ways[0].accepting == (3, 3)
    assert told.ways[0].lasting_words == "all 3 other versions of the classifier accept it"
    assert told.plain.row != told.ways[0].row and told.price_of_lasting in str(told)
    assert told.price_of_lasting in told._repr_html_()
    assert versioned.explain(denied).plain is None


def test_only_a_model_with_versions_has_robust_ways(fitted, german):
    with pytest.raises(errors.SettingError) as refused:
        fitted.recourse(german.X.slice(0, 1), robust=True)
    assert str(refused.value) == (
        "`robust` is true, expected nothing: the model has no other versions of its classifier; "
        "`par fit --versions 8` trains some"
    )
    with pytest.raises(errors.SettingError, match="`robust` is 2.0, expected true, false, or a share"):
        fitted.recourse(german.X.slice(0, 1), robust=2)


def test_an_estimator_is_a_further_version(german):
    linear = pytest.importorskip("sklearn.linear_model")
    X, y = german.X.to_pandas(), german.y.to_pandas()
    numbers = ["Duration", "Credit amount", "Age"]
    other = linear.LogisticRegression(max_iter=2000).fit(X[numbers], y)
    recourse = Recourse(german.schema, also=[other], config=QUICK).fit(X, y)
    lines = recourse.recourse(X.head(100), robust=True).query("status == 'found'")
    assert len(lines) > 0 and (lines["accepting"] == 1).all()
    good = list(other.classes_).index("Good")
    assert (other.predict_proba(lines[numbers])[:, good] >= recourse.threshold_).all()
    with pytest.raises(errors.ClassifierError, match="also: function 1 cannot be converted to ONNX"):
        Recourse(german.schema, also=[lambda X: [0.5] * len(X)], config=QUICK).fit(X, y)
