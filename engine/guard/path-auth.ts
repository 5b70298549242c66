/** Who may enter paths of a site: users with a password first, then a service that is asked. */

import type { GuardVerdict } from '../contract/guard.ts';
import { BasicAuth } from './basic-auth.ts';
import { ForwardAuth } from './forward-auth.ts';
import type { Guard, GuardKind } from './guard.ts';
import type { RequestView } from './request-view.ts';

/** The last guard: who is not let in by others is not asked, and no bypass skips it. */
export const pathAuth: GuardKind = {
  name: 'auth',
  compile: ({ delivery }) => {
    const { basicAuth = [], forwardAuth = [], stickySessions } = delivery ?? {};
    const users = basicAuth.length === 0 ? null : new BasicAuth(basicAuth);
    const service =
      forwardAuth.length === 0 ? null : new ForwardAuth(forwardAuth, stickySessions?.cookieName);
    return users === null || service === null ? (users ?? service) : new BothAuth(users, service);
  },
};

class BothAuth implements Guard {
  readonly name = 'auth';
  private readonly users: BasicAuth;
  private readonly service: ForwardAuth;

  constructor(users: BasicAuth, service: ForwardAuth) {
    this.users = users;
    this.service = service;
  }

  decide(view: RequestView): GuardVerdict | null {
    const verdict = this.users.decide(view);
    if (verdict === null) return this.service.decide(view);
    const { later } = verdict;
    const ask = later === undefined ? null : this.service.asking(view);
    if (later === undefined || ask === null) return verdict;
    return { ...verdict, later: later.then((said) => said ?? ask()) };
  }

  describe(view: RequestView): string {
    return `${this.users.describe(view)}, then ${this.service.describe()}`;
  }
}
