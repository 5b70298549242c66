// The transformations that decode escapes with a backslash: JavaScript, C and CSS.
#include "hex.h"
#include "transformations.h"

namespace waf {

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

}  // namespace waf
