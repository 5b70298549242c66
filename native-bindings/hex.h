// What the decoders share: classes of bytes, hexadecimal digits, copying up to a mark.
#ifndef WAF_NATIVE_HEX_H
#define WAF_NATIVE_HEX_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace waf {

struct HexTable {
  int8_t value[256];
  constexpr HexTable() : value() {
    for (int c = 0; c < 256; ++c) value[c] = -1;
    for (int c = '0'; c <= '9'; ++c) value[c] = static_cast<int8_t>(c - '0');
    for (int c = 'a'; c <= 'f'; ++c) value[c] = static_cast<int8_t>(c - 'a' + 10);
    for (int c = 'A'; c <= 'F'; ++c) value[c] = static_cast<int8_t>(c - 'A' + 10);
  }
};
inline constexpr HexTable kHex{};

inline bool IsHex(uint8_t c) { return kHex.value[c] >= 0; }
inline bool IsOctal(uint8_t c) { return c >= '0' && c <= '7'; }
inline bool IsSpace(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool IsDigit(uint8_t c) { return c >= '0' && c <= '9'; }
inline bool IsUpper(uint8_t c) { return c >= 'A' && c <= 'Z'; }
inline bool IsLower(uint8_t c) { return c >= 'a' && c <= 'z'; }
inline bool IsAlnum(uint8_t c) { return IsDigit(c) || IsUpper(c) || IsLower(c); }

// The byte that two hexadecimal digits at p stand for; both must be digits.
inline uint8_t HexByte(const uint8_t* p) {
  return static_cast<uint8_t>((kHex.value[p[0]] << 4) | kHex.value[p[1]]);
}

inline bool FourHex(const uint8_t* p) {
  return IsHex(p[0]) && IsHex(p[1]) && IsHex(p[2]) && IsHex(p[3]);
}

// Full-width ASCII (U+FF01 to U+FF5E) folds to ASCII: `low` is the low byte, `high` the two digits
// before it.
inline uint8_t FoldFullWidth(uint8_t low, const uint8_t* high) {
  const bool full = (high[0] | 0x20) == 'f' && (high[1] | 0x20) == 'f';
  return full && low > 0x00 && low < 0x5f ? static_cast<uint8_t>(low + 0x20) : low;
}

// Copies up to the first byte equal to `mark`; returns how many bytes that were.
inline size_t CopyUntil(const uint8_t* in, size_t n, uint8_t* out, uint8_t mark) {
  const void* found = n == 0 ? nullptr : std::memchr(in, mark, n);
  const size_t length =
      found == nullptr ? n : static_cast<size_t>(static_cast<const uint8_t*>(found) - in);
  if (length != 0) std::memcpy(out, in, length);
  return length;
}

// Marks some byte values; a table look-up a byte keeps the copying loops free of long branches.
struct ByteTable {
  bool has[256];
  constexpr explicit ByteTable(const char* bytes) : has() {
    for (; *bytes != '\0'; ++bytes) has[static_cast<unsigned char>(*bytes)] = true;
  }
};

}  // namespace waf

#endif  // WAF_NATIVE_HEX_H
