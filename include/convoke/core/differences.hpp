#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convoke {

/// Compares values by their names, in any order. Returns "train.epochs: 3 in the checkpoint, 5 now" for each
/// name whose values differ, where `place` is "in the checkpoint". A value that is missing is "absent".
std::vector<std::string> differences(const std::vector<std::pair<std::string, std::string>>& then,
                                     const std::vector<std::pair<std::string, std::string>>& now,
                                     std::string_view place);

}  // namespace convoke
