// The text of programs: buffers, steps, remarks, host functions, constants, then the kernels. parse_program.cpp reads
// it; change both together, and docs/program_text.md with them.
#include <cstdint>
#include <limits>
#include <ostream>

#include "ir/text/print.h"
#include "ir/text/text.h"
#include "kernel/ir/kernel_refs.h"
#include "kernel/ir/program.h"
#include "kernel/text/names.h"

namespace calque::kernel {

namespace {

class ProgramPrinter {
 public:
  explicit ProgramPrinter(const Program& program) : program_(program) {
    for (const auto& [name, numbers] : kernels_by_name(program.kernels)) {
      for (size_t i = 0; i < numbers.size(); ++i) {
        std::string& ref = kernel_refs_[numbers[i]];
        text::append_name(ref, name);
        if (numbers.size() > 1) ref += "#" + std::to_string(i);
      }
    }
  }

  std::string print() {
    out_ += "program ";
    text::append_name(out_, program_.name);
    out_ += ": workspace ";
    number(program_.workspace_bytes);
    out_ += " bytes";
    if (program_.num_loops > 0) {
      out_ += ", ";
      number(program_.num_loops);
      out_ += " loops";
    }
    out_ += '\n';
    for (size_t i = 0; i < program_.buffers.size(); ++i) buffer(i);
    out_ += "steps {\n";
    steps(program_.steps, 1);
    out_ += "}\n";
    remarks("not fused: ", program_.remarks);
    remarks("copied: ", program_.copied);
    remarks("not overlapped: ", program_.awaited);
    for (size_t i = 0; i < program_.host_functions.size(); ++i) host_function(i);
    for (size_t i = 0; i < program_.routines.size(); ++i) routine(i);
    for (size_t i = 0; i < program_.constants.size(); ++i) constant(i);
    return std::move(out_);
  }

 private:
  void remarks(std::string_view kind, const std::vector<std::string>& list) {
    for (const std::string& remark : list) {
      out_ += kind;
      text::append_quoted(out_, remark);
      out_ += '\n';
    }
  }
  void number(int64_t n) { text::append_int(out_, n); }
  void indent(int depth) { out_.append(static_cast<size_t>(2 * depth), ' '); }
  void loop(int32_t id) {
    out_ += 'i';
    number(id);
  }

  // ---- buffers

  void buffer(size_t i) {
    const ProgramBuffer& b = program_.buffers[i];
    out_ += "  m";
    number(static_cast<int64_t>(i));
    out_ += " = ";
    out_ += spelling_of(b.kind);
    if (b.kind != BufferKind::workspace) {
      out_ += ' ';
      number(b.index);
    } else if (b.private_to >= 0) {
      out_ += " private to ";
      loop(b.private_to);
    }
    if (b.offset != 0) {
      out_ += " at ";
      number(b.offset);
    }
    if (b.donated) out_ += " donated";
    out_ += ": ";
    text::append_type(out_, b.type);
    if (b.strides != row_major_strides(b.type.shape)) {
      for (size_t d = 0; d < b.strides.size(); ++d) {
        out_ += d == 0 ? " strides [" : ",";
        number(b.strides[d]);
      }
      out_ += ']';
    }
    const auto o = static_cast<size_t>(b.index);
    if (b.kind == BufferKind::output && o < program_.in_place.size() && program_.in_place[o] >= 0) {
      out_ += " in the memory of input ";
      number(program_.in_place[o]);
    }
    out_ += '\n';
  }

  // ---- views

  void slice(int32_t buffer, int64_t offset, const std::vector<View::Term>& terms) {
    out_ += 'm';
    number(buffer);
    if (offset != 0) {
      out_ += '+';
      number(offset);
    }
    for (const View::Term& t : terms) {
      out_ += '+';
      number(t.bytes);
      out_ += '*';
      loop(t.loop);
    }
  }
  void condition(const View::Condition& when) {
    loop(when.loop);
    if (when.period == 2) {
      out_ += when.remainder == 0 ? " even" : " odd";
      return;
    }
    out_ += " mod ";
    number(when.period);
    out_ += " is ";
    number(when.remainder);
  }
  void view(const View& v) {
    for (const View::Choice& c : v.choices) {
      for (const View::Condition& when : c.conditions) {
        if (&when != &c.conditions.front()) out_ += " and ";
        condition(when);
      }
      out_ += " ? ";
      slice(c.buffer, c.offset, c.terms);
      out_ += " : ";
    }
    slice(v.buffer, v.offset, v.terms);
  }
  void views(const std::vector<View>& list) {
    out_ += '(';
    for (size_t i = 0; i < list.size(); ++i) {
      if (i != 0) out_ += ", ";
      view(list[i]);
    }
    out_ += ')';
  }

  // ---- steps

  void steps(const std::vector<Step>& list, int depth) {
    for (const Step& s : list) {
      indent(depth);
      step(s);
      for (const ArrayCopy& c : s.array_copies) {
        out_ += " copies ";
        view(c.from);
        out_ += " to ";
        view(c.to);
        out_ += ' ';
        text::append_quoted(out_, c.remark);
      }
      for (const auto& block : s.blocks) {
        out_ += " {\n";
        steps(block, depth + 1);
        indent(depth);
        out_ += '}';
      }
      out_ += '\n';
    }
  }

  void step(const Step& s) {
    switch (s.kind) {
      case StepKind::kernel:
        out_ += "call " + kernel_refs_.at(s.kernel);
        return views(s.views);
      case StepKind::copy:
        out_ += "copy ";
        number(s.bytes);
        out_ += " bytes to ";
        view(s.views[0]);
        out_ += " from ";
        return view(s.views[1]);
      case StepKind::while_:
        out_ += "while ";
        view(s.views[0]);
        if (s.loop_id >= 0) {
          out_ += ' ';
          loop(s.loop_id);
        }
        if (s.most_iterations >= 0) {
          out_ += " at most ";
          number(s.most_iterations);
        }
        return carries(s);
      case StepKind::branch:
        out_ += "branch ";
        return view(s.views[0]);
      case StepKind::repeat:
        repeat(s);
        return carries(s);
      case StepKind::iota_i32:
        out_ += "iota ";
        loop(s.loop_id);
        out_ += " to ";
        return view(s.views[0]);
      case StepKind::host_call:
        out_ += "host h";
        number(s.host_function);
        return views(s.views);
      case StepKind::routine:
        out_ += "routine r";
        number(s.routine);
        return views(s.views);
    }
  }

  void repeat(const Step& s) {
    out_ += "repeat ";
    number(s.count);
    if (s.reverse) out_ += " reverse";
    if (s.loop_id >= 0) {
      out_ += ' ';
      loop(s.loop_id);
    }
    for (size_t i = 0; i < s.sums.size(); ++i) {
      out_ += i == 0 ? " sums " : ", ";
      view(s.views[i]);
      out_ += ": ";
      text::append_type(out_, s.sums[i]);
    }
    if (s.chunk_id >= 0) {
      out_ += " chunks ";
      loop(s.chunk_id);
    }
    if (s.threads) out_ += " threads";
    if (s.grain > 0) {
      out_ += '(';
      number(s.grain);
      out_ += ')';
    }
    if (s.private_bytes > 0) {
      out_ += " private ";
      number(s.private_bytes);
      out_ += " bytes";
    }
  }

  void carries(const Step& s) {
    for (size_t i = 0; i < s.carries.size(); ++i) {
      const Carry& c = s.carries[i];
      out_ += i == 0 ? " carries " : ", ";
      slice(c.before, 0, {});
      out_ += " then ";
      slice(c.next, 0, {});
      out_ += " spare ";
      slice(c.spare, 0, {});
      if (c.updates) out_ += " updates";
      if (c.from >= 0) {
        out_ += " from ";
        number(c.from);
      }
      out_ += " result ";
      view(c.result);
      if (c.remark.empty()) continue;
      out_ += " copied ";
      text::append_quoted(out_, c.remark);
    }
  }

  // ---- what steps refer to

  void types(const std::vector<Type>& list) {
    out_ += '(';
    for (size_t i = 0; i < list.size(); ++i) {
      if (i != 0) out_ += ", ";
      text::append_type(out_, list[i]);
    }
    out_ += ')';
  }

  void host_function(size_t i) {
    const HostFunctionRef& f = program_.host_functions[i];
    out_ += "host h";
    number(static_cast<int64_t>(i));
    out_ += " = ";
    if (f.phase != CallPhase::whole) out_ += f.phase == CallPhase::start ? "start " : "finish ";
    text::append_name(out_, f.primitive);
    text::append_attributes(out_, f.equation_attributes);
    types(f.arguments);
    out_ += " gives ";
    types(f.results);
    if (f.location.known()) {
      out_ += ' ';
      text::append_location(out_, f.location);
    }
    out_ += '\n';
  }

  void routine(size_t i) {
    const RoutineRef& r = program_.routines[i];
    out_ += "routine r";
    number(static_cast<int64_t>(i));
    out_ += " = ";
    out_ += primitives::kRoutineNames[static_cast<size_t>(r.routine)];
    if (r.flags != 0) {
      out_ += ' ';
      number(r.flags);
      out_ += ' ';
    }
    types(r.arguments);
    out_ += " gives ";
    types(r.results);
    if (r.location.known()) {
      out_ += ' ';
      text::append_location(out_, r.location);
    }
    out_ += '\n';
  }

  void constant(size_t i) {
    const AnyArray& array = program_.constants[i];
    out_ += "constant ";
    number(static_cast<int64_t>(i));
    out_ += ": ";
    text::append_type(out_, array.type());
    out_ += " = ";
    text::append_contents(out_, array, std::numeric_limits<size_t>::max());
    out_ += '\n';
  }

  std::string out_;
  const Program& program_;
  std::unordered_map<int32_t, std::string> kernel_refs_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Program& program) {
  out << ProgramPrinter(program).print();
  for (const Kernel& k : program.kernels) out << k;
  return out;
}

}  // namespace calque::kernel
