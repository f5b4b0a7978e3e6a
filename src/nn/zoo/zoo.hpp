#pragma once
#include "convoke/nn/zoo.hpp"

// The published networks, with one source file per family. Each adds its nodes behind the network's input `x`
// and returns the last one. Nodes with parameters have the names of the reference implementation.
namespace convoke::nn {

/// Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, "Gradient-based learning applied to document recognition",
/// Proceedings of the IEEE 86, 1998, figure 2, in the form that is taught today: C3 reads all maps of S2,
/// subsampling is a mean without coefficients, and the output is a dense layer. 61,706 parameters with 10
/// classes.
Symbol lenet5(Symbol x, const ZooOptions& options);

/// A. Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014, as in torchvision:
/// one tower, without local response normalization. Node names are torchvision's. Without a head, it ends in
/// the mean of the last feature maps, because the hidden dense layers belong to the head.
Symbol alexnet(Symbol x, const ZooOptions& options);

/// K. Simonyan, A. Zisserman, "Very deep convolutional networks for large-scale image recognition", ICLR
/// 2015, table 1, as in torchvision, with its node names. Without a head, it ends in the mean of the last
/// feature maps, because the hidden dense layers belong to the head. `layers`: 11, 13, 16 or 19,
/// configurations A, B, D and E. `norm`: with batch norm after every convolution.
Symbol vgg(Symbol x, const ZooOptions& options, int layers, bool norm);

// F. Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters", 2016, table 1, as in
// torchvision, with its node names. The head is a convolution ("predictions"), a ReLU and the mean of its
// maps.
Symbol squeezenet1_0(Symbol x, const ZooOptions& options);
/// The authors' later version, with 2.4 times less computation.
Symbol squeezenet1_1(Symbol x, const ZooOptions& options);

/// C. Szegedy et al., "Rethinking the Inception architecture for computer vision", CVPR 2016, as in Keras
/// Applications: batch norms without scale, no auxiliary classifier, at least 75 x 75 pixels.
Symbol inception_v3(Symbol x, const ZooOptions& options);

/// The network before the pooling: (3, 299, 299) -> (2048, 8, 8).
Symbol inception_v3_features(Symbol x);

/// F. Chollet, "Xception: Deep learning with depthwise separable convolutions", CVPR 2017, figure 5, as in
/// Keras Applications, with its node names; at least 71 x 71 pixels.
Symbol xception(Symbol x, const ZooOptions& options);

// K. He, X. Zhang, S. Ren, J. Sun, "Deep residual learning for image recognition", CVPR 2016, table 1.

/// As in torchvision, with its node names: "v1.5", whose bottlenecks have the stride in the 3 x 3
/// convolution. `layers`: 18, 34, 50, 101 or 152.
Symbol resnet(Symbol x, const ZooOptions& options, int layers);

/// As in Keras Applications, with its node names: "v1", whose bottlenecks have the stride in their first
/// convolution, with biases. `layers`: 50, 101 or 152.
Symbol resnet_keras(Symbol x, const ZooOptions& options, int layers);

// Residual networks for images of 32 x 32 pixels.

/// K. He et al., "Deep residual learning for image recognition", CVPR 2016, section 4.2, 6 n + 2 layers.
/// Where the shape changes, the shortcut has no parameters: it reads every other pixel and adds channels of
/// zeroes (the paper's option A, in the form of its authors' fb.resnet.torch).
Symbol resnet_cifar(Symbol x, const ZooOptions& options, int layers);

/// S. Zagoruyko, N. Komodakis, "Wide residual networks", BMVC 2016, table 1 with depth 28 and k = 10: batch
/// norm and ReLU before the convolutions; no dropout.
Symbol wide_resnet_28_10(Symbol x, const ZooOptions& options);

/// G. Huang, Z. Liu, L. van der Maaten, K. Weinberger, "Densely connected convolutional networks", CVPR 2017,
/// table 1, as in torchvision, with its node names. `layers`: 121, 169 or 201.
Symbol densenet(Symbol x, const ZooOptions& options, int layers);

/// A. Howard et al., "MobileNets: Efficient convolutional neural networks for mobile vision applications",
/// 2017, table 1, as in Keras Applications, with its node names. The last 1 x 1 convolution is a dense layer
/// here.
Symbol mobilenet_v1(Symbol x, const ZooOptions& options);

/// M. Sandler et al., "MobileNetV2: Inverted residuals and linear bottlenecks", CVPR 2018, table 2, as in
/// torchvision, with its node names.
Symbol mobilenet_v2(Symbol x, const ZooOptions& options);

/// A. Howard et al., "Searching for MobileNetV3", ICCV 2019, tables 1 and 2, as in torchvision, with its node
/// names.
Symbol mobilenet_v3_large(Symbol x, const ZooOptions& options);
Symbol mobilenet_v3_small(Symbol x, const ZooOptions& options);

/// M. Tan, Q. Le, "EfficientNet: Rethinking model scaling for convolutional neural networks", ICML 2019,
/// table 1, and its scaling to B1 .. B7, as in torchvision, with its node names. Pixels must be standardized
/// before. `which`: 0 .. 7 for B0 .. B7.
Symbol efficientnet(Symbol x, const ZooOptions& options, std::size_t which);

/// The same as in Keras Applications, with its node names: padding and batch norms of the authors' TensorFlow
/// code. It takes pixels in 0..255: the first layers divide by 255 and standardize with ImageNet's mean and
/// deviation, as Keras' three layers do with weights="imagenet". Convolutions start from He's normal values,
/// which Keras truncates.
Symbol efficientnet_keras(Symbol x, const ZooOptions& options, std::size_t which);
/// The same without those first layers: timm's tf_efficientnet_b0 .. b7.
Symbol efficientnet_tf(Symbol x, const ZooOptions& options, std::size_t which);

/// The network of efficientnet_keras before the pooling, for B5 (3, 456, 456) -> (2048, 15, 15).
Symbol efficientnet_keras_features(Symbol x, std::size_t which);

/// R. Liu, "Higher accuracy on vision models with EfficientNet-Lite", TensorFlow blog, 2020: EfficientNet
/// without squeeze-excite, with ReLU6, as timm's tf_efficientnet_lite0 .. lite4, with Keras' node names.
/// `which`: 0 .. 4.
Symbol efficientnet_lite(Symbol x, const ZooOptions& options, std::size_t which);

/// N. Ma et al., "ShuffleNet V2: Practical guidelines for efficient CNN architecture design", ECCV 2018,
/// table 5, width 1, as torchvision's x1_0, with its node names.
Symbol shufflenet_v2(Symbol x, const ZooOptions& options);

/// Z. Liu et al., "A ConvNet for the 2020s", CVPR 2022, table 9, ConvNeXt-T, as in torchvision, with its node
/// names. Its linear layers over channels are 1 x 1 convolutions here.
Symbol convnext_tiny(Symbol x, const ZooOptions& options);

// The networks of the seed systems, as far as their papers specify them.

/// A simple CNN for ten tomato leaf diseases. The paper gives no details. Our choice is three 3 x 3
/// convolutions of 32, 64 and 128 channels with ReLU and max pooling, and a dense layer of 128, on 128 x 128
/// pixels.
Symbol leaf_cnn(Symbol x, const ZooOptions& options);

/// The classifier of I/O access patterns, (5) -> 5 -> 5 -> classes (3 in the thesis), with ReLU in between.
/// The thesis says "normal initialization" without the standard deviation; Keras' default is used.
Symbol nn_twins(Symbol x, const ZooOptions& options);

/// The sentiment of a review of 300 words, tokens (L) below 20,000: embedding 128, LSTM 128 with dropout 0.2
/// of its input, dense 128, 64, classes: 2 in the text of the thesis, 1 (a sigmoid, by the loss) elsewhere in
/// it. The thesis says "uniform initialization" without the range; Keras' default is used. Padding is not
/// masked.
Symbol imdb_lstm(Symbol x, const ZooOptions& options);

/// The head of the birds paper on Keras' EfficientNetB5, which takes pixels in 0..255: dense 1024, 512, 256,
/// each with ReLU, batch norm and dropout (0.4, 0.3, 0.2). The paper does not say how the features are
/// pooled; their mean is used. Nodes of the head are "head.*" and "predictions"; the paper freezes all
/// others. Without a head: the pooled features.
Symbol birds(Symbol x, const ZooOptions& options);

/// The head of the retina thesis on InceptionV3: mean over the image, dense 1024 with ReLU. All parameters
/// are trained.
Symbol retina(Symbol x, const ZooOptions& options);

}  // namespace convoke::nn
