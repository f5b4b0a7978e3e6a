"""Odd models for compare_keras.py: each function takes the module keras or tf_keras and returns a model with random weights."""


def _walk(model):
    for layer in model.layers:
        yield layer
        if hasattr(layer, "layers"):
            yield from _walk(layer)


def has_embedding(model):
    return any(type(layer).__name__ == "Embedding" for layer in _walk(model))


def is_random(model):
    return any(type(layer).__name__.startswith("Random") for layer in _walk(model))


def is_channels_first(model):
    return any(getattr(layer, "data_format", None) == "channels_first" for layer in _walk(model))


def scale_of(model):
    """Models that begin with a division by 255 take pixels."""
    return 60.0 if any(type(layer).__name__ == "Rescaling" for layer in model.layers[:3]) else 1.0


MODELS = {}


def model(build):
    MODELS[build.__name__] = build
    return build


def functional(k, shape, body, **input_options):
    x = k.Input(shape, **input_options)
    return k.Model(x, body(x))


@model
def sequential_cnn(k):
    L = k.layers
    return k.Sequential([k.Input((12, 10, 3)), L.Conv2D(6, 3, activation="relu"), L.MaxPooling2D(), L.Conv2D(8, (3, 2), padding="same"),
                         L.BatchNormalization(epsilon=1e-5), L.Activation("relu"), L.Flatten(), L.Dropout(0.3),
                         L.Dense(11, activation="tanh"), L.Dense(5, activation="softmax")])


@model
def flatten_norm_dense(k):
    L = k.layers
    return k.Sequential([k.Input((6, 5, 3)), L.Flatten(), L.BatchNormalization(), L.ReLU(), L.LayerNormalization(epsilon=1e-6), L.PReLU(),
                         L.Dense(7), L.Dense(4)])


@model
def shared_layers(k):
    L = k.layers
    conv, dense = L.Conv2D(5, 3, padding="same", activation="elu"), L.Dense(6)

    def body(x):
        a = L.Conv2D(3, 1)(x)
        y = L.Concatenate()([conv(x), conv(a), conv(L.AveragePooling2D(1)(x))])
        y, z = L.GlobalAveragePooling2D()(y), L.GlobalMaxPooling2D()(y)
        return L.Dense(3, activation="softmax")(L.Add()([dense(y), dense(z)]))
    return functional(k, (8, 8, 3), body)


@model
def nested_model(k):
    L = k.layers
    i = k.Input((9, 9, 4))
    y = L.Conv2D(4, 3, padding="same", name="conv")(i)
    y = L.LeakyReLU(0.1)(y)
    inner = k.Model(i, L.Add()([i, y]), name="block")
    deep_in = k.Input((9, 9, 4))
    deep = k.Model(deep_in, L.LayerNormalization(name="norm")(inner(inner(deep_in))), name="deep")

    def body(x):
        x = L.Conv2D(4, 1, name="conv")(x)
        x = deep(deep(x))
        return L.Dense(4)(L.GlobalAveragePooling2D()(x))
    return functional(k, (9, 9, 3), body)


@model
def nested_sequential(k):
    L = k.layers
    block = k.Sequential([L.Conv2D(4, 3), L.BatchNormalization(), L.ReLU(6.0)], name="block")
    head = k.Sequential([k.Input((4,)), L.Dense(7, activation="gelu"), L.Dense(3)], name="head")
    return k.Sequential([k.Input((8, 8, 2)), block, L.GlobalMaxPooling2D(), head])


@model
def transfer_inference(k):
    """A backbone called with training=False, and a frozen one."""
    L = k.layers
    base = k.Sequential([k.Input((8, 8, 3)), L.Conv2D(4, 3), L.BatchNormalization(), L.ReLU(), L.Dropout(0.5)], name="base")
    frozen = k.Sequential([k.Input((6, 6, 4)), L.Conv2D(4, 3), L.BatchNormalization()], name="frozen")
    frozen.trainable = False

    def body(x):
        x = frozen(base(x, training=False))
        return L.Dense(5, activation="softmax")(L.GlobalAveragePooling2D()(x))
    return functional(k, (8, 8, 3), body)


@model
def asymmetric_padding(k):
    L = k.layers
    return k.Sequential([k.Input((9, 11, 2)), L.ZeroPadding2D(((1, 2), (0, 3))), L.Conv2D(4, (3, 5), strides=(2, 1)), L.Cropping2D(((1, 0), (2, 1))),
                         L.Conv2D(3, 4, strides=2, padding="same"), L.MaxPooling2D((2, 3), strides=(1, 2), padding="same"),
                         L.AveragePooling2D(3, strides=2, padding="same"), L.Flatten(), L.Dense(4)])


@model
def dilated_grouped(k):
    L = k.layers
    return k.Sequential([k.Input((14, 14, 4)), L.Conv2D(8, 3, dilation_rate=2, padding="same"), L.Conv2D(12, 3, groups=4, activation="silu"),
                         L.DepthwiseConv2D(3, depth_multiplier=2), L.SeparableConv2D(6, 3, depth_multiplier=3, dilation_rate=(2, 1) if False else 1),
                         L.GlobalAveragePooling2D(), L.Dense(3)])


@model
def separable_strides(k):
    L = k.layers
    return k.Sequential([k.Input((13, 13, 3)), L.SeparableConv2D(5, 3, strides=2, padding="same", use_bias=False), L.BatchNormalization(scale=False),
                         L.DepthwiseConv2D(5, strides=2, padding="same", use_bias=False), L.BatchNormalization(center=False, momentum=0.9),
                         L.GlobalAveragePooling2D(), L.Dense(4, use_bias=False)])


@model
def transposed(k):
    L = k.layers
    return k.Sequential([k.Input((5, 6, 3)), L.Conv2DTranspose(4, 3, strides=2, padding="same"), L.Conv2DTranspose(2, (2, 4), strides=(1, 2)),
                         L.Conv2DTranspose(3, 3, strides=2, padding="same", output_padding=1), L.GlobalAveragePooling2D(), L.Dense(3)])


@model
def unet(k):
    L = k.layers

    def body(x):
        a = L.Conv2D(4, 3, padding="same", activation="relu")(x)
        b = L.Conv2D(6, 3, padding="same", activation="relu")(L.MaxPooling2D()(a))
        c = L.UpSampling2D(interpolation="bilinear")(b)
        d = L.Concatenate(axis=-1)([a, c])
        return L.Flatten()(L.Conv2D(2, 1, activation="sigmoid")(d))
    return functional(k, (8, 8, 3), body)


@model
def squeeze_excite(k):
    L = k.layers

    def body(x):
        x = L.Conv2D(8, 3, padding="same")(x)
        s = L.GlobalAveragePooling2D()(x)
        s = L.Reshape((1, 1, 8))(s)
        s = L.Conv2D(4, 1, activation="swish")(s)
        s = L.Conv2D(8, 1, activation="sigmoid")(s)
        x = L.Multiply()([x, s])
        s = L.GlobalAveragePooling2D(keepdims=True)(x)
        s = L.Dense(2, activation="relu")(s)
        x = L.multiply([L.Dense(8, activation="hard_sigmoid")(s), x])
        return L.Dense(5)(L.GlobalMaxPooling2D()(x))
    return functional(k, (7, 7, 3), body)


@model
def spatial_attention(k):
    L = k.layers

    def body(x):
        x = L.Conv2D(6, 3)(x)
        m = L.Conv2D(1, 3, padding="same", activation="sigmoid")(x)
        x = L.Multiply()([x, m])
        b = L.GlobalAveragePooling2D(keepdims=True)(x)
        x = L.Add()([x, b])
        return L.Dense(3)(L.Flatten()(x))
    return functional(k, (7, 7, 2), body)


@model
def merges(k):
    L = k.layers

    def body(x):
        a, b, c = L.Conv2D(4, 3)(x), L.Conv2D(4, 3)(x), L.Conv2D(4, 3)(x)
        y = L.Concatenate(axis=1)([L.Maximum()([a, b, c]), L.Minimum()([a, b, c])])
        z = L.Concatenate(axis=2)([L.Subtract()([a, b]), L.Average()([a, b, c])])
        return L.Dense(4)(L.Concatenate()([L.Flatten()(y), L.Flatten()(z)]))
    return functional(k, (6, 5, 2), body)


@model
def reshapes(k):
    L = k.layers

    def body(x):
        x = L.Conv2D(6, 3)(x)           # 6, 8, 6
        x = L.Reshape((8, 6, 6))(x)     # spatial only
        x = L.Reshape((12, 8, 3))(x)    # mixes channels
        x = L.Conv2D(4, 3, padding="same")(x)
        x = L.Permute((3, 1, 2))(x)     # 4, 12, 8
        x = L.Conv2D(5, 3, padding="same")(x)
        x = L.Reshape((-1, 5))(x)       # 48, 5
        x = L.Conv1D(4, 3)(x)
        x = L.Permute((2, 1))(x)        # 4, 46
        x = L.Flatten()(x)
        x = L.Dense(24)(x)
        x = L.Reshape((2, 3, 4))(x)
        x = L.Conv2D(3, 2)(x)
        x = L.Flatten()(x)
        x = L.Reshape((1, 2, 3))(x)
        return L.Dense(4)(L.Flatten()(x))
    return functional(k, (8, 10, 3), body)


@model
def flatten_reshape_back(k):
    L = k.layers

    def body(x):
        x = L.Conv2D(4, 3)(x)
        x = L.Flatten()(x)
        x = L.Activation("tanh")(x)
        y = L.Reshape((4, 4, 4))(x)
        y = L.Conv2D(3, 1)(y)
        z = L.RepeatVector(3)(x)
        z = L.LSTM(5)(z)
        return L.Concatenate()([L.Flatten()(y), z])
    return functional(k, (6, 6, 2), body)


@model
def conv1d_causal(k):
    L = k.layers
    return k.Sequential([k.Input((20, 3)), L.Conv1D(6, 3, padding="causal", dilation_rate=2, activation="relu"), L.MaxPooling1D(2),
                         L.Conv1D(8, 4, strides=2, padding="same"), L.BatchNormalization(), L.AveragePooling1D(2, padding="same"),
                         L.GlobalAveragePooling1D(), L.Dense(3)])


@model
def sequences_1d(k):
    L = k.layers
    return k.Sequential([k.Input((16, 4)), L.ZeroPadding1D((2, 1)), L.SeparableConv1D(6, 3, depth_multiplier=2), L.Cropping1D((1, 2)),
                         L.UpSampling1D(2), L.DepthwiseConv1D(3), L.SpatialDropout1D(0.2), L.PReLU(shared_axes=[1]), L.Dense(5, activation="relu"),
                         L.TimeDistributed(L.Dense(4)), L.LayerNormalization(), L.GroupNormalization(2), L.Flatten(), L.Dense(3)])


@model
def text_lstm_masked(k):
    L = k.layers
    return k.Sequential([k.Input((9,), dtype="int32"), L.Embedding(20, 6, mask_zero=True), L.LSTM(5, return_sequences=True), L.Dropout(0.2), L.LSTM(4),
                         L.Dense(3, activation="softmax")])


@model
def text_bidirectional_masked(k):
    L = k.layers
    return k.Sequential([k.Input((9,), dtype="int32"), L.Embedding(20, 6, mask_zero=True), L.Bidirectional(L.GRU(5, return_sequences=True)),
                         L.Bidirectional(L.LSTM(4)), L.Dense(3)])


@model
def text_conv(k):
    L = k.layers

    def body(x):
        x = L.Embedding(20, 8)(x)
        y = [L.GlobalMaxPooling1D()(L.Conv1D(4, n, activation="relu")(x)) for n in (2, 3, 4)]
        return L.Dense(2, activation="softmax")(L.Concatenate()(y))
    return functional(k, (12,), body, dtype="int32")


@model
def gru_stack(k):
    L = k.layers
    return k.Sequential([k.Input((7, 3)), L.GRU(4, return_sequences=True), L.GRU(5, use_bias=False), L.Dense(3)])


@model
def activations(k):
    L = k.layers

    def body(x):
        y = []
        names = ["relu", "elu", "selu", "gelu", "swish", "softplus", "sigmoid", "tanh", "hard_sigmoid", "mish", "linear"]
        for name in names + (["relu6", "hard_swish", "leaky_relu", "hard_tanh", "log_sigmoid", "celu", "tanh_shrink"] if k.__name__ == "keras" else []):
            y.append(L.Dense(3, activation=name)(x))
        y += [L.ReLU(max_value=2.5)(y[1]), L.ReLU(6.0)(y[1]), L.ReLU(negative_slope=0.2)(y[1]), L.LeakyReLU()(y[1]), L.ELU(0.7)(y[1]), L.PReLU()(y[1]),
              L.Softmax()(y[1])]
        y.append(L.Dense(3, activation=L.LeakyReLU(0.15))(x) if k.__name__ == "keras" else L.Dense(3, activation="softmax")(x))
        return L.Dense(4)(L.Concatenate()(y))
    return functional(k, (6,), body)


@model
def softmax_places(k):
    L = k.layers

    def body(x):
        x = L.Softmax()(L.Conv2D(5, 3)(x))
        x = L.Reshape((16, 5))(x)
        x = L.Activation("softmax")(x)
        return L.Dense(3)(L.Flatten()(x))
    return functional(k, (6, 6, 2), body)


@model
def norms(k):
    L = k.layers
    return k.Sequential([k.Input((6, 6, 8)), L.LayerNormalization(epsilon=1e-6), L.Conv2D(8, 3), L.GroupNormalization(4, epsilon=1e-5),
                         L.Conv2D(6, 1), L.GroupNormalization(-1), L.BatchNormalization(epsilon=0.1), L.PReLU(shared_axes=[1, 2]), L.Flatten(),
                         L.Dense(5), L.LayerNormalization(scale=False), L.BatchNormalization(epsilon=1e-7), L.Dense(3)])


@model
def preprocessing(k):
    L = k.layers
    return k.Sequential([k.Input((20, 22, 3)), L.Rescaling(1 / 127.5, offset=-1), L.Normalization(mean=[0.1, 0.2, 0.3], variance=[0.5, 1.5, 2.0]),
                         L.Resizing(15, 13), L.CenterCrop(12, 11), L.RandomFlip("horizontal"), L.Conv2D(4, 3), L.GlobalAveragePooling2D(), L.Dense(3)])


@model
def adapted_normalization(k):
    L = k.layers
    norm = L.Normalization()
    import numpy as np
    norm.adapt(np.random.default_rng(1).normal(2, 3, (50, 5)).astype("float32"))
    return k.Sequential([k.Input((5,)), norm, L.Dense(6, activation="relu"), L.Dense(2)])


@model
def channels_first(k):
    """Keras on a CPU computes these only in part: outputs are those of the same layers, channels last."""
    L = k.layers
    c = {"data_format": "channels_first"}
    return k.Sequential([k.Input((3, 8, 8)), L.ZeroPadding2D(1, **c), L.BatchNormalization(axis=1), L.UpSampling2D(2, **c), L.Cropping2D(((1, 2), (3, 4)), **c),
                         L.GlobalAveragePooling2D(**c), L.Dense(4)])


@model
def residual_mlp(k):
    L = k.layers

    def body(x):
        x = L.Dense(8)(x)
        for _ in range(3):
            y = L.LayerNormalization()(x)
            y = L.Dense(16, activation="gelu")(y)
            x = L.Add()([x, L.Dense(8)(y)])
        return L.Dense(3, activation="softmax")(x)
    return functional(k, (5,), body)


@model
def operators(k):
    """x + 3, 2 x and a + b on tensors."""
    L = k.layers

    def body(x):
        x = L.Conv2D(4, 3)(x)
        y = L.ReLU(6.0)(x + 3.0) * (1.0 / 6.0)
        z = (1.5 - y) / 4.0
        return L.Dense(3)(L.GlobalAveragePooling2D()(x * y + z))
    return functional(k, (6, 6, 2), body)


@model
def noise_and_penalties(k):
    L = k.layers
    return k.Sequential([k.Input((6,)), L.GaussianNoise(0.1), L.Dense(4, kernel_regularizer="l2"), L.ActivityRegularization(0.1), L.Dense(2)])


@model
def image_rows_lstm(k):
    """MNIST as a sequence of rows."""
    L = k.layers
    return k.Sequential([k.Input((14, 14)), L.LSTM(6), L.Dense(10, activation="softmax")])


@model
def image_of_matrix(k):
    L = k.layers
    return k.Sequential([k.Input((14, 12)), L.Reshape((14, 12, 1)), L.Conv2D(3, 3), L.Flatten(), L.Dense(4)])


@model
def convolutional_lstm_head(k):
    L = k.layers

    def body(x):
        x = L.Conv2D(4, 3)(x)
        x = L.Permute((2, 1, 3))(x)
        x = L.Reshape((8, 6 * 4))(x)
        x = L.Dense(5)(x)
        return L.Flatten()(L.Bidirectional(L.LSTM(4, return_sequences=True))(x))
    return functional(k, (8, 10, 1), body)


@model
def densely_named(k):
    """Names with slashes and of other kinds."""
    L = k.layers

    def body(x):
        x = L.Conv2D(3, 3, name="stage1/conv")(x) if k.__name__ == "tf_keras" else L.Conv2D(3, 3, name="stage1.conv")(x)
        x = L.Conv2D(3, 3, name="dense")(x)
        return L.Dense(4, name="conv2d")(L.Flatten(name="0")(x))
    return functional(k, (7, 7, 2), body)


APPLICATIONS = {"ResNet50": 32, "ResNet101": 32, "ResNet50V2": 32, "VGG16": 32, "VGG19": 32, "InceptionV3": 75, "InceptionResNetV2": 75, "Xception": 71,
                "MobileNet": 32, "MobileNetV2": 32, "MobileNetV3Small": 32, "MobileNetV3Large": 32, "DenseNet121": 32, "DenseNet201": 32,
                "NASNetMobile": 32, "EfficientNetB0": 32, "EfficientNetB3": 32, "EfficientNetV2B0": 32, "EfficientNetV2S": 32, "ConvNeXtTiny": 32}


def applications(keras):
    def build(name, size):
        def make(k):
            return getattr(k.applications, name)(weights=None, input_shape=(size, size, 3), classes=7)
        return make
    return {name: build(name, size) for name, size in APPLICATIONS.items() if hasattr(keras.applications, name)}
