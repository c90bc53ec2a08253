#include "runtime/call/donation.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/values/bytes.h"
#include "runtime/call/device_dispatch.h"
#include "runtime/call/function_state.h"
#include "runtime/device/device_api.h"

namespace calque::runtime {
namespace {

/// The bytes between a leaf's first element and past its last one.
std::pair<const std::byte*, const std::byte*> span_of(const detail::LeafRef& leaf) {
  const auto* first = static_cast<const std::byte*>(leaf.data);
  const auto* past = first;
  int64_t last = 0;
  const Shape shape = leaf.type().shape;
  if (shape.num_elements() == 0) return {first, past};
  if (!leaf.dense_rows) {
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t reach = (shape[d] - 1) * leaf.strides()[d] * static_cast<int64_t>(size_of(leaf.dtype));
      (reach < 0 ? first : past) += reach;
    }
  } else {
    last = (shape.num_elements() - 1) * static_cast<int64_t>(size_of(leaf.dtype));
  }
  return {first, past + last + size_of(leaf.dtype)};
}

bool is_passed_again(std::span<const detail::LeafRef> leaves, size_t i) {
  const auto mine = span_of(leaves[i]);
  for (size_t j = 0; j < leaves.size(); ++j) {
    if (j == i || leaves[j].kind == detail::LeafRef::Kind::scalar) continue;
    const auto other = span_of(leaves[j]);
    if (std::less<>()(mine.first, other.second) && std::less<>()(other.first, mine.second)) return true;
  }
  return false;
}

/// is_passed_again for every leaf at once, by sorting on the first byte; for calls with many leaves.
std::vector<bool> passed_again(std::span<const detail::LeafRef> leaves) {
  std::vector<bool> again(leaves.size(), false);
  std::vector<size_t> order;
  for (size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i].kind != detail::LeafRef::Kind::scalar) order.push_back(i);
  const auto first = [&](size_t i) { return span_of(leaves[i]).first; };
  const auto end = [&](size_t i) { return span_of(leaves[i]).second; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return std::less<>()(first(a), first(b)); });
  for (size_t k = 1, furthest = 0; k < order.size(); ++k) {
    // A range that overlaps any earlier one also overlaps the earlier one with the furthest end.
    if (std::less<>()(first(order[k]), end(order[furthest]))) again[order[k]] = again[order[furthest]] = true;
    if (std::less<>()(end(order[furthest]), end(order[k]))) furthest = k;
  }
  return again;
}

/// The text with which errors name the donation of an argument. Never freed.
const char* donation(const detail::FunctionState& function, size_t position) {
  const std::string text = "argument " + std::to_string(position) + " of " + function.title();
  return intern(text + where_text(function.location)).data();
}

}  // namespace

const char* donation_of(const detail::FunctionState& function, const detail::Arguments& arguments, size_t leaf) {
  const auto ends = arguments.ends();
  return donation(function, static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), leaf) - ends.begin()));
}

DonatedBuffers donated_buffers(const detail::FunctionState& function, const detail::Arguments& arguments,
                               const Executable& executable, Device device) {
  if (!has_host_memory(device)) return donated_buffers_on_device(function, arguments, executable, device);
  DonatedBuffers donated;
  if (executable.in_place.empty()) return donated;
  donated.outputs.resize(executable.in_place.size());
  const auto leaves = arguments.leaves();
  constexpr size_t kFewLeaves = 32;
  std::vector<bool> again;
  if (leaves.size() > kFewLeaves) again = passed_again(leaves);
  for (size_t k = 0; k < executable.in_place.size(); ++k) {
    if (executable.in_place[k] < 0) continue;
    const auto i = static_cast<size_t>(executable.in_place[k]);
    const detail::LeafRef& leaf = leaves[i];
    const bool array = leaf.kind == detail::LeafRef::Kind::array;
    if (array && leaf.array->storage().unique() && !(again.empty() ? is_passed_again(leaves, i) : again[i])) {
      donated.outputs[k] = leaf.array->storage().hand_over(donation_of(function, arguments, i));
      continue;
    }
    const Type type = leaf.type();
    const size_t bytes = bytes_of(type);
    donated.outputs[k] = detail::Storage::allocate(bytes);
    std::memcpy(donated.outputs[k].data(),
                leaf.kind == detail::LeafRef::Kind::scalar ? static_cast<const void*>(leaf.bits.bytes) : leaf.data,
                bytes);
    donated.inputs.emplace_back(static_cast<uint32_t>(i), donated.outputs[k].data());
  }
  return donated;
}

void donate(const detail::FunctionState& function, const detail::Arguments& arguments) {
  const auto ends = arguments.ends();
  for (int position : function.options.donate) {
    const auto at = static_cast<size_t>(position);
    const char* const to = donation(function, at);
    for (size_t i = at == 0 ? 0 : ends[at - 1]; i < ends[at]; ++i) {
      const detail::LeafRef& leaf = arguments.leaves()[i];
      if (leaf.kind == detail::LeafRef::Kind::array) leaf.array->storage().hand_over(to);
    }
  }
}

}  // namespace calque::runtime
