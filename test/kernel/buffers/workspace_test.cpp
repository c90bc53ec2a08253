// Values that share bytes of the workspace: a program is walked step by step, and no value may be read that was never
// written or has been overwritten.
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>

#include "calque/ir/graph.h"

#include "ir/values/bytes.h"
#include "kernel/lower/build.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using namespace kernel;

class Walk {
 public:
  explicit Walk(const Program& program) : p_(program), holds_(program.buffers.size(), false), lost_(holds_) {
    for (size_t b = 0; b < holds_.size(); ++b) holds_[b] = p_.buffers[b].kind != BufferKind::workspace || bytes(b) == 0;
  }

  /// The first violation in words, or empty.
  std::string run() {
    find_periods(p_.steps);
    block(p_.steps);
    return violation_;
  }

 private:
  int64_t bytes(size_t b) const { return static_cast<int64_t>(bytes_of(p_.buffers[b].type)); }
  bool overlap(size_t a, size_t b) const {
    const ProgramBuffer &x = p_.buffers[a], &y = p_.buffers[b];
    return a != b && bytes(a) > 0 && bytes(b) > 0 && x.kind == BufferKind::workspace &&
           y.kind == BufferKind::workspace && x.offset < y.offset + bytes(b) && y.offset < x.offset + bytes(a);
  }
  /// The slice that a view denotes in this iteration.
  View resolve(const View& v) const {
    for (const View::Choice& c : v.choices) {
      const auto holds = [&](const View::Condition& when) {
        return when.holds(iteration_[static_cast<size_t>(when.loop)]);
      };
      if (std::all_of(c.conditions.begin(), c.conditions.end(), holds)) return {c.buffer, c.offset, c.terms, {}};
    }
    return {v.buffer, v.offset, v.terms, {}};
  }
  void read(const View& view, const char* by) {
    const View v = resolve(view);
    const auto b = static_cast<size_t>(v.buffer);
    if (!holds_[b] && violation_.empty())
      violation_ = std::string(by) + " reads m" + std::to_string(b) + ", which is not valid";
  }
  void write(const View& view) {
    const View v = resolve(view);
    const auto b = static_cast<size_t>(v.buffer);
    for (size_t other = 0; other < holds_.size(); ++other)
      if (overlap(b, other)) {
        lost_[other] = lost_[other] || holds_[other];
        holds_[other] = false;
      }
    // Writing one slice does not restore the others.
    if (!v.terms.empty() && lost_[b]) return;
    lost_[b] = false;
    if (bytes(b) > 0) holds_[b] = true;
  }
  /// Slices written by this loop are written anew.
  void start(const std::vector<Step>& steps, int32_t loop) {
    for (const Step& s : steps) {
      for (const View& view : s.views)
        for (const View v = resolve(view); const View::Term& t : v.terms)
          if (t.loop == loop && !holds_[static_cast<size_t>(v.buffer)]) lost_[static_cast<size_t>(v.buffer)] = false;
      for (const auto& b : s.blocks) start(b, loop);
    }
  }
  void find_periods(const std::vector<Step>& steps) {
    for (const Step& s : steps) {
      for (const View& v : s.views)
        for (const View::Choice& c : v.choices)
          for (const View::Condition& when : c.conditions) {
            int64_t& all = periods_[static_cast<size_t>(when.loop)];
            all = std::lcm(all, when.period);
          }
      for (const auto& b : s.blocks) find_periods(b);
    }
  }
  int64_t period(int32_t loop) const { return loop < 0 ? 2 : periods_[static_cast<size_t>(loop)]; }
  void block(const std::vector<Step>& steps) {
    for (const Step& s : steps) step(s);
  }
  void number(int32_t loop, int64_t iteration) {
    if (loop >= 0) iteration_[static_cast<size_t>(loop)] = iteration;
  }
  /// Keeps the buffers that are valid on every path.
  void merge(const std::vector<bool>& other) {
    for (size_t b = 0; b < holds_.size(); ++b) holds_[b] = holds_[b] && other[b];
  }

  void step(const Step& s) {
    switch (s.kind) {
      case StepKind::kernel: {
        const Kernel& k = p_.kernels[static_cast<size_t>(s.kernel)];
        for (size_t i = 0; i < s.views.size(); ++i)
          if (!k.buffers[i].written) read(s.views[i], k.name.c_str());
        for (size_t i = 0; i < s.views.size(); ++i) {
          if (!k.buffers[i].written) continue;
          for (size_t j = 0; j < s.views.size(); ++j)
            if (overlap(static_cast<size_t>(resolve(s.views[i]).buffer),
                        static_cast<size_t>(resolve(s.views[j]).buffer)))
              violation_ = k.name + " writes the memory of another of its buffers";
          write(s.views[i]);
        }
        break;
      }
      case StepKind::copy:
        if (resolve(s.views[0]) == resolve(s.views[1])) break;
        read(s.views[1], "copy");
        write(s.views[0]);
        break;
      case StepKind::while_: {
        number(s.loop_id, 0);
        block(s.blocks[0]);
        read(s.views[0], "while");
        std::vector<bool> left = holds_;
        // After as many iterations each buffer has its turn again, as after none.
        for (int64_t i = 0; i < period(s.loop_id); ++i) {
          number(s.loop_id, i);
          block(s.blocks[1]);
          number(s.loop_id, i + 1);
          block(s.blocks[0]);
          read(s.views[0], "while");
        }
        merge(left);
        break;
      }
      case StepKind::branch: {
        read(s.views[0], "branch");
        const std::vector<bool> before = holds_;
        std::vector<bool> after;
        for (const auto& b : s.blocks) {
          holds_ = before;
          block(b);
          if (!after.empty()) merge(after);
          after = holds_;
        }
        break;
      }
      case StepKind::repeat:
        start(s.blocks[0], s.loop_id);
        // A few iterations with the same remainder cover all cases.
        for (int64_t p = period(s.loop_id), n = s.count < 2 * p ? s.count : p + s.count % p, i = 0; i < n; ++i) {
          number(s.loop_id, s.reverse ? n - 1 - i : i);
          block(s.blocks[0]);
        }
        break;
      case StepKind::iota_i32:
        write(s.views[0]);
        break;
      case StepKind::host_call: {
        const auto& f = p_.host_functions[static_cast<size_t>(s.host_function)];
        for (size_t i = 0; i < f.arguments.size(); ++i) read(s.views[i], "host_call");
        for (size_t i = f.arguments.size(); i < s.views.size(); ++i) write(s.views[i]);
        break;
      }
      case StepKind::routine: {
        const size_t arguments = p_.routines[static_cast<size_t>(s.routine)].arguments.size();
        for (size_t i = 0; i < arguments; ++i) read(s.views[i], "a routine");
        for (size_t i = arguments; i < s.views.size(); ++i) write(s.views[i]);
        break;
      }
    }
  }

  const Program& p_;
  std::vector<int64_t> iteration_ = std::vector<int64_t>(static_cast<size_t>(p_.num_loops));
  std::vector<int64_t> periods_ = std::vector<int64_t>(static_cast<size_t>(p_.num_loops), 2);
  std::vector<bool> holds_, lost_;  ///< by buffer: valid; overwritten since
  std::string violation_;
};

std::string violation(const Graph& g) {
  const Program program = test::stages::build_program(g);
  std::string found = Walk(program).run();
  if (!found.empty()) {
    std::ostringstream out;
    out << found << "\n" << g << program;
    found = out.str();
  }
  return found;
}

TEST(Workspace, HoldsWhatIsReadOfRandomGraphs) {
  RandomGraphOptions options;
  options.effects = true;
  int shared = 0;
  const uint64_t seeds = kAddressSanitizer || kThreadSanitizer ? 500 : 3000;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const Graph g = transform::simplify(random_graph(seed, options));
    ASSERT_EQ(violation(g), "") << "seed " << seed;
    const Program program = test::stages::build_program(g);
    int64_t separate = 0;
    for (const ProgramBuffer& b : program.buffers)
      if (b.kind == BufferKind::workspace) separate += std::max<int64_t>(static_cast<int64_t>(bytes_of(b.type)), 1);
    shared += program.workspace_bytes < separate;
  }
  EXPECT_GT(shared, static_cast<int>(seeds / 30));
}

TEST(Workspace, KeepsAConditionWhileOperandsOfItsBranchesAreCopied) {
  EXPECT_EQ(violation(parse(R"(calque 1
graph f(%0: f32[]) {
  %1: bool[] = lt 0.5:f32[] %0
  %2: f64[5] = broadcast[axes=[], shape=[5]] 0.0:f64[]
  %3: f64[17] = cumsum[axis=0, reverse=false] 1.0:f64[17]
  %4: f64[5] = cond %1 0.0:f64[5] 2.0:f64[17] %3 {
    (%0: f64[5], %1: f64[17], %2: f64[17]) {
      %3: f64[5] = slice[limit=[5], start=[0], stride=[1]] %1
      %4: f64[5] = cumsum[axis=0, reverse=false] %3
      return %4
    }
    (%0: f64[5], %1: f64[17], %2: f64[17]) {
      %3: f64[5] = cumsum[axis=0, reverse=false] %0
      return %3
    }
  }
  return %4
})")),
            "");
}

TEST(Workspace, KeepsArgumentsOfEffectsWhileLaterOnesAreCopied) {
  EXPECT_EQ(violation(parse(R"(calque 1
graph f(%0: f32[]) {
  %1: f32[] = mul %0 %0
  debug_print[format="{} {} {}"] %1 2.0:f32[] 3.0:f32[]
  return %0
})")),
            "");
}

}  // namespace
}  // namespace calque::test
