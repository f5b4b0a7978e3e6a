#pragma once
#include <string>
#include <string_view>

namespace convoke::interop::keras {

/// Returns the name that Keras derives from a class (keras/src/utils/naming.py, to_snake_case): "PReLU" gives
/// "p_re_lu", "Conv2DTranspose" gives "conv2d_transpose".
std::string snake_case(std::string_view class_name);

}  // namespace convoke::interop::keras
