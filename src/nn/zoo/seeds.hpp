#pragma once
#include "convoke/nn/zoo.hpp"

// The networks of the seed systems, as far as their papers specify them.
namespace convoke::nn {

/// A simple CNN for ten tomato leaf diseases. The paper says no more than that: three 3 x 3 convolutions of
/// 32, 64 and 128 channels with ReLU and max-pool, and a dense layer of 128, on 128 x 128 pixels, are ours.
Graph leaf_cnn(const ZooOptions& options);

/// The classifier of I/O access patterns, (5) -> 5 -> 5 -> classes (3 in the thesis), ReLU between. "Normal
/// initialisation": the deviation is not given, Keras' is taken.
Graph nn_twins(const ZooOptions& options);

/// The sentiment of a review of 300 words, tokens (L) below 20,000: embedding 128, LSTM 128 with dropout 0.2
/// of its input, dense 128, 64, classes: 2 in the thesis' text, 1 (a sigmoid, by the loss) elsewhere in it.
/// "Uniform initialisation": the range is not given, Keras' is taken; padding is not masked.
Graph imdb_lstm(const ZooOptions& options);

/// The head of the birds paper over EfficientNet-B5: dense 1024, 512, 256, each with ReLU, batch norm and
/// dropout (0.4, 0.3, 0.2). How the features are pooled is not given: by their mean. Nodes of the head are
/// "head.*" and "predictions"; the paper freezes all others. Without a head: the pooled features.
Graph birds(const ZooOptions& options);

/// The head of the retina thesis over InceptionV3: mean over the image, dense 1024 with ReLU. All is trained.
Graph retina(const ZooOptions& options);

}  // namespace convoke::nn
