#include "nn/kernels/dropout.hpp"

#include <cmath>

#include "convoke/core/multiversion.hpp"

namespace convoke::nn {
namespace {

constexpr int kCounters = 16;          // Philox calls side by side, one vector register per word
constexpr int kChunk = 4 * kCounters;  // elements they give

// Words of counters first..first+15, word w of counter i at words[w][i]: philox4x32 of core/random.hpp, vectorised.
[[gnu::always_inline]] inline void philox_chunk(std::uint32_t first, std::uint32_t stream, std::uint32_t sample,
                                                PhiloxKey key, std::uint32_t (&words)[4][kCounters]) {
  for (int i = 0; i < kCounters; ++i) {
    words[0][i] = first + static_cast<std::uint32_t>(i);
    words[1][i] = stream;
    words[2][i] = sample;
    words[3][i] = 0;
  }
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kCounters; ++i) {
      const std::uint64_t a = std::uint64_t{0xD2511F53} * words[0][i];
      const std::uint64_t b = std::uint64_t{0xCD9E8D57} * words[2][i];
      words[0][i] = static_cast<std::uint32_t>(b >> 32) ^ words[1][i] ^ key[0];
      words[1][i] = static_cast<std::uint32_t>(b);
      words[2][i] = static_cast<std::uint32_t>(a >> 32) ^ words[3][i] ^ key[1];
      words[3][i] = static_cast<std::uint32_t>(a);
    }
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
}

CONVOKE_MULTIVERSION
void forward(const ChannelBlocks& shape, const float* x, std::uint32_t threshold, float factor, PhiloxKey key,
             std::uint32_t stream, const std::uint32_t* samples, float* y, std::uint8_t* keep) {
  const std::int64_t elements = shape.channels * shape.pixels();
  const std::int64_t block = shape.block, plane = shape.pixels() * block;
  const bool dense = shape.outer == 1 && block == shape.channels;  // element order is memory order
  for (std::int64_t n = 0; n < shape.samples; ++n) {
    const std::int64_t base = n * shape.sample_size();
    std::int64_t pixel = 0, channel = 0;
    for (std::int64_t first = 0; first < elements; first += kChunk) {
      std::uint32_t words[4][kCounters];
      philox_chunk(static_cast<std::uint32_t>(first / 4), stream, samples[n], key, words);
      std::uint8_t kept[kChunk];
      for (int i = 0; i < kCounters; ++i) {
        for (int w = 0; w < 4; ++w) kept[4 * i + w] = words[w][i] >= threshold ? 1 : 0;
      }
      const std::int64_t count = elements - first < kChunk ? elements - first : kChunk;
      if (dense) {
        const std::int64_t at = base + first;
        for (std::int64_t e = 0; e < count; ++e) {
          keep[at + e] = kept[e];
          y[at + e] = kept[e] != 0 ? x[at + e] * factor : 0.0F;
        }
        continue;
      }
      for (std::int64_t e = 0; e < count;) {
        // A run of channels of one pixel within one block.
        const std::int64_t in_block = channel % block;
        std::int64_t run = block - in_block;
        run = run < shape.channels - channel ? run : shape.channels - channel;
        run = run < count - e ? run : count - e;
        const std::int64_t at = base + channel / block * plane + pixel * block + in_block;
        for (std::int64_t c = 0; c < run; ++c) {
          keep[at + c] = kept[e + c];
          y[at + c] = kept[e + c] != 0 ? x[at + c] * factor : 0.0F;
        }
        e += run;
        channel += run;
        if (channel == shape.channels) {
          channel = 0;
          ++pixel;
        }
      }
    }
    if (shape.padded_channels() != shape.channels) {  // padding stays zero
      const std::int64_t used = shape.channels % block;
      for (std::int64_t p = 0; p < shape.pixels(); ++p) {
        for (std::int64_t c = used; c < block; ++c) y[base + (shape.outer - 1) * plane + p * block + c] = 0.0F;
      }
    }
  }
}

CONVOKE_MULTIVERSION
void backward(const float* dy, const std::uint8_t* keep, float factor, float* dx, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) dx[i] = keep[i] != 0 ? dy[i] * factor : 0.0F;
}

float scale_of(double rate) { return static_cast<float>(1.0 / (1.0 - rate)); }

}  // namespace

void dropout_forward(const ChannelBlocks& shape, const float* x, double rate, PhiloxKey key, std::uint32_t stream,
                     const std::uint32_t* samples, float* y, std::uint8_t* keep) {
  const auto threshold = static_cast<std::uint32_t>(std::llround(rate * 0x1p32));
  forward(shape, x, threshold, scale_of(rate), key, stream, samples, y, keep);
}

void dropout_backward(const float* dy, const std::uint8_t* keep, double rate, float* dx, std::size_t n) {
  backward(dy, keep, scale_of(rate), dx, n);
}

}  // namespace convoke::nn
