#!/usr/bin/env python3
"""Writes small models that end in different ways, and golden.h5: for each, samples and the probabilities of the classes.

    python make_endings.py onnx      needs numpy, onnx, onnxruntime and h5py
    KERAS_BACKEND=tensorflow python make_endings.py keras     needs keras, tensorflow and h5py

    KERAS_BACKEND=torch python make_endings.py channels_first    needs keras, torch and h5py

Run `onnx` first: it begins golden.h5, and the others add to it. The outputs are those of onnxruntime and Keras.
`logits` are made probabilities here, by softmax or, if there is one, by sigmoid; of one output p there are 1 - p and p.
"""
import os
import sys

import h5py
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(7)
N = 6


def sigmoid(z):
    return 1 / (1 + np.exp(-z.astype("float64")))


def softmax(z):
    e = np.exp(z.astype("float64") - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def to_classes(outputs, kind):
    y = outputs.reshape(len(outputs), -1).astype("float64")
    if kind == "logits":
        y = sigmoid(y) if y.shape[1] == 1 else softmax(y)
    return np.hstack([1 - y, y]) if y.shape[1] == 1 and kind != "values" else y


def store(golden, file, samples, outputs, kind, output=""):
    if file in golden:
        del golden[file]
    group = golden.create_group(file)
    group["samples"] = samples.astype("float32")
    group["probabilities"] = to_classes(outputs, kind)
    group.attrs["kind"] = kind
    group.attrs["output"] = output  # to choose, of several


def write_onnx(golden):
    import onnx
    import onnxruntime
    from onnx import helper, numpy_helper

    x = rng.standard_normal((N, 2, 3, 3)).astype("float32")

    def linear(name, k):  # (N, 2, 3, 3) -> (N, k)
        w = rng.standard_normal((18, k)).astype("float32")
        b = rng.standard_normal(k).astype("float32")
        return ([helper.make_node("Flatten", ["x"], [name + "_f"]),
                 helper.make_node("Gemm", [name + "_f", name + "_w", name + "_b"], [name])],
                [numpy_helper.from_array(w, name + "_w"), numpy_helper.from_array(b, name + "_b")])

    def pooled(name, k):  # (N, 2, 3, 3) -> (N, k, 1, 1)
        w = rng.standard_normal((k, 2, 1, 1)).astype("float32") * 4
        return ([helper.make_node("GlobalAveragePool", ["x"], [name + "_p"]),
                 helper.make_node("Conv", [name + "_p", name + "_w"], [name])],
                [numpy_helper.from_array(w, name + "_w")])

    def const(name, values, dtype="float32"):
        return numpy_helper.from_array(np.array(values, dtype), name)

    def node(op, inputs, output, **attributes):
        return helper.make_node(op, inputs, [output], **attributes)

    a, b, one, wide = linear("a", 3), linear("b", 3), linear("one", 1), pooled("wide", 3)
    narrow = pooled("narrow", 1)
    two = ([*a[0], *b[0], node("Softmax", ["a"], "pa", axis=1), node("Softmax", ["b"], "pb", axis=1)], [*a[1], *b[1]])
    cases = {
        "softmax_flatten": ("probabilities", wide, [node("Softmax", ["wide"], "p", axis=1), node("Flatten", ["p"], "y")], []),
        "softmax_squeeze": ("probabilities", wide, [node("Softmax", ["wide"], "p", axis=1), node("Squeeze", ["p", "axes"], "y")],
                            [const("axes", [2, 3], "int64")]),
        "softmax_index": ("probabilities", wide, [node("Softmax", ["wide"], "p", axis=1), node("Gather", ["p", "zero"], "q", axis=3),
                                                  node("Gather", ["q", "zero"], "y", axis=2)], [const("zero", 0, "int64")]),
        "softmax_reshape": ("probabilities", wide, [node("Transpose", ["wide"], "t", perm=[0, 2, 3, 1]), node("Softmax", ["t"], "p", axis=-1),
                                                    node("Reshape", ["p", "shape"], "y")], [const("shape", [-1, 3], "int64")]),
        "mean": ("probabilities", two, [node("Mean", ["pa", "pb"], "y")], []),
        "weighted_mean": ("probabilities", two, [node("Mul", ["pa", "u"], "qa"), node("Mul", ["pb", "v"], "qb"), node("Add", ["qa", "qb"], "y")],
                          [const("u", 0.25), const("v", 0.75)]),
        "halved_sum": ("probabilities", two, [node("Add", ["pa", "pb"], "s"), node("Div", ["s", "half"], "y")], [const("half", 2.0)]),
        "clamp": ("probabilities", a, [node("Softmax", ["a"], "p", axis=1), node("Clip", ["p", "low", "high"], "y")],
                  [const("low", 1e-6), const("high", 1 - 1e-6)]),
        "identity": ("probabilities", a, [node("Softmax", ["a"], "p", axis=1), node("Identity", ["p"], "y")], []),
        "log_softmax": ("logits", a, [node("LogSoftmax", ["a"], "y", axis=1)], []),
        "logits": ("logits", a, [node("Identity", ["a"], "y")], []),
        "sigmoid": ("probabilities", one, [node("Sigmoid", ["one"], "y")], []),
        "sigmoid_flatten": ("probabilities", narrow, [node("Sigmoid", ["narrow"], "p"), node("Flatten", ["p"], "y")], []),
        "sigmoid_squeeze": ("probabilities", one, [node("Sigmoid", ["one"], "p"), node("Squeeze", ["p", "axes"], "y")],
                            [const("axes", [1], "int64")]),
        "hard_sigmoid": ("probabilities", one, [node("HardSigmoid", ["one"], "y", alpha=1 / 6, beta=0.5)], []),
        "second_of_two": ("probabilities", linear("pair", 2), [node("Softmax", ["pair"], "p", axis=1), node("Slice", ["p", "from", "to", "axes"], "y")],
                          [const("from", [1], "int64"), const("to", [2], "int64"), const("axes", [1], "int64")]),
        "one_logit": ("logits", one, [node("Identity", ["one"], "y")], []),
        "scores": ("scores", a, [node("Sigmoid", ["a"], "y")], []),
    }
    for name, (kind, (nodes, tensors), ends, constants) in cases.items():
        graph = helper.make_graph([*nodes, *ends], name, [helper.make_tensor_value_info("x", 1, ["N", 2, 3, 3])],
                                  [helper.make_tensor_value_info("y", 1, None)], [*tensors, *constants])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        file = name + ".onnx"
        onnx.save(model, os.path.join(here, file))
        session = onnxruntime.InferenceSession(model.SerializeToString())
        store(golden, file, x, session.run(None, {"x": x})[0], kind)
    nodes, tensors = linear("a", 3)
    graph = helper.make_graph([*nodes, node("Softmax", ["a"], "p", axis=1), node("Sigmoid", ["a"], "s")], "several",
                              [helper.make_tensor_value_info("x", 1, ["N", 2, 3, 3])],
                              [helper.make_tensor_value_info(name, 1, None) for name in "aps"], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, os.path.join(here, "several.onnx"))
    outputs = onnxruntime.InferenceSession(model.SerializeToString()).run(["s"], {"x": x})[0]
    store(golden, "several.onnx", x, outputs, "scores", "s")


def write_keras(golden):
    import keras
    from keras import layers

    keras.utils.set_random_seed(5)
    x = rng.standard_normal((N, 3, 3, 2)).astype("float32")
    models = {}

    def functional(last):
        i = keras.Input((3, 3, 2))
        return keras.Model(i, last(layers.Flatten()(i)))

    def compiled(model, loss):
        model.compile("sgd", loss)
        return model

    logit = keras.losses.BinaryCrossentropy(from_logits=True)
    models["binary_logit.keras"] = ("logits", compiled(functional(layers.Dense(1)), logit))
    models["binary_logit.h5"] = ("logits", compiled(functional(layers.Dense(1)), logit))
    models["binary.keras"] = ("probabilities", compiled(functional(layers.Dense(1, activation="sigmoid")), "binary_crossentropy"))
    models["scores.keras"] = ("scores", compiled(functional(layers.Dense(3, activation="sigmoid")), "binary_crossentropy"))
    models["score_logits.keras"] = ("score-logits", compiled(functional(layers.Dense(3)), logit))
    models["reshape.keras"] = ("probabilities", functional(lambda v: layers.Reshape((3,))(layers.Softmax()(layers.Reshape((1, 1, 3))(layers.Dense(3)(v))))))
    models["average.keras"] = ("probabilities", functional(lambda v: layers.Average()([layers.Dense(3, activation="softmax")(v) for _ in "ab"])))
    models["dropout.keras"] = ("probabilities", functional(lambda v: layers.Dropout(0.1)(layers.Dense(3, activation="softmax")(v))))
    models["regression.keras"] = ("values", compiled(functional(layers.Dense(1)), "mse"))
    for file, (kind, model) in models.items():
        model.save(os.path.join(here, file))
        outputs = model.predict(x, verbose=0)
        if kind == "score-logits":
            outputs = sigmoid(outputs)
        store(golden, file, x.transpose(0, 3, 1, 2), outputs, kind)
    i = keras.Input((3, 3, 2))
    z = layers.Dense(3, name="scores")(layers.Flatten()(i))
    model = keras.Model(i, [z, layers.Softmax(name="odds")(z)])
    model.save(os.path.join(here, "several.keras"))
    store(golden, "several.keras", x.transpose(0, 3, 1, 2), model.predict(x, verbose=0)[1], "probabilities", "odds")


def write_channels_first(golden):
    """Images (C, H, W), and a Flatten that gives their features in the order (H, W, C), or as they are."""
    import keras
    from keras import layers

    keras.utils.set_random_seed(6)
    x = rng.standard_normal((N, 2, 4, 5)).astype("float32")
    for file, order in [("first_flatten.keras", "channels_first"), ("first_flatten.h5", "channels_first"), ("last_flatten.keras", "channels_last")]:
        i = keras.Input((2, 4, 5))
        y = layers.Conv2D(3, 2, activation="relu", data_format="channels_first")(i)
        y = layers.MaxPooling2D(2, 1, data_format="channels_first")(y)
        y = layers.Dropout(0.1)(layers.Flatten(data_format=order)(y))
        model = keras.Model(i, layers.Dense(3, activation="softmax")(y))
        model.save(os.path.join(here, file))
        store(golden, file, x, model.predict(x, verbose=0), "probabilities")
    # Channels last up to a Flatten for channels first.
    i = keras.Input((3, 4, 2))
    model = keras.Model(i, layers.Dense(3, activation="softmax")(layers.Flatten(data_format="channels_first")(i)))
    model.save(os.path.join(here, "only_flatten.keras"))
    x = rng.standard_normal((N, 3, 4, 2)).astype("float32")
    store(golden, "only_flatten.keras", x.transpose(0, 3, 1, 2), model.predict(x, verbose=0), "probabilities")


with h5py.File(os.path.join(here, "golden.h5"), "w" if sys.argv[1] == "onnx" else "a") as golden:
    {"onnx": write_onnx, "keras": write_keras, "channels_first": write_channels_first}[sys.argv[1]](golden)
