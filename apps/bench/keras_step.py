"""Times the training step of a recipe's network in Keras: keras_step.py RECIPE BATCH CORES

Random data through model.fit, Adam, after one round of warming up; prints one JSON object, the rate being the median
of three rounds, as `convoke bench` does. Needs a Python with tensorflow.
"""
import json
import os
import resource
import statistics
import sys
import time

START = time.time()
recipe, batch, cores = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", OMP_NUM_THREADS=str(cores))

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers as L

tf.config.threading.set_intra_op_parallelism_threads(cores)
tf.config.threading.set_inter_op_parallelism_threads(1)


def mnist_ensemble():
    return [L.Conv2D(32, 3, activation="relu"), L.MaxPooling2D(), L.Conv2D(64, 3, activation="relu"), L.MaxPooling2D(),
            L.Conv2D(64, 3, activation="relu"), L.Flatten(), L.Dense(64, activation="relu"),
            L.Dense(10, activation="softmax")]


def mnist_ddp():
    def conv(filters):
        return [L.Conv2D(filters, 3, padding="same"), L.BatchNormalization(), L.ReLU()]

    def dense(units):
        return [L.Dropout(0.3), L.Dense(units), L.BatchNormalization(), L.ReLU()]

    return [*conv(32), *conv(64), L.MaxPooling2D(), *conv(128), L.MaxPooling2D(), L.Flatten(), *dense(128), *dense(64),
            L.Dropout(0.3), L.Dense(10, activation="softmax")]


model = Sequential([L.Input((28, 28, 1)), *{"mnist-ensemble": mnist_ensemble, "mnist-ddp": mnist_ddp}[recipe]()])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
count = max(batch, 2048) // batch * batch
images = np.random.rand(count, 28, 28, 1).astype("float32")
labels = np.random.randint(0, 10, count)
data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(batch)
model.fit(data.take(1), verbose=0)
first = time.time() - START
model.fit(data, verbose=0)
begin = time.time()
model.fit(data, verbose=0)
repeats = max(1, round(1 / (time.time() - begin)))
rates = []
for _ in range(3):
    begin = time.time()
    model.fit(data.repeat(repeats), verbose=0)
    rates.append(count * repeats / (time.time() - begin))
print(json.dumps({"images_per_second": statistics.median(rates), "seconds_to_first_step": first,
                  "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                  "version": "TensorFlow " + tf.__version__}))
