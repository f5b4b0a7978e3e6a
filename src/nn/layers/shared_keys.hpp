#pragma once
#include "convoke/nn/layer_keys.hpp"

// Keys that several layers have in common: kFilters<Conv2dOptions>. O is the struct of the hyper-parameters.
namespace convoke::nn {

template <class O>
constexpr Key<O> kFilters =
    key<&O::filters>({.name = "filters", .range = kAtLeastOne, .required = true, .help = "output channels"});
template <class O>
constexpr Key<O> kKernel =
    key<&O::kernel>({.name = "kernel", .range = kAtLeastOne, .required = true, .help = "size of the window"});
template <class O>
constexpr Key<O> kStride =
    key<&O::stride>({.name = "stride", .range = kAtLeastOne, .help = "step between windows"});
template <class O>
constexpr Key<O> kPadding = key<&O::padding>({.name = "padding", .help = "zeroes around the image"});
template <class O>
constexpr Key<O> kDilation = key<&O::dilation>({.name = "dilation",
                                                .range = kAtLeastOne,
                                                .help = "distance between the elements of a window"});
template <class O>
constexpr Key<O> kGroups =
    key<&O::groups>({.name = "groups",
                     .range = kAtLeastOne,
                     .help = "number of groups; each group reads only its own channels"});
template <class O>
constexpr Key<O> kMultiplier = key<&O::multiplier>({.name = "multiplier",
                                                    .range = kAtLeastOne,
                                                    .help = "depthwise filters for each channel"});
template <class O>
constexpr Key<O> kBias = key<&O::bias>({.name = "bias", .help = "add a learned bias"});
template <class O>
constexpr Key<O> kInitializer = key<&O::initializers, &Initializers::weight>(
    {.name = "initializer", .omit_default = true, .help = "initial values of the weights"});
template <class O>
constexpr Key<O> kBiasInitializer = key<&O::initializers, &Initializers::bias>(
    {.name = "bias_initializer", .omit_default = true, .help = "initial values of the biases"});

// Windows of pooling.
template <class O>
constexpr Key<O> kPoolSize =
    key<&O::size>({.name = "size", .range = kAtLeastOne, .help = "size of the window"});
template <class O>
constexpr Key<O> kPoolStride = key<&O::stride>(
    {.name = "stride", .range = kAtLeastOne, .fallback = "the size", .help = "step between windows"});
template <class O>
constexpr Key<O> kCeil = key<&O::ceil>(
    {.name = "ceil", .help = "the last window may extend beyond the end, as with PyTorch's ceil_mode"});
template <class O>
constexpr Key<O> kCountPadding = key<&O::count_padding>(
    {.name = "count_padding", .help = "padding counts as zeroes; PyTorch's default is true"});

// Normalizations.
template <class O>
constexpr Key<O> kEpsilon = key<&O::epsilon>({.name = "epsilon",
                                              .range = kPositive,
                                              .help = "added to the variance; PyTorch's default is 1e-5"});
template <class O>
constexpr Key<O> kScale = key<&O::scale>({.name = "scale", .help = "multiply by a learned gamma"});
template <class O>
constexpr Key<O> kCenter = key<&O::center>({.name = "center", .help = "add a learned beta"});

}  // namespace convoke::nn
