#include "kernel/lower/program_passes.h"

#include <vector>

#include "ir/fork.h"
#include "kernel/buffers/buffer_aliasing.h"
#include "kernel/buffers/workspace.h"
#include "kernel/lower/overlap_collectives.h"
#include "kernel/lower/parallel_loops.h"
#include "kernel/schedule/passes.h"

namespace calque::kernel {

namespace {

std::vector<ProgramPass> all_passes() {
  std::vector<ProgramPass> passes;
  for (const KernelPass& pass : kernel_passes())
    passes.push_back({pass.info, [&pass](Program& p, const BuildOptions&) { run_over_kernels(pass, p); }});
  passes.push_back({{"reuse-operands", "computes collectives in the memory of operands that nothing reads later"},
                    [](Program& p, const BuildOptions& o) { reuse_operands(p, o.alignment); }});
  passes.push_back({{"alias-carries", "assigns buffers to loop carries: updated in place or double buffered"},
                    [](Program& p, const BuildOptions&) { alias_carries(p); }});
  passes.push_back(
      {{"reuse-donated", "computes outputs in the memory of donated inputs"}, [](Program& p, const BuildOptions& o) {
         reuse_donated(p, o.donates_across_dtypes, o.alignment);
         list_copies(p);
       }});
  passes.push_back({{"drop-unused", "removes buffers and kernels that no step uses"},
                    [](Program& p, const BuildOptions&) { drop_unused(p); }});
  passes.push_back({{kRunLoopsOnThreads, "marks the loops of the entry whose iterations run on several threads"},
                    [](Program& p, const BuildOptions&) { run_loops_on_threads(p); }});
  passes.push_back({{"overlap-collectives", "starts collectives early and completes them where their results are used"},
                    [](Program& p, const BuildOptions&) { overlap_collectives(p); }});
  passes.push_back({{"assign-workspace", "assigns workspace offsets by live range"},
                    [](Program& p, const BuildOptions&) { assign_workspace_offsets(p); }});
  return passes;
}

}  // namespace

std::span<const ProgramPass> program_passes() {
  return process_wide([] { return new const std::vector<ProgramPass>(all_passes()); });
}

}  // namespace calque::kernel
