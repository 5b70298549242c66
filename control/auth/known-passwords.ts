/**
 * Passwords that guessers try first: common words with digits and signs around them, one piece
 * repeated, runs along a keyboard or the alphabet, the user's own name. The words are those that
 * lead published lists of leaked passwords, and names of this product's accounts.
 */

const commonWords = new Set(
  [
    'password passwort passw0rd pass passphrase secret admin administrator root user guest test',
    'testing welcome letmein login default changeme changeit change changemenow iloveyou monkey',
    'dragon sunshine princess football baseball superman batman master shadow michael jordan',
    'qwerty qwertz azerty trustno starwars hello hellothere whatever freedom computer internet',
    'server firewall waf security system company summer winter spring autumn monday january',
    'correcthorsebatterystaple nopassword mypassword newpassword letmeinnow iamadmin adminadmin',
    'passwordpassword qwertyuiop qwertzuiop asdfghjkl zxcvbnm superadmin supersecret topsecret',
    'operator auditor wafadmin welcomehome bestpassword yourpassword thepassword temporary',
  ].flatMap((line) => line.split(' ')),
);
const runs = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
  '1q2w3e4r5t6y7u8i9o0p',
  '!@#$%^&*()_+',
];
const digitsFor: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};

/** Why a password is one of the first guesses; null for others. Never holds the password. */
export function whyKnown(password: string, username: string): string | null {
  const text = password.toLowerCase();
  if (isRepeated(text)) return 'repeats one short piece';
  if (isRun(text)) return 'is a run of neighboring keys or letters';
  const name = username.toLowerCase();
  const around = name === '' ? null : text.split(name).join('');
  if (name.length > 2 && around !== null && around !== text && letters(around).length < 4) {
    return 'is the name of the user with little around it';
  }
  const bare = core(text);
  const readings = [bare, core(unleet(text)), unleet(bare)];
  if (readings.some((one) => commonWords.has(one) || isWordTwice(one))) {
    return 'is a common password with digits or signs around it';
  }
  return null;
}

/** What is left of a text without digits, signs and spaces at its ends and between its words. */
function core(text: string): string {
  return text.replace(/^[^a-z]+|[^a-z]+$/g, '').replace(/[\s._-]+/g, '');
}

function letters(text: string): string {
  return text.replace(/[^a-z]/g, '');
}

function unleet(text: string): string {
  return [...text].map((one) => digitsFor[one] ?? one).join('');
}

function isWordTwice(text: string): boolean {
  const half = text.length / 2;
  return text.slice(0, half) === text.slice(half) && commonWords.has(text.slice(0, half));
}

/** One piece of at most six characters, again and again. */
function isRepeated(text: string): boolean {
  for (let length = 1; length <= 6 && length * 2 <= text.length; length++) {
    const times = Math.ceil(text.length / length);
    if (text.slice(0, length).repeat(times).slice(0, text.length) === text) return true;
  }
  return false;
}

/** A text made of at most two runs, forwards or backwards. */
function isRun(text: string): boolean {
  const all = runs.flatMap((run) => [run, [...run].reverse().join('')]);
  const isOne = (part: string): boolean => all.some((run) => run.includes(part));
  for (let cut = 3; cut <= text.length; cut++) {
    if (isOne(text.slice(0, cut)) && isOne(text.slice(cut))) return true;
  }
  return false;
}
