#!/usr/bin/env python3
"""Runs zoo models beside torchvision's or Keras Applications' with the same weights, and compares the outputs.

    torch/bin/python test/zoo/compare.py --build build/dev             all that torchvision has
    tf/bin/python    test/zoo/compare.py --build build/dev             all that are Keras'
    torch/bin/python test/zoo/compare.py --build build/dev --networks resnet18 --size 64 --classes 10 --golden

Needs h5py and numpy beside the framework, and the targets convoke and zoo_write_model. Every weight, bias, scale and
running statistic is random (weights.hpp), taken from our model file as docs/formats.md describes it. Printed is the
largest difference over two samples and all outputs, relative to the largest output, and relative to the root mean
square of what the outputs of the two samples differ by: a network that hardly sees its input would hide in the first.
--golden prints the reference's outputs as golden_test.cpp has them.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import references

# Of the second difference. A layer that differs gives 0.01 and more; rounding gives up to 1e-3 where the outputs of the
# two samples are alike (DenseNet-121 at 224 x 224: 4e-4 of the largest).
LIMIT = 3e-3


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder")
    parser.add_argument("--networks", nargs="+", metavar="NAME", help="(default: all that this Python can compare)")
    parser.add_argument("--size", type=int, default=0, help="height and width (default: the network's own)")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--gain", type=float, help="of the weights (default: 1; 0.8 for EfficientNet-B1 "
                        "to -B7, which blow up rounding with 1)")
    parser.add_argument("--golden", action="store_true")
    return parser.parse_args()


def run(*command):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(done.args)} failed\n{done.stderr}")


def read_model(file):
    """({node: {parameter: canonical values}} in the order of the graph, input shape)."""
    with h5py.File(file) as model:
        graph = json.loads(model.attrs["graph"])
        nodes = {layer["name"]: {} for layer in graph["layers"]}
        for name, values in model["parameters"].items():
            node, _, parameter = name.rpartition(".")
            nodes[node][parameter] = values[:]
    return {node: parameters for node, parameters in nodes.items() if parameters}, graph["input"]


def samples(shape):
    """golden_fill() of test/nn/golden.hpp: two samples, (2, C, H, W)."""
    count = 2 * int(np.prod(shape))
    return ((np.arange(count) * 37 % 101) / 25 - 2).astype("float32").reshape(2, *shape)


def compare(name, options, folder):
    """Our output and the reference's, both (2, classes), and the number of parameters."""
    gain = options.gain or (0.8 if name.startswith("efficientnet-") and name != "efficientnet-b0" else 1)
    run(options.build / "test/zoo/zoo_write_model", name, folder / "model.h5", options.size, options.classes,
        gain)
    nodes, shape = read_model(folder / "model.h5")
    x = samples(shape)
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
        sys.exit(f"error: outputs differ by {worst:.1e} of their spread\n  hint: --size 64 is quick to try changes with")


main()
