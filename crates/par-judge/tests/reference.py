"""Writes `reference.json`: a small table, and what scikit-learn says of it.

    pip install numpy scikit-learn
    python crates/par-judge/tests/reference.py > crates/par-judge/tests/reference.json
"""

import json

import numpy as np
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

JOBS = ["clerk", "cook", "nurse"]
CITIES = ["Jena", "Kiel", "Ulm"]
FOLDS = 5


def rows(random, count, shift):
    """Income is continuous, so that no two distances are equal; most people have no delay: its MAD is 0."""
    income = np.round(random.lognormal(7.5 + shift, 0.5, count), 3)
    age = random.integers(20, 70, count)
    delays = np.where(random.random(count) < 0.8 - shift, 0, random.integers(1, 6, count))
    job = random.choice(len(JOBS), count, p=[0.6 - shift, 0.3, 0.1 + shift])
    city = random.choice(len(CITIES), count)
    return np.column_stack([income, age, delays, job, city])


def in_space(table, spreads):
    """Numbers in spreads; of one-hot columns half, so that a difference counts 1."""
    hot = [np.eye(3)[table[:, column].astype(int)] / 2 for column in (3, 4)]
    return np.column_stack([table[:, :3] / spreads, *hot])


def spread(numbers):
    deviation = np.median(np.abs(numbers - np.median(numbers)))
    return deviation if deviation > 0 else numbers.std()


def auc_by_folds(accepted, answers):
    table = np.vstack([answers, accepted])
    classes = np.repeat([1, 0], [len(answers), len(accepted)])
    fold = np.concatenate([np.arange(len(part)) % FOLDS for part in (answers, accepted)])
    aucs = []
    for held_out in range(FOLDS):
        trees = HistGradientBoostingClassifier(max_depth=4, max_leaf_nodes=None, early_stopping=False)
        trees.fit(table[fold != held_out], classes[fold != held_out])
        scores = trees.decision_function(table[fold == held_out])
        aucs.append(roc_auc_score(classes[fold == held_out], scores))
    return aucs


def cells(table):
    return [[f"{row[0]:.3f}", str(int(row[1])), str(int(row[2])), JOBS[int(row[3])], CITIES[int(row[4])]] for row in table]


def main():
    random = np.random.default_rng(18)
    accepted, answers = rows(random, 200, 0.0), rows(random, 200, 0.1)
    spreads = np.array([spread(accepted[:, column]) for column in range(3)])
    known, new = in_space(accepted, spreads), in_space(answers, spreads)
    nearest = NearestNeighbors(n_neighbors=5, metric="manhattan", algorithm="brute").fit(known)
    factor = LocalOutlierFactor(n_neighbors=20, metric="manhattan", algorithm="brute", novelty=True).fit(known)
    print(json.dumps({
        "scikit_learn": sklearn.__version__,
        "header": ["income", "age", "delays", "job", "city"],
        "accepted": cells(accepted),
        "answers": cells(answers),
        "spreads": spreads.tolist(),
        "distances": nearest.kneighbors(new)[0].mean(axis=1).tolist(),
        "outlier_factors": (-factor.score_samples(new)).tolist(),
        "outliers": (factor.predict(new) == -1).tolist(),
        "own_distances": nearest.kneighbors()[0].mean(axis=1).tolist(),
        "own_outlier_factors": (-factor.negative_outlier_factor_).tolist(),
        "aucs": auc_by_folds(accepted, answers),
    }, indent=None).replace("], [", "],\n[").replace("], \"", "],\n\""))


main()
