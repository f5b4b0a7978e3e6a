"""The networks of peers.py in Keras: those of Keras Applications, the two MNIST CNNs and the LSTM of the zoo."""
from keras import Sequential, applications, layers as L

APPLICATIONS = {"resnet50": "ResNet50", "vgg16": "VGG16", "inception-v3": "InceptionV3",
                "efficientnet-b0": "EfficientNetB0", "efficientnet-b5": "EfficientNetB5",
                "mobilenet-v2": "MobileNetV2", "densenet121": "DenseNet121"}


def mnist_ensemble():
    return [L.Conv2D(32, 3, activation="relu"), L.MaxPooling2D(), L.Conv2D(64, 3, activation="relu"), L.MaxPooling2D(),
            L.Conv2D(64, 3, activation="relu"), L.Flatten(), L.Dense(64, activation="relu"), L.Dense(10)]


def mnist_ddp():
    def conv(filters):
        return [L.Conv2D(filters, 3, padding="same"), L.BatchNormalization(), L.ReLU()]

    def dense(units):
        return [L.Dropout(0.3), L.Dense(units), L.BatchNormalization(), L.ReLU()]

    return [*conv(32), *conv(64), L.MaxPooling2D(), *conv(128), L.MaxPooling2D(), L.Flatten(), *dense(128), *dense(64),
            L.Dropout(0.3), L.Dense(10)]


def imdb_lstm(classes):
    return [L.Embedding(20000, 128), L.LSTM(128, dropout=0.2), L.Dense(128, activation="relu"),
            L.Dense(64, activation="relu"), L.Dense(classes)]


def network(name, shape, classes):
    """The model, ending in logits; `shape`: (H, W, C), or (L) of tokens."""
    if name in APPLICATIONS:
        make = getattr(applications, APPLICATIONS[name])
        return make(weights=None, input_shape=shape, classes=classes, classifier_activation=None)
    if name == "imdb-lstm":
        return Sequential([L.Input(shape, dtype="int32"), *imdb_lstm(classes)])
    return Sequential([L.Input(shape), *{"mnist-ensemble": mnist_ensemble, "mnist-ddp": mnist_ddp}[name]()])
