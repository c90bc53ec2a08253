#include "kernel/schedule_gpu/schedule_gpu.h"

#include <array>
#include <map>
#include <memory>
#include <set>

#include "kernel/buffers/workspace.h"
#include "kernel/schedule_gpu/launches.h"
#include "kernel/schedule_gpu/mapping.h"

namespace calque::kernel {

namespace {

class GpuScheduler {
 public:
  GpuScheduler(const Program& program, const GpuLimits& limits) : out_(program), limits_(limits) {
    std::swap(kernels_, out_.kernels);
  }

  Program run() {
    find_changed(out_.steps);
    rewrite(out_.steps);
    assign_workspace_offsets(out_);
    return std::move(out_);
  }

 private:
  struct Scheduled {
    std::vector<int32_t> kernels;  ///< numbers in the new program
    KernelLaunches launches;
    std::vector<int32_t> scratch;  ///< buffers of the new program
  };

  /// Memory that kernels write, through any of their buffers: a result may share a donated input's memory.
  void find_changed(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      for (const auto& block : step.blocks) find_changed(block);
      if (step.kind != StepKind::kernel) continue;
      const Kernel& kernel = kernels_[static_cast<size_t>(step.kernel)];
      auto& changed = changed_[step.kernel];
      changed.resize(kernel.buffers.size());
      std::set<int32_t> written;
      for (size_t i = 0; i < step.views.size(); ++i)
        if (kernel.buffers[i].written) add_buffers(step.views[i], written);
      for (size_t i = 0; i < step.views.size(); ++i) {
        std::set<int32_t> buffers;
        add_buffers(step.views[i], buffers);
        for (const int32_t b : buffers) changed[i] = changed[i] || written.count(b) != 0;
      }
    }
  }
  static void add_buffers(const View& view, std::set<int32_t>& buffers) {
    buffers.insert(view.buffer);
    for (const View::Choice& c : view.choices) buffers.insert(c.buffer);
  }

  const Scheduled& scheduled(int32_t kernel) {
    auto& made = made_[kernel];
    if (!made) {
      made = std::make_unique<Scheduled>();
      made->launches = split_into_launches(kernels_[static_cast<size_t>(kernel)], changed_.at(kernel), limits_);
      for (KernelLaunches::Entry& entry : made->launches.launches) {
        out_.kernels.push_back(std::move(entry.kernel));
        made->kernels.push_back(static_cast<int32_t>(out_.kernels.size()) - 1);
      }
      for (const Type& type : made->launches.scratch) made->scratch.push_back(add_workspace(out_, type));
    }
    return *made;
  }

  void rewrite(std::vector<Step>& steps) {
    std::vector<Step> out;
    for (Step& step : steps) {
      if (step.kind != StepKind::kernel) {
        for (auto& block : step.blocks) rewrite(block);
        out.push_back(std::move(step));
        continue;
      }
      const Scheduled& s = scheduled(step.kernel);
      for (size_t l = 0; l < s.kernels.size(); ++l) {
        Step launch;
        launch.kernel = s.kernels[l];
        for (const LaunchBuffer& b : s.launches.launches[l].buffers)
          launch.views.push_back(b.buffer >= 0 ? step.views[static_cast<size_t>(b.buffer)]
                                               : View{s.scratch[static_cast<size_t>(b.scratch)], 0, {}, {}});
        out.push_back(std::move(launch));
      }
    }
    steps = std::move(out);
  }

  Program out_;
  const GpuLimits& limits_;
  std::vector<Kernel> kernels_;
  std::map<int32_t, std::vector<bool>> changed_;
  std::map<int32_t, std::unique_ptr<Scheduled>> made_;
};

}  // namespace

namespace {

void split_launches(Program& program, const GpuLimits& limits) { program = GpuScheduler(program, limits).run(); }

void map_to_threads(Program& program, const GpuLimits& limits) {
  for (Kernel& kernel : program.kernels) kernel.launch ? map_to_group(kernel, limits) : map_to_grid(kernel, limits);
}

constexpr std::array kPasses = {
    GpuPass{{"split-launches", "splits kernels where all threads synchronize, long reductions and scans into chunks"},
            &split_launches},
    GpuPass{{"map-to-threads", "maps the loops of each launch to thread groups and threads"}, &map_to_threads},
};

}  // namespace

std::span<const GpuPass> gpu_passes() { return kPasses; }

}  // namespace calque::kernel
