#!/usr/bin/env python3
"""Compares published networks whose weights Convoke reads from files of PyTorch or Keras with the originals.

    OMP_NUM_THREADS=1 python compare_weights.py [NAME ...] [--build build/dev]

In a Python with torchvision: the state dicts of torchvision's and timm's networks as safetensors. In one with keras and
tf_keras: the weights of Keras Applications as Keras 3 and Keras 2 write them, the latter under the published name. All
weights and running statistics are random. NAMEs are those of the zoo. One line for each file: the largest difference of
the outputs for two pictures, relative to the largest output.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import re
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import h5py
import numpy as np

import trained

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "zoo"))

LIMIT = 1e-4


def torch_names():
    import torch_reference

    return [*torch_reference.MODELS, *(torch_reference.TIMM if torch_reference.timm else [])]


def torch_cases(name, folder, pictures):
    """Yields (what, file, outputs) of the network; `pictures` is a function of its size."""
    import torch
    import torch_reference
    from safetensors.torch import save_file

    torch.manual_seed(1)
    network = torch_reference.reference(name, 1000).eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            for tensor in (module.weight.data, module.running_var):
                tensor.uniform_(0.5, 1.5)
            for tensor in (module.bias.data, module.running_mean):
                tensor.uniform_(-0.2, 0.2)
    file = folder / "model.safetensors"
    save_file(network.state_dict(), file)
    with torch.no_grad():
        yield "safetensors", file, network(torch.from_numpy(pictures(file))).numpy()


def keras_names():
    import keras_reference

    return [*keras_reference.MODELS, "vgg16", "vgg19"]


def keras_cases(name, folder, pictures):
    import compare_keras
    import keras
    import keras_reference
    import tf_keras

    kind = keras_reference.MODELS.get(name, name.upper())
    published = re.sub(r"(?<!^)(?<![A-Z0-9])(?=[A-Z])", "_", kind).lower() + "_weights_tf_dim_ordering_tf_kernels.h5"
    for library, file in ((keras, folder / "model.weights.h5"), (tf_keras, folder / published)):
        library.backend.clear_session()
        model = getattr(library.applications, kind)(weights=None, classifier_activation=None)
        compare_keras.set_random_weights(model, np.random.default_rng(1))
        for layer in filter(keras_reference.is_normalization, model.layers):
            layer.set_weights(keras_reference.IMAGENET)
            layer.finalize_state()
        model.save_weights(file)
        images = np.ascontiguousarray(pictures(file).transpose(0, 2, 3, 1))
        yield f"{library.__name__} {file.name}", file, model.predict(images, verbose=0)


def compare(convoke, name, cases):
    def pictures(file):
        convoke("import", file, "--zoo", name, "--output", "model.h5")
        with h5py.File(convoke.folder / "model.h5") as model:
            shape = json.loads(model.attrs["graph"])["input"]
        samples = np.random.default_rng(2).standard_normal((2, *shape)).astype(np.float32)
        np.save(convoke.folder / "x.npy", samples)
        return samples

    good = True
    try:
        for what, _, expected in cases(name, convoke.folder, pictures):
            convoke("predict", "model.h5", "x.npy", "--raw", "--layout", "nchw", "--threads", "1", "--output", "y.npy")
            outputs = np.load(convoke.folder / "y.npy")
            difference = np.abs(outputs - expected).max() / np.abs(expected).max()
            good &= bool(difference < LIMIT)
            print(f"{'ok  ' if difference < LIMIT else 'FAIL'} {name:22} {what}: {difference:.1e}", flush=True)
    except RuntimeError as error:
        good = False
        print(f"FAIL {name:22} {error}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/dev"))
    arguments = parser.parse_args()
    names, cases = (torch_names, torch_cases) if importlib.util.find_spec("torchvision") else (keras_names, keras_cases)
    good = True
    for name in arguments.names or names():
        with tempfile.TemporaryDirectory() as folder:
            good &= compare(trained.Convoke(arguments.build / "convoke", folder), name, cases)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
