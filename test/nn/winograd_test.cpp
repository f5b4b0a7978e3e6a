// The Winograd kernels of every instruction set of this processor, against loops in double precision.
#include "nn/kernels/winograd/winograd.hpp"

#include <cstdio>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/core/random.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

// For the root mean square of the errors, relative to that of the values.
constexpr double kTolerance = 1e-5;
constexpr float kUnset = std::numeric_limits<float>::quiet_NaN();

std::vector<const WinogradKernels*> available() {
  static const std::vector<WinogradKernels> all = [] {
    std::vector<WinogradKernels> sets;
    for (const InstructionSet set : {InstructionSet::kAvx2, InstructionSet::kAvx512}) {
      if (set <= instruction_set()) sets.push_back(kernels_of<WinogradKernels>(set));
    }
    return sets;
  }();
  std::vector<const WinogradKernels*> pointers;
  for (const WinogradKernels& kernels : all) pointers.push_back(&kernels);
  return pointers;
}

/// An image of `channels` in blocks; at(...) is element (n, c, h, w).
struct Image {
  std::int64_t block = 0, samples = 0, channels = 0, height = 0, width = 0;
  AlignedBuffer<float> values{static_cast<std::size_t>(samples * channels * height * width)};

  float& at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return values
        .data()[(((n * (channels / block) + c / block) * height + h) * width + w) * block + c % block];
  }
  /// Returns 0 outside the image.
  double get(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return h < 0 || w < 0 || h >= height || w >= width ? 0 : at(n, c, h, w);
  }
};

void fill(std::span<float> values, std::uint64_t seed) {
  RandomStream random({seed, Purpose::kBench, 0, 0});
  for (float& value : values) value = static_cast<float>(random.normal());
}

/// A convolution with all inputs of its three passes.
struct Convolution {
  Convolution(const WinogradKernels& winograd, std::int64_t samples, std::int64_t in_blocks,
              std::int64_t out_blocks, std::int64_t height, std::int64_t width, std::int64_t top,
              std::int64_t left, std::int64_t bottom, std::int64_t right)
      : kernels(&winograd),
        shape{samples, in_blocks * winograd.block, out_blocks * winograd.block, height,
              width,   height + top + bottom - 2,  width + left + right - 2,    top,
              left},
        x{kernels->block, samples, shape.in_channels, height, width},
        y{kernels->block, samples, shape.out_channels, shape.out_height, shape.out_width},
        dx{x.block, samples, x.channels, height, width},
        dy{y.block, samples, y.channels, y.height, y.width},
        gate{y.block, samples, y.channels, y.height, y.width} {
    fill(x.values.span(), 1);
    fill(dy.values.span(), 2);
    fill(gate.values.span(), 3);
    fill(weight.span(), 4);
    fill(bias.span(), 5);
    // NaN shows elements that are not written.
    for (auto* values : {&y.values, &dx.values, &dweight, &dbias, &scratch})
      std::fill(values->span().begin(), values->span().end(), kUnset);
    kernels->transform(shape.in_channels, shape.out_channels, weight.data(), false, u.data());
    kernels->transform_transposed(shape.in_channels, shape.out_channels, weight.data(), false,
                                  transposed.data());
  }

  void forward(bool relu, bool biased) {
    kernels->fp32.forward(shape, x.values.data(), shape.by_pieces() ? weight.data() : u.data(),
                          biased ? bias.data() : nullptr, relu, y.values.data(), scratch.data());
  }
  void data_gradient(bool gated) {
    kernels->fp32.data_gradient(shape, dy.values.data(), gated ? gate.values.data() : nullptr,
                                shape.by_pieces() ? weight.data() : transposed.data(), dx.values.data(),
                                scratch.data());
  }
  void weight_gradient(bool gated, bool biased) {
    kernels->fp32.weight_gradient(shape, x.values.data(), dy.values.data(),
                                  gated ? gate.values.data() : nullptr, dweight.data(),
                                  biased ? dbias.data() : nullptr, nullptr, nullptr, scratch.data());
  }
  void both_gradients(bool gated, bool biased) {
    kernels->fp32.weight_gradient(
        shape, x.values.data(), dy.values.data(), gated ? gate.values.data() : nullptr, dweight.data(),
        biased ? dbias.data() : nullptr, transposed.data(), dx.values.data(), scratch.data());
  }

  std::size_t weight_at(std::int64_t k, std::int64_t c, std::int64_t a, std::int64_t b) const {
    const std::int64_t block = kernels->block;
    const std::int64_t blocks = k / block * (shape.in_channels / block) + c / block;
    return static_cast<std::size_t>((((blocks * 3 + a) * 3 + b) * block + c % block) * block + k % block);
  }
  double gradient(bool gated, std::int64_t n, std::int64_t k, std::int64_t h, std::int64_t w) {
    return gated && !(gate.get(n, k, h, w) > 0) ? 0 : dy.get(n, k, h, w);
  }

  const WinogradKernels* kernels;
  WinogradShape shape;
  Image x, y, dx, dy, gate;
  AlignedBuffer<float> weight{static_cast<std::size_t>(9 * shape.in_channels * shape.out_channels)};
  AlignedBuffer<float> dweight{weight.size()};
  AlignedBuffer<float> bias{static_cast<std::size_t>(shape.out_channels)}, dbias{bias.size()};
  AlignedBuffer<float> u{static_cast<std::size_t>(shape.weight_floats())}, transposed{u.size()};
  AlignedBuffer<float> scratch{static_cast<std::size_t>(
      std::max(kernels->scratch_floats(shape), kernels->gradient_scratch_floats(shape)))};
};

/// Sums squares of values and of their errors.
class Error {
 public:
  void add(double actual, double expected) {
    error_ += (actual - expected) * (actual - expected);
    size_ += expected * expected;
  }
  double relative() const { return std::sqrt(error_ / std::max(size_, 1e-30)); }

 private:
  double error_ = 0, size_ = 0;
};

/// Errors of the kernels, and of the same sums in single precision, product by product.
struct Errors {
  Error winograd, direct;
};
enum class Direct { kNo, kToo };

template <class Sum>
Sum forward_sum(Convolution& c, bool biased, std::int64_t n, std::int64_t k, std::int64_t h, std::int64_t w) {
  Sum sum = biased ? c.bias.data()[k] : 0;
  for (std::int64_t i = 0; i < c.shape.in_channels; ++i) {
    for (std::int64_t tap = 0; tap < 9; ++tap) {
      sum += static_cast<Sum>(c.x.get(n, i, h + tap / 3 - c.shape.top, w + tap % 3 - c.shape.left)) *
             static_cast<Sum>(c.weight.data()[c.weight_at(k, i, tap / 3, tap % 3)]);
    }
  }
  return sum;
}

template <class Sum>
Sum data_sum(Convolution& c, bool gated, std::int64_t n, std::int64_t i, std::int64_t h, std::int64_t w) {
  Sum sum = 0;
  for (std::int64_t k = 0; k < c.shape.out_channels; ++k) {
    for (std::int64_t tap = 0; tap < 9; ++tap) {
      sum +=
          static_cast<Sum>(c.gradient(gated, n, k, h + c.shape.top - tap / 3, w + c.shape.left - tap % 3)) *
          static_cast<Sum>(c.weight.data()[c.weight_at(k, i, tap / 3, tap % 3)]);
    }
  }
  return sum;
}

template <class Sum>
Sum weight_sum(Convolution& c, bool gated, std::int64_t k, std::int64_t i, std::int64_t tap) {
  Sum sum = 0;
  for (std::int64_t n = 0; n < c.shape.samples; ++n) {
    for (std::int64_t h = 0; h < c.shape.out_height; ++h) {
      for (std::int64_t w = 0; w < c.shape.out_width; ++w) {
        sum += static_cast<Sum>(c.gradient(gated, n, k, h, w)) *
               static_cast<Sum>(c.x.get(n, i, h + tap / 3 - c.shape.top, w + tap % 3 - c.shape.left));
      }
    }
  }
  return sum;
}

/// Calls f(sample, channel, row, column) for all values of an image.
template <class F>
void for_all(const Image& image, const F& f) {
  for (std::int64_t n = 0; n < image.samples; ++n) {
    for (std::int64_t c = 0; c < image.channels; ++c) {
      for (std::int64_t p = 0; p < image.height * image.width; ++p) f(n, c, p / image.width, p % image.width);
    }
  }
}

Errors forward_errors(Convolution& c, bool relu, bool biased, Direct direct = Direct::kNo) {
  Errors errors;
  for_all(c.y, [&](std::int64_t n, std::int64_t k, std::int64_t h, std::int64_t w) {
    const double sum = forward_sum<double>(c, biased, n, k, h, w);
    const double expected = relu ? std::max(sum, 0.0) : sum;
    errors.winograd.add(c.y.at(n, k, h, w), expected);
    if (direct == Direct::kToo) errors.direct.add(forward_sum<float>(c, biased, n, k, h, w), expected);
  });
  return errors;
}

Errors data_errors(Convolution& c, bool gated, Direct direct = Direct::kNo) {
  Errors errors;
  for_all(c.dx, [&](std::int64_t n, std::int64_t i, std::int64_t h, std::int64_t w) {
    const double expected = data_sum<double>(c, gated, n, i, h, w);
    errors.winograd.add(c.dx.at(n, i, h, w), expected);
    if (direct == Direct::kToo) errors.direct.add(data_sum<float>(c, gated, n, i, h, w), expected);
  });
  return errors;
}

Errors weight_errors(Convolution& c, bool gated, bool biased, Direct direct = Direct::kNo) {
  Errors errors;
  for (std::int64_t k = 0; k < c.shape.out_channels; ++k) {
    for (std::int64_t i = 0; i < c.shape.in_channels; ++i) {
      for (std::int64_t tap = 0; tap < 9; ++tap) {
        const double expected = weight_sum<double>(c, gated, k, i, tap);
        errors.winograd.add(c.dweight.data()[c.weight_at(k, i, tap / 3, tap % 3)], expected);
        if (direct == Direct::kToo) errors.direct.add(weight_sum<float>(c, gated, k, i, tap), expected);
      }
    }
    double sum = 0;
    for (std::int64_t n = 0; biased && n < c.shape.samples; ++n) {
      for (std::int64_t p = 0; p < c.y.height * c.y.width; ++p)
        sum += c.gradient(gated, n, k, p / c.y.width, p % c.y.width);
    }
    if (biased) errors.winograd.add(c.dbias.data()[k], sum);
  }
  return errors;
}

void check(Convolution c) {
  const WinogradShape& s = c.shape;
  INFO(c.kernels->name << ": " << s.samples << " x " << s.in_channels << " -> " << s.out_channels << ", "
                       << s.in_height << " x " << s.in_width << " -> " << s.out_height << " x " << s.out_width
                       << ", before " << s.top << ", " << s.left);
  for (const bool on : {false, true}) {
    CAPTURE(on);
    c.forward(on, !on);
    CHECK(forward_errors(c, on, !on).winograd.relative() < kTolerance);
    c.data_gradient(on);
    CHECK(data_errors(c, on).winograd.relative() < kTolerance);
    c.weight_gradient(on, !on);
    CHECK(weight_errors(c, on, !on).winograd.relative() < kTolerance);
  }
}

}  // namespace

TEST_CASE("tiles cover an axis of any length once") {
  for (std::int64_t extent = 1; extent <= 60; ++extent) {
    CAPTURE(extent);
    const TileAxis axis(extent);
    std::int64_t end = 0, points = 0;
    for (int t = 0; t < axis.count(); ++t) {
      CHECK(axis.start(t) == end);
      end += axis.size(t);
      points += axis.size(t) + 2;
    }
    CHECK(end == std::max<std::int64_t>(extent, 2));
    CHECK(points == axis.points());
  }
}

TEST_CASE("Winograd's passes equal a loop in double precision") {
  for (const WinogradKernels* kernels : available()) {
    for (std::int64_t extent = 1; extent <= 9; ++extent) {  // images of 1 to 9 pixels, odd ones
      check({*kernels, 2, 1, 2, extent, 10 - extent, 1, 1, 1, 1});
      check({*kernels, 3, 2, 1, extent, extent, 2, 2, 2, 2});
      if (extent >= 3) check({*kernels, 2, 1, 1, extent, extent, 0, 0, 0, 0});
    }
    for (const std::int64_t top : {0, 1, 2}) {  // different padding on each side
      for (const std::int64_t left : {0, 1, 2}) {
        check({*kernels, 1, 1, 1, 6, 5, top, left, 2 - top, 1});
        check({*kernels, 1, 1, 1, 3, 8, top, left, 1, 2 - left});
      }
    }
    for (const std::int64_t blocks : {3, 4, 5}) {  // partly filled panels
      check({*kernels, 2, blocks, 1, 5, 6, 1, 1, 1, 1});
      check({*kernels, 2, 1, blocks, 6, 7, 1, 1, 1, 1});
    }
    check({*kernels, 1, 17, 1, 4, 4, 1, 1, 1, 1});  // deeper than one pass over a panel
    check({*kernels, 1, 1, 9, 4, 4, 1, 1, 1, 1});
    Convolution by_pieces(*kernels, 1, 192 / kernels->block, 176 / kernels->block, 3, 4, 1, 1, 1, 1);
    CHECK(by_pieces.shape.by_pieces());  // its weights are transformed piece by piece
    check(std::move(by_pieces));
  }
}

TEST_CASE("transformed weights are the same if other cores read them next, bit for bit") {
  for (const WinogradKernels* kernels : available()) {
    for (const auto& [in_blocks, out_blocks] : {std::pair{1, 1}, {2, 3}, {3, 5}}) {
      const Convolution own(*kernels, 1, in_blocks, out_blocks, 4, 4, 1, 1, 1, 1);
      AlignedBuffer<float> shared(own.u.size());
      for (const bool transposed : {false, true}) {
        const auto transform = transposed ? kernels->transform_transposed : kernels->transform;
        transform(own.shape.in_channels, own.shape.out_channels, own.weight.data(), true, shared.data());
        CHECK(std::ranges::equal(shared.span(), (transposed ? own.transposed : own.u).span()));
      }
    }
  }
}

TEST_CASE("Winograd's weight gradient sums over several blocks of tiles") {
  for (const WinogradKernels* kernels : available()) {
    Convolution many(*kernels, 22, 1, 1, 16, 16, 1, 1, 1, 1);
    CHECK(many.shape.tiles() > many.shape.gradient_tiles_per_block());
    many.weight_gradient(true, true);
    CHECK(weight_errors(many, true, true).winograd.relative() < kTolerance);
  }
}

TEST_CASE("both gradients in one pass equal those of two passes bit for bit") {
  for (const WinogradKernels* kernels : available()) {
    const std::int64_t panel = kernels->block == 16 ? 4 : 2;
    for (const std::int64_t panels : {1, 3}) {
      for (const std::int64_t samples : {1, 20}) {
        CAPTURE(kernels->name, panels, samples);
        Convolution two(*kernels, samples, 3, panels * panel, 11, 13, 1, 0, 2, 1);
        Convolution one(*kernels, samples, 3, panels * panel, 11, 13, 1, 0, 2, 1);
        REQUIRE(one.kernels->joins_gradients(one.shape));
        CHECK((samples == 1 || one.shape.tiles() > one.shape.gradient_tiles_per_block()));
        two.data_gradient(true);
        two.weight_gradient(true, true);
        one.both_gradients(true, true);
        const auto equal = [](AlignedBuffer<float>& a, AlignedBuffer<float>& b) {
          return std::equal(a.span().begin(), a.span().end(), b.span().begin());
        };
        CHECK(equal(one.dx.values, two.dx.values));
        CHECK(equal(one.dweight, two.dweight));
        CHECK(equal(one.dbias, two.dbias));
      }
    }
    CHECK_FALSE(kernels->joins_gradients(Convolution(*kernels, 1, 1, panel + 1, 5, 5, 1, 1, 1, 1).shape));
  }
}

TEST_CASE("in bf16 the passes compute the same, and round what they write") {
  const auto rounded = [](AlignedBuffer<float>& values) {
    std::vector<Bf16> stored(values.span().begin(), values.span().end());
    std::copy(stored.begin(), stored.end(), values.data());
    return stored;
  };
  for (const WinogradKernels* kernels : available()) {
    const std::int64_t panel = kernels->block == 16 ? 4 : 2;
    Convolution c(*kernels, 3, 3, panel, 11, 13, 1, 0, 2, 1);
    const std::vector<Bf16> x = rounded(c.x.values), dy = rounded(c.dy.values), gate = rounded(c.gate.values);
    std::vector<Bf16> y(c.y.values.size()), dx(x.size()), other_dx(x.size());
    std::vector<float> dweight(c.dweight.size()), dbias(c.dbias.size());
    kernels->bf16.forward(c.shape, x.data(), c.u.data(), c.bias.data(), true, y.data(), c.scratch.data());
    kernels->bf16.weight_gradient(c.shape, x.data(), dy.data(), gate.data(), dweight.data(), dbias.data(),
                                  c.transposed.data(), dx.data(), c.scratch.data());
    kernels->bf16.data_gradient(c.shape, dy.data(), gate.data(), c.transposed.data(), other_dx.data(),
                                c.scratch.data());
    c.forward(true, true);
    c.both_gradients(true, true);
    CHECK(std::equal(dweight.begin(), dweight.end(), c.dweight.data()));
    CHECK(std::equal(dbias.begin(), dbias.end(), c.dbias.data()));
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (y[i].bits != Bf16(c.y.values.data()[i]).bits) FAIL_CHECK("y " << i);
    }
    double error = 0, size = 0;
    for (std::size_t i = 0; i < dx.size(); ++i) {
      if (dx[i].bits != other_dx[i].bits) FAIL_CHECK("dx " << i);
      const double expected = c.dx.values.data()[i];
      error += (dx[i] - expected) * (dx[i] - expected);
      size += expected * expected;
    }
    CHECK(std::sqrt(error / size) < 0.005);
  }
}

TEST_CASE("a sample's results do not depend on its neighbors, bit for bit") {
  for (const WinogradKernels* kernels : available()) {
    constexpr std::int64_t kSamples = 20;
    Convolution all(*kernels, kSamples, 2, 3, 11, 13, 1, 1, 1, 1);
    CHECK(all.shape.tiles() > all.shape.tiles_per_block());
    all.forward(true, true);
    all.data_gradient(true);
    for (std::int64_t n = 0; n < kSamples; ++n) {
      CAPTURE(n);
      Convolution one(*kernels, 1, 2, 3, 11, 13, 1, 1, 1, 1);
      const auto part = [&](Image& whole, Image& single) {
        const std::size_t size = single.values.size();
        return whole.values.span().subspan(static_cast<std::size_t>(n) * size, size);
      };
      const auto copy = [&](Image& whole, Image& single) {
        const auto from = part(whole, single);
        std::copy(from.begin(), from.end(), single.values.data());
      };
      copy(all.x, one.x);
      copy(all.dy, one.dy);
      copy(all.gate, one.gate);
      one.forward(true, true);
      one.data_gradient(true);
      const auto equal = [&](Image& whole, Image& single) {
        const auto values = part(whole, single);
        return std::equal(values.begin(), values.end(), single.values.data());
      };
      CHECK(equal(all.y, one.y));
      CHECK(equal(all.dx, one.dx));
    }
  }
}

TEST_CASE("NaN passes through Winograd's passes") {
  for (const WinogradKernels* kernels : available()) {
    Convolution c(*kernels, 2, 1, 1, 9, 9, 1, 1, 1, 1);
    c.x.at(1, 3, 4, 5) = kUnset;
    c.dy.at(1, 2, 6, 7) = kUnset;
    c.forward(true, true);
    c.data_gradient(false);
    c.weight_gradient(false, true);
    for (std::int64_t tap = 0; tap < 9; ++tap) {
      CHECK(std::isnan(c.y.at(1, 0, 4 + tap / 3 - 1, 5 + tap % 3 - 1)));
      CHECK(std::isnan(c.dx.at(1, 0, 6 + tap / 3 - 1, 7 + tap % 3 - 1)));
      CHECK(std::isnan(c.dweight.data()[c.weight_at(0, 3, tap / 3, tap % 3)]));
      CHECK(std::isnan(c.dweight.data()[c.weight_at(2, 0, tap / 3, tap % 3)]));
    }
    CHECK(std::isnan(c.dbias.data()[2]));
    // The other sample and the other channels do not change.
    CHECK(std::none_of(c.y.values.data(), c.y.values.data() + c.y.values.size() / 2,
                       [](float value) { return std::isnan(value); }));
    CHECK_FALSE(std::isnan(c.dbias.data()[3]));
  }
}

// Not a test: prints the table of docs/kernels.md.
TEST_CASE("errors of Winograd's passes and of sums in single precision", "[.table]") {
  const auto print = [](const char* pass, const Errors& errors) {
    std::printf("  %-8s %.1e (%.1e)", pass, errors.winograd.relative(), errors.direct.relative());
  };
  for (const WinogradKernels* kernels : available()) {
    for (const auto& [channels, side] : {std::pair{32, 28}, {64, 14}, {256, 14}, {512, 7}, {64, 56}}) {
      const std::int64_t blocks = channels / kernels->block;
      Convolution c(*kernels, 1, blocks, blocks, side, side, 1, 1, 1, 1);
      c.forward(false, true);
      c.data_gradient(false);
      c.weight_gradient(false, false);
      std::printf("%s, %d channels, %d x %d:", kernels->name, channels, side, side);
      print("forward", forward_errors(c, false, true, Direct::kToo));
      print("data", data_errors(c, false, Direct::kToo));
      print("weights", weight_errors(c, false, false, Direct::kToo));
      std::printf("\n");
    }
  }
}
