#!/usr/bin/env python3
"""mnist-ddp's network in PyTorch, one epoch of few samples: what batch norm's running averages make of few steps.

    few_steps.py FOLDER    of the four MNIST files (IDX, gzip)
"""
import gzip
import pathlib
import sys

import numpy as np
import torch
from torch import nn

BATCH = 64


def read(folder, name, header):
    file = next(pathlib.Path(folder).glob(f"*{name}*.gz"))
    return np.frombuffer(gzip.open(file).read(), np.uint8, offset=header)


def samples(folder, split):
    pixels = read(folder, f"{split}-images", 16).reshape(-1, 1, 28, 28) / np.float32(255)
    return torch.tensor(pixels), torch.tensor(read(folder, f"{split}-labels", 8).astype(np.int64))


def network():
    def convolution(inputs, filters):
        return [nn.Conv2d(inputs, filters, 3, padding=1), nn.BatchNorm2d(filters), nn.ReLU()]

    def dense(inputs, units):
        return [nn.Linear(inputs, units), nn.BatchNorm1d(units), nn.ReLU(), nn.Dropout(0.3)]

    layers = nn.Sequential(*convolution(1, 32), *convolution(32, 64), nn.MaxPool2d(2), *convolution(64, 128),
                           nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.3), *dense(6272, 128), *dense(128, 64),
                           nn.Linear(64, 10))
    for layer in layers:
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
    return layers


def accuracy_of(count, seed, train, test):
    torch.manual_seed(seed)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    order = torch.randperm(count)
    model.train()
    for batch in order.split(BATCH):
        if len(batch) > 1:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(train[0][batch]), train[1][batch]).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        found = torch.cat([model(part).argmax(1) for part in test[0].split(1000)])
    return (found == test[1]).float().mean().item()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    train, test = samples(sys.argv[1], "train"), samples(sys.argv[1], "t10k")
    for count in (750, 1500, 1875, 3750, 6000, 7500):
        found = [accuracy_of(count, seed, train, test) for seed in (1, 2)]
        print(f"{count} samples, {-(-count // BATCH)} steps: " + ", ".join(f"{100 * each:.2f} %" for each in found))
