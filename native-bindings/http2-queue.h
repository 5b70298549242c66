// What one stream still has to send.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace waf {

// Pieces in order, read from the front in parts of any size.
class SendQueue {
 public:
  // Copies the bytes.
  void Add(const uint8_t* bytes, size_t size) {
    if (size == 0) return;
    pieces_.emplace_back(reinterpret_cast<const char*>(bytes), size);
    size_ += size;
  }

  // Moves up to `size` bytes to `out`; returns how many.
  size_t Read(uint8_t* out, size_t size) {
    size_t done = 0;
    while (done < size && !pieces_.empty()) {
      const std::string& first = pieces_.front();
      const size_t part = std::min(size - done, first.size() - read_);
      std::copy_n(first.data() + read_, part, out + done);
      done += part;
      read_ += part;
      if (read_ < first.size()) break;
      pieces_.pop_front();
      read_ = 0;
    }
    size_ -= done;
    return done;
  }

  size_t size() const { return size_; }
  bool empty() const { return pieces_.empty(); }

 private:
  std::deque<std::string> pieces_;
  // Bytes of the first piece that are gone.
  size_t read_ = 0;
  size_t size_ = 0;
};

}  // namespace waf
