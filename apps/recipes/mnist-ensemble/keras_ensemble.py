"""Trains and votes as the paper did, in Keras and mpi4py, on the pictures of Convoke's dataset:

    mpirun -n 2 tf/bin/python keras_ensemble.py mnist.h5 --seed 1

Each rank trains the paper's network on its part (5 epochs, batch 64, the last 20 % held out). Rank 0 gathers the models and
lets them vote. It prints one line of a table: system, ranks, repeat (the seed), makespan (seconds from a barrier before the
data is read to the vote) and the accuracy of the vote. Needs a Python with tensorflow (or tensorflow-cpu), mpi4py and h5py.
"""
import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import h5py
import keras
import numpy
from keras import layers
from mpi4py import MPI

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("dataset", help="made by convoke prepare")
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()
world = MPI.COMM_WORLD
keras.utils.set_random_seed(1000 * options.seed + world.rank)


def pictures(split, first, last):
    with h5py.File(options.dataset) as file:
        data = file[split]
        return data["samples"][first:last] / numpy.float32(255), data["labels"][first:last].astype("int64")


world.barrier()
start = time.monotonic()
with h5py.File(options.dataset) as file:
    count = len(file["train/labels"])
first = count // world.size * world.rank
x, y = pictures("train", first, count if world.rank == world.size - 1 else first + count // world.size)
model = keras.Sequential([
    layers.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(),
    layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(), layers.Conv2D(64, 3, activation="relu"), layers.Flatten(),
    layers.Dense(64, activation="relu"), layers.Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=5, batch_size=64, validation_split=0.2, verbose=0)
weights = world.gather(model.get_weights())
if world.rank == 0:
    test, labels = pictures("test", 0, None)
    votes = numpy.zeros((len(labels), 10))
    for member in weights:
        model.set_weights(member)
        votes[numpy.arange(len(labels)), model.predict(test, verbose=0).argmax(1)] += 1
    accuracy = (votes.argmax(1) == labels).mean()
    print(f"Keras,{world.size},{options.seed},{time.monotonic() - start:.2f},{accuracy:.4f}")
