"""Prints what NumPy and scikit-learn say of the points in points.hpp; the tests here hold their numbers.
python golden.py  (numpy, scikit-learn)"""
import numpy as np
from sklearn.manifold import TSNE, trustworthiness
from sklearn.neighbors import NearestNeighbors


def heaps(n, d):
    i, j = np.arange(n)[:, None], np.arange(d)[None, :]
    return 3 * np.cos(1.7 * (i % 5) * j + j) + np.sin(12.9898 * i + 78.233 * j)


def show(name, values):
    print(name, "{" + ", ".join(f"{v:.12g}" for v in np.ravel(values)) + "}")


def pca(x, k):
    centered = x - x.mean(0)
    _, s, v = np.linalg.svd(centered, full_matrices=False)
    v = v[:k] * np.sign(v[np.arange(k), np.abs(v[:k]).argmax(1)])[:, None]
    return s**2 / (len(x) - 1), v, centered @ v.T


if __name__ == "__main__":
    for n, d in ((12, 5), (5, 12)):
        variance, components, scores = pca(heaps(n, d), 3)
        print(n, d)
        show("variance", variance[:3])
        show("total", variance.sum())
        show("components", components)
        show("scores of the last point", scores[-1])

    x = heaps(150, 6)
    distance, index = NearestNeighbors(n_neighbors=4).fit(x).kneighbors(x[[0, 77, 149]])
    show("neighbors", index[:, 1:])
    show("distances", distance[:, 1:])
    show("trustworthiness of the first two coordinates, k = 5", trustworthiness(x, x[:, :2], n_neighbors=5))
    show("and k = 12", trustworthiness(x, x[:, :2], n_neighbors=12))
    embedded = TSNE(perplexity=15, init="pca", method="exact", random_state=0).fit_transform(x)
    show("trustworthiness of scikit-learn's t-SNE, k = 12", trustworthiness(x, embedded, n_neighbors=12))
