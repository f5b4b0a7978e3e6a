#pragma once
#include <string>

#include "convoke/core/error.hpp"

/// Returns the message of the convoke::Error that `action` throws; "" if it throws none.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const convoke::Error& error) {
    return error.what();
  }
  return "";
}

/// Returns the hint of that error; "" if it throws none.
template <class Action>
std::string hint_of(Action&& action) {
  try {
    action();
  } catch (const convoke::Error& error) {
    return error.hint();
  }
  return "";
}

/// Returns both, as "message | hint"; "" if it throws none.
template <class Action>
std::string refusal_of(Action&& action) {
  try {
    action();
  } catch (const convoke::Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "";
}
