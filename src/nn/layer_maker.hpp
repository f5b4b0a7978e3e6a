#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "convoke/nn/layer_keys.hpp"

namespace convoke::nn {

/// Makes layers of a class, and describes their keys.
struct Maker {
  LayerPtr (*make)(SettingsReader* read);  ///< `read` null: every hyper-parameter has its default
  std::vector<KeyDescription> (*describe)();
};

/// `kModes` are the first arguments of the constructor of L, and of L::keys().
template <class L, auto... kModes>
LayerPtr make_by_keys(SettingsReader* read) {
  if constexpr (requires { typename L::Options; }) {
    typename L::Options options;
    if (read == nullptr) return std::make_shared<L>(kModes..., options);
    read_keys(L::keys(kModes...), *read, options);
    if constexpr (requires { L::check(*read, options); }) L::check(*read, options);
    return read->at([&] { return std::make_shared<L>(kModes..., std::move(options)); });
  } else {
    return std::make_shared<L>(kModes...);
  }
}

template <class L, auto... kModes>
std::vector<KeyDescription> described_keys() {
  if constexpr (requires { typename L::Options; }) return describe_keys(L::keys(kModes...));
  return {};
}

template <class L, auto... kModes>
constexpr Maker kMaker{make_by_keys<L, kModes...>, described_keys<L, kModes...>};

}  // namespace convoke::nn
