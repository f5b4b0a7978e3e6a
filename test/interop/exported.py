"""What check_onnx_export.py and check_keras_export.py share: models, their exports, and our own outputs."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

ZOO = ["lenet5", "resnet18", "resnet50-keras", "mobilenet-v1", "mobilenet-v2", "mobilenet-v3-small", "shufflenet-v2",
       "squeezenet1.1", "efficientnet-b0", "densenet121", "convnext-tiny", "vgg11-bn", "inception-v3",
       "xception", "alexnet", "imdb-lstm", "resnet20", "efficientnet-b3"]


class Check:
    """One model: export it, compare outputs."""

    def __init__(self, exports, name, model, tolerance):
        self.exports, self.name, self.model, self.tolerance = exports, name, model, tolerance
        self.remarks, self.worst = [], 0.0
        with h5py.File(model) as file:
            self.scale, self.shift = file.attrs["normalization_scale"], file.attrs["normalization_shift"]
            graph = file.attrs["graph"]
        graph = json.loads(graph)
        shape = graph["input"]
        random = np.random.default_rng(3)
        self.tokens = any(layer["layer"] == "embedding" for layer in graph["layers"])
        if self.tokens:
            vocabulary = next(layer["vocabulary"] for layer in graph["layers"] if "vocabulary" in layer)
            self.samples = random.integers(0, vocabulary, (5, *shape)).astype(np.int32)
            self.samples[random.random(self.samples.shape) < 0.4] = 0
            self.samples[0] = 0
        else:
            self.samples = random.standard_normal((3, *shape)).astype(np.float32)
        self.normalizes = len(self.scale) > 0 and not self.tokens
        if self.normalizes:
            axes = (-1, 1, 1) if len(shape) == 3 else (-1,)
            scale, shift = self.scale.reshape(axes), self.shift.reshape(axes)
            self.raw_samples = ((self.samples - shift) / scale).astype(np.float32)
        self.expected = exports.run(model, self.samples)

    def export(self, form, extension, *options):
        file = self.exports.folder / (self.name + extension)
        self.exports.convert(self.model, file, form, *options)
        return file

    def compare(self, *results):
        for outputs in results:
            if outputs.shape != self.expected.shape:
                raise ValueError(f"shape {outputs.shape} instead of {self.expected.shape}")
            scale = np.abs(self.expected).max() or 1.0
            self.worst = max(self.worst, float(np.abs(outputs - self.expected).max() / scale))
            if not self.worst <= self.tolerance:
                raise ValueError(f"difference {self.worst:.1e}")

    def say(self, remark):
        self.remarks.append(remark)


class Exports:
    def __init__(self, arguments, folder, about):
        parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("names", nargs="*")
        parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/dev"))
        parser.add_argument("--zoo", action="store_true", help="also the networks of the zoo")
        parser.add_argument("--size", default="64", help="height and width for the zoo")
        options = parser.parse_args(arguments)
        self.folder, self.build, self.size = folder, options.build, options.size
        self.failed, self.passed = [], 0
        subprocess.run([self.build / "test/interop/interop_run", "--samples", folder / "samples"], check=True)
        known = sorted(file.stem for file in (folder / "samples").glob("*.h5"))
        self.names = options.names or known + (ZOO if options.zoo else [])

    def convert(self, model, file, form, *options):
        done = subprocess.run([self.build / "test/interop/interop_run", "--convert", model, file, form, *options],
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip().replace("\n", ";"))

    def run(self, model, samples):
        data, out = self.folder / "data.h5", self.folder / "out.h5"
        with h5py.File(data, "w") as file:
            file["samples"] = samples
        subprocess.run([self.build / "test/interop/interop_run", model, data, out], check=True)
        with h5py.File(out) as file:
            return file["output"][()]

    def check(self, name, tolerance, examine):
        """Calls examine(check) for the model `name` and prints one line."""
        try:
            check = Check(self, name, self.model_file(name), tolerance)
            if name == "ensemble":  # interop_run runs one member: the mean of their probabilities is ours to compute
                check.expected = self.votes(check.model, check.samples)
            examine(check)
            self.passed += 1
            print(f"{name:32} {check.worst:.1e}  {', '.join(check.remarks)}", flush=True)
        except Exception as error:  # whatever the other program raises belongs to this model's line
            self.failed.append(name)
            print(f"{name:32} FAILED {str(error)[:1500]}", flush=True)

    def model_file(self, name):
        model = self.folder / "samples" / (name + ".h5")
        if not model.exists():
            size = {"inception-v3": "300", "alexnet": "224", "xception": "128", "imdb-lstm": "0", "lenet5": "28",
                    "resnet20": "32"}.get(name, self.size)
            model = self.folder / (name + ".convoke.h5")
            subprocess.run([self.build / "test/zoo/zoo_write_model", name, model, size, "10", "0.8"], check=True)
        return model

    def votes(self, ensemble, samples):
        """The mean of softmax over the members, each run as a model of its own."""
        votes = []
        for member in sorted((ensemble.parent / "members").iterdir()):
            logits = self.run(member, samples)
            powers = np.exp(logits - logits.max(axis=1, keepdims=True))
            votes.append(powers / powers.sum(axis=1, keepdims=True))
        return np.mean(votes, axis=0)

    def finish(self):
        print(f"{self.passed} passed, {len(self.failed)} failed: {' '.join(self.failed)}")
        return 1 if self.failed else 0


def main(about, tolerance, examine):
    """Calls examine(check) for each model that the command line names. Returns the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        exports = Exports(sys.argv[1:], pathlib.Path(folder), about)
        for name in exports.names:
            exports.check(name, tolerance, examine)
    return exports.finish()
