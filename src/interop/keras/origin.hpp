#pragma once
#include <string>

#include "interop/keras/config.hpp"

namespace convoke::interop::keras {

/// Returns the class of a layer's JSON. Throws Error if the class is a user's own, even if it has the name of
/// one of Keras'. The entries "module" and "registered_name" decide. Older files have neither: there the name
/// decides, and for the layers of Keras Applications, whose names others use too, their settings.
std::string builtin_class(const Json& layer);

}  // namespace convoke::interop::keras
