#include "kernel/gpu/schedule.h"

#include <map>
#include <memory>

#include "kernel/gpu/launches.h"
#include "kernel/workspace.h"

namespace calque::kernel {

namespace {

class Scheduler {
 public:
  Scheduler(const Program& program, const GpuLimits& limits) : out_(program), limits_(limits) {
    std::swap(kernels_, out_.kernels);
  }

  Program run() {
    rewrite(out_.steps);
    place_workspace(out_);
    return std::move(out_);
  }

 private:
  struct Scheduled {
    std::vector<int32_t> kernels;  ///< numbers in the new program
    KernelLaunches launches;
    std::vector<int32_t> scratch;  ///< buffers of the new program
  };

  const Scheduled& scheduled(int32_t kernel) {
    auto& made = made_[kernel];
    if (!made) {
      made = std::make_unique<Scheduled>();
      made->launches = split_into_launches(kernels_[static_cast<size_t>(kernel)], limits_);
      for (KernelLaunches::One& one : made->launches.launches) {
#ifndef NDEBUG
        verify(one.kernel);
#endif
        out_.kernels.push_back(std::move(one.kernel));
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
  std::map<int32_t, std::unique_ptr<Scheduled>> made_;
};

}  // namespace

Program schedule_for_gpu(const Program& program, const GpuLimits& limits) { return Scheduler(program, limits).run(); }

}  // namespace calque::kernel
