#include "ir/pass_log.h"

#include <algorithm>
#include <sstream>

namespace calque {

PassLog::Entry& PassLog::entry(std::string_view pass) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == pass; });
  if (found != entries_.end()) return *found;
  Entry& added = entries_.emplace_back();
  added.name = pass;
  return added;
}

void PassLog::add(std::string_view pass, double seconds) {
  Entry& e = entry(pass);
  e.seconds += seconds;
  ++e.runs;
}

void PassLog::add(std::string_view pass, double seconds, Over over, const std::function<void(std::ostream&)>& print) {
  add(pass, seconds);
  if (!keeps_text(pass)) return;
  std::ostringstream out;
  print(out);
  std::string& text = entry(pass).text;
  if (over == Over::whole) text.clear();
  text += out.str();
}

void PassLog::append(const PassLog& other) {
  for (const Entry& e : other.entries_) {
    Entry& to = entry(e.name);
    to.seconds += e.seconds;
    to.runs += e.runs;
    to.text += e.text;
  }
}

int PassLog::runs(std::string_view pass) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == pass; });
  return found == entries_.end() ? 0 : found->runs;
}

}  // namespace calque
