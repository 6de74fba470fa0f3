"""Where a person may go with a feature, for packages that can be told. `python -m doctest permitted.py` checks it."""

from __future__ import annotations


def permitted(feature: dict, own: object, seen: list) -> list:
    """The lowest and the highest number, or the categories, that a person with the value `own` may have.

    `feature` is one of questions.json; `seen` are the lowest and the highest number, or the categories, of training
    rows. The own value is always permitted.

    >>> debt = {"kind": "continuous", "values": None, "range": [0.0, 50.0], "change": "free"}
    >>> permitted(debt, 9.0, [-5.0, 70.0]), permitted(debt, 60.0, [-5.0, 70.0])
    ([0.0, 50.0], [0.0, 60.0])
    >>> permitted(debt | {"change": "decrease"}, 9.0, [-5.0, 70.0])
    [0.0, 9.0]
    >>> permitted(debt | {"change": "with-time"}, 9.0, [-5.0, 30.0])
    [9.0, 30.0]
    >>> degree = {"kind": "ordinal", "values": ["low", "middle", "high"], "range": None, "change": "increase"}
    >>> permitted(degree, "middle", ["high", "low", "middle"])
    ['high', 'middle']
    >>> permitted(degree | {"change": "follows"}, "middle", ["high", "low", "middle"])
    ['high', 'low', 'middle']
    """
    rises, falls = feature["change"] in ("increase", "with-time"), feature["change"] == "decrease"
    if feature["values"] is not None:
        order = feature["values"]
        if feature["kind"] != "ordinal" or not (rises or falls):
            return list(seen)
        place = order.index(own)
        return [value for value in seen if value in (order[place:] if rises else order[: place + 1])]
    own, least, most = (plain(number) for number in (own, *seen))
    low = own if rises else max(feature["range"][0], least)
    high = own if falls else min(feature["range"][1], most)
    return [min(low, own), max(high, own)]


def plain(number: object) -> object:
    """A number of numpy as one of Python."""
    return number.item() if hasattr(number, "item") else number
