#include "compile/passes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "calque/ir/errors.h"

#include "compile/executable.h"
#include "ir/fork.h"
#include "ir/stopwatch.h"
#include "kernel/buffers/workspace.h"
#include "kernel/lower/program_passes.h"
#include "kernel/text/parse.h"
#include "plan/prepare.h"
#include "transform/complex/split_complex.h"
#include "transform/linalg/expand_linalg.h"
#include "transform/simplify/eliminate_dead_code.h"
#include "transform/simplify/passes.h"
#include "transform/simplify/simplify.h"
#include "transform/sorting/expand_sort.h"

namespace calque::runtime {
namespace {

using Passes = std::vector<Pass>;
using codegen::NativePass;

bool is_cpu(Device::Kind kind) { return kind == Device::Kind::cpu; }

void add_graph_passes(Passes& passes, Device::Kind kind) {
  passes.push_back({.info = kTracePass, .form = Form::graph, .run = {}});
  passes.push_back({.info = transform::kDcePass, .form = Form::graph, .run = [](Compilation& c) {
                      c.graph = transform::eliminate_dead_code(c.graph);
                    }});
  passes.push_back({.info = transform::kRewritePass, .form = Form::graph, .run = [](Compilation& c) {
                      c.graph = transform::rewrite(c.graph, transform::InlineScope::all, c.forms());
                    }});
  // Each of a GPU's threads has local memory, which the driver sets aside for all that can run at a time.
  const transform::LinalgLimits linalg{.most_batched_rows = is_cpu(kind) ? 64 : 16};
  passes.push_back({.info = transform::kExpandLinalgPass, .form = Form::graph, .run = [linalg](Compilation& c) {
                      if (!transform::has_linalg_to_expand(c.graph, linalg)) return;
                      c.graph = transform::simplify(transform::expand_linalg(c.graph, linalg),
                                                    transform::InlineScope::all, c.forms());
                    }});
  if (!is_cpu(kind))  // the CPU has a routine
    passes.push_back({.info = transform::kExpandSortPass, .form = Form::graph, .run = [](Compilation& c) {
                        if (!transform::has_sort(c.graph)) return;
                        c.graph = transform::simplify(transform::expand_sort(c.graph), transform::InlineScope::all,
                                                      c.forms());
                      }});
  passes.push_back({.info = transform::kSplitComplexPass, .form = Form::graph, .run = [](Compilation& c) {
                      if (!transform::has_complex(c.graph)) return;
                      for (size_t i = 0; i < c.build.input_strides.size() && i < c.graph.inputs().size(); ++i) {
                        Shape::Dims& strides = c.build.input_strides[i];
                        strides = transform::joined_strides(c.graph.dtype(c.graph.inputs()[i]), strides);
                      }
                      c.graph = transform::simplify(transform::split_complex(c.graph), transform::InlineScope::all,
                                                    c.forms());
                    }});
  passes.push_back({.info = {"prepare", "rewrites what kernels and steps have no form for"},
                    .form = Form::graph,
                    .run = [](Compilation& c) { c.graph = plan::prepare(c.graph); }});
  passes.push_back({.info = {"canonicalize", "puts equations into canonical order"},
                    .form = Form::graph,
                    .run = [](Compilation& c) { c.graph = canonicalize(c.graph); }});
}

void add_plan_passes(Passes& passes) {
  for (const plan::PlanPass& pass : plan::plan_passes())
    passes.push_back({.info = pass.info, .form = Form::plan, .run = [&pass](Compilation& c) {
                        if (!c.plan) c.plan.emplace(c.graph, c.build.limits, kernel::owned_inputs(c.graph, c.build));
                        pass.run(*c.plan);
                      }});
}

void add_program_passes(Passes& passes, Device::Kind kind) {
  passes.push_back({.info = {"lower", "lowers fusion groups to kernels and control flow to steps"},
                    .form = Form::program,
                    .run = [](Compilation& c) {
                      c.program = std::make_shared<kernel::Program>(kernel::lower(*c.plan, c.build));
                      c.plan.reset();
                    }});
  for (const kernel::ProgramPass& pass : kernel::program_passes()) {
    const bool on_threads = pass.info.name == kernel::kRunLoopsOnThreads;
    if (on_threads && !is_cpu(kind)) continue;  // the steps of a device's program run on one
    passes.push_back(
        {.info = pass.info, .form = Form::program, .run = [&pass](Compilation& c) { pass.run(*c.program, c.build); }});
    if (on_threads)
      passes.back().is_left_out = [](const Compilation& c) {
        return c.build.parallel_loops == kernel::ParallelLoops::none;
      };
  }
}

void add_cpu_passes(Passes& passes) {
  for (const kernel::CpuPass& pass : kernel::cpu_passes())
    passes.push_back({.info = pass.info, .form = Form::program, .run = [&pass](Compilation& c) {
                        if (!c.schedule) c.schedule.emplace(*c.program, codegen::target_limits(c.native));
                        c.schedule->run(pass);
                      }});
  for (const NativePass& pass : codegen::native_passes()) {
    const bool leaves_llvm = !pass.only_for_process && pass.info.name != codegen::kMachineCodePass;
    passes.push_back({.info = pass.info, .form = leaves_llvm ? Form::llvm : Form::code, .run = {}, .native = &pass});
  }
}

void add_gpu_passes(Passes& passes) {
  for (const kernel::GpuPass& pass : kernel::gpu_passes())
    passes.push_back(
        {.info = pass.info, .form = Form::program, .run = [&pass](Compilation& c) { pass.run(*c.program, c.gpu); }});
  for (const codegen::DevicePass& pass : codegen::device_passes()) {
    const bool is_last = &pass == &codegen::device_passes().back();
    passes.push_back({.info = pass.info, .form = is_last ? Form::code : Form::llvm, .run = [&pass](Compilation& c) {
                        if (!c.device_code && !c.llvm_ir.empty()) c.device_code.emplace(c.llvm_ir, c.device);
                        if (!c.device_code) c.device_code.emplace(*c.program, c.device);
                        pass.run(*c.device_code);
                      }});
  }
}

Passes make_list(Device::Kind kind) {
  Passes passes;
  add_graph_passes(passes, kind);
  add_plan_passes(passes);
  add_program_passes(passes, kind);
  is_cpu(kind) ? add_cpu_passes(passes) : add_gpu_passes(passes);
  return passes;
}

/// The position behind the pass; 0 for an empty name.
size_t behind(std::span<const Pass> passes, std::string_view name) {
  if (name.empty()) return 0;
  for (size_t i = 0; i < passes.size(); ++i)
    if (passes[i].info.name == name) return i + 1;
  throw CompileError("passes: there is no pass " + std::string(name));
}

}  // namespace

void print(std::ostream& out, const Compilation& c, Form form) {
  if (form == Form::graph) out << c.graph;
  if (form == Form::plan) out << *c.plan;
  if (form == Form::program) out << *c.program;
}

void verify(const Compilation& c, Form form, std::string_view pass) {
  if (form == Form::graph) c.graph.verify(pass);
  if (form == Form::plan) plan::verify(*c.plan);
  if (form != Form::program) return;
  kernel::verify(*c.program);
  for (const kernel::Kernel& k : c.program->kernels) kernel::verify(k);
}

namespace {

void run_pass(Compilation& c, const Pass& pass) {
  if (pass.form == Form::llvm || pass.form == Form::code) return pass.run(c);  // records itself
  Stopwatch stopwatch;
  pass.run(c);
  if (c.log != nullptr)
    c.log->add(pass.info.name, stopwatch.lap(), PassLog::Over::whole,
               [&](std::ostream& out) { print(out, c, pass.form); });
  if (transform::verification_enabled()) verify(c, pass.form, pass.info.name);
}

/// Runs the native passes at the beginning of `passes`, module by module where they are over modules. Returns how many.
size_t run_native(Compilation& c, std::span<const Pass> passes) {
  const bool left_out = passes[0].native->only_for_process && c.native.form != codegen::CodegenOptions::Form::process;
  size_t count = 1;
  if (passes[0].native->run_on_module != nullptr)
    while (count < passes.size() && passes[count].native->run_on_module != nullptr) ++count;
  if (left_out) return count;
  if (!c.native_code && !c.llvm_ir.empty()) c.native_code.emplace(c.llvm_ir, c.native);
  if (!c.native_code) c.native_code.emplace(*c.program, c.native);
  codegen::run_native_passes(*c.native_code, {passes[0].native, count});
  return count;
}

}  // namespace

std::span<const Pass> passes_of(Device::Kind kind) {
  if (is_cpu(kind)) return process_wide([] { return new const Passes(make_list(Device::Kind::cpu)); });
  return process_wide([] { return new const Passes(make_list(Device::Kind::gpu)); });
}

std::string_view last_program_pass(Device::Kind kind) {
  return is_cpu(kind) ? kernel::program_passes().back().info.name : kernel::gpu_passes().back().info.name;
}

void run_passes(Compilation& compilation, std::string_view after, std::string_view until) {
  const std::span<const Pass> all = passes_of(compilation.kind);
  const size_t end = until.empty() ? all.size() : behind(all, until);
  for (size_t i = behind(all, after); i < end;) {
    const Pass& pass = all[i];
    if (pass.native != nullptr) {
      i += run_native(compilation, all.subspan(i, end - i));
      continue;
    }
    if (pass.run && (pass.is_left_out == nullptr || !pass.is_left_out(compilation))) run_pass(compilation, pass);
    ++i;
  }
}

namespace {

bool is_readable(const Pass& pass) { return pass.form != Form::code; }

[[noreturn]] void refuse(std::string_view name, Device::Kind kind) {
  std::string names;
  bool known = false;
  for (const Pass& pass : passes_of(kind)) {
    known |= pass.info.name == name;
    if (is_readable(pass)) names += (names.empty() ? "" : ", ") + std::string(pass.info.name);
  }
  throw Error(
      "lower: " +
      (known ? "the text of " + std::string(name) + " cannot be read back" : "there is no pass " + std::string(name)) +
      ", expected one of " + names);
}

}  // namespace

void read_back(Compilation& compilation, std::string_view text, std::string_view pass) {
  const auto all = passes_of(compilation.kind);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Pass& p) { return p.info.name == pass; });
  if (found == all.end() || !is_readable(*found)) refuse(pass, compilation.kind);
  if (found->form == Form::llvm) {
    compilation.llvm_ir = text;
    return;
  }
  if (found->form == Form::program) {
    compilation.program = std::make_shared<kernel::Program>(kernel::parse_program(text));
    if (behind(all, pass) >= behind(all, kernel::program_passes().back().info.name))
      kernel::verify_offsets(*compilation.program);
    return;
  }
  const bool is_plan = found->form == Form::plan;
  compilation.graph = parse(is_plan ? text.substr(0, plan::plan_section(text)) : text);
  compilation.graph.verify("parse");
  if (!is_plan) return;
  compilation.plan.emplace(plan::parse_plan(text, compilation.graph, compilation.build.limits));
  plan::verify(*compilation.plan);
}

std::string make_llvm_ir(Compilation& compilation, std::string_view after) {
  compilation.native.form = codegen::CodegenOptions::Form::object;
  run_passes(compilation, after, "optimize-llvm");
  return is_cpu(compilation.kind) ? compilation.native_code->llvm_ir() : compilation.device_code->llvm_ir();
}

std::string make_assembly(Compilation& compilation, std::string_view after) {
  compilation.native.form = codegen::CodegenOptions::Form::assembly;
  compilation.device.form = codegen::DeviceOptions::Form::ptx;
  run_passes(compilation, after);
  return is_cpu(compilation.kind) ? compilation.native_code->file() : compilation.device_code->image().ptx;
}

std::string make_object(Compilation& compilation, std::string_view after) {
  compilation.native.form = codegen::CodegenOptions::Form::object;
  run_passes(compilation, after);
  return compilation.native_code->file();
}

}  // namespace calque::runtime
