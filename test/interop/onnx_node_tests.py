#!/usr/bin/env python3
"""Runs ONNX's own node tests (onnx.backend.test) through Convoke's import: prints passed / applicable, and the
reason of every other.

    OMP_NUM_THREADS=1 python onnx_node_tests.py build/dev/test/interop/interop_run [--verbose]

A test gives weights as inputs: here all but the first become initialisers. It applies if its operator is one of
Convoke's table, the first input is float with a batch, and one output is checked.
"""
import argparse
import collections
import glob
import os
import re
import subprocess
import tempfile

import h5py
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

here = os.path.dirname(os.path.abspath(__file__))


def operators():
    """Returns the names in Convoke's table."""
    with open(os.path.join(here, "../../src/interop/onnx/operators.cpp")) as file:
        text = file.read().split("kRecognised")[0]
    return set(re.findall(r'Operator{"(\w+)"', text))


def read(file):
    with open(file, "rb") as handle:
        tensor = TensorProto()
        tensor.ParseFromString(handle.read())
    return numpy_helper.to_array(tensor), tensor


def applicable(model, known):
    """Returns why a test does not apply, or none."""
    graph = model.graph
    if any(opset.domain not in ("", "ai.onnx") for opset in model.opset_import):
        return "other domain"
    unknown = {node.op_type for node in graph.node} - known - {"Constant"}
    if unknown:
        return f"no layer for {', '.join(sorted(unknown))}"
    if not graph.input:
        return "no input"
    if not graph.input[0].type.HasField("tensor_type"):
        return "no tensor"
    if graph.input[0].type.tensor_type.elem_type != TensorProto.FLOAT:
        return "input is not float32"
    if not 2 <= len(graph.input[0].type.tensor_type.shape.dim) <= 4:
        return "input is no batch of images, sequences or vectors"
    return None


# What Convoke's networks do not do: each has a reason that its message says.
OUT_OF_SCOPE = [
    ("batch", "works on the axis of the batch"),
    ("samples", "works on the axis of the batch"),
    ("but must depend on the sample", "needs a constant first input to be the sample"),
    ("its places", "gives places of maxima"),
    ("gives the places", "gives places of maxima"),
    ("gives mean and deviation", "has outputs that are not values of a network"),
    ("gives its mask", "has outputs that are not values of a network"),
    ("volumes", "has three axes of space"),
    ("input is its output", "does nothing"),
    ("output is its input", "does nothing"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--verbose", action="store_true", help="also name the tests that do not apply")
    arguments = parser.parse_args()
    folder = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/node")
    known, passed, failed, skipped = operators(), 0, [], collections.Counter()
    for path in sorted(glob.glob(os.path.join(folder, "test_*"))):
        name = os.path.basename(path)
        model = onnx.load(os.path.join(path, "model.onnx"))
        reason = applicable(model, known)
        inputs = sorted(glob.glob(os.path.join(path, "test_data_set_0/input_*.pb")), key=lambda f: int(f[:-3].rsplit("_", 1)[1]))
        if reason is None and name.endswith("_expanded"):
            reason = "expanded form of another test"
        if reason is None and not inputs:
            reason = "no data"
        if reason is not None:
            skipped[reason] += 1
            if arguments.verbose:
                print(f"n/a   {name}: {reason}")
            continue
        graph = model.graph
        given = [value for value in graph.input]
        names = [value.name for value in given]
        used = [name for name in names]
        for value, file in zip(given[1:], inputs[1:]):
            _, tensor = read(file)
            tensor.name = value.name
            graph.initializer.append(tensor)
        del graph.input[1:]
        samples, _ = read(inputs[0])
        output_index = 0
        outputs = sorted(glob.glob(os.path.join(path, "test_data_set_0/output_*.pb")))
        if not graph.output[0].name:
            output_index = 0
        expected, _ = read(outputs[output_index])
        with tempfile.TemporaryDirectory() as temporary:
            file, data, out = (os.path.join(temporary, n) for n in ("model.onnx", "data.h5", "out.h5"))
            onnx.save(model, file)
            # The batch may be the second axis, as recurrent layers have it.
            batch_second = graph.node[0].op_type in ("LSTM", "GRU") and not any(a.name == "layout" and a.i == 1 for a in graph.node[0].attribute)
            own = np.swapaxes(samples, 0, 1) if batch_second else samples
            with h5py.File(data, "w") as handle:
                handle["samples"] = np.ascontiguousarray(own, dtype=np.float32)
            done = subprocess.run([arguments.program, file, data, out], capture_output=True, text=True)
            message = done.stderr.strip().replace(file, "").replace("\n", " ")[:200]
            if done.returncode != 0:
                scope = next((why for text, why in OUT_OF_SCOPE if text in message), None)
                if scope:
                    skipped[scope] += 1
                    if arguments.verbose:
                        print(f"n/a   {name}: {message}")
                else:
                    failed.append(name)
                    print(f"FAIL  {name}: {message or done.returncode}")
                continue
            with h5py.File(out) as handle:
                output = np.array(handle["output"])
            if batch_second:
                expected = np.moveaxis(expected, expected.ndim - 2, 0)
            if output.size != expected.size or not np.allclose(output.ravel(), expected.ravel(), rtol=1e-3, atol=1e-4):
                failed.append(name)
                print(f"FAIL  {name}: other numbers: {output.shape} for {expected.shape}")
                continue
            passed += 1
    print("\nnot applicable:")
    for reason, count in skipped.most_common():
        print(f"  {count:4} {reason}")
    print(f"\n{passed} of {passed + len(failed)} applicable node tests pass")


if __name__ == "__main__":
    main()
