#pragma once
#include "reference/layer.hpp"

namespace reference {

// embedding, lstm, gru.
Values embedding(const Call& call);
Values lstm(const Call& call);
Values gru(const Call& call);

}  // namespace reference
