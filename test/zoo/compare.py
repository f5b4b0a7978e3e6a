#!/usr/bin/env python3
"""Compares the outputs of zoo models with those of torchvision or Keras Applications, for the same weights.

    torch/bin/python test/zoo/compare.py --build build/dev             all models that torchvision has
    tf/bin/python    test/zoo/compare.py --build build/dev             all models that Keras has
    torch/bin/python test/zoo/compare.py --build build/dev --networks resnet18 --size 64 --classes 10 --golden

Needs h5py and numpy in addition to the framework, and the targets convoke and zoo_write_model. All weights, biases,
scales and running statistics are random (weights.hpp) and are read from our model file (docs/formats.md). The script
prints the largest difference over two samples and all outputs, relative to two numbers: the largest output, and the root
mean square of the difference between the outputs of the two samples. The second number reveals a network that hardly
depends on its input. --golden prints the reference's outputs in the form of golden_test.cpp.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import references

# The limit of the second relative difference. A wrong layer gives 0.01 and more; rounding gives up to 1e-3 if the outputs
# of the two samples are similar (DenseNet-121 at 224 x 224: 4e-4 of the largest).
LIMIT = 3e-3


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder")
    parser.add_argument("--networks", nargs="+", metavar="NAME", help="(default: all that this Python can compare)")
    parser.add_argument("--size", type=int, default=0, help="height and width (default: the network's own)")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--gain", type=float, help="factor on the weights (default: 1; 0.8 for "
                        "EfficientNet-B1 to -B7 and -Lite1 to -Lite4, which amplify rounding with 1)")
    parser.add_argument("--golden", action="store_true")
    return parser.parse_args()


def run(*command):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(done.args)} failed\n{done.stderr}")


def read_model(file):
    """Returns ({node: {parameter: canonical values}} in the order of the graph, input shape)."""
    with h5py.File(file) as model:
        graph = json.loads(model.attrs["graph"])
        nodes = {layer["name"]: {} for layer in graph["layers"]}
        for name, values in model["parameters"].items():
            node, _, parameter = name.rpartition(".")
            nodes[node][parameter] = values[:]
    return {node: parameters for node, parameters in nodes.items() if parameters}, graph["input"]


def takes_pixels(name):
    """True if the network begins with the standardization of pixels in 0..255."""
    return name.startswith("efficientnet-") and name.endswith("-keras")


def samples(shape, pixels):
    """Returns two samples, (2, C, H, W), as golden_fill() of test/nn/golden.hpp does, or the same in 0..255."""
    count = 2 * int(np.prod(shape))
    x = ((np.arange(count) * 37 % 101) / 25 - 2).astype("float32").reshape(2, *shape)
    return (x + 2) * np.float32(63.75) if pixels else x


def compare(name, options, folder):
    """Returns our output and the reference's, both (2, classes), and the number of parameters."""
    gain = options.gain or (0.8 if re.search("efficientnet-(b|lite)[1-7]", name) else 1)
    run(options.build / "test/zoo/zoo_write_model", name, folder / "model.h5", options.size, options.classes,
        gain)
    nodes, shape = read_model(folder / "model.h5")
    x = samples(shape, takes_pixels(name))
    np.save(folder / "x.npy", x)
    run(options.build / "convoke", "predict", folder / "model.h5", folder / "x.npy", "--raw", "--layout", "nchw",
        "--threads", "1", "--output", folder / "y.npy")
    (folder / "model.h5").unlink()
    expected = references.evaluate(name, nodes, x, options.classes)
    return np.load(folder / "y.npy"), expected, sum(v.size for p in nodes.values() for v in p.values())


def main():
    options = parse()
    print("| network | reference | input | difference / largest output | difference / spread |\n|---|---|---|---|---|")
    worst = 0
    for name in options.networks or references.names():
        with tempfile.TemporaryDirectory() as folder:
            actual, expected, _ = compare(name, options, pathlib.Path(folder))
        largest = np.abs(actual - expected).max()
        spread = np.sqrt(np.mean((expected[0] - expected[1]) ** 2))
        worst = max(worst, largest / spread)
        size = options.size or "own"
        print(f"| `{name}` | {references.title(name)} | {size} | {largest / np.abs(expected).max():.1e} | "
              f"{largest / spread:.1e} |", flush=True)
        if options.golden:
            print(f'      {{"{name}", {options.size}, {{' + ", ".join(f"{v:.7g}" for v in expected.ravel()) + "}},")
    if not worst < LIMIT:
        sys.exit(f"error: outputs differ by {worst:.1e} of their spread\n  hint: use --size 64 to try changes quickly")


main()
