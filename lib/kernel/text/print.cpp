// Text dumps of kernels.
#include <ostream>
#include <type_traits>

#include <fmt/format.h>

#include "ir/text/text.h"
#include "kernel/ir/kernel.h"
#include "kernel/text/names.h"

namespace calque::kernel {

namespace {

class KernelPrinter {
 public:
  KernelPrinter(std::ostream& out, const Kernel& kernel) : out_(out), kernel_(kernel) {}

  void print() {
    std::string name;
    text::append_name(name, kernel_.name);
    out_ << "kernel " << name << '(';
    for (size_t i = 0; i < kernel_.num_parameters(); ++i) {
      const Buffer& b = kernel_.buffers[i];
      out_ << (i ? ", " : "") << (b.written ? "out " : "") << 'b' << i << ": " << b.dtype << '[' << b.extent << ']';
      if (b.alignment != static_cast<int64_t>(size_of(b.dtype))) out_ << " align " << b.alignment;
    }
    out_ << ") {\n";
    if (kernel_.origin != KernelOrigin::pointwise) out_ << "  origin " << spelling_of(kernel_.origin) << '\n';
    if (kernel_.bytes_read != 0 || kernel_.bytes_written != 0 || kernel_.flops != 0)
      out_ << fmt::format("  reads {} bytes, writes {} bytes, {} flops\n", kernel_.bytes_read, kernel_.bytes_written,
                          kernel_.flops);
    if (const auto& l = kernel_.launch)
      out_ << fmt::format("  launch {} groups of {} threads, {} threads per block\n", l->groups, l->group_size,
                          l->threads);
    region(kernel_.body, 1);
    out_ << "}\n";
  }

 private:
  void indent(int depth) { out_ << std::string(static_cast<size_t>(2 * depth), ' '); }
  void ids(const Ids& list, bool types) {
    for (size_t i = 0; i < list.size(); ++i) {
      out_ << (i ? ", " : "") << '%' << list[i];
      if (types) out_ << ": " << kernel_.values[static_cast<size_t>(list[i])];
    }
  }
  void region(const Region& r, int depth) {
    for (const Instruction& i : r.instructions) instruction(i, depth);
  }
  void nested(const Region& r, std::string_view title, int depth) {
    out_ << title;
    if (!r.parameters.empty()) {
      out_ << '(';
      ids(r.parameters, true);
      out_ << ") ";
    }
    out_ << "{\n";
    region(r, depth + 1);
    indent(depth);
    out_ << '}';
  }
  void predicate(const Instruction& i, size_t at) {
    if (i.operands.size() > at) out_ << " where %" << i.operands[at];
  }
  void mapping(const Instruction& i) {
    if (i.mapping == ParallelMapping::groups) out_ << " over groups";
    if (i.mapping == ParallelMapping::threads) out_ << " over threads";
  }
  void literal(const Instruction& i) {
    std::string element;
    text::append_element(element, kernel_.values[static_cast<size_t>(i.results[0])], i.literal.bytes);
    out_ << element;
  }
  void loop(const Instruction& i, int depth) {
    out_ << spelling_of(i.loop) << ' ' << i.extent;
    if (i.vectorize) out_ << " vectorize";
    if (i.lanes > 0) out_ << '(' << i.lanes << ')';
    if (i.unroll > 0) out_ << " unroll(" << int{i.unroll} << ')';
    if (i.overlapping_tail) out_ << " overlapping_tail";
    if (i.column_tile > 0) out_ << " columns(" << i.column_tile << ')';
    if (i.threads) out_ << " threads";
    if (i.grain > 0) out_ << '(' << i.grain << ')';
    mapping(i);
    if (i.thread_tile) tiles("thread_tile", i.thread_tile);
    for (size_t l = 0; l < i.locals.size(); ++l) {
      const Buffer& b = kernel_.buffers[static_cast<size_t>(i.locals[l])];
      out_ << (l ? ", b" : " local b") << i.locals[l] << ": " << b.dtype << '[' << b.extent << ']';
    }
    for (size_t c = 0; c < i.combiners.size(); ++c) out_ << (c ? ", " : " ") << spelling_of(i.combiners[c]);
    if (!i.operands.empty()) {
      out_ << " from ";
      ids(i.operands, false);
    }
    nested(i.regions[0], " ", depth);
  }
  /// Fields that are zero or false are left out.
  template <class Tiles>
  void tiles(std::string_view title, const Tiles& t) {
    std::string_view before = "(";
    out_ << ' ' << title;
    for_each_field(t, [&]<class Field>(std::string_view name, const Field& field) {
      if constexpr (!std::is_same_v<Field, GpuTiles::Unit>)
        if (field == 0) return;
      out_ << before << name;
      before = ", ";
      if constexpr (std::is_same_v<Field, GpuTiles::Unit>)
        out_ << ' ' << spelling_of(field);
      else if constexpr (!std::is_same_v<Field, bool>)
        out_ << ' ' << field;
    });
    out_ << ')';
  }
  void instruction(const Instruction& i, int depth) {
    indent(depth);
    if (!i.results.empty()) {
      ids(i.results, true);
      out_ << " = ";
    }
    switch (i.op) {
      case Op::constant:
        literal(i);
        break;
      case Op::scalar:
        out_ << primitive(i.primitive).name << (i.exact ? ".exact " : " ");
        ids(i.operands, false);
        break;
      case Op::load:
        out_ << "load b" << i.buffer << "[%" << i.operands[0] << ']';
        predicate(i, 1);
        break;
      case Op::store:
        out_ << (i.combiners.empty() ? "store" : "combine by ");
        if (!i.combiners.empty()) out_ << spelling_of(i.combiners[0]);
        if (i.non_temporal) out_ << " nontemporal";
        out_ << " b" << i.buffer << "[%" << i.operands[0] << "], %" << i.operands[1];
        predicate(i, 2);
        break;
      case Op::loop:
        loop(i, depth);
        break;
      case Op::while_:
        out_ << "while";
        if (!i.operands.empty()) {
          out_ << " from ";
          ids(i.operands, false);
        }
        nested(i.regions[0], " cond ", depth);
        nested(i.regions[1], " do ", depth);
        break;
      case Op::if_:
        out_ << "if %" << i.operands[0];
        nested(i.regions[0], " then ", depth);
        nested(i.regions[1], " else ", depth);
        break;
      case Op::contraction:
        out_ << "contraction " << i.rows << " x " << i.columns << " over " << i.extent;
        if (i.threads) out_ << " threads";
        mapping(i);
        if (i.cpu_tiles) tiles("cpu_tiles", *i.cpu_tiles);
        if (i.gpu_tiles) tiles("gpu_tiles", *i.gpu_tiles);
        nested(i.regions[0], " lhs ", depth);
        nested(i.regions[1], " rhs ", depth);
        nested(i.regions[2], " then ", depth);
        break;
      case Op::yield:
        out_ << "yield ";
        ids(i.operands, false);
        break;
    }
    out_ << '\n';
  }

  std::ostream& out_;
  const Kernel& kernel_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Kernel& kernel) {
  KernelPrinter(out, kernel).print();
  return out;
}

}  // namespace calque::kernel
