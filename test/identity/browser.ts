/** A browser as the sign-in tests need one: cookies by host and path, redirects by hand. */

/** An answer that was not followed. */
export interface Visited {
  readonly status: number;
  readonly location: string;
  readonly text: string;
  readonly setCookies: readonly string[];
}

/** What a visit sends beside its address. */
export interface VisitOptions {
  readonly method?: 'GET' | 'POST';
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** True for a request that another site caused: Lax and Strict cookies stay at home. */
  readonly crossSite?: boolean;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly sameSite: string;
}

/** A browser with an empty cookie store. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, Cookie>>();

  /** One request; redirects are not followed. */
  async visit(address: string, options: VisitOptions = {}): Promise<Visited> {
    const url = new URL(address);
    const method = options.method ?? (options.form === undefined ? 'GET' : 'POST');
    const headers: Record<string, string> = { cookie: this.cookiesFor(url, method, options) };
    let body: string | undefined;
    if (options.form !== undefined) {
      headers['content-type'] = 'application/x-www-form-urlencoded';
      body = new URLSearchParams(options.form).toString();
    }
    if (options.json !== undefined) {
      headers['content-type'] = 'application/json';
      body = JSON.stringify(options.json);
    }
    const init = { method, headers, redirect: 'manual' as const };
    const response = await fetch(url, body === undefined ? init : { ...init, body });
    const setCookies = response.headers.getSetCookie();
    for (const one of setCookies) this.#keep(url, one);
    const location = response.headers.get('location');
    return {
      status: response.status,
      location: location === null ? '' : new URL(location, url).href,
      text: await response.text(),
      setCookies,
    };
  }

  /** Names of the cookies that a host has set. */
  cookieNames(address: string): string[] {
    return [...(this.#cookies.get(new URL(address).host)?.keys() ?? [])];
  }

  private cookiesFor(url: URL, method: string, { crossSite }: VisitOptions): string {
    return [...(this.#cookies.get(url.host)?.values() ?? [])]
      .filter((one) => url.pathname === one.path || url.pathname.startsWith(withSlash(one.path)))
      .filter(({ sameSite }) =>
        crossSite === true ? sameSite === 'Lax' && method === 'GET' : true,
      )
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  #keep(url: URL, header: string): void {
    const [pair = '', ...attributes] = header.split(';').map((part) => part.trim());
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    const attribute = (wanted: string): string =>
      attributes
        .find((one) => one.toLowerCase().startsWith(`${wanted}=`))
        ?.slice(wanted.length + 1) ?? '';
    const cookies = this.#cookies.get(url.host) ?? new Map<string, Cookie>();
    this.#cookies.set(url.host, cookies);
    const expires = attribute('expires');
    const gone =
      attribute('max-age') === '0' || (expires !== '' && Date.parse(expires) < Date.now());
    cookies.delete(name);
    if (gone) return;
    const path = attribute('path') || '/';
    cookies.set(name, {
      name,
      value: pair.slice(at + 1),
      path,
      sameSite: attribute('samesite') || 'None',
    });
  }
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}
