#pragma once
#include <functional>
#include <string>
#include <vector>

#include "check.hpp"

namespace convoke::hdf5 {

/// Returns the bytes of an element in memory. Not for kOther.
std::size_t size_of(ElementType type);
/// Returns HDF5's type of the elements in memory. Not for kOther.
hid_t memory_type(ElementType type);
/// Returns HDF5's type in files: little endian on every machine. Not for kOther.
hid_t file_type(ElementType type);
/// Returns our type for a stored type of any byte order.
ElementType element_type_of(hid_t stored, const std::string& where);

/// Throws Error if a dataset's values are in other files.
void refuse_values_elsewhere(hid_t dataset, const std::string& where);

/// Returns texts of a stored type, of fixed or variable length. `read` gets the type in memory and the place
/// for the values of all `count` texts; `what` says what failed. Texts end at a zero byte.
std::vector<std::string> read_texts(hid_t type, std::size_t count, const std::string& where, const char* what,
                                    const std::function<void(hid_t memory, void* values)>& read);

}  // namespace convoke::hdf5
