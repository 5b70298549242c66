// normalizePath and normalizePathWin.
#include <cstddef>

#include "transformations.h"

namespace waf {

namespace {

// One pass that copies bytes and, at the end of every segment, decides about `.`, `..` and empty
// segments by looking back at what was written. Like ModSecurity it looks at the last two written
// bytes only, so that a segment that merely ends in ".." counts as a back-reference.
class PathNormalizer {
 public:
  PathNormalizer(const uint8_t* in, size_t n, uint8_t* out, bool windows)
      : in_(in), out_(out), last_(static_cast<ptrdiff_t>(n) - 1), windows_(windows) {}

  size_t Run() {
    if (last_ < 0) return 0;
    relative_ = At(0) != '/';
    const bool trailing = At(last_) == '/';
    while (!done_ && source_ <= last_ && written_ <= last_) {
      if (EndsSegment() && !CloseSegment()) continue;
      CopyOne();
    }
    if (!trailing && written_ > 0 && out_[written_ - 1] == '/') --written_;
    return static_cast<size_t>(written_);
  }

 private:
  uint8_t At(ptrdiff_t i) const {
    const uint8_t c = in_[i];
    return windows_ && c == '\\' ? '/' : c;
  }

  bool EndsSegment() {
    if (source_ == last_) done_ = true;
    return done_ || At(source_ + 1) == '/';
  }

  // Decides about the segment that ends at source_; false when there is nothing to copy now.
  bool CloseSegment() {
    const uint8_t c = At(source_);
    if (c == '/' && source_ != last_) return true;
    if (c == '.') {
      if (written_ > 0 && out_[written_ - 1] == '.') return DropParent();
      if (written_ == 0 || out_[written_ - 1] == '/') return DropSelf();
    } else if (written_ > 0) {
      hit_root_ = false;
    }
    return true;
  }

  bool DropParent() {
    if (relative_ && (hit_root_ || written_ - 2 <= 0)) {
      hit_root_ = true;
      return true;
    }
    written_ -= 3;
    while (written_ > 0 && out_[written_] != '/') --written_;
    if (written_ <= 0) {
      hit_root_ = true;
      written_ = !relative_ && source_ == last_ ? 1 : 0;
    }
    ++source_;
    return !done_;
  }

  bool DropSelf() {
    if (!done_ && written_ > 0) --written_;
    ++source_;
    return !done_;
  }

  void CopyOne() {
    if (source_ > last_) return;
    if (At(source_) == '/') {
      while (source_ < last_ && At(source_ + 1) == '/') ++source_;
      if (relative_ && written_ == 0) {
        ++source_;
        return;
      }
    }
    out_[written_++] = At(source_++);
  }

  const uint8_t* in_;
  uint8_t* out_;
  ptrdiff_t last_;
  bool windows_;
  bool relative_ = false;
  bool done_ = false;
  bool hit_root_ = false;
  ptrdiff_t source_ = 0;
  ptrdiff_t written_ = 0;
};

}  // namespace

namespace {

// Nothing changes unless a separator follows one, or a segment ends in a dot that follows a dot,
// a separator or nothing.
bool IsNormal(const uint8_t* in, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const bool last = i + 1 == n;
    if (in[i] == '/' && !last && in[i + 1] == '/') return false;
    if (in[i] != '.' || (!last && in[i + 1] != '/')) continue;
    if (i == 0 || in[i - 1] == '.' || in[i - 1] == '/') return false;
  }
  return true;
}

}  // namespace

WAF_TRANSFORM(NormalizePath) {
  if (IsNormal(in, n)) return None(in, n, out, context);
  return PathNormalizer(in, n, out, false).Run();
}

WAF_TRANSFORM(NormalizePathWin) {
  (void)context;
  return PathNormalizer(in, n, out, true).Run();
}

}  // namespace waf
