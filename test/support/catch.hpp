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
// Version 2 also has the name without `Catch::`, and would hide that version 3 has not.
#define Approx ApproxOfVersion2
#include <catch2/catch.hpp>
#undef Approx
namespace Catch {
using Approx = Detail::ApproxOfVersion2;  // as in version 3
}
#endif
