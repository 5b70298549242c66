/**
 * The formats of JSON Schema and OpenAPI that are checked. Every one takes time linear in the text:
 * the expressions here have one way to match a text. Formats that are not listed are not checked.
 */

import { isIPv4, isIPv6 } from 'node:net';

/** A check of numbers; checks of texts are plain functions. */
interface NumberFormat {
  readonly type: 'number';
  readonly validate: (value: number) => boolean;
}

type TextFormat = (text: string) => boolean;

/** Checks by the name of the format. */
export const textFormats: Readonly<Record<string, TextFormat | NumberFormat>> = {
  __proto__: null as never,
  // RFC 3339, with leap seconds and the numbers of days.
  date: isDate,
  time: isTime,
  'date-time': isDateTime,
  // RFC 3339, appendix A.
  duration: isDuration,
  // RFC 5321, section 4.1.2: dot-atoms and quoted local parts; domains and address literals.
  email: isEmail,
  // RFC 1123, section 2.1; the first also with RFC 5891.
  hostname: isHostname,
  'hostname-1123': isPlainHostname,
  ipv4: (text) => isIPv4(text),
  ipv6: (text) => isIPv6(text) && !text.includes('%'),
  // RFC 3986.
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && isUriReference(text),
  'uri-reference': isUriReference,
  uuid: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
  // RFC 6901.
  'json-pointer': isJsonPointer,
  'relative-json-pointer': isRelativePointer,
  // OpenAPI: RFC 4648, section 4.
  byte: isBase64,
  int32: {
    type: 'number',
    validate: (value) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31,
  },
  int64: {
    type: 'number',
    validate: (value) => Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63,
  },
  float: { type: 'number', validate: (value) => Number.isFinite(value) },
  double: { type: 'number', validate: (value) => Number.isFinite(value) },
};

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const found = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text);
  if (found === null) return false;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= (monthDays[month - 1] ?? 0) + (leap ? 1 : 0);
}

const timeShape =
  /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:z|([+-])([0-9]{2}):([0-9]{2}))$/i;

function isTime(text: string): boolean {
  const found = timeShape.exec(text);
  if (found === null) return false;
  const [hour, minute, second] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const [offHour, offMinute] = [Number(found[5] ?? 0), Number(found[6] ?? 0)];
  if (hour > 23 || minute > 59 || offHour > 23 || offMinute > 59) return false;
  if (second < 60) return true;
  // A leap second is the last one of a day in UTC.
  const offset = (found[4] === '-' ? 1 : -1) * (offHour * 60 + offMinute);
  return second === 60 && (hour * 60 + minute + offset + 2880) % 1440 === 1439;
}

function isDateTime(text: string): boolean {
  const mark = text[10];
  if (mark !== 'T' && mark !== 't') return false;
  return isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

const durationDate = /^(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)?$/;
const durationTime = /^(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)$/;

function isDuration(text: string): boolean {
  if (!text.startsWith('P') || text.length < 3) return false;
  if (/^P[0-9]+W$/.test(text)) return true;
  const mark = text.indexOf('T');
  if (mark === -1) return durationDate.test(text.slice(1));
  return durationDate.test(text.slice(1, mark)) && durationTime.test(text.slice(mark + 1));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1) return false;
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  const dotAtom = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
  const quoted = /^"(?:[ !#-[\]-~]|\\[ -~])*"$/;
  if (!dotAtom.test(local) && !quoted.test(local)) return false;
  if (!domain.startsWith('[')) return isHostname(domain);
  if (!domain.endsWith(']')) return false;
  const address = domain.slice(1, -1);
  return address.startsWith('IPv6:') ? isIPv6(address.slice(5)) : isIPv4(address);
}

function isHostname(text: string): boolean {
  if (text.length === 0 || text.length > 253) return false;
  return text.split('.').every(isLabel);
}

function isPlainHostname(text: string): boolean {
  if (text.length === 0 || text.length > 253) return false;
  return text.split('.').every((label) => isPlainLabel(label));
}

function isPlainLabel(label: string): boolean {
  if (label.length > 63 || !/^[A-Za-z0-9-]+$/.test(label)) return false;
  return !label.startsWith('-') && !label.endsWith('-');
}

function isLabel(label: string): boolean {
  if (!isPlainLabel(label)) return false;
  // RFC 5891, section 4.2.3.1: the third and fourth characters are for A-labels only.
  return label.slice(2, 4) !== '--' || isALabel(label);
}

/** An A-label is what it decodes to, encoded again; the URL parser of Node does both. */
function isALabel(label: string): boolean {
  if (!/^xn--/i.test(label)) return false;
  try {
    return new URL(`http://${label}/`).hostname === label.toLowerCase();
  } catch {
    // What the parser refuses is no label: that is the answer.
    return false;
  }
}

const uriPath = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*$/;
const uriQuery = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$/;
const uriUser = /^(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*$/;
const uriName = /^(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/;

/** RFC 3986, section 4.1, part by part. */
function isUriReference(text: string): boolean {
  const hash = text.indexOf('#');
  if (hash !== -1 && !uriQuery.test(text.slice(hash + 1))) return false;
  const whole = hash === -1 ? text : text.slice(0, hash);
  const mark = whole.indexOf('?');
  if (mark !== -1 && !uriQuery.test(whole.slice(mark + 1))) return false;
  const before = mark === -1 ? whole : whole.slice(0, mark);
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(before)?.[0] ?? '';
  const rest = before.slice(scheme.length);
  // Without a scheme the first segment holds no colon.
  if (scheme === '' && (rest.split('/', 1)[0] ?? '').includes(':')) return false;
  if (!rest.startsWith('//')) return uriPath.test(rest);
  const slash = rest.indexOf('/', 2);
  const authority = slash === -1 ? rest.slice(2) : rest.slice(2, slash);
  return isAuthority(authority) && (slash === -1 || uriPath.test(rest.slice(slash)));
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at !== -1 && !uriUser.test(text.slice(0, at))) return false;
  const place = text.slice(at + 1);
  if (!place.startsWith('[')) {
    const [name = '', port = '', ...more] = place.split(':');
    return more.length === 0 && uriName.test(name) && /^[0-9]*$/.test(port);
  }
  const end = place.indexOf(']');
  if (end === -1 || !/^(?::[0-9]*)?$/.test(place.slice(end + 1))) return false;
  const address = place.slice(1, end);
  return isIPv6(address)
    ? !address.includes('%')
    : /^v[0-9A-Fa-f]+\.[\w.~!$&'()*+,;=:-]+$/i.test(address);
}

function isJsonPointer(text: string): boolean {
  return text === '' || /^(?:\/(?:[^~/]|~0|~1)*)+$/.test(text);
}

function isRelativePointer(text: string): boolean {
  const number = /^(?:0|[1-9][0-9]*)/.exec(text)?.[0];
  if (number === undefined) return false;
  const rest = text.slice(number.length);
  return rest === '#' || isJsonPointer(rest);
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
