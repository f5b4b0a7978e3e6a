#!/usr/bin/env python3
"""Models of other programs go through Convoke, which trains them for an epoch, and back.

    OMP_NUM_THREADS=1 python round_trips.py [keras] [onnx] [torchvision] --convoke build/dev/convoke --mnist mnist.h5

Keras -> Convoke -> Keras (.keras and .h5), PyTorch -> ONNX (both exporters) -> Convoke -> ONNX -> onnxruntime, and
torchvision -> safetensors -> Convoke -> safetensors -> torchvision. One line for each: the largest difference of
the probabilities on 1,000 pictures, the number of predicted classes that differ there, and both accuracies on the
test split, which must be equal to four digits. `keras` needs Keras, the others PyTorch.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np

import trained

PICTURES, TOLERANCE = 1000, 1e-4
TRAIN = {"epochs": 1, "batch": 64, "optimizer": '{ name = "adam", learning_rate = 1e-3 }'}


def probabilities(outputs):
    if np.allclose(outputs.sum(axis=1), 1, atol=1e-4) and outputs.min() >= 0:
        return outputs
    powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def in_parts(run, samples, size=250):
    return np.concatenate([np.asarray(run(samples[begin : begin + size])) for begin in range(0, len(samples), size)])


class Trip:
    """One folder with the dataset data.h5, in which a model goes there and back."""

    def __init__(self, arguments, folder, digits):
        self.convoke = trained.Convoke(arguments.convoke, folder)
        self.digits, self.failed = digits, []
        trained.write_dataset(self.convoke.folder / "data.h5", digits)

    def train(self, name, **model):
        return self.convoke.train(name, model, {"path": "data.h5", "normalize": "unit"}, TRAIN)

    def compare(self, name, run, theirs):
        """`theirs`: the outputs of the other program for the test split."""
        labels = self.digits["test"][1]
        ours = probabilities(self.convoke.outputs(run, "data.h5", PICTURES))
        theirs = probabilities(theirs)
        accuracy = json.loads(self.convoke("evaluate", run, "--data", "data.h5", "--json"))["accuracy"]
        difference = np.abs(ours - theirs[:PICTURES]).max()
        other = int((ours.argmax(axis=1) != theirs[:PICTURES].argmax(axis=1)).sum())
        their_accuracy = float((theirs.argmax(axis=1) == labels).mean())
        good = difference < TOLERANCE and other == 0 and round(accuracy, 4) == round(their_accuracy, 4)
        if not good:
            self.failed.append(name)
        print(f"{'ok  ' if good else 'FAIL'} {name:34} difference {difference:.1e}, other class {other}, accuracy "
              f"{accuracy:.4f} and {their_accuracy:.4f} of {len(labels):,}", flush=True)


def keras_trips(trip):
    import keras

    samples = trained.as_input(trip.digits["test"][0], "keras")
    for name in ("cnn", "resnet20", "mobilenet"):
        keras.utils.set_random_seed(1)
        network = trained.keras_networks()[name]()
        for form in ("keras", "h5"):
            network.save(trip.convoke.folder / f"{name}.{form}")
            run = trip.train(f"{name}-{form}", file=f"{name}.{form}")
            trip.convoke("export", run, "--format", form, "-o", f"back.{form}")
            back = keras.models.load_model(trip.convoke.folder / f"back.{form}")
            trip.compare(f"Keras {name} .{form}", run, back.predict(samples, verbose=0))


def onnx_trips(trip):
    import onnxruntime
    import torch

    samples = trained.as_input(trip.digits["test"][0], "torch")
    for name in ("cnn", "resnet20", "mobilenet"):
        for dynamo in (False, True):
            torch.manual_seed(1)
            form = f"{name}-{'dynamo' if dynamo else 'script'}"
            trained.export_onnx(trained.torch_networks()[name](), samples[:2], trip.convoke.folder / f"{form}.onnx",
                                dynamo)
            run = trip.train(form, file=f"{form}.onnx")
            trip.convoke("export", run, "--format", "onnx", "-o", "back.onnx")
            session = onnxruntime.InferenceSession(str(trip.convoke.folder / "back.onnx"),
                                                   providers=["CPUExecutionProvider"])
            entry = session.get_inputs()[0].name
            trip.compare(f"PyTorch {form} ONNX", run, in_parts(lambda x: session.run(None, {entry: x})[0], samples))


def torchvision_trips(trip):
    import safetensors.torch
    import torch
    import torchvision

    samples = trained.as_input(trip.digits["test"][0], "torch")
    for zoo, name in (("resnet18", "resnet18"), ("mobilenet-v3-small", "mobilenet_v3_small")):
        torch.manual_seed(1)
        network = torchvision.models.get_model(name, weights=None, num_classes=trained.CLASSES)
        safetensors.torch.save_file(network.state_dict(), trip.convoke.folder / f"{name}.safetensors")
        run = trip.train(name, zoo=zoo, weights=f"{name}.safetensors", classes=trained.CLASSES,
                         input=[3, *trip.digits["test"][0].shape[1:3]])
        trip.convoke("export", run, "--format", "safetensors", "-o", "back.safetensors")
        back = torchvision.models.get_model(name, weights=None, num_classes=trained.CLASSES)
        back.load_state_dict(safetensors.torch.load_file(trip.convoke.folder / "back.safetensors"), strict=True)
        back.eval()
        with torch.no_grad():
            trip.compare(f"torchvision {name} safetensors", run,
                         in_parts(lambda x: back(torch.from_numpy(x)), samples))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["onnx", "torchvision"])
    parser.add_argument("--convoke", type=pathlib.Path, default="build/dev/convoke")
    parser.add_argument("--mnist", required=True, help="the dataset of `convoke prepare`")
    parser.add_argument("--train", type=int, default=6000, help="training pictures")
    arguments = parser.parse_args()
    failed = []
    for part in arguments.parts:
        color = part == "torchvision"
        digits = trained.mnist(arguments.mnist, 32 if color else 28, 3 if color else 1, arguments.train,
                               2000 if color else 10000)
        with tempfile.TemporaryDirectory() as folder:
            trip = Trip(arguments, folder, digits)
            {"keras": keras_trips, "onnx": onnx_trips, "torchvision": torchvision_trips}[part](trip)
            failed += trip.failed
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
