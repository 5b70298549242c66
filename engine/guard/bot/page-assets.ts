/**
 * What challenge pages load: style, script and worker. They are the same for every visitor, come
 * from the site itself, and run under a policy that allows nothing inline.
 */

/** Style of the pages; contrast is at least 7 to 1, the layout fits 320 pixels. */
export const checkStyle = `:root{color-scheme:light dark}
*{box-sizing:border-box}
body{margin:0;font:1.0625rem/1.5 system-ui,sans-serif;color:#1b1b1b;background:#fff}
main{max-width:34rem;margin:0 auto;padding:12vh 1rem 2rem}
h1{font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}
progress,input,button,audio{width:100%;max-width:100%}
label{display:block;margin:1rem 0 .25rem}
input,button{font:inherit;padding:.6rem .75rem;min-height:2.75rem}
input,button{border:1px solid #595959;border-radius:.25rem}
button{margin-top:1rem;background:#0b3d91;border-color:#0b3d91;color:#fff;cursor:pointer}
a{color:#0b3d91}
:focus-visible{outline:3px solid #b35900;outline-offset:2px}
@media (prefers-color-scheme:dark){
body{color:#f2f2f2;background:#161616}
a{color:#9ec1ff}
input{color:inherit;background:#222;border-color:#aaa}
}
`;

/**
 * Script of the pages: lets workers find the proof, says how long it takes, then continues by
 * itself or, where a person answers, with the form; where a verifier asks, with what it gave.
 */
export const checkScript = `'use strict';
(() => {
  const main = document.querySelector('main');
  const state = document.getElementById('state');
  const bar = document.getElementById('bar');
  const form = document.querySelector('form');
  const vendor = document.getElementById('vendor');
  const { id, next, about, working, failed, instead, scoreKey, action } = main.dataset;
  const bits = Number(main.dataset.bits);
  const count = Math.max(1, Math.min(4, navigator.hardwareConcurrency || 1));
  const workers = [];
  const expected = 2 ** bits;
  let hashes = 0;
  let began = performance.now();
  let solved = '';
  let asked = false;
  let response = vendor === null ? '' : null;
  const say = (text) => { if (state.textContent !== text) state.textContent = text; };
  const stop = () => { for (const worker of workers) worker.terminate(); };
  const fail = () => { stop(); say(failed); };
  const proceed = () => {
    if (response === null) return say('');
    const given = response && '&response=' + encodeURIComponent(response);
    if (form === null) location.replace(next + '&nonce=' + solved + given + location.hash);
    else { document.getElementById('nonce').value = solved; if (asked) form.submit(); }
  };
  const progress = (more) => {
    hashes += more;
    const seconds = (performance.now() - began) / 1000;
    if (bar) bar.value = Math.min(0.98, 1 - Math.exp(-2 * hashes / expected));
    if (seconds > 0.2) {
      const left = Math.max(1, Math.ceil(expected / (hashes / seconds)));
      say((form === null && response !== null) || asked ? about.replace('{s}', String(left)) : '');
    }
  };
  if (form !== null) {
    form.addEventListener('submit', (event) => {
      if (solved !== '') return;
      event.preventDefault();
      asked = true;
      say(working);
    });
  } else if (vendor === null) say(working);
  if (vendor !== null) {
    const absent = () => { if (instead) location.replace(instead + location.hash); else fail(); };
    window.wafVerified = (given) => {
      response = given;
      if (solved !== '') proceed();
    };
    window.wafExpired = () => { response = null; };
    window.wafUnverified = absent;
    vendor.addEventListener('error', absent);
    if (scoreKey) vendor.addEventListener('load', () => grecaptcha.ready(() => {
      grecaptcha.execute(scoreKey, { action }).then(window.wafVerified, absent);
    }));
  }
  try {
    for (let at = 0; at < count; at++) {
      const worker = new Worker(main.dataset.worker);
      worker.onerror = fail;
      worker.onmessage = ({ data }) => {
        if (solved !== '') return;
        if (data.nonce === undefined) return progress(data.hashes);
        solved = String(data.nonce);
        stop();
        if (bar) bar.value = 1;
        proceed();
      };
      workers.push(worker);
      worker.postMessage({ id, bits, start: at, step: count });
    }
  } catch { fail(); }
})();
`;

/**
 * The worker: SHA-256 over \`id:nonce\`, one block of it. It uses WebCrypto or its own hash,
 * whichever it measures as faster; WebCrypto is not there on plain HTTP.
 */
export const solveScript = `'use strict';
const roots = (power) => {
  const found = [];
  for (let n = 2; found.length < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) { prime = false; break; }
    if (prime) found.push(((n ** power) % 1 * 2 ** 32) >>> 0);
  }
  return found;
};
const K = Int32Array.from(roots(1 / 3));
const H = Int32Array.from(roots(1 / 2).slice(0, 8));
const W = new Int32Array(64);
const out = new Int32Array(2);
const hashBlock = (bytes) => {
  for (let t = 0; t < 16; t++) {
    const at = 4 * t;
    W[t] = bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
  }
  for (let t = 16; t < 64; t++) {
    const x = W[t - 15], y = W[t - 2];
    const s0 = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
    const s1 = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
    W[t] = W[t - 16] + s0 + W[t - 7] + s1 | 0;
  }
  let a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7];
  for (let t = 0; t < 64; t++) {
    const s1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
    const t1 = h + s1 + (e & f ^ ~e & g) + K[t] + W[t] | 0;
    const s0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
    const t2 = s0 + (a & b ^ a & c ^ b & c) | 0;
    h = g; g = f; f = e; e = d + t1 | 0; d = c; c = b; b = a; a = t1 + t2 | 0;
  }
  out[0] = a + H[0] | 0;
};
const block = new Uint8Array(64);
const fill = (text) => {
  block.fill(0);
  for (let at = 0; at < text.length; at++) block[at] = text.charCodeAt(at);
  block[text.length] = 128;
  block[62] = text.length * 8 >>> 8;
  block[63] = text.length * 8 & 255;
};
const own = (text) => { fill(text); hashBlock(block); return out[0]; };
const encoder = new TextEncoder();
const subtle = typeof crypto === 'object' ? crypto.subtle : undefined;
const batch = 256;
const theirs = (texts) => Promise.all(texts.map(async (text) => {
  const digest = await subtle.digest('SHA-256', encoder.encode(text));
  return new DataView(digest).getInt32(0);
}));
const subtleIsFaster = async () => {
  if (subtle === undefined) return false;
  const texts = Array.from({ length: batch }, (_, at) => 'measure:' + at);
  texts.forEach(own);
  const before = performance.now();
  texts.forEach(own);
  const between = performance.now();
  await theirs(texts);
  return performance.now() - between < between - before;
};
onmessage = async ({ data: { id, bits, start, step } }) => {
  const useSubtle = await subtleIsFaster();
  const hits = (word) => Math.clz32(word) >= bits;
  let sinceMs = performance.now();
  let hashes = 0;
  for (let nonce = start; ;) {
    const nonces = Array.from({ length: batch }, (_, at) => nonce + at * step);
    const texts = nonces.map((one) => id + ':' + one);
    const words = useSubtle ? await theirs(texts) : texts.map(own);
    const found = words.findIndex(hits);
    if (found >= 0) return postMessage({ nonce: nonces[found] });
    nonce += batch * step;
    hashes += batch;
    if (performance.now() - sinceMs < 250) continue;
    postMessage({ hashes });
    sinceMs = performance.now();
    hashes = 0;
  }
};
`;
