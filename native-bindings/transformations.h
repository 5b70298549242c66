// The list of SecLang transformations as functions over bytes. Never allocates: the caller
// gives room for OutputBound(id, n) bytes. Safe on every thread: no state.
//
// The meaning is that of ModSecurity v3, with these deliberate differences, each closing a way
// around a rule: base64DecodeExt also reads `-_` (as ModSecurity does since 3.0.13) and does not
// fail on a lone '9' at the end; cssDecode and sqlHexDecode continue after a NUL and keep the last
// byte; normalizePathWin writes '/' for every separator, also in mixed runs.
#ifndef WAF_NATIVE_TRANSFORMATIONS_H
#define WAF_NATIVE_TRANSFORMATIONS_H

#include <cstddef>
#include <cstdint>

namespace waf {

// What a transformation may read beside its input.
struct TransformContext {
  // 65536 entries, code point to byte, 0 = not mapped; nullptr = no map (SecUnicodeMapFile).
  const uint8_t* unicode_map = nullptr;
};

// Writes the output to `out` and returns its length; `in` and `out` never overlap.
using TransformFunction = size_t (*)(const uint8_t* in, size_t n, uint8_t* out,
                                     const TransformContext& context);

struct Transformation {
  const char* name;
  TransformFunction run;
  // The output can differ from the input only if the input holds a byte of one of these classes.
  uint32_t trigger;
  // True when the output can differ whatever the bytes are, the empty value included.
  bool always;
  // OutputBound = n * factor + extra.
  uint32_t factor;
  uint32_t extra;
};

// Not SecLang's: leaves out what shells ignore between letters. The last of the table.
constexpr uint8_t kFillersRemoved = 37;

// The array index is the transformation's id, the same in transformations.ts.
extern const Transformation kTransformations[];
extern const size_t kTransformationCount;

inline size_t OutputBound(const Transformation& t, size_t n) { return n * t.factor + t.extra; }

inline bool CanChange(const Transformation& t, uint32_t mask) {
  return t.always || (mask & t.trigger) != 0;
}

#define WAF_TRANSFORM(Name) \
  size_t Name(const uint8_t* in, size_t n, uint8_t* out, const TransformContext& context)

WAF_TRANSFORM(Base64Decode);
WAF_TRANSFORM(Base64DecodeExt);
WAF_TRANSFORM(Base64Encode);
WAF_TRANSFORM(CmdLine);
WAF_TRANSFORM(CompressWhitespace);
WAF_TRANSFORM(CssDecode);
WAF_TRANSFORM(EscapeSeqDecode);
WAF_TRANSFORM(FillersRemoved);
WAF_TRANSFORM(HexDecode);
WAF_TRANSFORM(HexEncode);
WAF_TRANSFORM(HtmlEntityDecode);
WAF_TRANSFORM(JsDecode);
WAF_TRANSFORM(Length);
WAF_TRANSFORM(Lowercase);
WAF_TRANSFORM(Md5);
WAF_TRANSFORM(None);
WAF_TRANSFORM(NormalizePath);
WAF_TRANSFORM(NormalizePathWin);
WAF_TRANSFORM(ParityEven7bit);
WAF_TRANSFORM(ParityOdd7bit);
WAF_TRANSFORM(ParityZero7bit);
WAF_TRANSFORM(PhpArgsNames);
WAF_TRANSFORM(RemoveComments);
WAF_TRANSFORM(RemoveCommentsChar);
WAF_TRANSFORM(RemoveNulls);
WAF_TRANSFORM(RemoveWhitespace);
WAF_TRANSFORM(ReplaceComments);
WAF_TRANSFORM(ReplaceNulls);
WAF_TRANSFORM(Sha1);
WAF_TRANSFORM(SqlHexDecode);
WAF_TRANSFORM(Trim);
WAF_TRANSFORM(TrimLeft);
WAF_TRANSFORM(TrimRight);
WAF_TRANSFORM(Uppercase);
WAF_TRANSFORM(UrlDecode);
WAF_TRANSFORM(UrlDecodeUni);
WAF_TRANSFORM(UrlEncode);
WAF_TRANSFORM(Utf8ToUnicode);

}  // namespace waf

#endif  // WAF_NATIVE_TRANSFORMATIONS_H
