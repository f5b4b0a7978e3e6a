#pragma once
// Catch2 2.13 and 3 in one include.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace Catch {  // the names of version 2
using Matchers::EndsWith;
using Matchers::StartsWith;
inline auto Contains(const std::string& part) { return Matchers::ContainsSubstring(part); }
}  // namespace Catch
#else
#include <catch2/catch.hpp>
namespace Catch {
using Detail::Approx;  // version 3 has it here; in version 2 the name would be a matcher
}
#endif
