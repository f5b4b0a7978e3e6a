"""Times the training step of a recipe's network in PyTorch: torch_step.py RECIPE BATCH CORES

Random data, channels-last, fused Adam (the fastest eager settings), after one round of warming up; prints one JSON
object, the rate being the median of three rounds, as `convoke bench` does. Needs a Python with torch.
"""
import json
import resource
import statistics
import sys
import time

START = time.time()
recipe, batch, cores = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

import torch
from torch import nn

torch.set_num_threads(cores)


def mnist_ensemble():
    return [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(576, 64), nn.ReLU(), nn.Linear(64, 10)]


def mnist_ddp():
    def conv(channels, filters):
        return [nn.Conv2d(channels, filters, 3, padding=1), nn.BatchNorm2d(filters), nn.ReLU()]

    def dense(features, units):
        return [nn.Dropout(0.3), nn.Linear(features, units), nn.BatchNorm1d(units), nn.ReLU()]

    return [*conv(1, 32), *conv(32, 64), nn.MaxPool2d(2), *conv(64, 128), nn.MaxPool2d(2), nn.Flatten(),
            *dense(6272, 128), *dense(128, 64), nn.Dropout(0.3), nn.Linear(64, 10)]


model = nn.Sequential(*{"mnist-ensemble": mnist_ensemble, "mnist-ddp": mnist_ddp}[recipe]())
model = model.to(memory_format=torch.channels_last)
images = torch.rand(batch, 1, 28, 28).contiguous(memory_format=torch.channels_last)
labels = torch.randint(0, 10, (batch,))
optimizer = torch.optim.Adam(model.parameters(), fused=True)
loss = nn.CrossEntropyLoss()


def run(steps):
    begin = time.time()
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model(images), labels).backward()
        optimizer.step()
    return time.time() - begin


run(1)
first = time.time() - START
steps = max(2, round(3 / run(3)))
rates = [batch * steps / run(steps) for _ in range(3)]
print(json.dumps({"images_per_second": statistics.median(rates), "seconds_to_first_step": first,
                  "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                  "version": "PyTorch " + torch.__version__}))
