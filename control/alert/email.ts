/** Mail by SMTP. The server's address is checked and connected to; its name is what TLS proves. */

import { withinTime } from '../../base/time-limit.ts';
import { checkedLookup } from '../access/outgoing.ts';
import { textOf, type OutgoingMessage, type SendMessage } from './message.ts';
import { explainSend, SendError, type SendBounds } from './post.ts';

const standardPorts = { tls: 465, starttls: 587, none: 25 } as const;

/** Sends mail. */
export const sendEmail: SendMessage = async (message, { config, bounds }) => {
  const name = textOf(config, 'host');
  const tls = (textOf(config, 'tls') || 'starttls') as keyof typeof standardPorts;
  const { port = standardPorts[tls] } = config as { readonly port?: number };
  const { username = '', password = '' } = config as Readonly<Record<string, string>>;
  const host = await addressOf(name, bounds);
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    ...{ host, port, secure: tls === 'tls', requireTLS: tls === 'starttls' },
    ...{ ignoreTLS: tls === 'none', disableFileAccess: true, disableUrlAccess: true },
    tls: { servername: name, minVersion: 'TLSv1.2' },
    connectionTimeout: bounds.timeoutMs,
    greetingTimeout: bounds.timeoutMs,
    socketTimeout: bounds.timeoutMs,
    ...(username === '' ? {} : { auth: { user: username, pass: password } }),
  });
  try {
    // Of the whole conversation: those of the library are of silence between two bytes.
    await withinTime(bounds.timeoutMs, [bounds.signal], (signal) =>
      transport.sendMail({ ...mailOf(message, config), signal }),
    );
  } catch (error) {
    throw explainMail(error);
  } finally {
    transport.close();
  }
};

function mailOf(
  { id, event, text, alert }: OutgoingMessage,
  config: Readonly<Record<string, unknown>>,
) {
  const from = textOf(config, 'from');
  const host = from.slice(from.indexOf('@') + 1);
  return {
    from,
    to: [...(config['to'] as readonly string[])],
    subject: text.title,
    text: text.message,
    messageId: `<${id}.waf@${host}>`,
    headers: { 'X-Waf-Event': event, 'X-Waf-Alert': alert.id, 'Auto-Submitted': 'auto-generated' },
  };
}

/** The address to connect to, of all those that were checked. */
async function addressOf(name: string, { allowedNetworks }: SendBounds): Promise<string> {
  try {
    const lookup = await checkedLookup(name, allowedNetworks);
    return await new Promise((resolve, reject) => {
      lookup(name, {}, (error, address) => {
        if (error === null && typeof address === 'string') resolve(address);
        else reject(new SendError('its name cannot be resolved', true, error));
      });
    });
  } catch (error) {
    throw explainSend(error);
  }
}

/** SMTP replies of 500 and more are final, but for a sign-in that may be mended. */
function explainMail(error: unknown): SendError {
  const { responseCode = 0, code = '' } = error as {
    readonly responseCode?: number;
    readonly code?: string;
  };
  if (code === 'EAUTH') return new SendError('it does not accept the username and password', true);
  if (code === 'ETLS') return new SendError('it offers no TLS that can be trusted', true, error);
  if (responseCode === 0) return explainSend(error);
  const final = responseCode >= 500;
  return new SendError(`it refused the mail with code ${responseCode}`, !final, error);
}
