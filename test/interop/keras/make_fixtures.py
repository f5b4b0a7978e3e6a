#!/usr/bin/env python3
"""Writes the files of test/interop/keras and test/interop/tfjs: small models of Keras 3 and 2, and golden.h5 with their
outputs.

usage: make_fixtures.py [NAME...]  needs tensorflow, keras, tf_keras, h5py and numpy

golden.h5 holds /NAME/samples, as our graph takes them, and /NAME/output.
"""
import os
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import h5py
import keras
import numpy as np
import tf_keras

import compare_keras
import tfjs_files


def pictures(k):
    """A shared convolution, squeeze-excite, a nested model, and a flattened picture."""
    L = k.layers
    block_input = k.Input((4, 5, 4))
    y = L.BatchNormalization(name="norm")(L.Conv2D(4, 3, padding="same", name="conv")(block_input))
    block = k.Model(block_input, L.Add(name="sum")([block_input, y]), name="block")
    x = i = k.Input((6, 7, 2))
    x = L.Conv2D(4, 3, activation="relu", name="stem")(x)
    s = L.Reshape((1, 1, 4), name="squeeze")(L.GlobalAveragePooling2D(name="mean")(x))
    x = L.Multiply(name="excite")([x, L.Conv2D(4, 1, activation="sigmoid", name="gate")(s)])
    x = L.Flatten(name="flat")(L.MaxPooling2D(name="pool")(block(x)))
    m = k.Model(i, L.Dense(3, activation="softmax", name="head")(x))
    m.compile("adam", k.losses.CategoricalCrossentropy(label_smoothing=0.1))
    return m


def text(k):
    L = k.layers
    return k.Sequential([k.Input((5,), dtype="int32"), L.Embedding(20, 3, mask_zero=True, name="words"),
                         L.Bidirectional(L.GRU(2, return_sequences=True), name="both"), L.LSTM(2, name="last"), L.Dense(1, activation="sigmoid", name="head")])


def vectors(k):
    L = k.layers
    return k.Sequential([k.Input((4,)), L.Dense(3, activation="hard_sigmoid", name="first"), L.Dense(2, name="second")])


def attention(k):
    """Attention of a sequence to itself and to a part of another one, without heads too, and penalties on weights."""
    L = k.layers
    x = k.Input((5, 6))
    own = L.MultiHeadAttention(2, 3, kernel_regularizer="l2", name="own")(x, x)
    part = L.Cropping1D((0, 2), name="part")(own)
    other = L.MultiHeadAttention(2, 4, value_dim=5, use_bias=False, output_shape=7, name="other")(part, x, key=own)
    dot = L.Attention(name="dot")([other, L.Dense(7, kernel_regularizer=k.regularizers.L1(0.25), name="keys")(x)])
    y = L.Dense(3, name="head")(L.GlobalAveragePooling1D(name="mean")(dot))
    return k.Model(x, y)


def shuffle(k):
    """Channels shuffled over values with four axes."""
    L = k.layers
    x = k.Input((3, 4, 6))
    y = L.Conv2D(6, 1, groups=2, name="conv")(x)
    y = L.Permute((1, 2, 4, 3), name="swapped")(L.Reshape((3, 4, 2, -1), name="groups")(y))
    return k.Model(x, L.Dense(3, name="head")(L.GlobalMaxPooling2D(name="most")(L.Conv2D(6, 2, groups=3, name="last")(L.Reshape((3, 4, 6), name="joined")(y)))))


def functions(k):
    """Functions of keras.ops or TensorFlow, BGR pictures, and a batch norm that is called twice."""
    L = k.layers
    x = k.Input((7, 6, 3))
    y = L.Rescaling(0.01, name="small")(k.applications.resnet.preprocess_input(x))
    if k is keras:
        ops, adaptive = k.ops, L.AdaptiveAveragePooling2D((3, 2), name="pool")
    else:
        import tensorflow as ops
        adaptive = L.AveragePooling2D((2, 2), name="pool")
    norm = L.BatchNormalization(name="norm")
    a, b = (norm(L.Conv2D(4, 3, name=name)(y)) for name in ("a", "b"))
    c = L.Activation("softplus", name="above")(b)
    z = ops.where(a > 0.3, a / c, ops.sqrt(c)) + 1 / c - (ops.math.log(c) if k is tf_keras else ops.log(c))
    z = z[:, 1:, ..., ::-1] + ops.exp(-ops.abs(a))[:, :-1]
    return k.Model(x, L.Dense(3, name="head")(L.Flatten(name="flat")(adaptive(z))))


def masked_mean(k):
    L = k.layers
    return k.Sequential([k.Input((5,), dtype="int32"), L.Embedding(20, 3, mask_zero=True, name="words"),
                         L.GlobalAveragePooling1D(name="mean"), L.Dense(2, name="head")])


def chain(k):
    """Layers without names, for weights that are matched by their order."""
    L = k.layers
    return k.Sequential([k.Input((6, 6, 1)), L.Conv2D(2, 3, activation="relu"), L.Conv2D(3, 3, activation="relu"), L.Flatten(), L.Dense(4), L.Dense(2)])


def masked(k):
    """A mask of tokens through layers that join sequences; Keras 3 writes its computation between the layers."""
    L = k.layers
    x = k.Input((5,), dtype="int32")
    e = L.Embedding(20, 3, mask_zero=True, name="words")(x)
    a, b = L.LSTM(3, return_sequences=True, name="a")(e), L.Dropout(0.2)(L.GRU(3, return_sequences=True, name="b")(e))
    y = L.Concatenate(name="joined")([L.Add(name="sum")([a, b]), L.TimeDistributed(L.Dense(2), name="each")(e)])
    y = L.GRU(2, name="last")(L.LayerNormalization(name="norm")(L.Bidirectional(L.GRU(2, return_sequences=True), name="both")(y)))
    given = L.LSTM(2, name="given")(L.Embedding(20, 3, name="others")(x), mask=k.ops.not_equal(x, 0))
    return k.Model(x, L.Dense(2, name="head")(L.Concatenate(name="ends")([y, given])))


def masked_merges(k):
    """Masks that merges and operators end or keep, which Keras 2 and 3 do differently, and that nested models get."""
    L = k.layers
    x = k.Input((5,), dtype="int32")
    words = k.Sequential([k.Input((5,), dtype="int32"), L.Embedding(20, 3, mask_zero=True, name="table")], name="words")
    e, other = words(x), L.Embedding(20, 3, name="others")(x)
    i = k.Input((5, 3))
    inner = k.Model(i, L.LSTM(2, name="last")(i), name="inner")
    gate = L.Dense(3, activation="sigmoid", name="gate")(e)
    ends = [inner(e), L.LSTM(2, name="added")(L.Add(name="sum")([e, other])), L.LSTM(2, name="behind")(L.Concatenate(name="pair")([other, e])),
            L.LSTM(2, name="doubled")(e * 2.0), L.GlobalMaxPooling1D(name="most")(L.Multiply(name="gated")([e, gate])),
            L.GlobalMaxPooling1D(name="more")(L.Multiply(name="scaled")([e, other]))]
    return k.Model(x, L.Dense(3, name="head")(L.Concatenate(name="ends")(ends)))


def blocks(k):
    """Layers of one name in several nested models, and a dot in a name."""
    L = k.layers

    def block(name):
        return k.Sequential([k.Input((5, 4)), L.Conv1D(4, 3, padding="same", name="conv"), L.Bidirectional(L.LSTM(2, return_sequences=True), name="both")], name=name)

    backbone = k.Sequential([k.Input((5, 4)), block("block"), block("other")], name="backbone")
    x = k.Input((5, 4))
    y = L.Conv1D(4, 3, padding="same", name="backbone.block.conv")(backbone(x))
    return k.Model(x, L.Dense(3, name="head")(L.Flatten(name="flat")(y)))


def operations(k):
    """Functions of keras.ops with numbers on either side."""
    x = k.Input((4,))
    y = k.ops.gelu(k.ops.minimum(0.7, k.ops.maximum(x, -0.4)))
    y = k.ops.clip(k.ops.elu(1 - y * 3, alpha=0.5), -0.3, 1.5) / 2
    return k.Model(x, k.layers.Dense(3, name="head")(k.ops.maximum(0.1, k.ops.leaky_relu(2 + y, 0.1)) - 0.5))


def bfloat16(model, file):
    """Saves a copy with weights in bfloat16; the model gets the rounded ones, for golden.h5."""
    keras.config.set_dtype_policy("bfloat16")
    copy = vectors(keras)
    keras.config.set_dtype_policy("float32")
    copy.set_weights(model.get_weights())
    model.set_weights([w.astype("float32") for w in copy.get_weights()])
    copy.save(file)
    deflate(file)


def deflate(file):
    with zipfile.ZipFile(file) as source:
        entries = [(i.filename, source.read(i)) for i in source.infolist()]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in entries:
            target.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)


def zip64(file, source):
    """A copy with the records that Python's zipfile writes above 4 GiB, here above 10 bytes."""
    limit, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, 10
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(file, "w") as new:
        for entry in old.infolist():
            new.writestr(zipfile.ZipInfo(entry.filename, (2000, 1, 1, 0, 0, 0)), old.read(entry), zipfile.ZIP_DEFLATED)
    zipfile.ZIP64_LIMIT = limit


def main():
    wanted = sys.argv[1:]
    with h5py.File(os.path.join(HERE, "golden.h5"), "a" if wanted else "w") as golden:
        for name, k, build, save in [
                ("pictures.keras", keras, pictures, lambda m, f: (m.save(f), deflate(f))),
                ("pictures.h5", tf_keras, pictures, lambda m, f: m.save(f)),
                ("pictures2.keras", tf_keras, pictures, lambda m, f: (m.save(f), deflate(f))),
                ("text.keras", keras, text, lambda m, f: (m.save(f), deflate(f))),
                ("vectors.keras", keras, vectors, lambda m, f: m.save(f)),
                ("bfloat16.keras", keras, vectors, bfloat16),
                ("vectors.h5", tf_keras, vectors, lambda m, f: m.save(f)),
                ("attention.keras", keras, attention, lambda m, f: (m.save(f), deflate(f))),
                ("attention.h5", tf_keras, attention, lambda m, f: m.save(f)),
                ("attention2.keras", tf_keras, attention, lambda m, f: (m.save(f), deflate(f))),
                ("shuffle.keras", keras, shuffle, lambda m, f: (m.save(f), deflate(f))),
                ("masked.keras", keras, masked, lambda m, f: (m.save(f), deflate(f))),
                ("masked_merges.keras", keras, masked_merges, lambda m, f: (m.save(f), deflate(f))),
                ("masked_merges.h5", tf_keras, masked_merges, lambda m, f: m.save(f)),
                ("blocks.keras", keras, blocks, lambda m, f: (m.save(f), deflate(f))),
                ("blocks.h5", keras, blocks, lambda m, f: m.save(f)),
                ("operations.keras", keras, operations, lambda m, f: (m.save(f), deflate(f))),
                ("operations.h5", keras, operations, lambda m, f: m.save(f)),
                ("functions.keras", keras, functions, lambda m, f: (m.save(f), deflate(f))),
                ("functions.h5", tf_keras, functions, lambda m, f: m.save(f)),
                ("masked_mean.keras", keras, masked_mean, lambda m, f: (m.save(f), deflate(f))),
                ("chain.weights.h5", keras, chain, lambda m, f: m.save_weights(f)),
                ("chain_weights_tf_dim_ordering_tf_kernels.h5", tf_keras, chain, lambda m, f: m.save_weights(f)),
                ("pictures", tf_keras, pictures, lambda m, f: tfjs_files.save(m, f, None, 200)),
                ("vectors", tf_keras, vectors, lambda m, f: tfjs_files.save(m, f, "float16"))]:
            if wanted and name not in wanted:
                continue
            if name in golden:
                del golden[name]
            k.backend.clear_session()
            rng = np.random.default_rng(1)
            model = build(k)
            compare_keras.set_random_weights(model, rng)
            folder = HERE if "." in name else os.path.join(os.path.dirname(HERE), "tfjs")
            save(model, os.path.join(folder, name))
            x = compare_keras.samples_for(model, rng)[:2]
            if "masked" in name:
                x[:, ::2] = [[0, 3, 0], [5, 2, 0]]
            golden[f"{name}/samples"] = compare_keras.channels_first(x, model)
            golden[f"{name}/output"] = np.asarray(model(x, training=False))
    zip64(os.path.join(HERE, "zip64.keras"), os.path.join(HERE, "masked_mean.keras"))
    if wanted:
        return
    source = tfjs_files.save(model, os.path.join(os.path.dirname(HERE), "tfjs", "quantized"), "uint8")
    again = tfjs_files.load(tf_keras, source)
    with h5py.File(os.path.join(HERE, "golden.h5"), "a") as golden:
        golden["quantized/samples"] = x
        golden["quantized/output"] = np.asarray(again(x, training=False))


if __name__ == "__main__":
    main()
