#pragma once
#include <string>

namespace convoke::run {

/// Now, as "2026-11-22T16:30:00Z".
std::string utc_now();

/// Now, in local time, as "20261122-163000": what tells folders of one name apart.
std::string time_stamp();

}  // namespace convoke::run
