#include "interop/keras/naming.hpp"

#include <algorithm>
#include <iterator>

namespace convoke::interop::keras {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_word(char c) { return is_upper(c) || is_lower(c) || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

std::string snake_case(std::string_view class_name) {
  std::string name;
  std::copy_if(class_name.begin(), class_name.end(), std::back_inserter(name), is_word);
  std::string snake;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins_word = is_upper(name[i]) && i > 0 &&
                             (is_lower(name[i - 1]) || (i + 1 < name.size() && is_lower(name[i + 1])));
    if (begins_word) snake += '_';
    snake += is_upper(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
  }
  return snake;
}

}  // namespace convoke::interop::keras
