#include "nn/kernels/winograd/winograd.hpp"

#include <algorithm>

#include "nn/kernels/instruction_sets.hpp"

namespace convoke::nn {
namespace {

constexpr std::int64_t kPoints = 36;
constexpr std::int64_t kFloatBytes = sizeof(float);

std::int64_t near(std::int64_t channels) {
  return std::clamp<std::int64_t>((768 << 10) / (kPoints * channels * kFloatBytes) / 6 * 6, 36, kMostTiles);
}

/// Divides `tiles` into as few blocks of at most `most` as possible, of about equal size. Returns their size.
std::int64_t even_blocks(std::int64_t tiles, std::int64_t most) {
  const std::int64_t blocks = (tiles + most - 1) / most;
  return (tiles + blocks - 1) / blocks;
}

}  // namespace

TileAxis::TileAxis(std::int64_t extent)
    : fours_(static_cast<int>(extent / 4)), rest_(static_cast<int>(extent % 4)) {
  if (rest_ != 1 || fours_ == 0) return;
  --fours_;
  rest_ = 5;  // 3 + 2
}
int TileAxis::count() const { return fours_ + (rest_ == 0 ? 0 : rest_ == 5 ? 2 : 1); }
int TileAxis::start(int tile) const { return tile <= fours_ ? 4 * tile : 4 * fours_ + 3; }
int TileAxis::size(int tile) const {
  if (tile < fours_) return 4;
  return tile == fours_ && (rest_ == 3 || rest_ == 5) ? 3 : 2;
}
int TileAxis::points() const { return 6 * fours_ + (rest_ == 0 ? 0 : rest_ == 5 ? 9 : rest_ == 3 ? 5 : 4); }

std::int64_t WinogradShape::tiles() const {
  return samples * TileAxis(out_height).count() * TileAxis(out_width).count();
}

// Functions of the shape alone, because sums over tiles depend on them. The transformed inputs and outputs of
// a block should stay in the second-level cache (1 MiB on AMD, 2 on Intel). If the weights do not fit there,
// blocks are large, so that the weights are read less often.
std::int64_t WinogradShape::tiles_per_block() const {
  return even_blocks(tiles(), by_pieces() ? 128 : near(in_channels + out_channels));
}

std::int64_t WinogradShape::gradient_tiles_per_block() const {
  return even_blocks(tiles(), by_pieces() ? kMostTiles : near(in_channels + out_channels));
}

bool WinogradShape::by_pieces() const { return weight_floats() * kFloatBytes > 4 << 20; }

const WinogradKernels* winograd_kernels() {
  const WinogradKernels& here = kernels<WinogradKernels>();
  return here.fp32.forward == nullptr ? nullptr : &here;
}

}  // namespace convoke::nn
