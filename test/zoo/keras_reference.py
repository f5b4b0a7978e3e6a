"""Keras Applications' models with the weights of one of our model files.

Nodes have Keras' names if Keras' source gives them. Layers that Keras numbered automatically are matched by kind, in the
order in which they were made.
"""
import os
import re

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import numpy as np

MODELS = {"resnet50-keras": "ResNet50", "inception-v3": "InceptionV3", "xception": "Xception",
          "mobilenet-v1": "MobileNet", "resnet101-keras": "ResNet101", "resnet152-keras": "ResNet152"}
MODELS |= {f"efficientnet-b{i}-keras": f"EfficientNetB{i}" for i in range(8)}

# The mean and variance that published weights hold for the Normalization layer of EfficientNet, so that its result and
# the Rescaling that Keras adds with them is (x / 255 - mean) / deviation.
IMAGENET = [np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225]) ** 2, np.array(0)]

# Converts our canonical values to Keras' layout.
KERNELS = {"Conv2D": lambda w: w.transpose(2, 3, 1, 0), "DepthwiseConv2D": lambda w: w.transpose(2, 3, 0, 1),
           "Dense": lambda w: w.T}


def names():
    return list(MODELS)


def title(name):
    return f"Keras {keras.__version__} `{MODELS[name]}`"


def kind(parameters):
    if "running_mean" in parameters:
        return "BatchNormalization"
    if "depthwise_weight" in parameters:
        return "SeparableConv2D"
    return "Conv2D" if parameters["weight"].ndim == 4 else "Dense"


def as_keras(layer, p):
    """Returns the list for layer.set_weights."""
    kind_of = type(layer).__name__
    if kind_of == "BatchNormalization":
        return [p[key] for key in ("gamma", "beta", "running_mean", "running_variance") if key in p]
    if kind_of == "SeparableConv2D":
        weights = [KERNELS["DepthwiseConv2D"](p["depthwise_weight"]), KERNELS["Conv2D"](p["pointwise_weight"])]
    elif kind_of == "Conv2D" and p["weight"].ndim == 2:  # MobileNet's head, squeeze-excite
        weights = [KERNELS[kind_of](p["weight"][:, :, None, None])]
    else:
        weights = [KERNELS[kind_of](p["weight"])]
    return weights + ([p["bias"]] if "bias" in p else [])


# Names that Keras, and Convoke, number automatically: conv2d, conv2d_1, ...
NUMBERED = re.compile(r"(?:conv2d|batch_normalization)(?:_(\d+))?$")


def number(layer):
    digits = NUMBERED.match(layer.name)
    return int(digits.group(1) or 0) if digits else 0


def is_normalization(layer):
    return type(layer).__name__ == "Normalization"


def layer_of_each(nodes, model):
    layers = {layer.name: layer for layer in model.layers if layer.weights and not is_normalization(layer)}
    last = list(layers)[-1]
    pairs = [("predictions", layers.pop(last))]
    pairs += [(node, layers.pop(node)) for node in nodes if node in layers and not NUMBERED.match(node)]
    for node in [node for node in nodes if node not in {n for n, _ in pairs}]:
        same = [layer for layer in layers.values() if type(layer).__name__ == kind(nodes[node])]
        if not same:
            raise SystemExit(f"error: no layer matches {node}; unmatched layers: {', '.join(layers)}")
        pairs.append((node, layers.pop(min(same, key=number).name)))
    if layers:
        raise SystemExit(f"error: Keras layers without one of our nodes: {', '.join(layers)}")
    return pairs


def evaluate(name, nodes, samples, classes):
    """nodes: {node: {parameter: canonical values}}; samples: (N, C, H, W). Returns (N, classes)."""
    images = np.ascontiguousarray(samples.transpose(0, 2, 3, 1))
    keras.backend.clear_session()
    make = getattr(keras.applications, MODELS[name])
    model = make(weights=None, input_shape=images.shape[1:], classes=classes, classifier_activation=None)
    for node, layer in layer_of_each(nodes, model):
        layer.set_weights(as_keras(layer, nodes[node]))
    for layer in filter(is_normalization, model.layers):
        layer.set_weights(IMAGENET)
        layer.finalize_state()
    return model.predict(images, verbose=0)
