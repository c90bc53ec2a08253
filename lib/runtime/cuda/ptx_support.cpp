// PTX for an architecture runs on all later ones, so an older one is used if the driver does not know the device's.
#include "runtime/cuda/ptx_support.h"

#include <algorithm>
#include <array>

namespace calque::runtime {
namespace {

struct Release {
  int driver, ptx;
};
constexpr std::array kReleases = {
    Release{11040, 74}, Release{11050, 75}, Release{11060, 76}, Release{11070, 77}, Release{11080, 78},
    Release{12000, 80}, Release{12010, 81}, Release{12020, 82}, Release{12030, 83}, Release{12040, 84},
    Release{12050, 85}, Release{12070, 86}, Release{12080, 87}, Release{12090, 88}, Release{13000, 90},
};

struct Arch {
  const char* name;
  int capability, ptx;
  bool alone;  ///< runs on this capability and no later one
};
// Newest first. ptx: the first version that knows it, as in codegen/gpu/device_backend.cpp.
constexpr std::array kArchs = {Arch{"sm_90a", 90, 80, true}, Arch{"sm_90", 90, 78, false}, Arch{"sm_89", 89, 78, false},
                               Arch{"sm_86", 86, 71, false}, Arch{"sm_80", 80, 70, false}};

}  // namespace

int newest_ptx(int version) {
  int ptx = 70;
  for (const Release& release : kReleases)
    if (version >= release.driver) ptx = release.ptx;
  return ptx;
}

std::string ptx_arch(int major, int minor, int version) {
  const int capability = 10 * major + minor, newest = newest_ptx(version);
  const auto runs = [&](const Arch& arch) {
    return arch.ptx <= newest && (arch.alone ? arch.capability == capability : arch.capability <= capability);
  };
  const auto found = std::find_if(kArchs.begin(), kArchs.end(), runs);
  return found == kArchs.end() ? std::string() : found->name;
}

}  // namespace calque::runtime
