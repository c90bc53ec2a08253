#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calque/commands.h"

namespace calque::cli {
namespace {

// Bash splits `--device=cpu` into three words. Where nothing is offered, `-o default` completes names of files.
constexpr const char* kHead = R"(# Completion of calque for bash, printed by `calque completion`.
_calque() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= offered= word
  if [[ $current == "=" ]]; then current=; elif [[ $previous == "=" ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command $word" in
)";
constexpr const char* kValues = R"(    esac
  done
  case "$command $previous" in
    "run --device" | "conformance --device") offered="reference cpu gpu_sim gpu" ;;
    *" --device") offered="cpu gpu_sim gpu" ;;
    *" --emit") offered="plan llvm asm ptx obj dot" ;;
    *)
      case "$command" in
)";
constexpr const char* kTail = R"(      esac
      if [[ $current != -* ]]; then
        case "$command" in
          docs) offered=$("${COMP_WORDS[0]}" docs 2>/dev/null | sed '/^$/,$d; s/ .*//') ;;
          bench) offered=$("${COMP_WORDS[0]}" bench --list 2>/dev/null) ;;
)";
constexpr const char* kEnd = R"(        esac
      fi ;;
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -o default -F _calque calque
)";

}  // namespace

int completion(const std::vector<CommandWords>& commands) {
  std::string out = kHead;
  for (const CommandWords& c : commands) {
    const size_t space = c.name.rfind(' ');
    const std::string outer = space == std::string::npos ? "" : c.name.substr(0, space);
    const std::string own = space == std::string::npos ? c.name : c.name.substr(space + 1);
    if (!c.name.empty()) out += fmt::format("      \"{} {}\") command=\"{}\" ;;\n", outer, own, c.name);
  }
  out += kValues;
  for (const CommandWords& c : commands)
    out += fmt::format("        \"{}\") offered=\"{}\" ;;\n", c.name, fmt::join(c.words, " "));
  out += kTail;
  for (const CommandWords& c : commands)
    if (c.files) out += fmt::format("          \"{}\") offered= ;;\n", c.name);
  std::cout << out << kEnd;
  return 0;
}

}  // namespace calque::cli
