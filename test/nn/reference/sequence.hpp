#pragma once
#include "reference/layer.hpp"

namespace reference {

// attention, embedding, lstm, gru.
Values attention(const Call& call);
Values embedding(const Call& call);
Values lstm(const Call& call);
Values gru(const Call& call);

}  // namespace reference
