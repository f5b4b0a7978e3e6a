#include "sample_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/table.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers/per_channel.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "weights.hpp"

using namespace convoke;

namespace {

constexpr std::
    array
        kSamples{
            SampleModel{"adaptive_average_pool",
                        R"({"input":[3,8,6],"layers":[{"layer":"adaptive_average_pool","size":[4,2]}]})"},
            SampleModel{"adaptive_average_pool-uneven",
                        R"({"input":[3,7,9],"layers":[{"layer":"adaptive_average_pool","size":[3,4]}]})"},
            SampleModel{"adaptive_max_pool",
                        R"({"input":[3,8,6],"layers":[{"layer":"adaptive_max_pool","size":[4,2]}]})"},
            SampleModel{"adaptive_max_pool-uneven",
                        R"({"input":[3,7,9],"layers":[{"layer":"adaptive_max_pool","size":[3,4]}]})"},
            SampleModel{
                "add",
                R"({"input":[3,5,6],"layers":[{"layer":"relu","name":"a"},{"layer":"tanh","name":"b","inputs":["input"]},{"layer":"add","inputs":["a","b","input"]}]})"},
            SampleModel{
                "attention",
                R"({"input":[5,6],"layers":[{"layer":"attention","inputs":["input","input","input"],"heads":2}]})"},
            SampleModel{"attention-other",
                        R"({"input":[5,6],"layers":[{"layer":"slice","axis":"time","size":3,"name":"q"},)"
                        R"({"layer":"conv1d","filters":4,"kernel":1,"name":"v","inputs":["input"]},)"
                        R"({"layer":"attention","inputs":["q","input","v"],"heads":2,"scale":0.7}]})"},
            SampleModel{
                "average",
                R"({"input":[3,5,6],"layers":[{"layer":"relu","name":"a"},{"layer":"tanh","name":"b","inputs":["input"]},{"layer":"average","inputs":["a","b","input"]}]})"},
            SampleModel{"average_pool",
                        R"({"input":[3,8,9],"layers":[{"layer":"average_pool","size":[2,3]}]})"},
            SampleModel{
                "average_pool-same",
                R"({"input":[3,8,9],"layers":[{"layer":"average_pool","size":3,"stride":2,"padding":"same"}]})"},
            SampleModel{
                "average_pool-padded",
                R"({"input":[3,8,9],"layers":[{"layer":"average_pool","size":3,"stride":2,"padding":[1,0,2,1]}]})"},
            SampleModel{
                "average_pool-counted",
                R"({"input":[3,8,9],"layers":[{"layer":"average_pool","size":3,"stride":2,"padding":1,"count_padding":true}]})"},
            SampleModel{
                "average_pool-ceil",
                R"({"input":[3,8,9],"layers":[{"layer":"average_pool","size":3,"stride":2,"padding":[1,0],"ceil":true}]})"},
            SampleModel{
                "average_pool-ceil-counted",
                R"({"input":[3,8,8],"layers":[{"layer":"average_pool","size":3,"stride":2,"padding":[1,0,0,1],"ceil":true,"count_padding":true}]})"},
            SampleModel{
                "average_pool-same-counted",
                R"({"input":[3,8,9],"layers":[{"layer":"average_pool","size":3,"stride":2,"padding":"same","count_padding":true}]})"},
            SampleModel{"average_pool1d",
                        R"({"input":[9,4],"layers":[{"layer":"average_pool1d","size":2}]})"},
            SampleModel{
                "average_pool1d-padded",
                R"({"input":[9,4],"layers":[{"layer":"average_pool1d","size":3,"stride":2,"padding":[0,1],"ceil":true}]})"},
            SampleModel{
                "average_pool1d-counted",
                R"({"input":[9,4],"layers":[{"layer":"average_pool1d","size":3,"stride":2,"padding":1,"count_padding":true}]})"},
            SampleModel{"batch_norm",
                        R"({"input":[3,5,6],"layers":[{"layer":"batch_norm","epsilon":0.02}]})"},
            SampleModel{
                "batch_norm-bare",
                R"({"input":[3,5,6],"layers":[{"layer":"batch_norm","scale":false,"center":false}]})"},
            SampleModel{"batch_norm-sequence", R"({"input":[7,4],"layers":[{"layer":"batch_norm"}]})"},
            SampleModel{"batch_norm-vector",
                        R"({"input":[7],"layers":[{"layer":"batch_norm","center":false}]})"},
            SampleModel{"channel_scale", R"({"input":[3,5,6],"layers":[{"layer":"channel_scale"}]})"},
            SampleModel{"channel_scale-sequence", R"({"input":[5,3],"layers":[{"layer":"channel_scale"}]})"},
            SampleModel{"channel_scale-vector", R"({"input":[5],"layers":[{"layer":"channel_scale"}]})"},
            SampleModel{"channel_shuffle",
                        R"({"input":[6,3,4],"layers":[{"layer":"channel_shuffle","groups":2}]})"},
            SampleModel{"channel_shuffle-sequence",
                        R"({"input":[5,6],"layers":[{"layer":"channel_shuffle","groups":3}]})"},
            SampleModel{"channel_shuffle-vector",
                        R"({"input":[6],"layers":[{"layer":"channel_shuffle","groups":3}]})"},
            SampleModel{
                "concat",
                R"({"input":[3,5,6],"layers":[{"layer":"relu","name":"a"},{"layer":"concat","inputs":["a","input"]}]})"},
            SampleModel{
                "concat-height",
                R"({"input":[3,5,6],"layers":[{"layer":"relu","name":"a"},{"layer":"concat","inputs":["a","input"],"axis":"height"},{"layer":"concat","inputs":["concat_1","concat_1"],"axis":"width"}]})"},
            SampleModel{
                "concat-time",
                R"({"input":[5,6],"layers":[{"layer":"relu","name":"a"},{"layer":"concat","inputs":["a","input"],"axis":"time"},{"layer":"concat","inputs":["concat_1","concat_1"],"axis":"features"}]})"},
            SampleModel{
                "concat-vector",
                R"({"input":[5],"layers":[{"layer":"relu","name":"a"},{"layer":"concat","inputs":["a","input"]}]})"},
            SampleModel{"conv1d", R"({"input":[9,4],"layers":[{"layer":"conv1d","filters":5,"kernel":3}]})"},
            SampleModel{
                "conv1d-same",
                R"({"input":[9,4],"layers":[{"layer":"conv1d","filters":5,"kernel":4,"stride":2,"padding":"same","bias":false}]})"},
            SampleModel{
                "conv1d-causal",
                R"({"input":[9,4],"layers":[{"layer":"conv1d","filters":6,"kernel":3,"dilation":2,"padding":"causal"}]})"},
            SampleModel{
                "conv1d-padded",
                R"({"input":[9,4],"layers":[{"layer":"conv1d","filters":6,"kernel":3,"stride":2,"dilation":2,"padding":[2,1]}]})"},
            SampleModel{"conv1d-groups",
                        R"({"input":[9,4],"layers":[{"layer":"conv1d","filters":6,"kernel":3,"groups":2}]})"},
            SampleModel{
                "conv2d",
                R"({"input":[3,8,9],"layers":[{"layer":"conv2d","filters":4,"kernel":[3,2],"stride":[2,1]}]})"},
            SampleModel{
                "conv2d-same",
                R"({"input":[3,8,9],"layers":[{"layer":"conv2d","filters":4,"kernel":4,"stride":2,"padding":"same","bias":false}]})"},
            SampleModel{
                "conv2d-padded",
                R"({"input":[3,8,9],"layers":[{"layer":"conv2d","filters":4,"kernel":3,"stride":[2,1],"padding":[0,1,2,1]}]})"},
            SampleModel{
                "conv2d-dilated",
                R"({"input":[3,12,11],"layers":[{"layer":"conv2d","filters":4,"kernel":3,"dilation":[2,3],"padding":"same"}]})"},
            SampleModel{
                "conv2d-dilated-strided",
                R"({"input":[3,12,11],"layers":[{"layer":"conv2d","filters":4,"kernel":3,"dilation":2,"stride":2,"padding":2}]})"},
            SampleModel{
                "conv2d-groups",
                R"({"input":[4,8,9],"layers":[{"layer":"conv2d","filters":6,"kernel":3,"groups":2,"padding":1}]})"},
            SampleModel{
                "conv2d-depthwise",
                R"({"input":[4,8,9],"layers":[{"layer":"conv2d","filters":8,"kernel":3,"groups":4,"padding":1}]})"},
            SampleModel{
                "conv2d_transpose",
                R"({"input":[3,5,6],"layers":[{"layer":"conv2d_transpose","filters":4,"kernel":3,"stride":2}]})"},
            SampleModel{
                "conv2d_transpose-same",
                R"({"input":[3,5,6],"layers":[{"layer":"conv2d_transpose","filters":4,"kernel":[3,4],"stride":2,"padding":"same"}]})"},
            SampleModel{
                "conv2d_transpose-short",
                R"({"input":[3,5,6],"layers":[{"layer":"conv2d_transpose","filters":4,"kernel":2,"stride":3,"bias":false}]})"},
            SampleModel{
                "conv2d_transpose-padded",
                R"({"input":[3,5,6],"layers":[{"layer":"conv2d_transpose","filters":4,"kernel":4,"stride":2,"padding":[1,0],"output_padding":1}]})"},
            SampleModel{
                "conv2d_transpose-dilated",
                R"({"input":[3,5,6],"layers":[{"layer":"conv2d_transpose","filters":4,"kernel":3,"dilation":2}]})"},
            SampleModel{
                "conv2d_transpose-groups",
                R"({"input":[4,5,6],"layers":[{"layer":"conv2d_transpose","filters":6,"kernel":3,"stride":2,"groups":2,"padding":1}]})"},
            SampleModel{"crop", R"({"input":[3,8,9],"layers":[{"layer":"crop","cropping":[1,2,0,3]}]})"},
            SampleModel{
                "dense",
                R"({"input":[6],"layers":[{"layer":"dense","units":4},{"layer":"relu"},{"layer":"dense","units":3,"bias":false},{"layer":"softmax"}]})"},
            SampleModel{
                "depthwise_conv2d",
                R"({"input":[3,8,9],"layers":[{"layer":"depthwise_conv2d","kernel":3,"multiplier":2,"padding":"same"}]})"},
            SampleModel{
                "depthwise_conv2d-strided",
                R"({"input":[3,8,9],"layers":[{"layer":"depthwise_conv2d","kernel":3,"stride":[2,1],"padding":1,"bias":false}]})"},
            SampleModel{
                "dropout",
                R"({"input":[3,5,6],"layers":[{"layer":"relu"},{"layer":"dropout","rate":0.5},{"layer":"dropout","rate":0.2,"spatial":true},{"layer":"flatten"},{"layer":"dense","units":3},{"layer":"dropout","rate":0.1}]})"},
            SampleModel{
                "elementwise",
                R"({"input":[3,5,6],"layers":[{"layer":"elementwise","function":"abs","name":"a"},{"layer":"elementwise","function":"sqrt","name":"b"},{"layer":"elementwise","function":"exp","name":"c","inputs":["input"]},{"layer":"elementwise","function":"divide","inputs":["b","c"]},{"layer":"elementwise","function":"power","operands":["x","1.5"]}]})"},
            SampleModel{"elementwise-where", R"({"input":[3,5,6],"layers":[{"layer":"elementwise","function":"greater","operands":["x","0.1"],"name":"a"},{"layer":"elementwise","function":"where","inputs":["a","input"],"operands":["x","x","-0.5"],"name":"b"},{"layer":"elementwise","function":"equal","inputs":["b","input"],"name":"c"},{"layer":"elementwise","function":"subtract","inputs":["c","a"]}]})"},
            SampleModel{
                "elementwise-tokens",
                R"({"input":[6],"layers":[{"layer":"embedding","vocabulary":10,"units":1},{"layer":"flatten","name":"a"},{"layer":"elementwise","function":"equal","operands":["x","0"],"inputs":["input"],"name":"b"},{"layer":"elementwise","function":"maximum","inputs":["a","b"]}]})"},
            SampleModel{"elu", R"({"input":[9],"layers":[{"layer":"elu","alpha":0.7}]})"},
            SampleModel{"embedding",
                        R"({"input":[6],"layers":[{"layer":"embedding","vocabulary":10,"units":4}]})"},
            SampleModel{"flatten", R"({"input":[3,4,5],"layers":[{"layer":"flatten"}]})"},
            SampleModel{
                "flatten-dense",
                R"({"input":[3,4,5],"layers":[{"layer":"max_pool"},{"layer":"flatten"},{"layer":"dropout","rate":0.5},{"layer":"dense","units":4}]})"},
            SampleModel{"flatten-sequence",
                        R"({"input":[4,5],"layers":[{"layer":"flatten"},{"layer":"dense","units":4}]})"},
            SampleModel{
                "gaussian_noise",
                R"({"input":[9],"layers":[{"layer":"gaussian_noise","stddev":0.1},{"layer":"dense","units":2}]})"},
            SampleModel{"gelu", R"({"input":[9],"layers":[{"layer":"gelu"}]})"},
            SampleModel{"gelu-approximate",
                        R"({"input":[9],"layers":[{"layer":"gelu","approximate":true}]})"},
            SampleModel{"global_average_pool",
                        R"({"input":[3,4,5],"layers":[{"layer":"global_average_pool"}]})"},
            SampleModel{"global_average_pool1d",
                        R"({"input":[4,5],"layers":[{"layer":"global_average_pool1d"}]})"},
            SampleModel{"global_max_pool", R"({"input":[3,4,5],"layers":[{"layer":"global_max_pool"}]})"},
            SampleModel{"global_max_pool1d", R"({"input":[4,5],"layers":[{"layer":"global_max_pool1d"}]})"},
            SampleModel{"group_norm",
                        R"({"input":[6,4,5],"layers":[{"layer":"group_norm","groups":3,"epsilon":0.01}]})"},
            SampleModel{"group_norm-sequence",
                        R"({"input":[5,6],"layers":[{"layer":"group_norm","groups":2,"scale":false}]})"},
            SampleModel{"group_norm-vector",
                        R"({"input":[6],"layers":[{"layer":"group_norm","groups":2,"center":false}]})"},
            SampleModel{"gru", R"({"input":[5,4],"layers":[{"layer":"gru","units":3}]})"},
            SampleModel{
                "gru-sequences",
                R"({"input":[5,4],"layers":[{"layer":"gru","units":3,"sequences":true,"bidirectional":true},{"layer":"gru","units":2,"bias":false}]})"},
            SampleModel{
                "gru-masked",
                R"({"input":[7],"layers":[{"layer":"embedding","vocabulary":9,"units":4},{"layer":"gru","units":3,"inputs":["embedding_1","input"]}]})"},
            SampleModel{
                "gru-masked-both",
                R"({"input":[7],"layers":[{"layer":"embedding","vocabulary":9,"units":4},{"layer":"gru","units":3,"bidirectional":true,"sequences":true,"inputs":["embedding_1","input"]}]})"},
            SampleModel{
                "hard_sigmoid",
                R"({"input":[3,4,5],"layers":[{"layer":"rescale","scale":5},{"layer":"hard_sigmoid"}]})"},
            SampleModel{
                "hard_swish",
                R"({"input":[3,4,5],"layers":[{"layer":"rescale","scale":5},{"layer":"hard_swish"}]})"},
            SampleModel{"identity", R"({"input":[3,4,5],"layers":[{"layer":"identity"}]})"},
            SampleModel{"layer_norm", R"({"input":[5,6],"layers":[{"layer":"layer_norm","epsilon":0.01}]})"},
            SampleModel{
                "layer_norm-channels",
                R"({"input":[6,4,5],"layers":[{"layer":"layer_norm","axis":"channels","center":false}]})"},
            SampleModel{"layer_norm-vector",
                        R"({"input":[6],"layers":[{"layer":"layer_norm","scale":false}]})"},
            SampleModel{"leaky_relu",
                        R"({"input":[9],"layers":[{"layer":"leaky_relu","negative_slope":0.2}]})"},
            SampleModel{
                "local_response_norm",
                R"({"input":[7,4,5],"layers":[{"layer":"local_response_norm","size":3,"alpha":0.5,"k":2}]})"},
            SampleModel{
                "local_response_norm-even",
                R"({"input":[7,4,5],"layers":[{"layer":"local_response_norm","size":4,"alpha":0.5,"beta":0.6}]})"},
            SampleModel{"lstm", R"({"input":[5,4],"layers":[{"layer":"lstm","units":3}]})"},
            SampleModel{
                "lstm-both",
                R"({"input":[5,4],"layers":[{"layer":"lstm","units":3,"bidirectional":true,"bias":false}]})"},
            SampleModel{
                "lstm-sequences",
                R"({"input":[5,4],"layers":[{"layer":"lstm","units":3,"sequences":true,"bidirectional":true},{"layer":"dropout","rate":0.3},{"layer":"lstm","units":2,"sequences":true},{"layer":"global_average_pool1d"}]})"},
            SampleModel{
                "lstm-masked",
                R"({"input":[7],"layers":[{"layer":"embedding","vocabulary":9,"units":4},{"layer":"lstm","units":3,"sequences":true,"inputs":["embedding_1","input"]},{"layer":"lstm","units":3,"bidirectional":true,"inputs":["lstm_1","input"]},{"layer":"dense","units":2}]})"},
            SampleModel{
                "lstm-masked-both",
                R"({"input":[7],"layers":[{"layer":"embedding","vocabulary":9,"units":4},{"layer":"lstm","units":3,"bidirectional":true,"sequences":true,"inputs":["embedding_1","input"]},{"layer":"global_average_pool1d"}]})"},
            SampleModel{
                "lstm-mask-ends",
                R"({"input":[7],"layers":[{"layer":"embedding","vocabulary":9,"units":4},{"layer":"lstm","units":3,"sequences":true,"inputs":["embedding_1","input"]},{"layer":"lstm","units":2}]})"},
            SampleModel{"max_pool", R"({"input":[3,8,9],"layers":[{"layer":"max_pool","size":[2,3]}]})"},
            SampleModel{
                "max_pool-same",
                R"({"input":[3,8,9],"layers":[{"layer":"max_pool","size":3,"stride":2,"padding":"same"}]})"},
            SampleModel{
                "max_pool-padded",
                R"({"input":[3,8,9],"layers":[{"layer":"max_pool","size":3,"stride":2,"padding":[1,0,1,1]}]})"},
            SampleModel{
                "max_pool-relu",
                R"({"input":[3,8,9],"layers":[{"layer":"relu"},{"layer":"max_pool","size":3,"stride":2,"padding":1}]})"},
            SampleModel{
                "max_pool-ceil",
                R"({"input":[3,8,8],"layers":[{"layer":"max_pool","size":3,"stride":2,"ceil":true}]})"},
            SampleModel{"max_pool1d", R"({"input":[9,4],"layers":[{"layer":"max_pool1d","size":2}]})"},
            SampleModel{
                "max_pool1d-padded",
                R"({"input":[9,4],"layers":[{"layer":"max_pool1d","size":3,"stride":2,"padding":[1,0],"ceil":true}]})"},
            SampleModel{
                "maximum",
                R"({"input":[3,5,6],"layers":[{"layer":"rescale","scale":-1,"name":"a"},{"layer":"maximum","inputs":["a","input"]}]})"},
            SampleModel{
                "multiply",
                R"({"input":[4,5,6],"layers":[{"layer":"global_average_pool"},{"layer":"dense","units":4},{"layer":"sigmoid","name":"gate"},{"layer":"multiply","inputs":["input","gate"]}]})"},
            SampleModel{
                "multiply-image",
                R"({"input":[4,5,6],"layers":[{"layer":"adaptive_average_pool","size":1,"name":"a"},{"layer":"relu","name":"b","inputs":["input"]},{"layer":"multiply","inputs":["input","a","b"]}]})"},
            SampleModel{
                "multiply-sequence",
                R"({"input":[5,4],"layers":[{"layer":"global_max_pool1d","name":"a"},{"layer":"multiply","inputs":["input","a"]}]})"},
            SampleModel{"permute", R"({"input":[3,5,6],"layers":[{"layer":"permute","dims":[2,3,1]}]})"},
            SampleModel{"permute-sequence", R"({"input":[5,6],"layers":[{"layer":"permute","dims":[2,1]}]})"},
            SampleModel{"prelu", R"({"input":[3,5,6],"layers":[{"layer":"prelu"}]})"},
            SampleModel{"prelu-sequence", R"({"input":[5,6],"layers":[{"layer":"prelu"}]})"},
            SampleModel{"prelu-vector", R"({"input":[6],"layers":[{"layer":"prelu"}]})"},
            SampleModel{"relu", R"({"input":[9],"layers":[{"layer":"relu"}]})"},
            SampleModel{"relu6",
                        R"({"input":[9],"layers":[{"layer":"rescale","scale":9},{"layer":"relu6"}]})"},
            SampleModel{"rescale",
                        R"({"input":[3,5,6],"layers":[{"layer":"rescale","scale":0.3,"offset":-1.5}]})"},
            SampleModel{"reshape", R"({"input":[4,6,5],"layers":[{"layer":"reshape","shape":[12,10]}]})"},
            SampleModel{
                "reshape-image",
                R"({"input":[24],"layers":[{"layer":"reshape","shape":[4,3,2]},{"layer":"relu"},{"layer":"reshape","shape":[2,3,4]}]})"},
            SampleModel{"resize", R"({"input":[3,4,5],"layers":[{"layer":"resize","scale":[2,3]}]})"},
            SampleModel{"resize-size", R"({"input":[3,10,7],"layers":[{"layer":"resize","size":[3,5]}]})"},
            SampleModel{
                "resize-torch",
                R"({"input":[3,4,5],"layers":[{"layer":"resize","size":[8,7],"centers":"asymmetric","rounding":"floor"}]})"},
            SampleModel{
                "resize-whole-torch",
                R"({"input":[3,4,5],"layers":[{"layer":"resize","scale":3,"centers":"asymmetric","rounding":"floor"}]})"},
            SampleModel{
                "resize-corners",
                R"({"input":[3,4,5],"layers":[{"layer":"resize","size":[7,3],"centers":"align_corners","method":"bilinear"}]})"},
            SampleModel{
                "resize-corners-nearest",
                R"({"input":[3,4,5],"layers":[{"layer":"resize","size":[7,3],"centers":"align_corners","rounding":"round_prefer_floor"}]})"},
            SampleModel{"resize-bilinear",
                        R"({"input":[3,4,5],"layers":[{"layer":"resize","scale":2,"method":"bilinear"}]})"},
            SampleModel{
                "resize-bilinear-size",
                R"({"input":[3,10,7],"layers":[{"layer":"resize","size":[4,11],"method":"bilinear"}]})"},
            SampleModel{"selu", R"({"input":[9],"layers":[{"layer":"selu"}]})"},
            SampleModel{
                "separable_conv2d",
                R"({"input":[3,8,9],"layers":[{"layer":"separable_conv2d","filters":5,"kernel":3,"multiplier":2,"padding":"same","stride":2}]})"},
            SampleModel{
                "separable_conv2d-padded",
                R"({"input":[3,8,9],"layers":[{"layer":"separable_conv2d","filters":5,"kernel":3,"padding":[1,2],"stride":[1,2],"bias":false}]})"},
            SampleModel{
                "shared",
                R"({"input":[3,6,6],"layers":[{"layer":"conv2d","filters":3,"kernel":3,"padding":1,"name":"conv"},{"layer":"relu"},{"layer":"shared","of":"conv","name":"again"},{"layer":"flatten"},{"layer":"dense","units":108,"name":"fc"},{"layer":"shared","of":"fc"}]})"},
            SampleModel{"sigmoid", R"({"input":[9],"layers":[{"layer":"sigmoid"}]})"},
            SampleModel{"silu", R"({"input":[9],"layers":[{"layer":"silu"}]})"},
            SampleModel{
                "slice",
                R"({"input":[5,6,7],"layers":[{"layer":"slice","begin":1,"size":3},{"layer":"slice","axis":"height","begin":2},{"layer":"slice","axis":"width","begin":1,"size":2}]})"},
            SampleModel{
                "slice-sequence",
                R"({"input":[6,7],"layers":[{"layer":"slice","axis":"time","begin":2,"size":3},{"layer":"slice","axis":"features","begin":1}]})"},
            SampleModel{"slice-vector",
                        R"({"input":[6],"layers":[{"layer":"slice","axis":"features","begin":2,"size":3}]})"},
            SampleModel{"softmax", R"({"input":[6],"layers":[{"layer":"softmax"}]})"},
            SampleModel{"softmax-image", R"({"input":[3,4,5],"layers":[{"layer":"softmax"}]})"},
            SampleModel{"softmax-sequence", R"({"input":[4,5],"layers":[{"layer":"softmax"}]})"},
            SampleModel{"softplus", R"({"input":[9],"layers":[{"layer":"softplus"}]})"},
            SampleModel{
                "standardize",
                R"({"input":[3,4,5],"layers":[{"layer":"standardize","mean":[0.1,0.2,-0.3],"variance":[1,2,0.5]}]})"},
            SampleModel{"standardize-one",
                        R"({"input":[6],"layers":[{"layer":"standardize","mean":0.1,"variance":2}]})"},
            SampleModel{
                "stochastic_depth",
                R"({"input":[3,4,5],"layers":[{"layer":"relu"},{"layer":"stochastic_depth","rate":0.2},{"layer":"add","inputs":["input","stochastic_depth_1"]}]})"},
            SampleModel{
                "subtract",
                R"({"input":[9],"layers":[{"layer":"relu","name":"a"},{"layer":"subtract","inputs":["input","a"]}]})"},
            SampleModel{"tanh", R"({"input":[9],"layers":[{"layer":"tanh"}]})"},
            SampleModel{"zero_pad",
                        R"({"input":[3,4,5],"layers":[{"layer":"zero_pad","padding":[1,0,2,3]}]})"},
            SampleModel{
                "classifier",
                R"({"input":[3,8,8],"layers":[{"layer":"conv2d","filters":4,"kernel":3,"name":"output"},{"layer":"batch_norm"},{"layer":"relu"},{"layer":"global_average_pool"},{"layer":"dense","units":3}]})"},
        };

nn::Graph graph_of(const SampleModel& sample) {
  const Settings settings = metrics::settings_from_json(std::string(sample.json), std::string(sample.name));
  SettingsReader read(settings, "sample");
  const Shape input(read.get("input", std::vector<std::int64_t>{}));
  const std::vector<Settings> layers = read.tables("layers");
  nn::Graph graph = nn::build_graph(nn::input_of(input, layers), layers);
  if (graph.parameter_count() == 0) nn::channel_scale({&graph, graph.nodes().size() - 1});
  if (graph.output_shape().rank() != 1) nn::flatten({&graph, graph.nodes().size() - 1});
  return graph;
}

}  // namespace

std::span<const SampleModel> sample_models() { return kSamples; }
const SampleModel& sample_model(std::string_view name) { return find_in(kSamples, name, "sample"); }

run::ModelSet make_sample(const SampleModel& sample, int members) {
  run::ModelSet models{.description = {.graph = graph_of(sample), .normalization = {}, .class_names = {}},
                       .members = {}};
  run::ModelDescription& description = models.description;
  const nn::ValueSpec& input = description.graph.input_shape();
  if (input.type == nn::ValueType::kReal) {
    const std::int64_t channels = input.rank() == 3 ? input[0] : input[input.rank() - 1];
    for (std::int64_t c = 0; c < channels; ++c) {
      description.normalization.scale.push_back(0.02F + 0.01F * static_cast<float>(c));
      description.normalization.shift.push_back(-1.0F + 0.25F * static_cast<float>(c));
    }
  }
  for (std::int64_t c = 0; c < description.classes(); ++c) {
    description.class_names.push_back(fmt::format("class \"{}\"", c));
  }
  models.ensemble = members > 1;
  for (int m = 0; m < members; ++m) {
    run::Member member;
    member.index = m;
    for (const engine::CanonicalParameter& parameter : engine::canonical_parameters(description.graph)) {
      const std::string name = m == 0 ? parameter.name : fmt::format("member{}.{}", m, parameter.name);
      const std::vector<float> own = comparison_weights(name, parameter.shape);
      member.parameters.insert(member.parameters.end(), own.begin(), own.end());
    }
    models.members.push_back(std::move(member));
  }
  return models;
}
