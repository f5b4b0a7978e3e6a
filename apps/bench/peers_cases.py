"""What peers.py compares: the cases, the systems, and the command that times one in the other."""
import dataclasses
import json
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Case:
    network: str             # a recipe or zoo model of Convoke; of the same name in torch_networks.py, keras_networks.py
    label: str
    batch: int
    shape: tuple             # of a sample, channels first; one extent: tokens
    classes: int = 1000
    cores: int = 1
    peers_batch: int = 0     # of the others, where another one suits them better; 0: the same
    changes: tuple = ()      # of the recipe

    @property
    def unit(self):
        return "sequences/s" if len(self.shape) == 1 else "images/s"


def _zoo(network, label, batch, size=224):
    # One micro-batch, so that batch norm sees the whole batch, as in the other systems.
    return Case(network, label, batch, (3, size, size), changes=(f"train.micro_batch={batch}", f"model.input=[3,{size},{size}]"))


MNIST = [
    Case("mnist-ensemble", "93k CNN", 64, (1, 28, 28), 10),
    Case("mnist-ensemble", "93k CNN", 64, (1, 28, 28), 10, cores=2),
    Case("mnist-ddp", "905k CNN", 512, (1, 28, 28), 10, peers_batch=64),  # of 64 and 512 the better one for each
]
ZOO = [
    _zoo("resnet50", "ResNet-50", 16),
    _zoo("vgg16", "VGG-16", 8),
    _zoo("inception-v3", "InceptionV3", 16, 299),
    _zoo("efficientnet-b0", "EfficientNet-B0", 16),
    _zoo("efficientnet-b5", "EfficientNet-B5", 8, 456),
    _zoo("mobilenet-v2", "MobileNetV2", 16),
    _zoo("densenet121", "DenseNet-121", 16),
    Case("imdb-lstm", "LSTM", 64, (300,), 2, changes=("train.micro_batch=64", "model.classes=2")),
]


@dataclasses.dataclass(frozen=True)
class System:
    name: str
    option: str              # of peers.py: the program that runs it
    script: str = ""
    flags: tuple = ()
    needs: str = ""          # modules, besides the program


SYSTEMS = {
    "convoke": System("Convoke", "convoke"),
    "fit": System("Keras `fit`", "tensorflow", "keras_step.py", (), "tensorflow, keras"),
    "function": System("`tf.function`", "tensorflow", "keras_step.py", ("--function",), "tensorflow, keras"),
    "eager": System("PyTorch", "pytorch", "torch_step.py", (), "torch"),
    "compiled": System("PyTorch compiled", "pytorch", "torch_step.py", ("--compile",), "torch"),
}


class Failed(Exception):
    """A system did not get through a case: why, in one line, and the command to try."""


def _command(system, case, precision, options):
    """Convoke runs with one rank on one core, and with as many synchronous ranks on more."""
    pin = ["taskset", "-c", ",".join(map(str, options.cores[:case.cores]))]
    program = getattr(options, system.option)
    if system.script:
        return [*pin, program, str(HERE / system.script), case.network,
                "--batch", str(case.peers_batch or case.batch), "--shape", ",".join(map(str, case.shape)),
                "--classes", str(case.classes), "--cores", str(case.cores), "--seconds", str(options.seconds),
                *(["--bf16"] if precision == "bf16" else []), *system.flags]
    bench = [program, "bench", case.network, "--json", "--rounds", "1", "--seconds", str(options.seconds)]
    for change in ("run.threads=1", "train.mode=sync", f"train.batch={case.batch}", f"train.precision={precision}",
                   *case.changes):
        bench += ["--set", change]
    return [*pin, *bench] if case.cores == 1 else ["mpirun", "-n", str(case.cores), "--bind-to", "core", *bench]


def measure(system, case, precision, options):
    """{images_per_second, seconds_to_first_step, peak_rss_mib, ...} of one process. Throws Failed."""
    command = _command(system, case, precision, options)
    environment = dict(os.environ, OMP_NUM_THREADS=str(case.cores if system.script else 1))
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        raise Failed(f"took longer than {options.timeout:.0f} s (--timeout)") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        why = next((line for line in lines if "rror:" in line), lines[-1])
        raise Failed(f"{why.strip()}; try: {' '.join(command)}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def why_not(system, cases, options):
    """Why a system cannot take part, or None: its program is not given, or lacks a module."""
    program = getattr(options, system.option)
    if not program:
        return f"no --{system.option}"
    if not system.script:
        return None if os.access(program, os.X_OK) else f"{program} is not there: build it, or give --convoke"
    modules = system.needs + (", torchvision" if "torch" in system.needs and any(c in ZOO[:-1] for c in cases) else "")
    try:
        done = subprocess.run([program, "-c", f"import {modules}"], capture_output=True, text=True)
    except OSError as error:
        return f"{program}: {error.strerror}"
    return done.stderr.strip().splitlines()[-1] if done.returncode != 0 else None
