#pragma once
#include <string>

#include "convoke/core/error.hpp"

/// Returns the convoke::Error that `action` throws; one with an empty message if it throws none.
template <class Action>
convoke::Error thrown_by(Action&& action) {
  try {
    action();
  } catch (const convoke::Error& error) {
    return error;
  }
  return convoke::Error("");
}

/// Returns the message of the convoke::Error that `action` throws; "" if it throws none.
template <class Action>
std::string error_of(Action&& action) {
  return thrown_by(action).what();
}

/// Returns the hint of that error; "" if it throws none.
template <class Action>
std::string hint_of(Action&& action) {
  return thrown_by(action).hint();
}

/// Returns both, as "message | hint"; "" if it throws none.
template <class Action>
std::string refusal_of(Action&& action) {
  const convoke::Error error = thrown_by(action);
  const std::string message = error.what();
  return message.empty() ? message : message + " | " + error.hint();
}
