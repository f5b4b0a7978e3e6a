#!/usr/bin/env python3
"""Trains 50 steps of Adam in PyTorch or Keras and in Convoke, from one file and on the same batches.

    OMP_NUM_THREADS=1 python train_alongside.py torch|keras --convoke build/dev/convoke --mnist mnist.h5 [NAME ...]

The reference is PyTorch or Keras in float64. One line for each network: the largest relative difference from it of the
mean loss on 256 other samples after each step, which also sees the running statistics of batch norms, and the difference
of the mean training loss. A framework in float32 differs from itself in float64 as well, since training amplifies
rounding, the more the larger the rate is. The control is the larger difference of two such runs, the second with weights
changed in their last bit. Convoke must stay within 1 %, or within the control where that is larger.
"""
import argparse
import copy
import itertools
import json
import math
import pathlib
import sys
import tempfile

import numpy as np

import trained

STEPS, BATCH, CHECKED, EPSILON = 50, 64, 256, 1e-7
TOLERANCE = 0.01
# Learning rates at which both frameworks repeat themselves to 1 % after rounding. A deep network needs a smaller one.
RATE, RATES = 2e-4, {"resnet20": 5e-5}


def torch_trainer(network, rate):
    import torch
    from torch.nn.functional import cross_entropy

    adam = torch.optim.Adam(network.parameters(), lr=rate)
    count = itertools.count(1)

    kind = next(network.parameters()).dtype

    def loss(samples, labels):
        samples = torch.from_numpy(samples)
        outputs = network(samples.to(kind) if samples.is_floating_point() else samples)
        return cross_entropy(outputs, torch.from_numpy(labels.astype(np.int64)))

    def step(samples, labels):
        network.train()
        value = loss(samples, labels)
        # PyTorch adds epsilon after the correction of the bias of the mean square, Keras and Convoke before it.
        adam.param_groups[0]["eps"] = EPSILON / math.sqrt(1 - 0.999 ** next(count))
        adam.zero_grad()
        value.backward()
        adam.step()
        return value.item()

    def check(samples, labels):
        network.eval()
        with torch.no_grad():
            return loss(samples, labels).item()

    return step, check


def keras_trainer(network, rate):
    import keras
    import tensorflow as tf

    adam = keras.optimizers.Adam(rate, epsilon=EPSILON)

    @tf.function
    def loss(samples, labels, training):
        losses = keras.losses.sparse_categorical_crossentropy(labels, network(samples, training=training))
        return tf.reduce_mean(losses)

    @tf.function
    def step(samples, labels):
        with tf.GradientTape() as tape:
            value = loss(samples, labels, True)
        # Keras' Adam takes larger steps with the sparse gradient of an embedding, which has a part for each token.
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(value, network.trainable_variables)]
        adam.apply(gradients, network.trainable_variables)
        return value

    return (lambda *batch: float(step(*batch))), (lambda *batch: float(loss(*batch, False)))


def their_losses(trainer, train, check):
    """Returns the training loss before, and the loss on other samples after each step."""
    step, measure = trainer
    losses = [(step(train[0][begin : begin + BATCH], train[1][begin : begin + BATCH]), measure(*check))
              for begin in range(0, STEPS * BATCH, BATCH)]
    return np.array(losses).T


def changed_by_rounding(weights):
    return [w * (1 + 1e-7 * np.random.default_rng(i).choice([-1, 1], w.shape)).astype(w.dtype)
            for i, w in enumerate(weights)]


def our_losses(convoke, model, tokens, rate):
    run = convoke.train(
        "alongside", {"file": str(model)},
        {"path": "data.h5", "shuffle": False, "validation_split": "validation", **({} if tokens else {"normalize": "unit"})},
        {"epochs": 1, "batch": BATCH, "micro_batch": BATCH, "validate_every": 1,
         "optimizer": f'{{ name = "adam", learning_rate = {rate}, epsilon = {EPSILON} }}'})
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    checks = {line["step"]: line["validation_loss"] for line in lines if line["event"] in ("validation", "epoch")}
    mean = next(line["loss"] for line in lines if line["event"] == "epoch")
    return mean, [checks[step] for step in range(1, STEPS + 1)]


def torch_trainers(make, rate, sample, file):
    """Writes a network as `file`. Returns its trainers in float64, in float32, and with weights changed by rounding."""
    network = make()
    trained.export_onnx(network, sample, file, dynamo=False)
    twin = copy.deepcopy(network)
    twin.load_state_dict(trained.torch_state(changed_by_rounding, network))
    return [torch_trainer(each, rate) for each in (copy.deepcopy(network).double(), network, twin)]


def keras_trainers(make, rate, _, file):
    import keras

    network, twin = make(), make()
    network.save(file)
    twin.set_weights(changed_by_rounding(network.get_weights()))
    with trained.keras_in_float64(keras):
        exact = make()
    exact.set_weights(network.get_weights())
    return [keras_trainer(each, rate) for each in (exact, network, twin)]


def compare(arguments, name, make, digits):
    tokens, rate = name == "lstm", arguments.rate or RATES.get(name, RATE)
    if tokens:
        train, check = trained.sentences(STEPS * BATCH, 1), trained.sentences(CHECKED, 2)
    else:
        train, check = digits["train"], digits["test"]
    inputs = [(trained.as_input(samples, arguments.framework), labels) for samples, labels in (train, check)]
    extension, trainers = {"torch": (".onnx", torch_trainers), "keras": (".keras", keras_trainers)}[arguments.framework]
    with tempfile.TemporaryDirectory() as folder:
        convoke = trained.Convoke(arguments.convoke, folder)
        trained.write_dataset(convoke.folder / "data.h5", {"train": train, "validation": check, "test": check},
                              2 if tokens else trained.CLASSES, **({"vocabulary": trained.VOCABULARY} if tokens else {}))
        model = convoke.folder / ("model" + extension)
        exact, *rounded = [their_losses(trainer, *inputs)
                           for trainer in trainers(make, rate, inputs[0][0][:2], model)]
        mean, own = our_losses(convoke, model, tokens, rate)

    def differences(mean, checks):
        return abs(mean / exact[0].mean() - 1), np.abs(np.array(checks) / exact[1] - 1)

    ours = differences(mean, own)
    theirs = [differences(steps.mean(), checks) for steps, checks in rounded]
    control = np.maximum(*[(of_mean, of_checks.max()) for of_mean, of_checks in theirs])
    figures = np.array([ours[0], ours[1].max()])
    good = (figures <= np.maximum(TOLERANCE, control)).all()
    print(f"{'ok  ' if good else 'FAIL'} {arguments.framework:6} {name:10} rate {rate:g}, training "
          f"{exact[0][0]:.3f} -> {exact[0][-1]:.3f}, other samples {exact[1][0]:.3f} -> {exact[1][-1]:.3f}; Convoke "
          f"differs by {figures[0]:.3%} and {figures[1]:.3%}, {arguments.framework} in float32 by {control[0]:.3%} and "
          f"{control[1]:.3%}", flush=True)
    if arguments.steps:
        print("step, loss, differences of Convoke and of both runs in float32")
        for step in [0, 1, 2, 4, *range(9, STEPS, 10)]:
            print(f"{step + 1:4} {exact[1][step]:8.4f}", *[f"{each[1][step]:.1e}" for each in (ours, *theirs)])
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("framework", choices=["torch", "keras"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--convoke", type=pathlib.Path, default="build/dev/convoke")
    parser.add_argument("--mnist", required=True, help="the dataset of `convoke prepare`")
    parser.add_argument("--rate", type=float, help="learning rate; by default 2e-4, and 5e-5 for ResNet-20")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", action="store_true", help="print losses and differences after some steps")
    arguments = parser.parse_args()
    if arguments.framework == "torch":
        import torch

        torch.manual_seed(arguments.seed)
        networks = trained.torch_networks()
    else:
        import keras

        keras.utils.set_random_seed(arguments.seed)
        networks = trained.keras_networks()
    digits = trained.mnist(arguments.mnist, train=STEPS * BATCH, test=CHECKED)
    return 0 if all([compare(arguments, name, networks[name], digits) for name in arguments.names or networks]) else 1


if __name__ == "__main__":
    sys.exit(main())
