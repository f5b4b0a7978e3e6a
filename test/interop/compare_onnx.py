#!/usr/bin/env python3
"""Compares Convoke's ONNX import with onnxruntime (outputs) and PyTorch (gradients), and prints a table.

    OMP_NUM_THREADS=1 python compare_onnx.py build/dev/test/interop/interop_run [GROUP ...] [--only TEXT]

Groups: odd (small models with unusual layers), torchvision, timm (outputs alone), keras, tf2onnx, files (paths after
--files). Needs torch, torchvision, timm, onnx, onnxscript and onnxruntime, or for keras and tf2onnx tensorflow, keras
and tf2onnx.
"""
import argparse
import copy
import os
import subprocess
import sys
import tempfile
import time
import warnings

import h5py
import numpy as np
import onnx
import onnxruntime

CONTROLS, CHANGE = 3, 1e-6
SAMPLES = 8  # of torchvision's networks, whose last batch norms see few pixels

warnings.filterwarnings("ignore")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def run_ours(program, model, samples, labels, folder):
    """Returns the outputs, loss and gradients of interop_run, its parameters, and what it printed."""
    data, out = os.path.join(folder, "data.h5"), os.path.join(folder, "out.h5")
    with h5py.File(data, "w") as file:
        file["samples"] = samples
        if labels is not None:
            file["labels"] = labels.astype(np.int32)
    if os.path.exists(out):
        os.remove(out)
    done = subprocess.run([program, model, data, out], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or f"exit {done.returncode}").strip().replace(model, "")[:400])
    with h5py.File(out) as file:
        gradients = {name: np.array(value) for name, value in file.get("gradients", {}).items()}
        parameters = {name: np.array(value) for name, value in file.get("parameters", {}).items()}
        return np.array(file["output"]), gradients, parameters, done.stdout


def relative(a, b, floor=1e-6):
    """Returns the largest difference, relative to the largest number of b."""
    return float(np.abs(a - b).max() / max(floor, np.abs(b).max())) if a.size else 0.0


def run_reference(model, samples):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    info = session.get_inputs()[0]
    kind = {"tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(uint8)": np.uint8,
            "tensor(float16)": np.float16, "tensor(double)": np.float64}.get(info.type, np.float32)
    fixed = info.shape[0] if isinstance(info.shape[0], int) else None
    size = fixed or len(samples)
    parts = [session.run([session.get_outputs()[0].name], {info.name: samples[i : i + size].astype(kind)})[0]
             for i in range(0, len(samples), size)]
    return np.concatenate(parts)


def torch_gradients(network, samples, labels):
    """Returns the gradients of the mean cross-entropy in a training step, computed in float64, and how far others of
    PyTorch are from them: in float32, and in float64 after changes of the samples by 1e-6. An input of ReLU that is
    nearly 0 changes sides by rounding, in any program."""
    import torch

    def gradients(network, samples):
        network.train()
        loss = torch.nn.functional.cross_entropy(network(torch.from_numpy(samples)), torch.from_numpy(labels))
        loss.backward()
        return {name: p.grad.numpy() for name, p in network.named_parameters() if p.grad is not None}

    def exact(samples):
        return gradients(copy.deepcopy(network).double(), samples)

    if samples.dtype == np.float32:
        double = samples.astype(np.float64)
        signs = [np.random.default_rng(seed).choice([-1, 1], samples.shape) for seed in range(CONTROLS)]
        others = [exact(double * (1 + CHANGE * sign)) for sign in signs]
    else:
        double, others = samples, []
    theirs = exact(double)
    floor = floor_of(theirs)
    others.append(gradients(copy.deepcopy(network), samples))
    return theirs, max(distance(other[name], theirs[name], floor) for other in others for name in theirs)


def floor_of(gradients):
    """Returns the norm below which differences do not count: 1e-3 of the largest."""
    return 1e-3 * max((np.linalg.norm(gradient) for gradient in gradients.values()), default=1)


def distance(a, b, floor):
    """Returns the norm of the difference relative to that of b."""
    return float(np.linalg.norm(a - b) / max(floor, np.linalg.norm(b)))


def forms(value, like):
    """Returns our gradient in the layouts that PyTorch may have: as it is, transposed convolutions as (C, M /
    groups, ...), and a GRU's gates z, r, n as r, z, n."""
    yield value.ravel()
    if value.ndim >= 3 and like.ndim >= 3:
        for groups in (1, 2):
            if value.shape[0] % groups == 0:
                divided = value.reshape(groups, value.shape[0] // groups, *value.shape[1:])
                yield np.swapaxes(divided, 1, 2).ravel()
    if value.shape[0] % 3 == 0:
        z, r, n = np.split(value, 3)
        yield np.concatenate([r, z, n]).ravel()


def compare_gradients(ours, theirs):
    """Matches gradients by shape and values, since names may differ. Returns the largest difference and the
    number of theirs that have none of ours. Both biases of PyTorch's LSTM are our one."""
    worst, missing = 0.0, 0
    floor = floor_of(theirs)
    for gradient in theirs.values():
        differences = [distance(form, gradient.ravel(), floor) for value in ours.values() if value.size == gradient.size
                       for form in forms(value, gradient)]
        best = min(differences, default=np.inf)
        if best > 0.5:
            missing += 1
        else:
            worst = max(worst, best)
    return worst, missing


class Table:
    def __init__(self, arguments):
        self.arguments, self.good, self.bad = arguments, 0, []

    def row(self, name, model, samples, network=None, transposed=False):
        """`samples`: as the file takes them; `transposed`: ours are channels first."""
        if self.arguments.only and self.arguments.only not in name:
            return
        with tempfile.TemporaryDirectory() as folder:
            try:
                begin = time.time()
                expected = run_reference(model, samples)
                own = samples
                if transposed and own.ndim == 4:
                    own = np.ascontiguousarray(own.transpose(0, 3, 1, 2))
                if own.dtype not in (np.int32,):
                    own = own.astype(np.int32 if own.dtype == np.int64 else np.float32)
                labels = None
                classes = expected.reshape(len(samples), -1).shape[1]
                if network is not None:
                    labels = np.arange(len(samples)) % classes
                if name in REFUSED:
                    return self.refuse(name, model, own, folder)
                output, gradients, _, printed = run_ours(self.arguments.program, model, own, labels, folder)
                if transposed and expected.ndim == 4:
                    expected = expected.transpose(0, 3, 1, 2)
                if output.size != expected.size:
                    raise RuntimeError(f"shape {output.shape} instead of {expected.shape}")
                error = relative(output.ravel(), expected.ravel(), 1e-3)
                text = f"outputs {error:.1e}"
                good = error < 1e-4
                if network is not None:
                    theirs, rounding = torch_gradients(network, samples, labels)
                    worst, missing = compare_gradients(gradients, theirs)
                    text += f"  gradients {worst:.1e} (PyTorch after a change by rounding {rounding:.1e})" + (f"  missing {missing}" if missing else "")
                    # The same input on the other side moves gradients by the same amount, but for rounding.
                    good = good and worst < 1.01 * max(1e-3, rounding) and missing == 0
                if self.arguments.notes and printed:
                    text += "  " + printed.strip().replace("\n", " ")
                text += f"  {time.time() - begin:.1f} s"
            except Exception as error:  # each row stands for itself
                good, text = False, str(error).replace("\n", " ")
        self.good += good
        if not good:
            self.bad.append(name)
        print(f"{'ok  ' if good else 'FAIL'} {name:44} {text}", flush=True)


    def refuse(self, name, model, samples, folder):
        try:
            run_ours(self.arguments.program, model, samples, None, folder)
        except RuntimeError as error:
            self.good += 1
            return print(f"ok   {name:44} refused {error}".replace("\n", " "), flush=True)
        raise RuntimeError("is not refused")


def export_torch(network, samples, file, dynamo, train=False, opset=None, open_batch=False):
    import logging

    import torch

    logging.disable(logging.WARNING)
    options = {"opset_version": opset} if opset else {}
    samples = samples[: 2 if open_batch else 1]
    if open_batch and dynamo:
        options["dynamic_shapes"] = ({0: torch.export.Dim("batch")},)
    elif open_batch:
        options |= {"input_names": ["x"], "dynamic_axes": {"x": {0: "batch"}}}
    if dynamo:
        torch.onnx.export(network, (torch.from_numpy(samples),), file, dynamo=True, verbose=False, **options)
    else:
        mode = torch.onnx.TrainingMode.PRESERVE if train else torch.onnx.TrainingMode.EVAL
        torch.onnx.export(network, (torch.from_numpy(samples),), file, dynamo=False, training=mode,
                          do_constant_folding=not train, **options)


def torch_rows(table, name, network, samples, dynamo=(False, True), gradients=True, opset=None, open_batch=False):
    network.eval()
    for flag in dynamo:
        label = f"{name} {'dynamo' if flag else 'script'}"
        if table.arguments.only and table.arguments.only not in label:
            continue
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.onnx")
            try:
                sys.stdout.flush()
                keep = os.dup(1)
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                try:
                    export_torch(network, samples, file, flag, train=not flag and gradients, opset=opset, open_batch=open_batch)
                finally:
                    os.dup2(keep, 1)
                    os.close(null)
                    os.close(keep)
            except Exception as error:
                print(f"skip {label:44} torch does not export it: {str(error).splitlines()[0][:90]}", flush=True)
                continue
            import torch

            folded = any(isinstance(m, torch.nn.modules.batchnorm._BatchNorm) for m in network.modules()) and not any(
                node.op_type == "BatchNormalization" for node in onnx.load(file, load_external_data=False).graph.node)
            table.row(label, file, samples, network if gradients and not folded else None)


def odd_models(table):
    import onnx_odd_models

    for name, network, samples in onnx_odd_models.models():
        torch_rows(table, name, network, samples)


def torchvision_models(table):
    import torch
    import torchvision

    sizes = {"inception_v3": 96, "alexnet": 224, "vgg11": 224, "vgg11_bn": 224}
    for name in torchvision.models.list_models(module=torchvision.models):
        if name.startswith(("vit", "swin", "maxvit")) or (name.startswith("vgg") and name not in sizes):
            continue  # attention; the exporters write adaptive pooling only for pictures of 224 x 224
        torch.manual_seed(0)
        size = sizes.get(name, 64)
        options = {"num_classes": 10}
        if name in ("inception_v3", "googlenet"):
            options |= {"aux_logits": False, "init_weights": False}
        try:
            network = torchvision.models.get_model(name, weights=None, **options)
        except Exception as error:
            print(f"skip {name}: {error}")
            continue
        network.eval()
        samples = np.random.default_rng(0).standard_normal((SAMPLES, 3, size, size), dtype=np.float32)
        for module in network.modules():
            if isinstance(module, (torch.nn.Dropout, torchvision.ops.StochasticDepth)):
                module.p = 0.0
        # Random batch-norm statistics, or deep networks without training give nothing but zeros.
        network.train()
        with torch.no_grad():
            network(torch.from_numpy(np.random.default_rng(1).standard_normal((4, 3, size, size), dtype=np.float32)))
        torch_rows(table, name, network, samples)


# A small network of each family.
TIMM = """
    resnet18 resnet26d seresnext26d_32x4d skresnet18 resnest14d ecaresnet26t resnetaa50 resnetblur50 resnetv2_50
    resnetv2_50x1_bit nf_regnet_b0 nf_resnet50 dm_nfnet_f0 regnety_002 regnetz_b16 res2net50_26w_4s cspresnet50 darknet53
    selecsls42b tresnet_m dla34 dpn48b densenet121 hrnet_w18_small inception_v3 inception_v4 inception_resnet_v2
    xception41 legacy_xception efficientnet_b0 tf_efficientnetv2_b0 mobilenetv2_050 mobilenetv3_small_050
    mobilenetv4_conv_small mnasnet_small mixnet_s tf_mixnet_s ghostnet_050 ghostnetv2_100 repghostnet_050 rexnet_100
    hardcorenas_a lcnet_050 tinynet_a fbnetc_100 repvgg_a0 mobileone_s0 ese_vovnet19b_dw gernet_s hgnetv2_b0 starnet_s1
    convnext_atto convnextv2_atto inception_next_atto focalnet_tiny_srf poolformer_s12 convformer_s18 caformer_s18 mambaout_femto
    rdnet_tiny fastvit_t8 vit_tiny_patch16_224 deit_tiny_patch16_224 mixer_s32_224""".split()


def timm_models(table):
    import timm
    import torch

    for name in TIMM:
        if table.arguments.only and table.arguments.only not in name:
            continue
        torch.manual_seed(0)
        network = timm.create_model(name, num_classes=10)
        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.running_mean.normal_(0, 0.1)
                module.running_var.uniform_(0.5, 1.5)
        for parameter in network.parameters():  # one of zeros would hide what it multiplies
            if not parameter.any():
                parameter.data.normal_(0, 0.1)
        size = network.default_cfg["input_size"][1] if network.default_cfg.get("fixed_input_size") else 96
        samples = np.random.default_rng(0).standard_normal((2, 3, size, size), dtype=np.float32)
        torch_rows(table, name, network, samples, gradients=False, open_batch=True)


def keras_models(table):
    import keras

    for name, build, shape in KERAS:
        if table.arguments.only and table.arguments.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                network = build(keras)
                for layer in network.layers:
                    if isinstance(layer, keras.layers.BatchNormalization):
                        rng = np.random.default_rng(3)
                        layer.set_weights([w + rng.uniform(0, 0.2, w.shape) for w in layer.get_weights()])
                samples = np.random.default_rng(0).random((2, *shape), dtype=np.float32)
                network(samples)  # Keras exports only models that have been called
                file = os.path.join(folder, "model.onnx")
                if table.arguments.tf2onnx:
                    import tensorflow as tf
                    import tf2onnx

                    spec = (tf.TensorSpec((None, *shape), tf.float32, name="input"),)
                    function = tf.function(lambda x: network(x, training=False), input_signature=spec)
                    tf2onnx.convert.from_function(function, spec, opset=15, output_path=file)
                else:
                    network.export(file, format="onnx", verbose=False)
            except Exception as error:
                print(f"skip {name:44} not exported: {str(error).splitlines()[0][:120]}", flush=True)
                continue
            table.row(name, file, samples, transposed=True)


def application(name, **options):
    return lambda keras: getattr(keras.applications, name)(weights=None, classes=10, **options)


KERAS = [(name, application(name, input_shape=(size, size, 3), **({"include_preprocessing": True} if "V3" in name and "Mobile" in name else {})), (size, size, 3))
         for name, size in [("MobileNet", 64), ("MobileNetV2", 64), ("MobileNetV3Small", 64), ("EfficientNetB0", 64),
                            ("EfficientNetV2B0", 64), ("ResNet50", 64), ("ResNet50V2", 64), ("DenseNet121", 64), ("VGG16", 32),
                            ("Xception", 96), ("InceptionV3", 96), ("ConvNeXtTiny", 64), ("NASNetMobile", 64)]]


# Keras writes its GRU as a Loop, its LSTM as LSTM.
REFUSED = ["gru"]


def keras_odd(build, shape):
    def make(keras):
        layers = keras.layers
        x = inputs = keras.Input(shape)
        return keras.Model(inputs, build(layers, x))
    return make


KERAS += [
    ("lstm", keras_odd(lambda l, x: l.Dense(5, activation="softmax")(l.LSTM(6)(x)), (7, 4)), (7, 4)),
    ("gru", keras_odd(lambda l, x: l.Dense(5)(l.GRU(6, return_sequences=True)(x)), (7, 4)), (7, 4)),
    ("bilstm", keras_odd(lambda l, x: l.Dense(5)(l.Bidirectional(l.LSTM(6))(x)), (7, 4)), (7, 4)),
    ("conv1d", keras_odd(lambda l, x: l.Dense(5)(l.GlobalAveragePooling1D()(l.Conv1D(8, 3, padding="same", activation="relu")(x))), (16, 4)), (16, 4)),
    ("layernorm", keras_odd(lambda l, x: l.Dense(5)(l.Flatten()(l.LayerNormalization()(l.Conv2D(8, 3)(x)))), (8, 8, 3)), (8, 8, 3)),
    ("groupnorm", keras_odd(lambda l, x: l.Dense(5)(l.Flatten()(l.GroupNormalization(4)(l.Conv2D(8, 3)(x)))), (8, 8, 3)), (8, 8, 3)),
    ("transpose", keras_odd(lambda l, x: l.Dense(5)(l.Flatten()(l.Conv2DTranspose(4, 3, strides=2, padding="same")(l.Conv2D(8, 3)(x)))), (8, 8, 3)), (8, 8, 3)),
    ("upsample", keras_odd(lambda l, x: l.Conv2D(2, 1)(l.UpSampling2D(2)(l.Conv2D(8, 3, strides=2, padding="same")(x))), (8, 8, 3)), (8, 8, 3)),
    ("prelu", keras_odd(lambda l, x: l.Dense(5)(l.Flatten()(l.PReLU(shared_axes=[1, 2], alpha_initializer="ones")(l.SeparableConv2D(8, 3)(x)))), (8, 8, 3)), (8, 8, 3)),
    ("dense", keras_odd(lambda l, x: l.Dense(5)(l.BatchNormalization()(l.Dense(7, activation="gelu")(x))), (9,)), (9,)),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("groups", nargs="*", default=["odd"])
    parser.add_argument("--only", help="rows whose name has this text")
    parser.add_argument("--notes", action="store_true", help="print what the import notes")
    parser.add_argument("--tf2onnx", action="store_true", help="export Keras models by tf2onnx")
    parser.add_argument("--files", nargs="*", default=[], help="FILE:N,C,H,W, or FILE:N,L of tokens")
    arguments = parser.parse_args()
    table = Table(arguments)
    for group in arguments.groups:
        {"odd": odd_models, "torchvision": torchvision_models, "timm": timm_models, "keras": keras_models,
         "files": lambda table: None}[group](table)
    for entry in arguments.files:
        file, shape = entry.rsplit(":", 1)
        shape = [int(extent) for extent in shape.split(",")]
        rng = np.random.default_rng(0)
        samples = rng.integers(0, 256, shape) if len(shape) == 2 else rng.random(shape, dtype=np.float32)
        table.row(os.path.basename(file), file, samples)
    print(f"{table.good} of {table.good + len(table.bad)} agree" + (f"; not: {', '.join(table.bad)}" if table.bad else ""))
    return 1 if table.bad else 0


if __name__ == "__main__":
    sys.exit(main())
