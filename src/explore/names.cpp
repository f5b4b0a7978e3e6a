#include "convoke/explore/names.hpp"

#include "convoke/core/settings.hpp"
#include "convoke/metrics/json.hpp"

namespace convoke::explore {
namespace {

std::string text_of(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.data());
  return text != nullptr ? *text : value.to_string();
}

const Value::Array* list_in(const Settings& settings, std::string_view key) {
  const Value* value = settings.find(key);
  return value != nullptr ? std::get_if<Value::Array>(&value->data()) : nullptr;
}

// A numeric column gives one feature, a column of categories one for each category.
void add_column(const Settings& column, std::vector<std::string>& features) {
  const Value* name = column.find("name");
  const std::string column_name = name != nullptr ? text_of(*name) : "";
  if (const Value::Array* categories = list_in(column, "categories")) {
    for (const Value& category : *categories) features.push_back(column_name + "=" + text_of(category));
  } else {
    features.push_back(column_name);
  }
}

}  // namespace

Names names_of(const data::DatasetInfo& info, const std::string& where) {
  Names names;
  if (info.preparation.empty()) return names;
  const Settings preparation = metrics::settings_from_json(info.preparation, where + ": preparation");
  if (const Value::Array* words = list_in(preparation, "vocabulary")) {
    for (const Value& word : *words) names.words.push_back(text_of(word));
  }
  if (const Value::Array* columns = list_in(preparation, "columns")) {
    for (const Value& column : *columns) {
      if (column.table() != nullptr) add_column(*column.table(), names.features);
    }
  }
  // If features were removed, the numbers do not match and the names would be wrong.
  const auto features = static_cast<std::size_t>(data::channel_count(info.sample_type, info.sample_shape));
  if (names.features.size() != features) names.features.clear();
  return names;
}

}  // namespace convoke::explore
