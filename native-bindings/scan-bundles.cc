// Of a call with many rows: which of a value's classes only search it as it stands, and the lines
// that are joined once for all databases of such classes. The rest of the class is in
// scan-program.cc.
#include <algorithm>

#include "scan-program.h"

namespace waf {

namespace {

// Lines are scanned while the processor's cache still has them.
constexpr size_t kBundleBytesMax = 32 * 1024;
constexpr size_t kBundleLinesMax = 2048;
// Bounds what a program keeps; values of further shapes are looked at class by class.
constexpr size_t kBundlesMax = 64;

bool IsSkipped(const ScanTest& test, uint32_t mask) {
  return test.skip_mask != 0 && (mask & ~test.skip_mask) == 0 && !test.negated;
}

// The steps without those that leave a value of these bytes as it is, and each of the rest once.
std::vector<ScanStep> StepsFor(const std::vector<ScanStep>& all, uint32_t mask) {
  std::vector<ScanStep> steps{all[0]};
  std::vector<uint16_t> place(all.size(), 0);
  for (size_t i = 1; i < all.size(); ++i) {
    ScanStep step = all[i];
    step.parent = place[step.parent];
    if (step.parent == 0 && !step.always && (mask & step.trigger) == 0) {
      if (!step.changed_only) steps[0].chains |= step.chains;
      continue;
    }
    size_t at = 1;
    while (at < steps.size() &&
           (steps[at].parent != step.parent || steps[at].transformation != step.transformation)) {
      ++at;
    }
    place[i] = static_cast<uint16_t>(at);
    if (at == steps.size()) {
      steps.push_back(step);
    } else {
      steps[at].chains |= step.chains;
    }
  }
  return steps;
}

}  // namespace

void ScanProgram::ScanByShape(const ScanItem& item, uint32_t mask) {
  const ValueShape& shape = ShapeOf(item.group, mask);
  if (shape.bundle >= 0) AddBundled(shape.bundle, item);
  for (const AloneClass& one : shape.alone) {
    if (end_ == ScanEnd::kDone) ScanShaped(one, item, mask);
  }
}

void ScanProgram::ScanShaped(const AloneClass& one, const ScanItem& item, uint32_t mask) {
  class_ = &classes_[one.id];
  location_ = item.location;
  NextRow();
  if (one.steps.size() > 1) {
    ScanTransformed(one.steps, item, mask);
  } else if (one.steps[0].chains != 0) {
    ScanOutput(item.data, item.size, mask, one.steps[0].chains);
  }
}

const ValueShape& ScanProgram::ShapeOf(ScanGroup* group, uint32_t mask) {
  if (group->shapes_.empty()) group->shapes_.resize(ScanGroup::kShapes);
  const uint32_t hash = (mask * 2654435761u) >> 16;
  ValueShape& shape = group->shapes_[hash % ScanGroup::kShapes];
  if (!shape.known || shape.mask != mask) DrawShape(*group, mask, &shape);
  return shape;
}

void ScanProgram::DrawShape(const ScanGroup& group, uint32_t mask, ValueShape* shape) {
  ScanBundle bundle;
  std::vector<uint16_t> alone;
  for (const uint16_t id : group.classes) {
    if (!Joins(classes_[id], mask, &bundle)) alone.push_back(id);
  }
  shape->mask = mask;
  shape->known = true;
  shape->bundle = BundleOf(bundle);
  if (shape->bundle < 0 && !bundle.empty()) alone = group.classes;
  shape->alone.clear();
  for (const uint16_t id : alone) {
    if (classes_[id].all_chains == 0) continue;
    shape->alone.push_back(AloneClass{id, StepsFor(classes_[id].steps, mask)});
  }
}

// True where all that the class does with such values is to search them in lines, or nothing.
bool ScanProgram::Joins(const ScanClass& one, uint32_t mask, ScanBundle* bundle) const {
  const uint64_t chains = one.unchanged_chains;
  if (one.all_chains == 0) return true;
  if (one.always || (mask & one.trigger_union) != 0) return false;
  const auto counts = [&](uint8_t chain) { return ((chains >> chain) & 1) != 0; };
  for (const ScanTest& test : one.tests) {
    if (counts(test.chain) && !IsSkipped(test, mask)) return false;
  }
  for (const uint32_t id : one.negated) {
    if (counts(one.patterns[id].chain)) return false;
  }
  if ((chains & one.pattern_chains) == 0) return true;
  const auto tier = std::find_if(one.tiers.begin(), one.tiers.end(), [&](const ScanTier& each) {
    return (mask & ~each.allowed_mask) == 0;
  });
  if (tier == one.tiers.end()) return true;
  if (!tier->parts.empty()) return false;
  if (tier->lines >= 0) bundle->push_back(JoinedSearch{tier->lines, -1, &one, chains});
  if (tier->guarded >= 0) {
    bundle->push_back(JoinedSearch{tier->guarded, tier->guard, &one, chains});
  }
  return true;
}

// The number of the bundle with these searches; -1 where there are none, or too many bundles.
int32_t ScanProgram::BundleOf(const ScanBundle& wanted) {
  if (wanted.empty()) return -1;
  const auto found = std::find(bundles_.begin(), bundles_.end(), wanted);
  if (found != bundles_.end()) return static_cast<int32_t>(found - bundles_.begin());
  if (bundles_.size() >= kBundlesMax) return -1;
  bundles_.push_back(wanted);
  if (work_.bundled.size() < bundles_.size()) work_.bundled.resize(bundles_.size());
  return static_cast<int32_t>(bundles_.size() - 1);
}

void ScanProgram::AddBundled(int32_t bundle, const ScanItem& item) {
  LineBatch& batch = work_.bundled[static_cast<size_t>(bundle)];
  batch.lines.push_back(
      ScanLine{static_cast<uint32_t>(batch.text.size()), item.location, nullptr, 0});
  batch.text.insert(batch.text.end(), item.data, item.data + item.size);
  batch.text.push_back('\n');
  const bool full = batch.text.size() >= kBundleBytesMax || batch.lines.size() >= kBundleLinesMax;
  if (full) ScanBundled(static_cast<size_t>(bundle));
}

void ScanProgram::ScanBundled(size_t bundle) {
  LineBatch& batch = work_.bundled[bundle];
  if (batch.lines.empty()) return;
  for (const JoinedSearch& search : bundles_[bundle]) {
    for (ScanLine& line : batch.lines) {
      line.owner = search.owner;
      line.chains = search.chains;
    }
    batch.wholes = search.owner->Whole() != nullptr;
    SearchLines(static_cast<size_t>(search.database), search.guard, &batch);
  }
  batch.Clear();
}

}  // namespace waf
