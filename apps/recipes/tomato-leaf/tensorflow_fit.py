"""Trains the network of this recipe in TensorFlow, as the paper did, on the pictures of Convoke's dataset:

    tensorflow_fit.py tomato-leaf.h5 --epochs 5                   one thread
    tensorflow_fit.py tomato-leaf.h5 --epochs 5 --threads 2       two threads of one process

Pictures pass Keras's ImageDataGenerator: rescale, shear, zoom, flip. Adam with an exponential schedule. It prints one line of a table:
system, threads, repeat (the seed), seconds of an epoch (without the first, which also compiles), test loss, test accuracy. Needs a
Python with tensorflow (or tensorflow-cpu), scipy and h5py.
"""
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import peers

parser = peers.parser(__doc__)
parser.add_argument("--threads", type=int, default=1)
options = parser.parse_args()

tf.config.threading.set_intra_op_parallelism_threads(options.threads)
tf.config.threading.set_inter_op_parallelism_threads(options.threads)
keras.utils.set_random_seed(options.seed)

ImageDataGenerator = tf.keras.preprocessing.image.ImageDataGenerator


def batches(split, shuffle, **changes):
    samples, labels = peers.pictures(options.dataset, split)
    return ImageDataGenerator(rescale=1 / 255, **changes).flow(
        samples, labels, batch_size=options.batch, shuffle=shuffle, seed=options.seed)


train = batches("train", True, shear_range=0.2, zoom_range=0.2, horizontal_flip=True)
test = batches("validation", False)


def convolution(filters):
    return layers.Conv2D(filters, 3, padding="same", activation="relu"), layers.MaxPooling2D()


model = keras.Sequential([layers.Input(train.x.shape[1:]), *convolution(32), *convolution(64), *convolution(128),
                          layers.Flatten(), layers.Dense(128, activation="relu"), layers.Dense(10, activation="softmax")])
model.compile(optimizer=keras.optimizers.Adam(options.rate), loss="sparse_categorical_crossentropy", metrics=["accuracy"])


class Times(keras.callbacks.Callback):
    """The time when training began, and when each epoch ended."""

    ends = []

    def on_train_begin(self, logs=None):
        self.ends.append(time.time())

    def on_epoch_end(self, epoch, logs=None):
        self.ends.append(time.time())


model.fit(train, epochs=options.epochs, verbose=0,
          callbacks=[Times(), keras.callbacks.LearningRateScheduler(lambda epoch: options.rate * 0.96 ** epoch)])
loss, accuracy = model.evaluate(test, verbose=0)
print(f"TensorFlow,{options.threads},{options.seed},{peers.epoch_seconds(Times.ends):.3f},{loss:.4f},{accuracy:.4f}")
