// The transformations that turn digits into bytes: hexadecimal, SQL literals, base64.
#include <cstring>

#include "hex.h"
#include "transformations.h"

namespace waf {

namespace {

// A digit by ModSecurity's arithmetic, which gives some number for bytes that are no digit too.
inline unsigned LooseHexDigit(uint8_t c) {
  return c >= 'A' ? static_cast<unsigned>((c & 0xDF) - 'A' + 10) : static_cast<unsigned>(c - '0');
}

}  // namespace

// Two bytes make one, whatever they are; an odd last byte is dropped.
WAF_TRANSFORM(HexDecode) {
  (void)context;
  for (size_t i = 0; i + 1 < n; i += 2) {
    out[i / 2] = static_cast<uint8_t>(LooseHexDigit(in[i]) * 16 + LooseHexDigit(in[i + 1]));
  }
  return n / 2;
}

// `0x` with at least one pair of digits becomes their bytes; everything else stays.
WAF_TRANSFORM(SqlHexDecode) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    const bool literal = in[i] == '0' && i + 3 < n && (in[i + 1] | 0x20) == 'x' &&
                         IsHex(in[i + 2]) && IsHex(in[i + 3]);
    if (!literal) {
      out[o++] = in[i++];
      continue;
    }
    for (i += 2; i + 1 < n && IsHex(in[i]) && IsHex(in[i + 1]); i += 2) out[o++] = HexByte(in + i);
  }
  return o;
}

namespace {

struct Base64Table {
  int8_t value[256];
  constexpr explicit Base64Table(bool url_safe) : value() {
    const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int c = 0; c < 256; ++c) value[c] = -1;
    for (int i = 0; i < 64; ++i) {
      value[static_cast<unsigned char>(letters[i])] = static_cast<int8_t>(i);
    }
    if (url_safe) {
      value[static_cast<unsigned char>('-')] = 62;
      value[static_cast<unsigned char>('_')] = 63;
    }
  }
};
constexpr Base64Table kStrict{false};
constexpr Base64Table kForgiving{true};

// Collects six-bit digits and writes the whole bytes that they make.
struct SextetWriter {
  uint8_t* out;
  size_t length = 0;
  uint32_t bits = 0;
  unsigned count = 0;
  void Add(int8_t digit) {
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    if (++count % 4 != 1) out[length++] = static_cast<uint8_t>(bits >> ShiftOf(count % 4));
  }
  static unsigned ShiftOf(unsigned phase) { return phase == 2 ? 4 : phase == 3 ? 2 : 0; }
};

// Is in[0..n) base64 by the strict reading: line breaks (and blanks before them) between digits,
// at most two pads, nothing after a pad?
bool IsStrictBase64(const uint8_t* in, size_t n) {
  unsigned pads = 0;
  for (size_t i = 0; i < n; ++i) {
    const size_t blank = i;
    while (i < n && in[i] == ' ') ++i;
    if (i == n) return true;
    if (in[i] == '\n' || (in[i] == '\r' && i + 1 < n && in[i + 1] == '\n')) continue;
    if (blank != i) return false;
    if (in[i] == '=') {
      if (++pads > 2) return false;
    } else if (kStrict.value[in[i]] < 0 || pads != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

// Strict: anything but base64 gives an empty value, a NUL ends the input, digits that make no
// whole group of four (pads counted) are dropped.
WAF_TRANSFORM(Base64Decode) {
  (void)context;
  const void* end = n == 0 ? nullptr : std::memchr(in, 0, n);
  if (end != nullptr) n = static_cast<size_t>(static_cast<const uint8_t*>(end) - in);
  if (!IsStrictBase64(in, n)) return 0;
  SextetWriter writer{out};
  unsigned in_group = 0;
  size_t whole = 0;
  for (size_t i = 0; i < n; ++i) {
    if (in[i] == '\r' || in[i] == '\n' || in[i] == ' ') continue;
    if (in[i] != '=') writer.Add(kStrict.value[in[i]]);
    if (++in_group % 4 == 0) whole = writer.length;
  }
  return whole;
}

// Forgiving: skips what is no digit, reads both alphabets (`+/` and `-_`), needs no padding.
WAF_TRANSFORM(Base64DecodeExt) {
  (void)context;
  SextetWriter writer{out};
  for (size_t i = 0; i < n; ++i) {
    if (in[i] == '=') {
      const uint8_t next = i + 1 < n ? in[i + 1] : 0;
      if (next != '=' && writer.count % 4 == 1) return 0;
      continue;
    }
    const int8_t digit = kForgiving.value[in[i]];
    if (digit >= 0) writer.Add(digit);
  }
  return writer.length;
}

}  // namespace waf
