#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

// Integers in few bits, without loss, for messages: blocks of 64, each with as many bits a number as its
// largest needs, after one byte a block that says how many. A sum of gradients in fixed point takes 31 to 36
// bits a number, because its numbers are far below what 64 bits hold.

namespace convoke::sync {

/// Returns the most bytes of so many packed numbers; 0 for none.
std::size_t most_packed_bytes(std::size_t numbers);

/// Packs `values` to `to`, which has most_packed_bytes() bytes and is aligned for 64-bit words. Returns the
/// bytes used.
std::size_t pack(std::span<const std::int64_t> values, std::byte* to);

/// Sets `values` to the numbers that pack() has written to `from`.
void unpack(const std::byte* from, std::span<std::int64_t> values);

/// Adds the numbers that pack() has written to `from` to `sum`.
void unpack_and_add(const std::byte* from, std::span<std::int64_t> sum);

}  // namespace convoke::sync
