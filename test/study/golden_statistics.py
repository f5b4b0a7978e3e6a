"""Prints what scipy says of the numbers in statistics_test.cpp and laws_test.cpp.
python golden_statistics.py  (numpy, scipy)"""
import numpy as np
from scipy import optimize, stats

a = np.array([10.02, 9.87, 10.31, 10.11, 9.95])
b = np.array([5.64, 5.71, 5.38, 5.55])
print("t 97.5 %", [float(stats.t.ppf(0.975, v)) for v in (1, 2, 3.7, 9, 1000)])
print("p", [float(2 * stats.t.sf(t, v)) for t, v in ((0.5, 1), (2.5, 7.3), (12, 30))])
for x in (a, b):
    print("interval", stats.t.interval(0.95, len(x) - 1, x.mean(), stats.sem(x)), np.median(x), x.std(ddof=1))
test = stats.ttest_ind(a, b + 4.4, equal_var=False)
print("welch", test.statistic, test.df, test.pvalue, test.confidence_interval(0.95))

# Fieller: where the test of a against q b is just significant.
u, v = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
q = a.mean() / b.mean()
w = q * q * v
df = (u + w) ** 2 / (u**2 / (len(a) - 1) + w**2 / (len(b) - 1))
edge = lambda x: abs(a.mean() - x * b.mean()) / np.sqrt(u + x * x * v) - stats.t.ppf(0.975, df)
print("ratio", q, optimize.brentq(edge, q / 2, q), optimize.brentq(edge, q, 2 * q))

# Runs needed, one after another.
x = np.array([10.0, 13.0, 8.0])
n = len(x)
while stats.t.ppf(0.975, n - 1) * x.std(ddof=1) / np.sqrt(n) / x.mean() > 0.05:
    n += 1
print("runs needed", n - len(x))

# Amdahl: T(n) = T1 (f + (1 - f) / n), scatter proportional to the time.
ranks = np.array([1, 1, 2, 2, 4, 4, 8, 8.0])
seconds = np.array([100, 104, 56, 55, 33, 34, 22, 21.5])
means = np.repeat([seconds[i : i + 2].mean() for i in range(0, 8, 2)], 2)
amdahl = lambda n, t1, f: t1 * (f + (1 - f) / n)
(t1, f), covariance = optimize.curve_fit(amdahl, ranks, seconds, p0=(100, 0.1), sigma=means, xtol=1e-14, ftol=1e-14)
t = stats.t.ppf(0.975, len(ranks) - 2)
print("amdahl", t1, f, t * np.sqrt(np.diag(covariance)))
for n in (16, 64):
    gradient = np.array([f + (1 - f) / n, t1 * (1 - 1 / n)])
    at = amdahl(n, t1, f)
    chi = np.sum(((seconds - amdahl(ranks, t1, f)) / means) ** 2) / (len(ranks) - 2)
    print("at", n, at, t * np.sqrt(gradient @ covariance @ gradient + chi * at * at))

# Gustafson: R(n) = R1 (n - s (n - 1)), the work done per unit of time, when n workers do n times the work.
seconds = np.array([100, 104, 106, 108, 115, 113, 118, 121.0])
rates = ranks / seconds
means = np.repeat([rates[i : i + 2].mean() for i in range(0, 8, 2)], 2)
gustafson = lambda n, r1, s: r1 * (n - s * (n - 1))
(r1, s), covariance = optimize.curve_fit(gustafson, ranks, rates, p0=(0.01, 0.5), sigma=means, xtol=1e-14, ftol=1e-14)
print("gustafson", s, t * np.sqrt(covariance[1, 1]))
