#pragma once
// The ratios of a run beside those of an earlier one. Times of two runs are not comparable, their ratios are: the speed
// against rivals that both runs timed, and the share of a limit that both measured.
#include <cstddef>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace calque::cli {

struct AgainstEarlier {
  std::string text;     ///< a Markdown table of what fell, and how many ratios were compared
  size_t compared = 0;  ///< ratios that both runs have
  size_t fallen = 0;    ///< those that are lower now by more than the tolerance
};

/// Throws std::runtime_error, with the name of the document, unless it has the figures of a run.
void check_figures(const nlohmann::ordered_json& document, const std::string& name);

/// Compares the documents of two runs, both of programs or both of devices. `tolerance` is a fraction.
AgainstEarlier compare_with_earlier(const nlohmann::ordered_json& now, const nlohmann::ordered_json& earlier,
                                    const std::string& earlier_name, double tolerance);

}  // namespace calque::cli
