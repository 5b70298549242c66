/** Which cookies of a request keep a visitor with an origin address: they are for nobody else. */

/** Pools of routes have cookies of their own: one cookie would change with every other path. */
const poolSuffix = /^(?:-[0-9a-f]{8})?$/;

/** True for a cookie of any pool of a site with this name. */
export function isStickyCookie(cookie: string, stickyName: string): boolean {
  const name = cookieNameOf(cookie);
  return name.startsWith(stickyName) && poolSuffix.test(name.slice(stickyName.length));
}

/** A Cookie value without these cookies; '' where no other is left. */
export function withoutSticky(value: string, stickyName: string): string {
  if (!value.includes(stickyName)) return value;
  const others = value.split(';').filter((one) => !isStickyCookie(one, stickyName));
  return trimmed(others.join(';'));
}

/** The name of a cookie as servers read it; one without `=` is all name. */
export function cookieNameOf(cookie: string): string {
  const end = cookie.indexOf('=');
  return trimmed(end < 0 ? cookie : cookie.slice(0, end));
}

/** Without spaces and tabs around it: other bytes belong to a cookie. */
export function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  const blank = (at: number): boolean => text[at] === ' ' || text[at] === '\t';
  while (start < end && blank(start)) start++;
  while (end > start && blank(end - 1)) end--;
  return text.slice(start, end);
}
