#!/usr/bin/env python3
"""Compares models that Convoke read with Keras: outputs, and gradients of one training step.

usage: compare_keras.py INTEROP_RUN [--keras keras|tf_keras] [--formats keras,h5,tfjs] [--only PATTERN] [--applications]
       compare_keras.py INTEROP_RUN --keras tf_keras --file model.json    a TensorFlow.js model and its shards

Each model gets random weights and is saved in each format. `interop_run` reads the file, runs it on 4 samples, and writes
outputs and the gradients of the softmax cross-entropy. Gradients are matched through the values of the weights, all of which
are different, so that this script knows no layout. They are compared with those that Keras computes in float64. An input of
ReLU that is nearly 0, or the largest two inputs of a max pooling that are nearly equal, change sides by rounding, and move
gradients by more than the limit of 1e-3. Where ours are beyond it, a control decides: the gradients of Keras itself in
float32, and in float64 after three changes of the samples by 1e-6, must move as much.

Needs tensorflow with keras or tf_keras, h5py and numpy.
"""
import argparse
import functools
import importlib
import os
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import keras_models
import tfjs_files
import trained

SAMPLES = 4
LIMIT, CONTROLS, CHANGE = 1e-3, 3, 1e-6


def set_random_weights(model, rng):
    """Gives each variable different values, with the size that keeps activations near 1."""
    for v in model.weights:
        shape = tuple(v.shape)
        kind = v.name.split("/")[-1].split(":")[0]
        if not shape or "seed" in kind or "int" in str(v.dtype) or kind in ("mean", "variance", "count"):
            continue
        n = int(np.prod(shape))
        values = (2 * rng.permutation(n) + 1) / n - 1  # n different values in (-1, 1)
        if kind in ("gamma", "moving_variance"):
            values = 1 + 0.5 * values
        elif kind in ("moving_mean", "beta", "bias", "alpha"):
            values = 0.2 * values
        else:
            fan_in = n / shape[-1] if len(shape) > 1 else n
            values = values * np.sqrt(3 / fan_in)
        v.assign((values * rng.uniform(0.8, 1.2)).reshape(shape).astype("float32"))


def quiet(layers):
    """Turns off dropout, which is random in training."""
    for layer in layers:
        for key in ("rate", "drop_path_rate", "stddev", "dropout", "recurrent_dropout"):
            if isinstance(vars(layer).get(key), float):
                setattr(layer, key, 0.0)
        quiet(getattr(layer, "layers", []))
        quiet([getattr(layer, k) for k in ("forward_layer", "backward_layer", "cell") if hasattr(layer, k)])


def freeze_statistics(layers):
    """Few samples of few pixels have statistics that amplify rounding."""
    for layer in layers:
        if type(layer).__name__ == "BatchNormalization":
            layer.trainable = False
        freeze_statistics(getattr(layer, "layers", []))


def samples_for(model, rng):
    shape = model.input_shape[1:]
    if keras_models.has_embedding(model):
        return rng.integers(0, 20, (SAMPLES, *shape)).astype("int32")
    return rng.normal(size=(SAMPLES, *shape)).astype("float32") * keras_models.scale_of(model)


def golden(model, x, labels):
    """Returns the outputs, and pairs (weights, gradient) of one training step, or None where there is none."""
    import tensorflow as tf
    output = model(x, training=False).numpy()
    if output.ndim != 2 or keras_models.is_random(model):
        return output, None
    probabilities = np.allclose(output.sum(1), 1, atol=1e-5) and output.min() >= 0
    with tf.GradientTape() as tape:
        y = model(x, training=True)
        if probabilities:
            loss = -tf.reduce_mean(tf.math.log(tf.gather(y, labels, axis=1, batch_dims=1) + 1e-30))
        else:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, y))
    variables = model.trainable_variables
    # a variable of Keras 3 holds one of TensorFlow
    gradients = tape.gradient(loss, [v if callable(getattr(v, "value", None)) else v.value for v in variables])
    pairs = [(v.numpy().astype("float32"), np.zeros(tuple(v.shape)) if g is None else tf.convert_to_tensor(g).numpy())
             for v, g in zip(variables, gradients)]
    return output, pairs


def exact_gradients(keras, build, settled, model, x, labels):
    """Returns the pairs of golden() with gradients that Keras computes in float64."""
    with trained.keras_in_float64(keras):
        exact = prepared(keras, build, settled)
        exact.set_weights(model.get_weights())
        return golden(exact, x if x.dtype == np.int32 else x.astype("float64"), labels)[1]


def channels_first(array, model):
    images = array.ndim == 4 and not keras_models.is_channels_first(model)
    return np.ascontiguousarray(np.moveaxis(array, -1, 1)) if images else array


def gradient_distance(some, exact):
    """Returns the largest relative difference of two lists of pairs for the same weights."""
    scale = max(np.linalg.norm(g) for _, g in exact)
    return max(difference(a, b, scale) for (_, a), (_, b) in zip(some, exact))


def difference(ours, theirs, scale):
    """Returns the relative difference of a parameter's gradients; `scale`: the largest norm of any."""
    return np.linalg.norm(ours - theirs) / max(np.linalg.norm(theirs), 1e-3 * scale, 1e-12)


def gradient_error(ours, pairs):
    """ours: open HDF5 file. Returns the largest relative difference."""
    order = {}
    for value, gradient in pairs:
        flat = value.ravel()
        index = np.argsort(flat, kind="stable")
        order[flat[index].tobytes()] = gradient.ravel()[index]
    scale = max(np.linalg.norm(g) for _, g in pairs)
    worst, unmatched = 0.0, []
    found = {}
    for name, values in ours["parameters"].items():
        flat = values[()].ravel()
        if f"gradients/{name}" not in ours:
            continue
        found[name] = (flat, ours[f"gradients/{name}"][()].ravel())
    # a GRU has two biases, which Keras stores as one
    for name in [n for n in found if n.endswith("recurrent_bias")]:
        other = name[: -len("recurrent_bias")] + "bias"
        found[other] = tuple(np.concatenate([a, b]) for a, b in zip(found[other], found.pop(name)))
    for name, (flat, gradient) in found.items():
        index = np.argsort(flat, kind="stable")
        theirs = order.pop(flat[index].tobytes(), None)
        if theirs is None:
            unmatched.append(name)
            continue
        worst = max(worst, difference(gradient[index], theirs, scale))
    if unmatched or order:
        return np.inf
    return worst


def save(model, folder, name, extension):
    if extension == "tfjs":
        return tfjs_files.save(model, os.path.join(folder, name))
    file = os.path.join(folder, f"{name}.{extension}")
    model.save(file)
    return file


def prepared(keras, build, settled):
    """Builds a model without randomness in training; `settled`: with frozen batch norms."""
    model = build(keras)
    quiet(model.layers)
    if settled:
        freeze_statistics(model.layers)
    return model


def compare(run, keras, name, build, formats, folder, rng, settled):
    keras.backend.clear_session()
    model = prepared(keras, build, settled)
    set_random_weights(model, rng)
    # before the training step, which moves statistics
    files = [(extension, save(model, folder, name, extension)) for extension in formats]
    x = samples_for(model, rng)
    labels = rng.integers(0, model.output_shape[-1], SAMPLES).astype("int32")
    def exact(samples):
        return exact_gradients(keras, build, settled, model, samples, labels)

    def control():
        seeds = range(0 if x.dtype == np.int32 else CONTROLS)
        signs = [np.random.default_rng(seed).choice([-1, 1], x.shape) for seed in seeds]
        others = [rounded, *[exact(x * (1 + CHANGE * sign)) for sign in signs]]
        return max(gradient_distance(other, pairs) for other in others)

    pairs = exact(x)
    want, rounded = golden(model, x, labels)
    slope = (pairs, functools.cache(control)) if pairs else None
    return compare_files(run, name, files, channels_first(want, model), channels_first(x, model), labels, slope, folder)


def compare_files(run, name, files, want, x, labels, slope, folder):
    """`slope`: pairs of weights and exact gradients, and a function that gives the control, or None without gradients."""
    data, out = os.path.join(folder, "data.h5"), os.path.join(folder, "out.h5")
    with h5py.File(data, "w") as f:
        f["samples"] = x
        if slope:
            f["labels"] = labels
    good = True
    for extension, file in files:
        done = subprocess.run([run, file, data, out], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{name:28} {extension:6} FAILED {done.stderr.strip()}", flush=True)
            good = False
            continue
        with h5py.File(out) as f:
            got = f["output"][()]
            error = np.abs(got - want).max() / max(1, np.abs(want).max()) if got.shape == want.shape else np.inf
            ours = gradient_error(f, slope[0]) if slope else 0.0
        control = slope[1]() if slope and ours > LIMIT else None
        # The same input on the other side moves gradients by the same amount, but for rounding.
        fits = error <= 1e-4 and ours <= 1.01 * max(LIMIT, control or 0)
        good &= fits
        print(f"{name:28} {extension:6} {'ok    ' if fits else 'DIFFER'} outputs {error:.1e}  "
              + (f"gradients {ours:.1e}" if slope else "no gradients")
              + (f", Keras after a change by rounding {control:.1e}" if control else ""), flush=True)
    return good


def compare_tfjs(run, keras, file, folder):
    model, rng = tfjs_files.load(keras, file), np.random.default_rng(1)
    name = os.path.basename(os.path.dirname(os.path.abspath(file)))
    x = samples_for(model, rng)
    want, x = channels_first(model(x, training=False).numpy(), model), channels_first(x, model)
    return compare_files(run, name, [("tfjs", file)], want, x, None, None, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("interop_run")
    parser.add_argument("--keras", default="keras", choices=["keras", "tf_keras"])
    parser.add_argument("--formats", default="keras,h5")
    parser.add_argument("--only", default="")
    parser.add_argument("--applications", action="store_true", help="all of keras.applications, which takes minutes")
    parser.add_argument("--file", help="model.json of TensorFlow.js")
    options = parser.parse_args()
    keras = importlib.import_module(options.keras)
    if options.file:
        with tempfile.TemporaryDirectory() as folder:
            return 0 if compare_tfjs(options.interop_run, keras, options.file, folder) else 1
    models = keras_models.applications(keras) if options.applications else keras_models.MODELS
    bad = 0
    for name, build in models.items():
        if not re.search(options.only, name):
            continue
        rng = np.random.default_rng(sum(map(ord, name)))
        with tempfile.TemporaryDirectory() as folder:
            bad += not compare(options.interop_run, keras, name, build, options.formats.split(","), folder, rng, options.applications)
    print(f"{bad} models differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
