#!/usr/bin/env python3
"""Exports models to .keras and .h5 and compares them with Keras. By hand: it needs keras and tf_keras.

    python test/interop/check_keras_export.py [--build build/dev] [--zoo] [NAME ...]

One line for each model: the largest difference of the outputs relative to their largest value, over the .keras
file in Keras 3 and the .h5 file in Keras 3 and Keras 2. NAMEs are as for check_onnx_export.py.
"""
import os
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
warnings.filterwarnings("ignore")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tf_keras  # noqa: E402

import exported  # noqa: E402

TOLERANCE = 1e-4
# What Keras does not have: refused with a hint.
REFUSED = {"local_response_norm", "local_response_norm-even"}

# Keras 2 writes and reads attention in .h5 files in a way that Keras 3 does not read.
H5_OF_KERAS_2 = {"attention", "attention-other"}


def run_keras(library, file, samples):
    """Returns the outputs of the layers one by one, and those of the graph that TensorFlow rewrites for predict()."""
    model = library.models.load_model(file)
    if not model.compiled if library is keras else model.optimizer is None:
        raise ValueError("not compiled")
    if samples.ndim == 4:
        samples = samples.transpose(0, 2, 3, 1)
    outputs = np.asarray(model(samples, training=False)), model.predict(samples, verbose=0)
    library.backend.clear_session()
    return outputs


def examine(check):
    if check.name in REFUSED:
        try:
            check.export("keras", ".keras")
        except ValueError as error:
            return check.say(f"refused: {error}")
        raise ValueError("not refused")
    file = check.export("keras", ".keras")
    check.compare(*run_keras(keras, file, check.samples))
    file = check.export("h5", ".h5")
    if check.name not in H5_OF_KERAS_2:
        check.compare(*run_keras(keras, file, check.samples))
    check.compare(*run_keras(tf_keras, file, check.samples))
    if check.normalizes:
        check.compare(*run_keras(keras, check.export("keras", ".keras", "--raw-input"), check.raw_samples))
        check.compare(*run_keras(tf_keras, check.export("h5", ".h5", "--raw-input"), check.raw_samples))


if __name__ == "__main__":
    sys.exit(exported.main(__doc__, TOLERANCE, examine))
