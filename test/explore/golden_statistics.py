"""Prints what NumPy, scikit-learn and scipy say of the numbers in the tests named below, correlation_test.cpp and distribution_test.cpp.
python golden_statistics.py  (numpy, scikit-learn, scipy, scikit-image)"""
import numpy as np
from sklearn.feature_selection import f_classif

from golden import heaps, show

x = heaps(30, 4)
from scipy import stats

show("rank correlations", stats.spearmanr(np.round(x)).statistic)  # with ties
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

# distribution_test.cpp (scipy)
from scipy import ndimage

for name, sample in (("heaps", x[:, 1]), ("squares", np.arange(200) ** 2.0), ("few", x[:20, 2]), ("bytes", bytes_.astype(float))):
    statistic, p = stats.normaltest(sample)
    show(f"normality of {name}", [stats.skew(sample), stats.kurtosis(sample), statistic, p])

# gradients_test.cpp (scipy, scikit-image)
from skimage.feature import hog

row, column = np.mgrid[:17, :14]
image = np.sin(0.7 * row + 0.3 * column) * 100 + row * column % 13
edges = np.hypot(ndimage.sobel(image, 0, mode="nearest"), ndimage.sobel(image, 1, mode="nearest"))
show("edges of row 0", edges[0])
show("edges: sum, last", [edges.sum(), edges[-1, -1]])
features = hog(image, orientations=9, pixels_per_cell=(4, 4), cells_per_block=(2, 2), block_norm="L2-Hys", feature_vector=False)
show("hog: first block", features[0, 0])
show("hog: last block, and the sum of all", [*features[-1, -1, 1, 1], features.sum()])
print(features.shape)

# pca_test.cpp (scikit-learn)
from sklearn.decomposition import PCA

y = heaps(40, 6)
errors = []
for k in range(1, 6):
    fitted = PCA(k).fit(y)
    errors.append(np.sqrt(((fitted.inverse_transform(fitted.transform(y)) - y) ** 2).mean()))
show("reconstruction errors of 1 to 5 components", errors)
