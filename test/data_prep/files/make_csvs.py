"""Makes csvs.json: tables as people have them, and what pandas 3 reads when it is told how.

python3 make_csvs.py > csvs.json
"""
import io
import json

import numpy as np
import pandas as pd

cases = []
random = np.random.default_rng(3)


def case(name, data, label, ending=".csv", drop=(), **kwargs):
    """`data`: the file's bytes; `kwargs` tell pandas.read_csv what Convoke has to find out itself."""
    if isinstance(data, str):
        data = data.encode()
    frame = pd.read_csv(io.BytesIO(data), **kwargs)
    if kwargs.get("header", 0) is None:
        frame.columns = [f"column_{i + 1}" for i in range(frame.shape[1])]
        label = frame.columns[label]
    frame = frame.drop(columns=list(drop))
    labels = frame.pop(label)
    features, columns = [], []
    for column in frame:
        values = frame[column]
        columns.append(str(column))
        if pd.api.types.is_numeric_dtype(values) and values.dtype != bool:
            features.append(values.fillna(values.mean()).to_numpy(np.float64))
        else:
            features += [c.to_numpy(np.float64) for _, c in pd.get_dummies(values.astype(str)).sort_index(axis=1).items()]
    cases.append({
        "name": name, "ending": ending, "hex": data.hex(), "columns": columns,
        "features": np.stack(features, 1).tolist(),
        "classes": [str(x) for x in labels],
    })


def frame(columns, rows=12, low=0.0, high=1.0, digits=3):
    table = pd.DataFrame(random.uniform(low, high, (rows, len(columns))).round(digits), columns=columns)
    return table


def with_labels(table, name="species", names=("lily", "rose", "tulip")):
    table[name] = [names[i % len(names)] for i in range(len(table))]
    return table


flowers = with_labels(frame(["length", "width", "depth"]))
case("pandas, with its index", flowers.to_csv(), "species", index_col=0)
shuffled = with_labels(frame(["length", "width"])).sample(frac=1, random_state=1)
case("pandas, with the index of a shuffled frame", shuffled.to_csv(), "species", index_col=0)
numbered = with_labels(frame(list(range(5))))
case("columns 0 ... N", numbered.to_csv(index=False), "species")
plain = frame(list(range(6)))
plain[5] = [i % 3 for i in range(len(plain))]
case("columns 0 ... N, and nothing else", plain.to_csv(index=False), "5")
case("columns 0 ... N and an index", numbered.to_csv(), "species", index_col=0)
spectrum = with_labels(frame([402.1, 404.6, 407.3, 409.2, 412.8, 415.5, 419.9], low=0, high=0.9))
case("wavelengths", spectrum.to_csv(index=False), "species")
years = with_labels(frame([2015, 2016, 2017, 2018], low=0, high=50))
case("years", years.to_csv(index=False), "species")
two = with_labels(frame(["1990", "2020"], low=5, high=9))
case("two years", two.to_csv(index=False), "species")
case("trailing separators", "\n".join(line + "," for line in flowers.to_csv(index=False).splitlines()) + "\n",
     "species", drop=["Unnamed: 4"])
lines = flowers.to_csv(index=False).splitlines()
case("trailing separators below the header", "\n".join([lines[0]] + [l + "," for l in lines[1:]]) + "\n",
     "species", index_col=False)
repeated = with_labels(frame(["a", "b", "c"]))
case("repeated names", "a,a,a,species\n" + "\n".join(repeated.to_csv(index=False).splitlines()[1:]) + "\n", "species")
r = "\n".join(['"length" "width" "species"'] + [f'"{i + 1}" {a} {b} "{s}"' for i, (a, b, s) in
              enumerate(zip(flowers.length, flowers.width, flowers.species))]) + "\n"
case("R's write.table", r, "species", sep=" ")
case("no header", flowers.to_csv(index=False, header=False), 3, header=None)
mushrooms = pd.DataFrame({"c": ["p", "e"] * 10, "cap": list("xbxbs") * 4, "odour": list("anna") * 5})
case("categories without a header", mushrooms.to_csv(index=False, header=False), 2, header=None)
case("categories with a header", mushrooms.rename(columns={"odour": "smell"}).to_csv(index=False), "smell")
wine = pd.DataFrame({"first": [1 + i % 3 for i in range(60)], "a": random.uniform(11, 15, 60).round(2),
                     "b": random.permutation(1500)[:60]})
case("no header and the label in front", wine.to_csv(index=False, header=False), 0, header=None)
letters = pd.DataFrame({"letter": list("TIDN") * 6, "x": random.integers(0, 15, 24), "y": random.integers(0, 3, 24)})
case("letters in front of numbers, no header", letters.to_csv(index=False, header=False), 0, header=None)

german = pd.DataFrame({"Länge": ["1,5", "12,25", "0,75", "3,0"] * 3, "Preis": ["1.234,56", "12,00", "7.000,10", "1,5"] * 3,
                       "Einwohner": ["1.234", "12.500", "7.001", "1.000.000"] * 3, "Art": ["rot", "grün", "weiß"] * 4})
case("decimal commas, thousands with dots", german.to_csv(index=False, sep=";"), "Art", sep=";", decimal=",", thousands=".")
case("decimal commas in Windows-1252", german.to_csv(index=False, sep=";").encode("cp1252"), "Art", sep=";", decimal=",",
     thousands=".", encoding="cp1252")
case("decimal commas and no header", german.to_csv(index=False, sep=";", header=False), 3, sep=";", decimal=",",
     thousands=".", header=None)
english = pd.DataFrame({"price": ["4,000", "16,600", "7,200", "900"] * 3, "area": [0.5, -0.09, 2.25] * 4,
                        "art": ["a", "b", "c"] * 4})
case("thousands with commas", english.to_csv(index=False), "art", thousands=",")
case("thousands with commas and decimals", english.assign(price=["1,234.5", "12,000,000.25", "3.5", "12"] * 3).to_csv(index=False),
     "art", thousands=",")
case("UTF-16", flowers.to_csv(index=False).encode("utf-16"), "species", encoding="utf-16")
case("UTF-16, big-endian", b"\xfe\xff" + german.to_csv(index=False, sep=";").encode("utf-16-be"), "Art",
     encoding="utf-16", sep=";", decimal=",", thousands=".")
case("UTF-8 with a byte order mark", flowers.to_csv(index=False).encode("utf-8-sig"), "species", encoding="utf-8-sig")
case("lines that end in CR", flowers.to_csv(index=False).replace("\n", "\r"), "species")
case("a comment", "# measured in 2020\n# by us\n" + flowers.to_csv(index=False), "species", comment="#")
case("bars", flowers.to_csv(index=False, sep="|"), "species", sep="|")
case("colons", flowers.to_csv(index=False, sep=":"), "species", sep=":")
case("Excel's line", "sep=;\n" + flowers.to_csv(index=False, sep=";"), "species", sep=";", skiprows=1)
missing = flowers.assign(length=["-", "1.5", "N/A", "2.5"] * 3, width=["", "null", "3", "5"] * 3)
case("missing values", missing.to_csv(index=False), "species", na_values=["-"])
small = flowers.assign(length=["1e-400", "1E-3", "-2.5e+2", "+7"] * 3)
case("exponents", small.to_csv(index=False), "species")
labels = pd.DataFrame({"x": random.uniform(0, 1, 12).round(3), "y": random.integers(-9, 9, 12), "z": random.integers(0, 5, 12),
                       "activity": ["sit", "walk", "run"] * 4})
case("y beside x is no label", labels.to_csv(index=False), "activity")
case("a label between features", flowers[["length", "species", "width"]].to_csv(index=False), "species")
case("target in front", flowers.rename(columns={"species": "Target"})[["Target", "length", "width"]].to_csv(index=False), "Target")

print("[" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in cases) + "]")
