// The transformations that decode: URL, HTML, JavaScript, CSS, C escapes, hexadecimal, base64.
#include <cstring>

#include "hex.h"
#include "transformations.h"

namespace waf {

namespace {

// Copies up to the first byte equal to `mark`; returns how many bytes that were.
inline size_t CopyUntil(const uint8_t* in, size_t n, uint8_t* out, uint8_t mark) {
  const void* found = n == 0 ? nullptr : std::memchr(in, mark, n);
  const size_t length =
      found == nullptr ? n : static_cast<size_t>(static_cast<const uint8_t*>(found) - in);
  if (length != 0) std::memcpy(out, in, length);
  return length;
}

constexpr ByteTable kUrlMarks{"%+"};

}  // namespace

WAF_TRANSFORM(UrlDecode) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    if (!kUrlMarks.has[in[i]]) {
      out[o++] = in[i++];
    } else if (in[i] == '%' && i + 2 < n && IsHex(in[i + 1]) && IsHex(in[i + 2])) {
      out[o++] = HexByte(in + i + 1);
      i += 3;
    } else {
      out[o++] = in[i] == '+' ? ' ' : in[i];
      ++i;
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

inline bool FourHex(const uint8_t* p) {
  return IsHex(p[0]) && IsHex(p[1]) && IsHex(p[2]) && IsHex(p[3]);
}

}  // namespace

WAF_TRANSFORM(UrlDecodeUni) {
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    const uint8_t c = in[i];
    if (!kUrlMarks.has[c]) {
      out[o++] = c;
      ++i;
    } else if (c == '+') {
      out[o++] = ' ';
      ++i;
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

namespace {

// The control character that a C or JavaScript escape letter stands for, or 0.
inline uint8_t ControlEscape(uint8_t c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return 0;
  }
}

// How many octal digits (at most 3) stand at `i`; their value in *number.
inline size_t ReadOctal(const uint8_t* in, size_t n, size_t i, unsigned* number) {
  size_t count = 0;
  *number = 0;
  while (count < 3 && i + count < n && IsOctal(in[i + count])) {
    *number = *number * 8 + (in[i + count] - '0');
    ++count;
  }
  return count;
}

// Decodes one JavaScript escape at `i` (a backslash with at least one byte after it); returns how
// many input bytes it took.
size_t DecodeJsEscape(const uint8_t* in, size_t n, size_t i, uint8_t* byte) {
  const uint8_t kind = in[i + 1];
  if (kind == 'u' && i + 5 < n && FourHex(in + i + 2)) {
    *byte = FoldFullWidth(HexByte(in + i + 4), in + i + 2);
    return 6;
  }
  if (kind == 'x' && i + 3 < n && IsHex(in[i + 2]) && IsHex(in[i + 3])) {
    *byte = HexByte(in + i + 2);
    return 4;
  }
  if (IsOctal(kind)) {
    unsigned number = 0;
    size_t count = ReadOctal(in, n, i + 1, &number);
    if (count == 3 && kind > '3') {
      number >>= 3;
      count = 2;
    }
    *byte = static_cast<uint8_t>(number);
    return 1 + count;
  }
  const uint8_t control = ControlEscape(kind);
  *byte = control != 0 ? control : kind;
  return 2;
}

}  // namespace

WAF_TRANSFORM(JsDecode) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    const size_t plain = CopyUntil(in + i, n - i, out + o, '\\');
    i += plain;
    o += plain;
    if (i >= n) break;
    if (i + 1 < n) {
      i += DecodeJsEscape(in, n, i, out + o);
      ++o;
    } else {
      out[o++] = in[i++];
    }
  }
  return o;
}

namespace {

size_t DecodeCEscape(const uint8_t* in, size_t n, size_t i, uint8_t* byte) {
  const uint8_t kind = in[i + 1];
  const uint8_t control = ControlEscape(kind);
  if (control != 0) {
    *byte = control;
    return 2;
  }
  if ((kind | 0x20) == 'x' && i + 3 < n && IsHex(in[i + 2]) && IsHex(in[i + 3])) {
    *byte = HexByte(in + i + 2);
    return 4;
  }
  if (IsOctal(kind)) {
    unsigned number = 0;
    const size_t count = ReadOctal(in, n, i + 1, &number);
    *byte = static_cast<uint8_t>(number);
    return 1 + count;
  }
  *byte = kind;
  return 2;
}

}  // namespace

WAF_TRANSFORM(EscapeSeqDecode) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    if (in[i] == '\\' && i + 1 < n) {
      i += DecodeCEscape(in, n, i, out + o);
      ++o;
    } else {
      out[o++] = in[i++];
    }
  }
  return o;
}

namespace {

// The byte for 1 to 6 CSS hexadecimal digits at p: the last two digits, folded from full width
// when the number is a four-digit one (leading zeros aside).
uint8_t CssByte(const uint8_t* p, size_t count) {
  if (count == 1) return static_cast<uint8_t>(kHex.value[p[0]]);
  const uint8_t low = HexByte(p + count - 2);
  const bool four =
      count == 4 || (count == 5 && p[0] == '0') || (count == 6 && p[0] == '0' && p[1] == '0');
  return four ? FoldFullWidth(low, p + count - 4) : low;
}

}  // namespace

WAF_TRANSFORM(CssDecode) {
  (void)context;
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    const size_t plain = CopyUntil(in + i, n - i, out + o, '\\');
    i += plain;
    o += plain;
    if (i >= n) break;
    ++i;
    if (i >= n) break;
    size_t digits = 0;
    while (digits < 6 && i + digits < n && IsHex(in[i + digits])) ++digits;
    if (digits > 0) {
      out[o++] = CssByte(in + i, digits);
      i += digits;
      if (i < n && IsSpace(in[i])) ++i;
    } else if (in[i] == '\n') {
      ++i;
    } else {
      out[o++] = in[i++];
    }
  }
  return o;
}

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

}  // namespace

namespace {

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
