#pragma once
// Catch2 2.13 and 3 in one include, and what nearly every test uses of the standard library and of fmt. It is
// compiled once for all test programs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace Catch {  // the names of version 2
using Matchers::EndsWith;
using Matchers::StartsWith;
inline auto Contains(const std::string& part) { return Matchers::ContainsSubstring(part); }
}  // namespace Catch
#else
// Version 2 also has the name without `Catch::`, and would hide that version 3 has not.
#define Approx ApproxOfVersion2
#include <catch2/catch.hpp>
#undef Approx
namespace Catch {
using Approx = Detail::ApproxOfVersion2;  // as in version 3
}
#endif

using Catch::Approx;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using Catch::Matchers::WithinAbs;
