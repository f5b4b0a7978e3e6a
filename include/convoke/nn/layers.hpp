#pragma once
// All layers.
#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/axes.hpp"
#include "convoke/nn/layers/convolutions.hpp"
#include "convoke/nn/layers/merge.hpp"
#include "convoke/nn/layers/normalizations.hpp"
#include "convoke/nn/layers/per_channel.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/regularization.hpp"
#include "convoke/nn/layers/resampling.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "convoke/nn/layers/sequences.hpp"
