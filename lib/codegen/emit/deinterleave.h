#pragma once
// Loads whose lanes are a few elements apart, several of which read the same rows of memory together.
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/emit/reg.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

class KernelEmitter;

class DeinterleavedLoads {
 public:
  explicit DeinterleavedLoads(KernelEmitter& kernel) : k_(kernel) {}
  /// The lanes of a load, as they are in memory, if it reads rows together with other loads of the region; else null.
  llvm::Value* load(const kernel::Instruction& load, const Reg& index);

 private:
  /// Adjacent columns that are read together: the offset of the first one, and how many.
  struct Run {
    int64_t first, width;
  };
  /// Loads of one buffer whose indices differ by constants, between which no store may write the buffer.
  struct Group {
    std::vector<int64_t> offsets;  ///< from the common base; once planned sorted, each once
    bool planned = false;
    std::unordered_map<int64_t, Run> runs;              ///< by offset; the others are gathered
    std::unordered_map<int64_t, llvm::Value*> columns;  ///< by offset: those that have been read
  };
  struct Member {
    size_t group;
    int64_t offset;
  };
  struct Region {
    std::vector<Group> groups;
    std::unordered_map<const kernel::Instruction*, Member> members;
  };

 public:
  /// While it lives, the loads are those of a nested region.
  class RegionScope {
   public:
    RegionScope(DeinterleavedLoads& loads, const kernel::Region& region) : loads_(loads) {
      std::swap(outer_, loads.region_);
      loads.find_groups(region);
    }
    ~RegionScope() { std::swap(outer_, loads_.region_); }
    RegionScope(const RegionScope&) = delete;
    RegionScope& operator=(const RegionScope&) = delete;

   private:
    DeinterleavedLoads& loads_;
    Region outer_;
  };

 private:
  /// A run of as many rows as there are lanes.
  struct Tile {
    int32_t buffer;
    llvm::Value* index;  ///< of the element at offset 0 of the first row
    int64_t stride;      ///< from row to row
    int64_t last;        ///< the highest offset that exists in every row
    Run run;
  };
  /// What is added in an index: two values, or kNone and one if there is no sum, and a constant.
  struct Base {
    std::array<kernel::Id, 2> addends;
    int64_t offset = 0;
  };
  Base base_of(kernel::Id index) const;
  kernel::Id without_constants(kernel::Id index, int64_t& offset) const;
  const kernel::Instruction* addition(kernel::Id index) const;
  void find_groups(const kernel::Region& region);
  void plan(Group& group, int32_t buffer, int64_t stride) const;
  llvm::Value* read(const Tile& tile, int64_t element, unsigned width);
  Values whole_rows(const Tile& tile);
  Values blended(const Values& vectors);
  Values parts_of_rows(const Tile& tile);

  KernelEmitter& k_;
  Region region_;
};

}  // namespace calque::codegen
