#!/usr/bin/env python3
"""Runs ONNX's own node tests (onnx.backend.test) through Convoke's import: prints passed / applicable, and the
reason of every other.

    OMP_NUM_THREADS=1 python onnx_node_tests.py build/dev/test/interop/interop_run [--verbose]

A test gives weights as inputs: here all but the first become initializers. It applies if its operator is one of
Convoke's table, the first input is float with a batch, and one output is checked.
"""
import argparse
import collections
import os
import re
import subprocess
import tempfile

import h5py
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

here = os.path.dirname(os.path.abspath(__file__))


def operators():
    """Returns the names in Convoke's list."""
    with open(os.path.join(here, "../../docs/interop-layers.md")) as file:
        text = file.read().split("## ONNX operators that become layers")[1].split("##")[0]
    return set(re.findall(r"`(\w+)`", text))


def as_array(value):
    """Returns a tensor as an array; none if it is a sequence or the like."""
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, (np.ndarray, np.generic, float, int)) else None


def applicable(model, known):
    """Returns why a test does not apply, or none."""
    graph = model.graph
    if any(opset.domain not in ("", "ai.onnx") for opset in model.opset_import):
        return "other domain"
    unknown = {node.op_type for node in graph.node} - known - {"Constant"}
    if unknown:
        return "no layer for an operator of it"
    if not graph.input:
        return "no input"
    if not graph.input[0].type.HasField("tensor_type"):
        return "no tensor"
    if len(graph.input[0].type.tensor_type.shape.dim) and graph.node[0].op_type == "Transpose" and graph.node[0].attribute and \
            graph.node[0].attribute[0].ints[0] != 0 or graph.node[0].op_type == "Transpose" and not graph.node[0].attribute:
        return "moves the axis of the batch"
    if any("training" in value.name or value.name == "t" for value in graph.input):
        return "draws random numbers"
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
    ("its places", "gives indices of maxima"),
    ("gives the indices", "gives indices of maxima"),
    ("gives mean and deviation", "has outputs that are not values of a network"),
    ("gives its mask", "has outputs that are not values of a network"),
    ("volumes", "has three axes of space"),
    ("input is its output", "does nothing"),
    ("output is its input", "does nothing"),
    ("has no input", "does nothing"),
    ("is constant", "gives a shape or another constant"),
    ("Convoke does not read", "numbers of 8 bits or fewer"),
    ("dilated window", "no layer for dilated pooling"),
    ("linear_before_reset = 0", "no layer for a GRU whose reset gate comes before the product"),
    ("runs from the end only", "no layer for recurrence from the end only"),
    ("peepholes", "no layer for peepholes"),
    ("attention has no mask", "no layer for attention with a mask"),
    ("cubic", "no layer for cubic interpolation"),
    ("antialias", "no layer for interpolation that smooths"),
    ("has the coordinates", "no layer for these coordinates of interpolation"),
    ("resize to a given size", "no layer for a scale that is not the ratio of the sizes"),
    ("coordinates pytorch_half_pixel", "no layer for these coordinates of interpolation"),
    ("multiplies a transposed input", "no layer for a transposed input"),
    ("is not a matrix", "no layer for a product by batches of matrices"),
    ("bias (3, 4)", "other inputs differ between samples"),
    ("has the shape (0", "empty values"),
    ("takes nothing", "empty values"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--verbose", action="store_true", help="also name the tests that do not apply")
    arguments = parser.parse_args()
    known, passed, failed, skipped = operators(), 0, [], collections.Counter()
    for test in sorted(collect_testcases(None), key=lambda test: test.name):
        name, model = test.name, test.model
        reason = applicable(model, known)
        if reason is None and "_expanded" in name:
            reason = "expanded form of another test"
        if reason is not None:
            skipped[reason] += 1
            if arguments.verbose:
                print(f"n/a   {name}: {reason}")
            continue
        graph = model.graph
        inputs, outputs = ([as_array(value) for value in values] for values in test.data_sets[0])
        if any(value is None for value in inputs) or outputs[0] is None:
            skipped["sequences or other values that are no arrays"] += 1
            continue
        if any(len(value.shape) >= inputs[0].ndim and value.shape[0] == len(inputs[0]) > 1 for value in inputs[1:]) and \
                graph.node[0].op_type in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean", "Pow", "PRelu", "Concat"):
            skipped["other inputs differ between samples"] += 1
            continue
        if any(a.name == "training_mode" and a.i for a in graph.node[0].attribute):
            skipped["gives what training changes"] += 1
            continue
        for value, array in zip(list(graph.input)[1:], inputs[1:]):
            graph.initializer.append(numpy_helper.from_array(array, value.name))
        del graph.input[1:]
        samples, expected = inputs[0], outputs[0]
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
