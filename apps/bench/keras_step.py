"""Times the training step of a network in Keras on TensorFlow:

    keras_step.py NETWORK --batch 16 --shape 3,224,224 --classes 1000 [--cores 1] [--seconds 3] [--bf16] [--function]

Random data, Adam, after a step of warming up, by model.fit; --function: the step as an expert writes it, one
tf.function with TensorFlow's fused Adam; --bf16: the policy mixed_bfloat16. Prints one JSON object. Needs a Python
with tensorflow.
"""
import json
import os
import time

START = time.time()

import step_options

options = step_options.parse(__doc__, "--function")
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", OMP_NUM_THREADS=str(options.cores))

import keras
import numpy as np
import tensorflow as tf

import keras_networks

tf.config.threading.set_intra_op_parallelism_threads(options.cores)
tf.config.threading.set_inter_op_parallelism_threads(1)
if options.bf16:
    keras.mixed_precision.set_global_policy("mixed_bfloat16")

tokens = len(options.shape) == 1
shape = options.shape if tokens else (*options.shape[1:], options.shape[0])
model = keras_networks.network(options.network, shape, options.classes)
if tokens:
    samples = np.random.randint(0, 20000, (options.batch, *shape)).astype("int32")
else:
    samples = np.random.rand(options.batch, *shape).astype("float32")
labels = np.random.randint(0, options.classes, options.batch)


def fitted():
    model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    batch = tf.data.Dataset.from_tensor_slices((samples, labels)).batch(options.batch).cache()

    def run(steps):
        begin = time.time()
        model.fit(batch.repeat(steps), verbose=0)
        return time.time() - begin
    return run


def as_a_function():
    x, y, variables = tf.constant(samples), tf.constant(labels), model.trainable_variables
    first = [tf.Variable(tf.zeros(v.shape)) for v in variables]
    second = [tf.Variable(tf.zeros(v.shape)) for v in variables]
    beta1, beta2 = tf.Variable(1.0), tf.Variable(1.0)  # their powers

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            logits = tf.cast(model(x, training=True), tf.float32)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        beta1.assign(beta1 * 0.9)
        beta2.assign(beta2 * 0.999)
        for v, g, m, s in zip(variables, tape.gradient(loss, variables), first, second):
            tf.raw_ops.ResourceApplyAdam(var=v.handle, m=m.handle, v=s.handle, beta1_power=beta1, beta2_power=beta2,
                                         lr=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-7, grad=tf.convert_to_tensor(g))
        return loss

    def run(steps):
        begin = time.time()
        for _ in range(steps):
            loss = step()
        loss.numpy()
        return time.time() - begin
    return run


run = as_a_function() if options.function else fitted()
run(1)
first_step = time.time() - START
rate = step_options.rate(run, options)
print(json.dumps({"images_per_second": rate, "seconds_to_first_step": first_step,
                  "peak_rss_mib": step_options.peak_rss_mib(), "version": "TensorFlow " + tf.__version__}))
