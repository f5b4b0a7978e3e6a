"""Makes table.json: columns, and the features that scikit-learn 1.9 computes from them."""
import json

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, PowerTransformer, StandardScaler

rng = np.random.default_rng(5)
N, TRAIN = 40, 30
numbers = np.stack([
    rng.normal(3, 2, N),                    # of both signs
    np.exp(rng.normal(8, 2, N)),            # bytes: positive, skew
    -rng.gamma(1.5, 3, N),                  # negative
    rng.integers(0, 4, N).astype(float),    # few values
    np.full(N, 7.25),                       # constant
    1e6 + rng.normal(0, 1, N),              # far from 0
], axis=1).round(6)
numbers[[2, 11, 33], [0, 1, 0]] = np.nan
colors = rng.choice(["red", "green", "dark blue"], N).astype(object)
colors[[4, 31]] = None
colors[35] = "violet"                      # not seen in training

imputer = SimpleImputer(strategy="mean").fit(numbers[:TRAIN])
filled = imputer.transform(numbers)


def seen(transformer):
    """Fits on the training cells that are not missing, column by column; then transforms the filled ones."""
    out = []
    for c in range(numbers.shape[1]):
        column = numbers[:TRAIN, c]
        transformer.fit(column[~np.isnan(column)].reshape(-1, 1))
        out.append(transformer.transform(filled[:, c:c + 1])[:, 0])
    return np.stack(out, axis=1).tolist()


def lambdas():
    transformer = PowerTransformer()
    return [float(transformer.fit(c[~np.isnan(c)].reshape(-1, 1)).lambdas_[0]) for c in numbers[:TRAIN].T]


modes = SimpleImputer(strategy="most_frequent", missing_values=None).fit(colors[:TRAIN].reshape(-1, 1))
encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
full = modes.transform(colors.reshape(-1, 1))
encoder.fit(full[:TRAIN])
with open("table.json", "w") as out:
    json.dump({
        "train": TRAIN,
        "cells": [["" if np.isnan(x) else repr(float(x)) for x in row] + [c or ""] for row, c in zip(numbers, colors)],
        "mean": imputer.statistics_.tolist(),
        "lambda": lambdas(),
        "standard": seen(StandardScaler()),
        "min-max": seen(MinMaxScaler()),
        "yeo-johnson": seen(PowerTransformer()),
        "categories": encoder.categories_[0].tolist(),
        "one-hot": encoder.transform(full).tolist(),
    }, out)
    out.write("\n")
