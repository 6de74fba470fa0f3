"""Ask for recourse from Python, with nothing installed but the wheel (and pyarrow, which it brings).

Run with `python crates/par-python/examples/ask_for_recourse.py`.
"""

from par_recourse import Recourse, datasets

# Everything is learned once. Tables may be of pandas, polars or pyarrow; answers come in the same kind.
german = datasets.german_credit()
recourse = Recourse(german.schema).fit(german.X, german.y)
recourse.save("german.par")  # `par` reads it too

# A line for every way: id, rank, status, probability, …, then the row that this person could become.
ways = recourse.recourse(german.X, count=2, lock=["Duration"])
print(ways.num_rows, "lines,", ways.column("status").to_pylist().count("found"), "ways")

# One person, in words; in a notebook a table of the changes and a plot.
print(recourse.explain(german.X.slice(1, 1)))
