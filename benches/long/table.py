"""Writes a long table of ten dependent columns and a noisy decision: python table.py ROWS OUT.csv"""

import sys

import numpy as np

REGIONS = np.array(["north", "south", "east", "west"])
JOBS = np.array(["none", "part", "full", "self", "retired"])
AT_ONCE = 200_000


def columns(rows, rng):
    """The cells of some rows: all columns depend on three hidden factors."""
    z, e = rng.normal(size=(rows, 3)), rng.normal(size=(rows, 10))
    age = np.clip(np.round(42 + 12 * z[:, 0] + 6 * e[:, 0]), 18, 95).astype(int)
    income = np.round(np.exp(10 + 0.5 * z[:, 1] + 0.2 * z[:, 0] + 0.3 * e[:, 1])).astype(int)
    debt = np.round(np.exp(8 + 0.6 * z[:, 2] + 0.3 * z[:, 1] + 0.5 * e[:, 2])).astype(int)
    months = np.clip(np.round(60 + 40 * z[:, 0] + 20 * e[:, 3]), 0, None).astype(int)
    lines = rng.poisson(np.exp(1 + 0.4 * z[:, 1]))
    late = rng.poisson(np.exp(-1 + 0.7 * z[:, 2]))
    usual = np.clip(np.round(38 + 9 * z[:, 1] + 6 * e[:, 6]), 0, 99)
    hours = np.where(e[:, 6] < 0.3, 40, usual).astype(int)
    region = REGIONS[np.clip(((z[:, 0] + e[:, 7]) * 0.8 + 2).astype(int), 0, 3)]
    job = JOBS[np.clip((z[:, 1] + 0.6 * e[:, 8] + 2.2).astype(int), 0, 4)]
    utilisation = np.round(1 / (1 + np.exp(-(z[:, 2] + 0.7 * e[:, 9]))), 4)
    score = 1.2 * z[:, 1] - 1.3 * z[:, 2] + 0.4 * z[:, 0] - 0.3 * (late > 1) + 0.5 * (job == "full")
    approved = np.where(score + 0.8 * rng.logistic(size=rows) > 0, "yes", "no")
    return [age, income, debt, months, lines, late, hours, region, job, utilisation, approved]


def main():
    left, rng = int(sys.argv[1]), np.random.default_rng(7)
    with open(sys.argv[2], "w") as file:
        file.write("age,income,debt,months,open_lines,late,hours,region,job,utilisation,approved\n")
        while left:
            rows = min(left, AT_ONCE)
            left -= rows
            cells = zip(*(column.tolist() for column in columns(rows, rng)))
            file.write("".join(",".join(map(str, row)) + "\n" for row in cells))


main()
