// The transformations that decode what the web itself encodes: URLs and HTML entities.
#include <cstring>

#include "hex.h"
#include "transformations.h"

namespace waf {

namespace {

// Copies up to the first '%', with blanks for '+'; returns how many bytes that were. No branch
// depends on where words end.
inline size_t CopyUnescaped(const uint8_t* in, size_t n, uint8_t* out) {
  const void* found = n == 0 ? nullptr : std::memchr(in, '%', n);
  const size_t length =
      found == nullptr ? n : static_cast<size_t>(static_cast<const uint8_t*>(found) - in);
  for (size_t k = 0; k < length; ++k) out[k] = in[k] == '+' ? ' ' : in[k];
  return length;
}

}  // namespace

WAF_TRANSFORM(UrlDecode) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    if (in[i] != '%') {
      const size_t copied = CopyUnescaped(in + i, n - i, out + o);
      i += copied;
      o += copied;
    } else if (i + 2 < n && IsHex(in[i + 1]) && IsHex(in[i + 2])) {
      out[o++] = HexByte(in + i + 1);
      i += 3;
    } else {
      out[o++] = in[i++];
    }
  }
  return o;
}

namespace {

// The byte for %uHHHH whose first digit is at p: through the map, else the low byte, folded.
inline uint8_t UnicodeByte(const uint8_t* p, const uint8_t* map) {
  if (map != nullptr) {
    const uint8_t mapped = map[(HexByte(p) << 8) | HexByte(p + 2)];
    if (mapped != 0) return mapped;
  }
  return FoldFullWidth(HexByte(p + 2), p);
}

}  // namespace

WAF_TRANSFORM(UrlDecodeUni) {
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    const uint8_t c = in[i];
    if (c != '%') {
      const size_t copied = CopyUnescaped(in + i, n - i, out + o);
      i += copied;
      o += copied;
    } else if (i + 1 < n && (in[i + 1] | 0x20) == 'u') {
      if (i + 5 < n && FourHex(in + i + 2)) {
        out[o++] = UnicodeByte(in + i + 2, context.unicode_map);
        i += 6;
      } else {
        out[o++] = in[i++];
        out[o++] = in[i++];
      }
    } else if (i + 2 < n && IsHex(in[i + 1]) && IsHex(in[i + 2])) {
      out[o++] = HexByte(in + i + 1);
      i += 3;
    } else {
      out[o++] = c;
      ++i;
    }
  }
  return o;
}

namespace {

// A numeric character reference whose digits start at `i`: one byte into *byte, the offset after
// the digits as the result, or `i` when there is no digit. Numbers beyond 63 bits give 0xFF.
size_t ReadReference(const uint8_t* in, size_t n, size_t i, unsigned base, uint8_t* byte) {
  uint64_t number = 0;
  bool overflow = false;
  while (i < n && (base == 16 ? IsHex(in[i]) : IsDigit(in[i]))) {
    const uint64_t digit = static_cast<uint64_t>(kHex.value[in[i]]);
    if (number > (INT64_MAX - digit) / base) overflow = true;
    if (!overflow) number = number * base + digit;
    ++i;
  }
  *byte = overflow ? 0xFF : static_cast<uint8_t>(number);
  return i;
}

struct NamedEntity {
  const char* name;
  size_t length;
  uint8_t byte;
};
constexpr NamedEntity kEntities[] = {
    {"quot", 4, '"'}, {"amp", 3, '&'}, {"lt", 2, '<'}, {"gt", 2, '>'}, {"nbsp", 4, 0xA0}};

size_t ReadEntity(const uint8_t* in, size_t n, size_t i, uint8_t* byte) {
  size_t end = i;
  while (end < n && IsAlnum(in[end])) ++end;
  for (const NamedEntity& entity : kEntities) {
    if (end - i != entity.length) continue;
    size_t k = 0;
    while (k < entity.length && (in[i + k] | 0x20) == entity.name[k]) ++k;
    if (k == entity.length) {
      *byte = entity.byte;
      return end;
    }
  }
  return i;
}

// Reads what follows '&' at `i`; the offset after it without the semicolon, or `i` if nothing.
size_t ReadCharacterReference(const uint8_t* in, size_t n, size_t i, uint8_t* byte) {
  if (i >= n) return i;
  if (in[i] != '#') return ReadEntity(in, n, i, byte);
  const bool hex = i + 1 < n && (in[i + 1] | 0x20) == 'x';
  const size_t digits = i + (hex ? 2 : 1);
  const size_t end = ReadReference(in, n, digits, hex ? 16 : 10, byte);
  return end == digits ? i : end;
}

}  // namespace

WAF_TRANSFORM(HtmlEntityDecode) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    const size_t plain = CopyUntil(in + i, n - i, out + o, '&');
    i += plain;
    o += plain;
    if (i >= n) break;
    uint8_t byte = '&';
    const size_t end = ReadCharacterReference(in, n, i + 1, &byte);
    if (end == i + 1) {
      out[o++] = in[i++];
    } else {
      out[o++] = byte;
      i = end < n && in[end] == ';' ? end + 1 : end;
    }
  }
  return o;
}

}  // namespace waf
