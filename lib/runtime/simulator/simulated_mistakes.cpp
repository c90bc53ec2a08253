// Messages of mistakes: the thread, the access, its address, and the operation's number in the kernel.
#include "calque/ir/errors.h"

#include "runtime/simulator/simulated_block.h"

namespace calque::runtime {

namespace {

std::string text(int64_t number) { return std::to_string(number); }

std::string access_name(const Mistake& m) {
  const char* const names[] = {"load", "store", "atomic operation"};
  return std::string(names[m.access]) + " of " + text(m.bytes) + " bytes";
}

std::string thread_name(int32_t thread) { return thread < 0 ? "another thread" : "thread " + text(thread); }

std::string collective_name(Collective collective) {
  switch (collective) {
    case Collective::barrier:
      return "the barrier";
    case Collective::warp_barrier:
      return "the warp's barrier";
    case Collective::shuffle:
      return "the shuffle";
    case Collective::mma:
      return "the product of matrices";
    case Collective::load_matrix:
      return "the load of matrices";
    case Collective::none:
      break;
  }
  return "nothing";
}

std::string offset_in(const Mistake& m, const SimulatedMemory::Range& range) {
  return "at byte " + text(static_cast<int64_t>(m.address - range.begin)) + " of an allocation of " +
         text(static_cast<int64_t>(range.end - range.begin)) + " bytes";
}

std::string bounds_text(const Mistake& m, const SimulatedMemory::Range& nearest) {
  if (nearest.begin == 0) return "out of bounds: nothing is allocated";
  const std::string size = text(static_cast<int64_t>(nearest.end - nearest.begin)) + " bytes";
  if (nearest.holds(m.address, 1) && nearest.released) return "after release: of an allocation of " + size;
  if (m.address < nearest.begin)
    return "out of bounds: " + text(static_cast<int64_t>(nearest.begin - m.address)) +
           " bytes before an allocation of " + size;
  return "out of bounds: " + offset_in(m, nearest);
}

std::string access_text(const Mistake& m) {
  switch (m.how) {
    case AccessMistake::unwritten:
      return "which no thread has written since the block began";
    case AccessMistake::in_flight:
      return "to which a copy of " + thread_name(m.other) + " has not been waited for";
    case AccessMistake::read_write: {
      const char* const verbs[] = {"writes", "reads", "accesses"};
      return "a race: " + thread_name(m.other) + ' ' + verbs[m.access] + " it and no barrier lies between";
    }
    case AccessMistake::write_write:
      return "a race: " + thread_name(m.other) + " writes it too and no barrier lies between";
    case AccessMistake::between_blocks:
      return "a race: another block accesses it too";
    case AccessMistake::none:
      break;
  }
  return "";
}

}  // namespace

std::string SimulatedBlock::describe_divergence(const Mistake& m) const {
  const BlockThread& waiting = threads_[static_cast<size_t>(m.thread)];
  const BlockThread& other = threads_[static_cast<size_t>(m.other)];
  const std::string where = other.state == BlockThread::State::returned
                                ? "has returned"
                                : "waits at " + collective_name(other.collective) + " of operation " + text(other.site);
  return "divergence: it waits at " + collective_name(waiting.collective) + ", but " + thread_name(m.other) + " " +
         where;
}

std::string SimulatedBlock::describe(const Mistake& m) const {
  std::string out = function_.name + ": block " + text(block_);
  if (m.kind == Mistake::guard) return out + ": shared memory was written beyond its ends";
  out += ", " + thread_name(m.thread) + ": ";
  const auto shared = reinterpret_cast<uintptr_t>(shared_);
  const std::string offset = text(static_cast<int64_t>(m.address - shared));
  switch (m.kind) {
    case Mistake::global_bounds:
      out += access_name(m) + " " + bounds_text(m, memory_.find(reinterpret_cast<const void*>(m.address)));
      break;
    case Mistake::global:
      out += access_name(m) + " " + offset_in(m, memory_.find(reinterpret_cast<const void*>(m.address))) + ", " +
             access_text(m);
      break;
    case Mistake::misaligned:
      out += "misaligned " + access_name(m) + ": the address is " +
             text(static_cast<int64_t>(m.address % static_cast<uintptr_t>(m.bytes))) + " beyond a multiple of " +
             text(m.bytes);
      break;
    case Mistake::shared_bounds:
      out += access_name(m) + " out of bounds: at byte " + offset + " of " + text(function_.shared_bytes) +
             " bytes of shared memory";
      break;
    case Mistake::shared:
      out += access_name(m) + " at byte " + offset + " of shared memory, " + access_text(m);
      break;
    case Mistake::divergence:
      out += describe_divergence(m);
      break;
    case Mistake::guard:
    case Mistake::none:
      break;
  }
  return out + " (operation " + text(m.site) + ")";
}

}  // namespace calque::runtime
