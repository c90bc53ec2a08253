#include "codegen/cpu/merge_segments.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "codegen/llvm/llvm.h"

namespace calque::codegen {

namespace {

// Each parameter occupies a register or is reloaded from the stack where it is used.
constexpr size_t kMostParameters = 24;

struct Segment {
  llvm::Function* function;
  std::vector<llvm::GetElementPtrInst*> fields;  ///< addresses of fields
  std::vector<llvm::Use*> constants;             ///< operands that are floating-point constants
  std::vector<llvm::Instruction*> displaced;     ///< other addresses and sums whose second operand is constant

  llvm::BasicBlock& body() const { return function->getEntryBlock(); }
};

using Shape = std::vector<uint64_t>;

struct ShapeHash {
  size_t operator()(const Shape& shape) const {
    uint64_t hash = shape.size();
    for (const uint64_t word : shape) hash = (hash ^ (hash >> 29) ^ word) * 0x9E3779B97F4A7C15;
    return static_cast<size_t>(hash);
  }
};

/// The constant that an address or a sum adds to its first operand.
int64_t offset_of(const llvm::Instruction* i) {
  return llvm::cast<llvm::ConstantInt>(i->getOperand(1))->getSExtValue();
}

/// An address or an index at a constant distance of another one.
bool is_displaced(const llvm::Instruction& i) {
  if (i.getOpcode() != llvm::Instruction::Add && i.getOpcode() != llvm::Instruction::GetElementPtr) return false;
  return i.getNumOperands() == 2 && !llvm::isa<llvm::Constant>(i.getOperand(0)) &&
         llvm::isa<llvm::ConstantInt>(i.getOperand(1)) && i.getOperand(1)->getType()->isIntegerTy(64) &&
         !i.getType()->isVectorTy();
}

uint64_t word_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

/// The scalar of a floating-point constant or of a vector with the same one in all lanes.
llvm::Constant* scalar_of(llvm::Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant || !constant->getType()->isFPOrFPVectorTy()) return nullptr;
  if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  return llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
}

/// What must agree between similar segments, but for the state that `have_same_state` compares.
Shape shape_of(Segment& segment) {
  enum : uint64_t { kField = 1, kConstant = 2, kDistance = 5 };  // no addresses, unlike the other words
  llvm::DenseMap<const llvm::Value*, uint64_t> position;
  Shape shape;
  for (llvm::Instruction& i : segment.body()) {
    position[&i] = position.size();
    shape.push_back(i.getOpcode());
    shape.push_back(word_of(i.getType()));
    auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
    if (address && address->getPointerOperand() == segment.function->getArg(0)) {
      shape.push_back(kField);
      segment.fields.push_back(address);
      continue;
    }
    if (is_displaced(i)) segment.displaced.push_back(&i);
    const bool is_call = llvm::isa<llvm::CallBase>(i);  // some operands of calls must be constants
    for (llvm::Use& use : i.operands()) {
      if (const auto* operand = llvm::dyn_cast<llvm::Instruction>(use.get())) {
        shape.push_back(position.at(operand) << 2U | 3U);
      } else if (use.getOperandNo() == 1 && !segment.displaced.empty() && segment.displaced.back() == &i) {
        shape.push_back(kDistance);
      } else if (!is_call && scalar_of(use.get())) {
        shape.push_back(kConstant);
        segment.constants.push_back(&use);
      } else {
        shape.push_back(word_of(use.get()));
      }
    }
  }
  return shape;
}

bool have_same_state(const Segment& a, const Segment& b) {
  return std::equal(a.body().begin(), a.body().end(), b.body().begin(), b.body().end(),
                    [](const llvm::Instruction& x, const llvm::Instruction& y) {
                      return x.isSameOperationAs(&y) && x.hasSameSubclassOptionalData(&y);
                    });
}

/// Similar segments, and the parameters of the function that replaces them.
class Group {
 public:
  explicit Group(Segment first) : segments_{std::move(first)} {}
  bool add(const Segment& segment) {
    if (!have_same_state(segments_.front(), segment)) return false;
    segments_.push_back(segment);
    return true;
  }
  void merge();

 private:
  void find_parameters();
  void find_constants();
  void find_displacements();
  size_t entry_of(const std::vector<llvm::Constant*>& values);
  void keep_common_metadata();
  llvm::Function* make_function();
  void replace_fields(llvm::Function* merged);
  void load_constants(llvm::Function* merged);
  void displace(llvm::Function* merged);
  llvm::Value* load_entry(llvm::Function* merged, size_t entry, llvm::Instruction* before);
  void replace_call(size_t index, llvm::Function* merged);
  std::vector<int64_t> bases_of(const Segment& segment) const;

  std::vector<Segment> segments_;
  std::vector<size_t> parameter_of_;                   ///< by field
  std::vector<size_t> first_field_;                    ///< by parameter: the field that it points to
  std::vector<size_t> entry_of_;                       ///< by constant: its entry of the table, or kCommon
  std::vector<size_t> displacement_of_;                ///< by displaced address: its entry of the table, or kCommon
  std::vector<std::vector<llvm::Constant*>> entries_;  ///< the value of each segment
  std::map<std::vector<llvm::Constant*>, size_t> known_;
  llvm::StructType* table_ = nullptr;
  static constexpr size_t kCommon = SIZE_MAX;
};

/// Fields between which the distance is the same in all segments share a parameter.
void Group::find_parameters() {
  std::map<std::vector<int64_t>, size_t> known;  // by the distances from the fields of the first segment
  for (size_t i = 0; i < segments_.front().fields.size(); ++i) {
    const int64_t first = offset_of(segments_.front().fields[i]);
    std::vector<int64_t> distances;
    for (const Segment& s : segments_) distances.push_back(offset_of(s.fields[i]) - first);
    const auto [it, fresh] = known.try_emplace(std::move(distances), first_field_.size());
    if (fresh) first_field_.push_back(i);
    parameter_of_.push_back(it->second);
  }
}

void Group::find_constants() {
  for (size_t i = 0; i < segments_.front().constants.size(); ++i) {
    std::vector<llvm::Constant*> scalars;
    for (const Segment& s : segments_) scalars.push_back(scalar_of(s.constants[i]->get()));
    entry_of_.push_back(entry_of(scalars));
  }
}

/// Where constants that are added to addresses and indices differ by the same, it is one entry: the merged function
/// adds it to the first operand.
void Group::find_displacements() {
  llvm::Type* type = llvm::Type::getInt64Ty(segments_.front().function->getContext());
  for (size_t i = 0; i < segments_.front().displaced.size(); ++i) {
    std::vector<llvm::Constant*> differences;
    for (const Segment& s : segments_) {
      const int64_t difference = offset_of(s.displaced[i]) - offset_of(segments_.front().displaced[i]);
      differences.push_back(llvm::ConstantInt::getSigned(type, difference));
    }
    displacement_of_.push_back(entry_of(differences));
  }
}

/// The entry of the tables that has these values, or kCommon if they are the same.
size_t Group::entry_of(const std::vector<llvm::Constant*>& values) {
  if (std::all_of(values.begin(), values.end(), [&](const llvm::Constant* c) { return c == values[0]; }))
    return kCommon;
  const auto [it, fresh] = known_.try_emplace(values, entries_.size());
  if (fresh) entries_.push_back(values);
  return it->second;
}

/// Metadata promises something of one segment's values.
void Group::keep_common_metadata() {
  using All = llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>, 4>;
  for (size_t s = 1; s < segments_.size(); ++s) {
    auto other = segments_[s].body().begin();
    for (llvm::Instruction& i : segments_.front().body()) {
      All all;
      i.getAllMetadata(all);
      for (const auto& [kind, node] : all)
        if (other->getMetadata(kind) != node) i.setMetadata(kind, nullptr);
      ++other;
    }
  }
}

llvm::Function* Group::make_function() {
  llvm::Function& first = *segments_.front().function;
  llvm::LLVMContext& context = first.getContext();
  const size_t count = first_field_.size() + (table_ ? 1 : 0);
  const std::vector<llvm::Type*> parameters(count, llvm::PointerType::get(context, 0));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), parameters, false);
  auto* merged = llvm::Function::Create(type, llvm::Function::InternalLinkage, first.getName(), first.getParent());
  merged->addFnAttrs(llvm::AttrBuilder(context, first.getAttributes().getFnAttrs()));
  // No segment writes a field that it reads, or a field twice.
  for (unsigned p = 0; p < count; ++p) merged->addParamAttr(p, llvm::Attribute::NoAlias);
  merged->splice(merged->end(), &first);
  return merged;
}

/// The offset that each parameter points to.
std::vector<int64_t> Group::bases_of(const Segment& segment) const {
  std::vector<int64_t> bases;
  for (const size_t i : first_field_) bases.push_back(offset_of(segment.fields[i]));
  return bases;
}

void Group::replace_fields(llvm::Function* merged) {
  const auto& fields = segments_.front().fields;
  const std::vector<int64_t> base = bases_of(segments_.front());
  for (size_t i = 0; i < fields.size(); ++i) {
    const size_t p = parameter_of_[i];
    const int64_t offset = offset_of(fields[i]) - base[p];
    fields[i]->setOperand(0, merged->getArg(static_cast<unsigned>(p)));
    fields[i]->setOperand(1, llvm::ConstantInt::getSigned(fields[i]->getOperand(1)->getType(), offset));
  }
}

llvm::Value* Group::load_entry(llvm::Function* merged, size_t entry, llvm::Instruction* before) {
  llvm::IRBuilder<> b(before);
  llvm::Value* table = merged->getArg(static_cast<unsigned>(first_field_.size()));
  llvm::Value* address = b.CreateStructGEP(table_, table, static_cast<unsigned>(entry));
  llvm::LoadInst* load = b.CreateLoad(table_->getElementType(static_cast<unsigned>(entry)), address);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
  return load;
}

void Group::load_constants(llvm::Function* merged) {
  for (size_t i = 0; i < entry_of_.size(); ++i) {
    if (entry_of_[i] == kCommon) continue;
    llvm::Use& use = *segments_.front().constants[i];
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    llvm::Value* value = load_entry(merged, entry_of_[i], user);
    if (const auto* vector = llvm::dyn_cast<llvm::VectorType>(use->getType()))
      value = llvm::IRBuilder<>(user).CreateVectorSplat(vector->getElementCount(), value);
    use.set(value);
  }
}

void Group::displace(llvm::Function* merged) {
  for (size_t i = 0; i < displacement_of_.size(); ++i) {
    if (displacement_of_[i] == kCommon) continue;
    llvm::Instruction* user = segments_.front().displaced[i];
    llvm::Value* distance = load_entry(merged, displacement_of_[i], user);
    llvm::IRBuilder<> b(user);
    llvm::Value* from = user->getOperand(0);
    const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
    user->setOperand(
        0, address ? b.CreateGEP(address->getSourceElementType(), from, distance) : b.CreateAdd(from, distance));
    user->dropPoisonGeneratingFlags();
  }
}

void Group::replace_call(size_t index, llvm::Function* merged) {
  const Segment& segment = segments_[index];
  auto* call = llvm::cast<llvm::CallInst>(*segment.function->user_begin());
  llvm::IRBuilder<> b(call);
  std::vector<llvm::Value*> arguments;
  for (const int64_t offset : bases_of(segment))
    arguments.push_back(b.CreateConstGEP1_64(b.getInt8Ty(), call->getArgOperand(0), static_cast<uint64_t>(offset)));
  if (table_) {
    std::vector<llvm::Constant*> entries;
    for (const auto& values : entries_) entries.push_back(values[index]);
    arguments.push_back(new llvm::GlobalVariable(*merged->getParent(), table_, true, llvm::GlobalValue::PrivateLinkage,
                                                 llvm::ConstantStruct::get(table_, entries), "constants"));
  }
  b.CreateCall(merged, arguments);
  call->eraseFromParent();
}

void Group::merge() {
  if (segments_.size() == 1) return;
  find_parameters();
  if (first_field_.size() > kMostParameters) return;
  find_constants();
  find_displacements();
  if (!entries_.empty()) {
    std::vector<llvm::Type*> types;
    for (const auto& values : entries_) types.push_back(values[0]->getType());
    table_ = llvm::StructType::get(segments_.front().function->getContext(), types);
  }
  keep_common_metadata();
  llvm::Function* merged = make_function();
  for (size_t i = 0; i < segments_.size(); ++i) replace_call(i, merged);
  load_constants(merged);
  displace(merged);
  replace_fields(merged);
  for (const Segment& s : segments_) s.function->eraseFromParent();
}

}  // namespace

void merge_segments(const std::vector<llvm::Function*>& segments) {
  std::vector<Group> groups;
  std::unordered_map<Shape, size_t, ShapeHash> known;
  for (llvm::Function* f : segments) {
    Segment segment{f, {}, {}, {}};
    const auto [it, fresh] = known.try_emplace(shape_of(segment), groups.size());
    if (fresh || !groups[it->second].add(segment)) groups.emplace_back(std::move(segment));
  }
  for (Group& group : groups) group.merge();
}

}  // namespace calque::codegen
