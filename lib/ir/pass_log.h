#pragma once
// The passes of one compilation, in the order in which they ran: how long each took and, on request, the program text
// after it. Passes get a pointer to the log of their compilation, which may be null.
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/stopwatch.h"

namespace calque {

/// A pass as lists of passes describe it.
struct PassInfo {
  std::string_view name;
  std::string_view doc;
};

class PassLog {
 public:
  struct Entry {
    std::string name;
    double seconds = 0;
    int runs = 0;  ///< once for each graph, kernel or module
    /// After the pass; empty unless it is kept. Of passes over parts (a kernel, a module): of all parts.
    std::string text;
  };
  /// What a pass ran over.
  enum class Over : uint8_t { whole, part };

  /// `keeps_text`: of which passes the text is kept; empty: of none.
  explicit PassLog(std::function<bool(std::string_view pass)> keeps_text = {}) : keeps_text_(std::move(keeps_text)) {}

  bool keeps_text(std::string_view pass) const { return keeps_text_ && keeps_text_(pass); }
  void add(std::string_view pass, double seconds);
  void add(std::string_view pass, double seconds, Over over, const std::function<void(std::ostream&)>& print);
  /// A log that keeps the same texts and has no entries: for work on another thread, whose log is appended later.
  PassLog empty_copy() const { return PassLog(keeps_text_); }
  void append(const PassLog& other);
  /// How often the pass ran.
  int runs(std::string_view pass) const;
  /// By first run.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  Entry& entry(std::string_view pass);

  std::function<bool(std::string_view)> keeps_text_;
  std::vector<Entry> entries_;
};

/// Runs a pass that changes `subject` and records it. `subject` prints with operator<<.
template <class Subject, class Work>
void run_logged(PassLog* log, std::string_view pass, PassLog::Over over, Subject& subject, Work&& work) {
  if (log == nullptr) return std::forward<Work>(work)();
  Stopwatch stopwatch;
  std::forward<Work>(work)();
  log->add(pass, stopwatch.lap(), over, [&](std::ostream& out) { out << subject; });
}

/// Runs a pass over a whole graph or program that returns what it makes, which prints with operator<<, and records it.
template <class Work>
auto logged(PassLog* log, std::string_view pass, Work&& work) {
  if (log == nullptr) return std::forward<Work>(work)();
  Stopwatch stopwatch;
  auto made = std::forward<Work>(work)();
  log->add(pass, stopwatch.lap(), PassLog::Over::whole, [&](std::ostream& out) { out << made; });
  return made;
}

}  // namespace calque
