#!/usr/bin/env python3
"""Golden values for scores_test.cpp: torchmetrics (multiclass, top label) and the same sums in NumPy."""
import numpy as np
import torch
from torchmetrics.functional.classification import multiclass_calibration_error

# For i in 0..499 and c in 0..3, in whole numbers, as in the test. No confidence is a multiple of 1/15.
i = np.arange(500)
c = np.arange(4)
weights = ((i[:, None] * 13 + c * 29 + i[:, None] // 7 * c) % 17 + 1.37) ** 2
probabilities = weights / weights.sum(axis=1, keepdims=True)
truth = np.where(i % 3 == 0, (i * 7 + i // 11) % 4, probabilities.argmax(axis=1))

confidence = probabilities.max(axis=1)
correct = probabilities.argmax(axis=1) == truth
bins = np.ceil(confidence * 15).astype(int) - 1
gaps = np.array([abs(correct[bins == b].mean() - confidence[bins == b].mean()) if (bins == b).any() else 0
                 for b in range(15)])
shares = np.array([(bins == b).mean() for b in range(15)])
print("numpy        ECE %.12f MCE %.12f" % ((shares * gaps).sum(), gaps.max()))
p, t = torch.tensor(probabilities), torch.tensor(truth)
print("torchmetrics ECE %.12f MCE %.12f" % tuple(
    multiclass_calibration_error(p, t, num_classes=4, n_bins=15, norm=norm) for norm in ("l1", "max")))
print("bin 8:", (bins == 8).sum(), confidence[bins == 8].mean(), correct[bins == 8].mean())
