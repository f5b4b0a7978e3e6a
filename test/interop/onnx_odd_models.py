"""Small PyTorch models with unusual layers, for compare_onnx.py."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Call(nn.Module):
    """A module from modules and a function of them and the input."""

    def __init__(self, function, **modules):
        super().__init__()
        self.function = function
        for name, module in modules.items():
            setattr(self, name, module)

    def forward(self, x):
        return self.function(self, x)


def image_model(*layers, channels=8, function=None):
    """Layers over (N, 6, 12, 12) -> a head of 5 classes."""
    body = nn.Sequential(*layers)
    with torch.no_grad():
        size = body(torch.zeros(2, 6, 12, 12)).flatten(1).shape[1]
    return nn.Sequential(body, nn.Flatten(), nn.Linear(size, 5))


def squeeze_excite(m, x):
    y = m.conv(x)
    s = F.adaptive_avg_pool2d(y, 1)
    s = torch.sigmoid(m.up(F.relu(m.down(s))))
    return m.head((y * s).mean((2, 3)))


def with_biases(module):
    """Exporters leave out biases of zero, with which PyTorch's attention starts."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.endswith("bias"):
                parameter.uniform_(-0.5, 0.5)
    return module


def attention_pixels(m, x):
    """A non-local block."""
    q, k, v = (layer(x).flatten(2) for layer in (m.query, m.key, m.value))
    y = torch.softmax(q.transpose(1, 2) @ k, -1) @ v.transpose(1, 2)
    return m.head((x + y.transpose(1, 2).reshape(x.shape)).flatten(1))


def shuffle(m, x):
    y = m.conv(x)
    n, c, h, w = y.shape
    y = y.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, -1, h, w)
    a, b = y.chunk(2, dim=1)
    return m.head(torch.cat([a, F.relu(b)], 1).flatten(1))


def spatial_attention(m, x):
    y = m.conv(x)
    a = torch.cat([y.mean(1, keepdim=True), y.max(1, keepdim=True)[0]], 1)
    return m.head((y * torch.sigmoid(m.gate(a))).flatten(1))


class LayerScale(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gamma = nn.Parameter(torch.rand(channels, 1, 1) + 0.5)
        self.beta = nn.Parameter(torch.rand(1, channels, 1, 1))

    def forward(self, x):
        return x * self.gamma + self.beta


def models():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    images = rng.standard_normal((3, 6, 12, 12), dtype=np.float32)
    sequences = rng.standard_normal((3, 9, 6), dtype=np.float32)
    vectors = rng.standard_normal((3, 10), dtype=np.float32)
    tokens = rng.integers(0, 20, (3, 9))

    def image(name, *layers):
        return name, image_model(*layers), images

    activations = {"gelu": nn.GELU(), "gelu_tanh": nn.GELU("tanh"), "silu": nn.SiLU(), "hardswish": nn.Hardswish(),
                   "hardsigmoid": nn.Hardsigmoid(), "relu6": nn.ReLU6(), "elu": nn.ELU(0.7), "selu": nn.SELU(),
                   "leaky": nn.LeakyReLU(0.2), "prelu": nn.PReLU(8, 0.3), "softplus": nn.Softplus(), "tanh": nn.Tanh(),
                   "mish": nn.Mish(), "celu": nn.CELU(0.5), "hardtanh": nn.Hardtanh(-0.5, 0.8), "sigmoid": nn.Sigmoid()}
    for name, layer in activations.items():
        yield image(name, nn.Conv2d(6, 8, 3), layer)
    yield image("groups", nn.Conv2d(6, 12, 3, groups=3), nn.ReLU(), nn.Conv2d(12, 12, 3, groups=12, bias=False))
    yield image("dilation", nn.Conv2d(6, 8, 3, dilation=(2, 1), padding=(2, 0)))
    yield image("stride", nn.Conv2d(6, 8, (3, 5), stride=(2, 3), padding=(1, 2)))
    yield image("zero_pad", nn.ZeroPad2d((1, 2, 3, 0)), nn.Conv2d(6, 8, 3))
    yield image("same", nn.Conv2d(6, 8, 4, padding="same"))
    yield image("reflect", nn.ReflectionPad2d(2), nn.Conv2d(6, 8, 3))
    yield image("replicate", nn.Conv2d(6, 8, 3, padding=1, padding_mode="replicate"))
    yield image("constant_pad", nn.ConstantPad2d(1, 0.5), nn.Conv2d(6, 8, 3))
    yield image("ceil", nn.Conv2d(6, 8, 3), nn.MaxPool2d(3, 2, 1, ceil_mode=True))
    yield image("average_pad", nn.Conv2d(6, 8, 3), nn.AvgPool2d(3, 2, 1, count_include_pad=True))
    yield image("average_nopad", nn.Conv2d(6, 8, 3), nn.AvgPool2d(3, 2, 1, count_include_pad=False, ceil_mode=True))
    yield image("average_ceil_pad", nn.Conv2d(6, 8, 3), nn.AvgPool2d(3, 2, 1, ceil_mode=True))
    yield image("adaptive", nn.Conv2d(6, 8, 3), nn.AdaptiveAvgPool2d((5, 2)))
    yield image("adaptive_max", nn.Conv2d(6, 8, 3), nn.AdaptiveMaxPool2d(1))
    yield image("transpose", nn.ConvTranspose2d(6, 8, 3, stride=2, padding=1, output_padding=1))
    yield image("transpose_groups", nn.ConvTranspose2d(6, 4, (2, 3), stride=(1, 2), groups=2, bias=False, dilation=(2, 1)))
    yield image("batch_norm", nn.Conv2d(6, 8, 3, bias=False), nn.BatchNorm2d(8, eps=1e-3, momentum=0.03), nn.ReLU())
    yield image("instance_norm", nn.Conv2d(6, 8, 3), nn.InstanceNorm2d(8, affine=True))
    yield image("instance_norm_plain", nn.Conv2d(6, 8, 3), nn.InstanceNorm2d(8))
    yield image("group_norm", nn.Conv2d(6, 8, 3), nn.GroupNorm(4, 8))
    yield image("group_norm_plain", nn.Conv2d(6, 8, 3), nn.GroupNorm(2, 8, affine=False))
    yield image("layer_norm_image", nn.Conv2d(6, 8, 3), nn.LayerNorm([8, 10, 10]))
    yield image("lrn", nn.Conv2d(6, 8, 3), nn.LocalResponseNorm(5, 0.02))
    yield image("nearest", nn.Conv2d(6, 8, 3), nn.Upsample(scale_factor=2))
    yield image("nearest_size", nn.Conv2d(6, 8, 3), nn.Upsample(size=(15, 21)))
    yield image("bilinear", nn.Conv2d(6, 8, 3), nn.Upsample(scale_factor=2, mode="bilinear"))
    yield image("align_corners", nn.Conv2d(6, 8, 3), nn.Upsample(size=(13, 17), mode="bilinear", align_corners=True))
    yield image("pixel_shuffle", nn.Conv2d(6, 8, 3), nn.PixelShuffle(2), nn.Conv2d(2, 4, 3))
    yield image("pixel_unshuffle", nn.PixelUnshuffle(2), nn.Conv2d(24, 4, 3))
    yield image("layer_scale", nn.Conv2d(6, 8, 3), LayerScale(8), nn.ReLU())
    yield image("dropout", nn.Conv2d(6, 8, 3), nn.Dropout(0.0), nn.Dropout2d(0.0))
    yield "squeeze_excite", Call(squeeze_excite, conv=nn.Conv2d(6, 8, 3), down=nn.Conv2d(8, 2, 1), up=nn.Conv2d(2, 8, 1),
                                 head=nn.Linear(8, 5)), images
    yield "squeeze_excite_linear", Call(
        lambda m, x: m.head((lambda y: y * torch.sigmoid(m.fc(y.mean((2, 3)))).view(y.size(0), -1, 1, 1))(m.conv(x)).flatten(1)),
        conv=nn.Conv2d(6, 8, 3), fc=nn.Linear(8, 8), head=nn.Linear(800, 5)), images
    yield "channel_shuffle", Call(shuffle, conv=nn.Conv2d(6, 8, 3), head=nn.Linear(800, 5)), images
    yield "spatial_attention", Call(spatial_attention, conv=nn.Conv2d(6, 8, 3), gate=nn.Conv2d(2, 1, 7, padding=3),
                                    head=nn.Linear(800, 5)), images
    yield "broadcast_add", Call(lambda m, x: m.head((lambda y: y + y.mean((2, 3), keepdim=True))(m.conv(x)).flatten(1)),
                                conv=nn.Conv2d(6, 8, 3), head=nn.Linear(800, 5)), images
    yield "focus", Call(lambda m, x: m.head(m.conv(torch.cat([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2],
                                                                x[..., 1::2, 1::2]], 1)).flatten(1)),
                        conv=nn.Conv2d(24, 8, 3), head=nn.Linear(128, 5)), images
    yield "shared", Call(lambda m, x: m.head(m.conv(F.relu(m.conv(x))).flatten(1)),
                         conv=nn.Conv2d(6, 6, 3, padding=1), head=nn.Linear(864, 5)), images
    yield "residual", Call(lambda m, x: m.head((m.a(x) - 0.5 * m.b(x) / 3 + 1 - x.sum(1, keepdim=True)).flatten(1)),
                           a=nn.Conv2d(6, 6, 1), b=nn.Conv2d(6, 6, 3, padding=1), head=nn.Linear(864, 5)), images
    yield "minmax", Call(lambda m, x: m.head(torch.maximum(torch.minimum(m.a(x), m.b(x)), x).clamp(min=-0.3).flatten(1)),
                         a=nn.Conv2d(6, 6, 1), b=nn.Conv2d(6, 6, 1), head=nn.Linear(864, 5)), images
    yield "bgr", Call(lambda m, x: m.head(m.a((x[:, [2, 1, 0]] - torch.tensor([0.1, 0.2, 0.3]).view(1, 3, 1, 1))
                                              / torch.tensor([0.5, 0.6, 0.7]).view(1, 3, 1, 1)).flatten(1)),
                      a=nn.Conv2d(3, 6, 1), head=nn.Linear(864, 5)), images
    yield "height_width", Call(lambda m, x: m.head(torch.cat([m.a(x).mean(3), m.a(x).mean(2)], 2).permute(0, 2, 1).flatten(1)),
                               a=nn.Conv2d(6, 4, 1), head=nn.Linear(96, 5)), images
    yield "convnext", Call(
        lambda m, x: m.head((x + (m.b(F.gelu(m.a(m.norm(m.dw(x).permute(0, 2, 3, 1))))) * m.gamma).permute(0, 3, 1, 2)).mean((-2, -1))),
        dw=nn.Conv2d(6, 6, 5, padding=2, groups=6), norm=nn.LayerNorm(6, eps=1e-6), a=nn.Linear(6, 24), b=nn.Linear(24, 6),
        gamma=nn.Parameter(torch.rand(6)), head=nn.Linear(6, 5)), images
    yield "layer_norm_2d", Call(
        lambda m, x: m.head((lambda y: (y - y.mean(1, keepdim=True)) / torch.sqrt((y - y.mean(1, keepdim=True)).pow(2).mean(1, keepdim=True) + 1e-6)
                             * m.w[:, None, None] + m.b[:, None, None])(m.conv(x)).flatten(1)),
        conv=nn.Conv2d(6, 8, 3), w=nn.Parameter(torch.rand(8)), b=nn.Parameter(torch.rand(8)), head=nn.Linear(800, 5)), images

    yield "lstm", Call(lambda m, x: m.head(m.rnn(x)[0][:, -1]), rnn=nn.LSTM(6, 7, batch_first=True), head=nn.Linear(7, 5)), sequences
    yield "lstm_hidden", Call(lambda m, x: m.head(m.rnn(x)[1][0][-1]), rnn=nn.LSTM(6, 7, batch_first=True),
                              head=nn.Linear(7, 5)), sequences
    yield "lstm_deep", Call(lambda m, x: m.head(m.rnn(x)[0].mean(1)), rnn=nn.LSTM(6, 7, 2, batch_first=True, bidirectional=True),
                            head=nn.Linear(14, 5)), sequences
    yield "lstm_both", Call(lambda m, x: (lambda o: m.head(torch.cat([o[1][0][0], o[1][0][1], o[0][:, 2]], 1)))(m.rnn(x)),
                            rnn=nn.LSTM(6, 7, batch_first=True, bidirectional=True), head=nn.Linear(28, 5)), sequences
    yield "lstm_time_first", Call(lambda m, x: m.head(m.rnn(x.permute(1, 0, 2))[0][-1]), rnn=nn.LSTM(6, 7), head=nn.Linear(7, 5)), sequences
    yield "gru", Call(lambda m, x: m.head(m.rnn(x)[0].flatten(1)), rnn=nn.GRU(6, 7, batch_first=True, bidirectional=True),
                      head=nn.Linear(126, 5)), sequences
    yield "gru_no_bias", Call(lambda m, x: m.head(m.rnn(x)[1][0]), rnn=nn.GRU(6, 7, batch_first=True, bias=False),
                              head=nn.Linear(7, 5)), sequences
    yield "conv_lstm", Call(lambda m, x: m.head(m.rnn(F.relu(m.conv(x.transpose(1, 2))).transpose(1, 2))[0][:, -1]),
                            conv=nn.Conv1d(6, 8, 3, padding=1), rnn=nn.LSTM(8, 7, batch_first=True), head=nn.Linear(7, 5)), sequences
    yield "attention", Call(lambda m, x: m.head(m.mha(*[m.first(x)] * 3, need_weights=False)[0].mean(1)), first=nn.Linear(6, 8),
                            mha=with_biases(nn.MultiheadAttention(8, 2, batch_first=True)), head=nn.Linear(8, 5)), sequences
    yield "attention_other", Call(lambda m, x: m.head(m.mha(m.first(x[:, :4]), x, x)[0].flatten(1)), first=nn.Linear(6, 8),
                                  mha=nn.MultiheadAttention(8, 4, kdim=6, vdim=6, batch_first=True, bias=False), head=nn.Linear(32, 5)), sequences
    yield "attention_encoder", Call(lambda m, x: m.head(m.encoder(m.first(x)).mean(1)), first=nn.Linear(6, 8),
                                    encoder=with_biases(nn.TransformerEncoderLayer(8, 2, 16, dropout=0, activation="gelu", batch_first=True)),
                                    head=nn.Linear(8, 5)), sequences
    yield "attention_pixels", Call(attention_pixels, query=nn.Conv2d(6, 4, 1), key=nn.Conv2d(6, 4, 1), value=nn.Conv2d(6, 6, 1),
                                   head=nn.Linear(864, 5)), images
    yield "conv1d", nn.Sequential(nn.Conv1d(9, 8, 3, padding=2, dilation=2), nn.BatchNorm1d(8), nn.ReLU(), nn.MaxPool1d(2),
                                  nn.Conv1d(8, 4, 2, stride=2, groups=2), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(4, 5)), sequences
    yield "conv1d_transpose", nn.Sequential(nn.ConvTranspose1d(9, 4, 3, stride=2), nn.AvgPool1d(3, 2, 1), nn.Flatten(), nn.Linear(28, 5)), sequences
    yield "mlp_sequence", nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 8, bias=False), nn.Flatten(),
                                        nn.Linear(72, 5)), sequences
    yield "mixer", Call(lambda m, x: m.head((x + m.tokens(m.norm(x).transpose(1, 2)).transpose(1, 2)).mean(1)),
                        norm=nn.LayerNorm(6), tokens=nn.Sequential(nn.Linear(9, 12), nn.GELU(), nn.Linear(12, 9)),
                        head=nn.Linear(6, 5)), sequences
    yield "position", Call(lambda m, x: m.head(F.relu(m.a(x) + m.p).flatten(1)), a=nn.Linear(6, 6),
                           p=nn.Parameter(torch.rand(1, 9, 6)), head=nn.Linear(54, 5)), sequences
    yield "mlp", nn.Sequential(nn.Linear(10, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 5)), vectors
    yield "softmax", nn.Sequential(nn.Linear(10, 8), nn.Softmax(1), nn.Linear(8, 5)), vectors
    yield "reshape_image", nn.Sequential(nn.Linear(10, 48), nn.Unflatten(1, (3, 4, 4)), nn.Conv2d(3, 4, 3), nn.Flatten(),
                                         nn.Linear(16, 5)), vectors
    yield "embedding", Call(lambda m, x: m.head(m.rnn(m.table(x))[0][:, -1]), table=nn.Embedding(20, 6),
                            rnn=nn.GRU(6, 7, batch_first=True), head=nn.Linear(7, 5)), tokens
    yield "embedding_bag", Call(lambda m, x: m.head(m.table(x).mean(1)), table=nn.Embedding(20, 6), head=nn.Linear(6, 5)), tokens
    yield "text_cnn", Call(lambda m, x: m.head(torch.cat([F.relu(c(m.table(x).transpose(1, 2))).max(2)[0] for c in (m.a, m.b)], 1)),
                           table=nn.Embedding(20, 6), a=nn.Conv1d(6, 4, 2), b=nn.Conv1d(6, 4, 3), head=nn.Linear(8, 5)), tokens
