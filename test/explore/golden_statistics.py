"""Prints what NumPy, scikit-learn and scipy say of the numbers in correlation_test.cpp and distribution_test.cpp.
python golden_statistics.py  (numpy, scikit-learn)"""
import numpy as np
from sklearn.feature_selection import f_classif

from golden import heaps, show

x = heaps(30, 4)
labels = np.arange(30) % 5
show("correlations", np.corrcoef(x.T))
f, _ = f_classif(x, labels)
k, n = 5, 30
show("correlation ratios", f * (k - 1) / (f * (k - 1) + n - k))  # eta^2 from F
values = np.float32(x[:, 1])
show("quantiles", np.quantile(values.astype(float), [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]))
show("mean and standard deviation", [values.astype(float).mean(), values.astype(float).std()])
counts, edges = np.histogram(values, bins=7)
print("histogram", counts.tolist(), edges[0], edges[1] - edges[0])
bytes_ = (np.arange(1000) ** 2 % 241).astype(np.uint8)
show("quantiles of bytes", np.quantile(bytes_, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]))
show("mean and standard deviation of bytes", [bytes_.mean(), bytes_.std()])
