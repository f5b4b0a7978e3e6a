#!/usr/bin/env python3
"""Exports models to ONNX and compares them with onnxruntime. By hand: it needs onnx, onnxruntime, numpy and h5py.

    python test/interop/check_onnx_export.py [--build build/dev] [--zoo] [NAME ...]

One line for each model: the largest difference of the outputs relative to their largest value. NAMEs are sample
models (sample_models.txt) or networks of the zoo; without, all samples, and with --zoo the networks of the zoo.
"""
import sys

import numpy as np
import onnx
import onnxruntime

import exported

TOLERANCE = 1e-5


def run_onnx(file, samples):
    onnx.checker.check_model(str(file), full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    return session.run(["output"], {"input": samples})[0]


def examine(check):
    file = check.export("onnx", ".onnx")
    check.compare(run_onnx(file, check.samples))
    check.say(f"{len(onnx.load(file).graph.node)} nodes")
    if check.normalizes:
        check.compare(run_onnx(check.export("onnx", ".onnx", "--raw-input"), check.raw_samples))


if __name__ == "__main__":
    sys.exit(exported.main(__doc__, TOLERANCE, examine))
