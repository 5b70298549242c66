/** What challenge pages say, in five languages, and which of them a visitor gets. */

/** The texts of one language. */
export interface PageTexts {
  /** BCP 47. */
  readonly lang: string;
  readonly title: string;
  readonly why: string;
  readonly working: string;
  /** `{s}` stands for seconds. */
  readonly about: string;
  readonly failed: string;
  /** Without script; `{s}` stands for seconds. */
  readonly wait: string;
  readonly scriptNeeded: string;
  readonly proceed: string;
  readonly humanTitle: string;
  readonly humanWhy: string;
  /** `{a}` and `{b}` stand for numbers. */
  readonly question: string;
  readonly hint: string;
  readonly tones: string;
  /** Of a service of others; `{host}` stands for where it is. */
  readonly verifierWhy: string;
  readonly questionInstead: string;
  /** Words for 2 to 9. */
  readonly numbers: readonly string[];
}

const en: PageTexts = {
  lang: 'en',
  title: 'Checking your browser',
  why: 'This site checks that a browser is asking. You need to do nothing.',
  working: 'Please wait.',
  about: 'Please wait about {s} seconds.',
  failed: 'The check could not run in this browser. Reload the page to try again.',
  wait: 'Your browser runs no scripts. The page continues by itself in about {s} seconds.',
  scriptNeeded: 'Turn on JavaScript for this site and reload the page.',
  proceed: 'Continue',
  humanTitle: 'Confirm that you are a person',
  humanWhy: 'Answer the question, or listen and count.',
  question: 'How much is {a} plus {b}?',
  hint: 'Answer with digits, or with the number of tones that you hear.',
  tones: 'Tones to count instead',
  verifierWhy: 'The check below comes from {host}.',
  questionInstead: 'Answer a question instead',
  numbers: ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'],
};

const de: PageTexts = {
  lang: 'de',
  title: 'Ihr Browser wird geprüft',
  why: 'Diese Website prüft, ob ein Browser anfragt. Sie müssen nichts tun.',
  working: 'Bitte warten.',
  about: 'Bitte warten Sie etwa {s} Sekunden.',
  failed: 'Die Prüfung läuft in diesem Browser nicht. Laden Sie die Seite neu.',
  wait: 'Ihr Browser führt keine Skripte aus. Die Seite geht in etwa {s} Sekunden weiter.',
  scriptNeeded: 'Schalten Sie JavaScript für diese Website ein und laden Sie die Seite neu.',
  proceed: 'Weiter',
  humanTitle: 'Bestätigen Sie, dass Sie ein Mensch sind',
  humanWhy: 'Beantworten Sie die Frage, oder hören Sie zu und zählen Sie.',
  question: 'Wie viel ist {a} plus {b}?',
  hint: 'Antworten Sie mit Ziffern oder mit der Zahl der Töne, die Sie hören.',
  tones: 'Töne, die Sie stattdessen zählen können',
  verifierWhy: 'Die Prüfung unten kommt von {host}.',
  questionInstead: 'Stattdessen eine Frage beantworten',
  numbers: ['zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun'],
};

const fr: PageTexts = {
  lang: 'fr',
  title: 'Vérification de votre navigateur',
  why: "Ce site vérifie que la demande vient d'un navigateur. Vous n'avez rien à faire.",
  working: 'Veuillez patienter.',
  about: 'Veuillez patienter environ {s} secondes.',
  failed: 'La vérification ne fonctionne pas dans ce navigateur. Rechargez la page.',
  wait: "Votre navigateur n'exécute pas de scripts. La page continue dans environ {s} secondes.",
  scriptNeeded: 'Activez JavaScript pour ce site et rechargez la page.',
  proceed: 'Continuer',
  humanTitle: 'Confirmez que vous êtes une personne',
  humanWhy: 'Répondez à la question, ou écoutez et comptez.',
  question: 'Combien font {a} plus {b} ?',
  hint: 'Répondez en chiffres, ou par le nombre de sons que vous entendez.',
  tones: 'Sons à compter à la place',
  verifierWhy: 'La vérification ci-dessous provient de {host}.',
  questionInstead: 'Répondre plutôt à une question',
  numbers: ['deux', 'trois', 'quatre', 'cinq', 'six', 'sept', 'huit', 'neuf'],
};

const es: PageTexts = {
  lang: 'es',
  title: 'Comprobando su navegador',
  why: 'Este sitio comprueba que la petición viene de un navegador. No tiene que hacer nada.',
  working: 'Espere, por favor.',
  about: 'Espere unos {s} segundos, por favor.',
  failed: 'La comprobación no funciona en este navegador. Vuelva a cargar la página.',
  wait: 'Su navegador no ejecuta scripts. La página continúa en unos {s} segundos.',
  scriptNeeded: 'Active JavaScript para este sitio y vuelva a cargar la página.',
  proceed: 'Continuar',
  humanTitle: 'Confirme que es una persona',
  humanWhy: 'Responda a la pregunta, o escuche y cuente.',
  question: '¿Cuánto es {a} más {b}?',
  hint: 'Responda con cifras, o con el número de tonos que oye.',
  tones: 'Tonos para contar en su lugar',
  verifierWhy: 'La comprobación de abajo procede de {host}.',
  questionInstead: 'Responder a una pregunta en su lugar',
  numbers: ['dos', 'tres', 'cuatro', 'cinco', 'seis', 'siete', 'ocho', 'nueve'],
};

const zh: PageTexts = {
  lang: 'zh',
  title: '正在检查您的浏览器',
  why: '本网站正在确认请求来自浏览器。您无需进行任何操作。',
  working: '请稍候。',
  about: '请等待大约 {s} 秒。',
  failed: '此浏览器无法完成检查。请重新加载页面。',
  wait: '您的浏览器未运行脚本。页面将在大约 {s} 秒后继续。',
  scriptNeeded: '请为本网站启用 JavaScript，然后重新加载页面。',
  proceed: '继续',
  humanTitle: '请确认您是真人',
  humanWhy: '请回答问题，或者听声音并计数。',
  question: '{a}加{b}等于多少？',
  hint: '请用数字回答，或填写您听到的声音次数。',
  tones: '也可以数声音的次数',
  verifierWhy: '下面的检查由 {host} 提供。',
  questionInstead: '改为回答问题',
  numbers: ['二', '三', '四', '五', '六', '七', '八', '九'],
};

/** Every language. */
export const pageTexts: readonly PageTexts[] = [en, de, fr, es, zh];

const rangesMax = 16;

/** The texts for an Accept-Language field (RFC 9110 section 12.5.4); English when none fits. */
export function textsFor(acceptLanguage: string | null): PageTexts {
  let [best, weight] = [en, 0];
  for (const range of (acceptLanguage ?? '').split(',', rangesMax)) {
    const [tag = '', quality = ''] = range.trim().toLowerCase().split(';', 2);
    const primary = tag.trim().split('-', 1)[0];
    const found = pageTexts.find(({ lang }) => lang === primary);
    const given = /q\s*=\s*([01](?:\.\d{0,3})?)/.exec(quality)?.[1];
    const asked = given === undefined ? 1 : Number(given);
    if (found !== undefined && asked > weight) [best, weight] = [found, asked];
  }
  return best;
}
