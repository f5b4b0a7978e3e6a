"""Data, networks of PyTorch and Keras, and Convoke's commands for round_trips.py, train_alongside.py and compare_keras.py."""
import contextlib
import json
import os
import pathlib
import subprocess
import warnings

import h5py
import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
warnings.filterwarnings("ignore")

CLASSES = 10
VOCABULARY, WORDS = 500, 24


class Convoke:
    """The program, run in a folder for its files."""

    def __init__(self, program, folder):
        self.program, self.folder = pathlib.Path(program).resolve(), pathlib.Path(folder)

    def __call__(self, *arguments):
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"convoke {arguments[0]}: {(done.stderr or done.stdout).strip()[-600:]}")
        return done.stdout

    def train(self, name, model, data, train):
        """Trains with the recipe of these sections and returns the folder of the run."""
        sections = {"data": data, "model": model, "train": train, "run": {"threads": 1, "report": False}}
        recipe = self.folder / f"{name}.toml"
        lines = [f'name = "{name}"']
        for section, values in sections.items():
            lines.append(f"[{section}]")
            lines += [f"{key} = {value if isinstance(value, str) and value[:1] == '{' else json.dumps(value)}"
                      for key, value in values.items()]
        recipe.write_text("\n".join(lines) + "\n")
        run = self.folder / f"{name}.run"
        self("train", recipe, "--output", run, "--quiet")
        return run

    def outputs(self, model, dataset, count):
        """Returns what the last layer gives for the first samples of the split `test`."""
        file = self.folder / "outputs.npy"
        self("predict", model, dataset, "--split", "test", "--raw", "--output", file)
        return np.load(file)[:count]


def write_dataset(file, splits, classes=CLASSES, **attributes):
    """`splits`: name -> (samples, labels)."""
    with h5py.File(file, "w") as f:
        f.attrs.update(convoke_format="dataset", format_version=1, classes=classes, **attributes)
        for name, (samples, labels) in splits.items():
            f[f"{name}/samples"], f[f"{name}/labels"] = samples, labels.astype(np.int32)


def mnist(file, size=28, channels=1, train=None, test=None):
    """Reads digits (N, size, size, channels) of `convoke prepare`'s MNIST: {"train": (samples, labels), "test": ...}."""
    border = (size - 28) // 2
    splits = {}
    with h5py.File(file) as f:
        for name, count in (("train", train), ("test", test)):
            samples, labels = f[name]["samples"][:count], f[name]["labels"][:count]
            samples = samples.reshape(len(samples), 28, 28, 1)
            samples = np.pad(samples, ((0, 0), (border, border), (border, border), (0, 0)))
            splits[name] = np.repeat(samples, channels, axis=3), labels
    return splits


def sentences(count, seed):
    """Tokens (N, WORDS) whose class is that of the more frequent half of the vocabulary."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    half = VOCABULARY // 2
    tokens = rng.integers(1, half, (count, WORDS)) + half * (rng.random((count, WORDS)) < 0.3 + 0.4 * labels[:, None])
    return tokens.astype(np.int32), labels


def as_input(samples, framework):
    """Pixels of 0..1, for PyTorch with the channels first; tokens as they are."""
    if samples.ndim == 2:
        return samples.astype(np.int64)
    samples = samples.astype(np.float32) / 255
    return np.ascontiguousarray(samples.transpose(0, 3, 1, 2)) if framework == "torch" else samples


def torch_networks():
    """Returns functions that make networks for digits of 28 x 28 pixels, and "lstm" for sentences."""
    from torch import nn

    def conv(channels, filters, kernel, stride=1, groups=1):
        return [nn.Conv2d(channels, filters, kernel, stride, kernel // 2, groups=groups, bias=False),
                nn.BatchNorm2d(filters)]

    class Residual(nn.Module):
        def __init__(self, body, shortcut=None, active=True):
            super().__init__()
            self.body, self.shortcut = nn.Sequential(*body), nn.Sequential(*shortcut or [nn.Identity()])
            self.active = nn.ReLU() if active else nn.Identity()

        def forward(self, x):
            return self.active(self.body(x) + self.shortcut(x))

    class Lstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.lstm = nn.Embedding(VOCABULARY, 16), nn.LSTM(16, 24, batch_first=True)
            self.head = nn.Linear(24, 2)

        def forward(self, x):
            return self.head(self.lstm(self.embedding(x))[0][:, -1])

    def cnn():
        return nn.Sequential(*conv(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), *conv(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Flatten(), nn.Linear(32 * 49, 64), nn.ReLU(), nn.Dropout(0.0), nn.Linear(64, CLASSES))

    def resnet20():
        layers, channels = [*conv(1, 16, 3), nn.ReLU()], 16
        for width in (16, 32, 64):
            for i in range(3):
                stride = 2 if width > 16 and i == 0 else 1
                body = [*conv(channels, width, 3, stride), nn.ReLU(), *conv(width, width, 3)]
                layers.append(Residual(body, None if stride == 1 else conv(channels, width, 1, stride)))
                channels = width
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, CLASSES))

    def mobilenet():
        layers, channels = [*conv(1, 16, 3, 2), nn.ReLU6()], 16
        for filters, stride in ((16, 1), (24, 2), (24, 1), (40, 2), (40, 1)):
            wide = 4 * channels
            body = [*conv(channels, wide, 1), nn.ReLU6(), *conv(wide, wide, 3, stride, wide), nn.ReLU6(),
                    *conv(wide, filters, 1)]
            layers.append(Residual(body, active=False) if (channels, stride) == (filters, 1) else nn.Sequential(*body))
            channels = filters
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES))

    return {"cnn": cnn, "resnet20": resnet20, "mobilenet": mobilenet, "lstm": Lstm}


def keras_networks():
    """The same networks in Keras, which end with softmax."""
    import keras
    from keras import layers

    def conv(x, filters, kernel, stride=1):
        x = layers.Conv2D(filters, kernel, stride, padding="same", use_bias=False)(x)
        return layers.BatchNormalization(momentum=0.9)(x)

    def model(body, classes=CLASSES, tokens=False):
        x = inputs = keras.Input((WORDS,), dtype="int32") if tokens else keras.Input((28, 28, 1))
        return keras.Model(inputs, layers.Dense(classes, activation="softmax")(body(x)))

    def cnn(x):
        for filters in (16, 32):
            x = layers.MaxPooling2D()(layers.ReLU()(conv(x, filters, 3)))
        return layers.Dropout(0.0)(layers.Dense(64, activation="relu")(layers.Flatten()(x)))

    def resnet20(x):
        x = layers.ReLU()(conv(x, 16, 3))
        for width in (16, 32, 64):
            for i in range(3):
                stride = 2 if width > 16 and i == 0 else 1
                y = conv(layers.ReLU()(conv(x, width, 3, stride)), width, 3)
                x = layers.ReLU()(layers.Add()([y, x if stride == 1 else conv(x, width, 1, stride)]))
        return layers.GlobalAveragePooling2D()(x)

    def mobilenet(x):
        x = layers.ReLU(6)(conv(x, 16, 3, 2))
        for filters, stride in ((16, 1), (24, 2), (24, 1), (40, 2), (40, 1)):
            y = layers.ReLU(6)(conv(x, 4 * x.shape[-1], 1))
            y = layers.DepthwiseConv2D(3, stride, padding="same", use_bias=False)(y)
            y = conv(layers.ReLU(6)(layers.BatchNormalization(momentum=0.9)(y)), filters, 1)
            x = layers.Add()([x, y]) if (x.shape[-1], stride) == (filters, 1) else y
        return layers.GlobalAveragePooling2D()(x)

    def lstm(x):
        return layers.LSTM(24)(layers.Embedding(VOCABULARY, 16)(x))

    return {"cnn": lambda: model(cnn), "resnet20": lambda: model(resnet20), "mobilenet": lambda: model(mobilenet),
            "lstm": lambda: model(lstm, 2, tokens=True)}


def export_onnx(network, sample, file, dynamo):
    """Writes the network with its batch norms as they are trained. The exporters' reports are not shown."""
    import io
    import logging

    import torch

    logging.disable(logging.WARNING)
    options = {"verbose": False} if dynamo else {
        "training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}
    network.eval()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        torch.onnx.export(network, (torch.from_numpy(sample),), str(file), dynamo=dynamo, **options)


def torch_state(change, network):
    """Returns the state dict of the network with its numbers as `change` (a function of a list of arrays) gives them."""
    import torch

    state = network.state_dict()
    names = [name for name, value in state.items() if value.is_floating_point()]
    changed = change([state[name].numpy() for name in names])
    return state | {name: torch.from_numpy(np.asarray(value)) for name, value in zip(names, changed)}


@contextlib.contextmanager
def keras_in_float64(keras):
    """Layers that keras or tf_keras makes inside compute in float64."""
    def choose(kind):
        keras.backend.set_floatx(kind)
        keras.mixed_precision.set_global_policy(kind)

    choose("float64")
    try:
        yield
    finally:
        choose("float32")
