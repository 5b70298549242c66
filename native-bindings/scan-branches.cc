// The scan of one value whose transformations' outputs are too large together: the trie is walked a
// branch at a time, and an output lives only until its last branch was walked. The rest of the
// class is in scan-program.cc.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "byte-class.h"
#include "scan-program.h"

namespace waf {

namespace {

// Bytes of malloc, counted while they live.
class CountedBytes {
 public:
  explicit CountedBytes(size_t* total) : total_(total) {}
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;
  ~CountedBytes() { Release(); }
  // Null where all that live would exceed `limit`.
  uint8_t* Allocate(size_t size, size_t limit) {
    if (size > limit || *total_ > limit - size) return nullptr;
    bytes_ = static_cast<uint8_t*>(std::malloc(size));
    if (bytes_ == nullptr) return nullptr;
    *total_ += (size_ = size);
    return bytes_;
  }
  // Gives back all but the first `size`, at least one byte.
  void Shrink(size_t size) {
    auto* smaller = static_cast<uint8_t*>(std::realloc(bytes_, size > 0 ? size : 1));
    if (smaller == nullptr) return;
    bytes_ = smaller;
    *total_ -= size_ - size;
    size_ = size;
  }
  void Release() {
    std::free(bytes_);
    *total_ -= size_;
    bytes_ = nullptr;
    size_ = 0;
  }
  const uint8_t* get() const { return bytes_; }

 private:
  size_t* total_;
  uint8_t* bytes_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

// One walk over the trie of a class for one value.
class BranchWalk {
 public:
  BranchWalk(ScanProgram* program, const ScanItem& item) : program_(program), item_(item) {}

  // Scans the value of the steps `at` and what the steps after it make of it. `owned`, which may be
  // null, holds the value's bytes and is emptied as soon as nobody needs them.
  void Visit(std::vector<size_t> at, const uint8_t* data, uint32_t size, uint32_t mask,
             CountedBytes* owned) {
    std::vector<size_t> changing;
    uint64_t chains = 0;
    for (const size_t step : at) chains |= program_->class_->steps[step].chains;
    Gather(std::move(at), mask, &changing, &chains);
    Scan(data, size, mask, chains);
    while (!changing.empty() && program_->end_ == ScanEnd::kDone) {
      const std::vector<size_t> alike = TakeAlike(&changing);
      CountedBytes output(&live_bytes_);
      size_t length = 0;
      if (!Run(alike[0], data, size, &output, &length)) return;
      if (length == size && std::memcmp(output.get(), data, size) == 0) {
        // The transformation had nothing to change: these steps' value is this one, too.
        output.Release();
        chains = 0;
        for (const size_t step : alike) AddChains(step, false, &chains);
        Gather(alike, mask, &changing, &chains);
        Scan(data, size, mask, chains);
        continue;
      }
      if (changing.empty() && owned != nullptr) owned->Release();
      const uint32_t changed_mask = MaskOfBytes(output.get(), length);
      Visit(alike, output.get(), static_cast<uint32_t>(length), changed_mask, &output);
    }
  }

 private:
  const ScanStep& StepAt(size_t at) const { return program_->class_->steps[at]; }

  void AddChains(size_t step, bool changed, uint64_t* chains) const {
    if (changed || !StepAt(step).changed_only) *chains |= StepAt(step).chains;
  }

  // Adds the chains of all steps after `at` that leave the value as it is, and lists those that may
  // change it.
  void Gather(std::vector<size_t> at, uint32_t mask, std::vector<size_t>* changing,
              uint64_t* chains) const {
    const size_t count = program_->class_->steps.size();
    for (size_t i = 0; i < at.size(); ++i) {
      for (size_t step = at[i] + 1; step < count; ++step) {
        if (StepAt(step).parent != at[i]) continue;
        if (StepAt(step).always || (mask & StepAt(step).trigger) != 0) {
          changing->push_back(step);
        } else {
          AddChains(step, false, chains);
          at.push_back(step);
        }
      }
    }
  }

  // Takes the last step from the list and those with the same transformation.
  std::vector<size_t> TakeAlike(std::vector<size_t>* steps) const {
    const uint8_t transformation = StepAt(steps->back()).transformation;
    std::vector<size_t> alike;
    std::vector<size_t> others;
    for (const size_t step : *steps) {
      (StepAt(step).transformation == transformation ? alike : others).push_back(step);
    }
    steps->swap(others);
    return alike;
  }

  bool Run(size_t step, const uint8_t* data, uint32_t size, CountedBytes* output, size_t* length) {
    const Transformation& t = kTransformations[StepAt(step).transformation];
    uint8_t* out = output->Allocate(OutputBound(t, size) + 1, program_->arena_limit_);
    if (out == nullptr) {
      ++program_->stats_.overflows;
      program_->end_ = ScanEnd::kArenaFull;
      return false;
    }
    ++program_->stats_.transforms;
    *length = t.run(data, size, out, program_->context_);
    output->Shrink(*length);
    return true;
  }

  void Scan(const uint8_t* data, uint32_t size, uint32_t mask, uint64_t chains) {
    if (chains == 0) return;
    program_->ScanOutput(data, size, mask, chains);
    if (!program_->lines_full_) return;
    // Lines are copies; those of one output are searched before the next one is made.
    const ScanClass* const own = program_->class_;
    program_->ScanFullBatches();
    program_->class_ = own;
    program_->location_ = item_.location;
    program_->NextRow();
  }

  ScanProgram* program_;
  const ScanItem& item_;
  size_t live_bytes_ = 0;
};

void ScanProgram::ScanBranches(const ScanItem& item, uint32_t mask) {
  work_.arena.Reset();
  work_.output_count = 0;
  BranchWalk(this, item).Visit({0}, item.data, item.size, mask, nullptr);
}

}  // namespace waf
