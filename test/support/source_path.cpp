#include "support/source_path.hpp"

std::string source_path(const std::string& path) { return CONVOKE_SOURCE "/" + path; }
