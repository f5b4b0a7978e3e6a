"""Trains the network of this recipe in Keras from the initial values of Convoke's runs, as the thesis did:

    keras_fit.py io-patterns.h5 initial-1.keras initial-2.keras ...

Prints one line of a table for each file: system, repeat (its number), training accuracy, test accuracy. The files are written by
`convoke export RUN --format keras` from runs of no epochs. Needs a Python with keras and h5py.
"""
import argparse
import re

import h5py
import keras

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("dataset", help="made by convoke prepare")
parser.add_argument("models", nargs="+")
parser.add_argument("--epochs", type=int, default=50)
parser.add_argument("--batch", type=int, default=256)
options = parser.parse_args()

with h5py.File(options.dataset) as file:
    train, test = ((file[split]["samples"][:], file[split]["labels"][:]) for split in ("train", "test"))

for path in options.models:
    repeat = int(re.search(r"(\d+)\.keras$", path).group(1))
    keras.utils.set_random_seed(repeat)
    model = keras.models.load_model(path)
    model.compile(keras.optimizers.RMSprop(learning_rate=1e-3, momentum=0.9),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(*train, epochs=options.epochs, batch_size=options.batch, verbose=0)
    scores = [model.evaluate(*samples, batch_size=4096, verbose=0)[1] for samples in (train, test)]
    print(f"Keras,{repeat},{scores[0]:.6f},{scores[1]:.6f}", flush=True)
