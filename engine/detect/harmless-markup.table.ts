/** What markup may hold to be harmless; `harmless-markup.ts` reads it. */

/** Tags that show text, tables, pictures and sounds. */
export const tags: ReadonlySet<string> = new Set(
  (
    'a abbr acronym address article aside audio b bdi bdo big blockquote br caption center cite ' +
    'code col colgroup dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 ' +
    'h5 h6 header hr i img ins kbd li main mark nav o:p oembed ol p picture pre q rp rt ruby s ' +
    'samp section small source span strike strong sub summary sup table tbody td tfoot th thead ' +
    'time tr tt u ul var video wbr'
  ).split(' '),
);

/** Tags of pages and their forms, beside these. */
export const ownTags: ReadonlySet<string> = new Set(
  'body button fieldset input label legend option select style svg textarea'.split(' '),
);

/** Tags of a whole document, as mail programs and editors of pages write it. */
export const pageTags: ReadonlySet<string> = new Set('html head body title meta style'.split(' '));

/** Attributes of these with any text; `http-equiv` and namespaces have a choice of values. */
export const pageAttributes: ReadonlySet<string> = new Set(
  'alink bottommargin charset content leftmargin link property rightmargin text topmargin vlink'.split(
    ' ',
  ),
);

/** Attributes of drawings; `xmlns` is the name of a language. */
export const drawing: ReadonlySet<string> = new Set(
  (
    'fill fill-rule focusable opacity preserveaspectratio stroke stroke-linecap stroke-linejoin ' +
    'stroke-width version viewbox x xmlns y'
  ).split(' '),
);

/** Attributes with any text. */
export const freeAttributes: ReadonlySet<string> = new Set(
  (
    'abbr align allow allowtransparency autofocus autoplay checked disabled for maxlength min max multiple placeholder readonly required ' +
    'step allowfullscreen alt axis bgcolor border cellpadding cellspacing class color cols ' +
    'colspan controls datetime dir download face frame frameborder headers height hspace hreflang id lang ' +
    'loading loop marginheight marginwidth media muted name noshade nowrap open playsinline preload referrerpolicy rel reversed role rows ' +
    'rowspan rules scrolling scope size sizes span start summary tabindex target title translate type ' +
    'valign value vspace width xml:lang'
  ).split(' '),
);

/** Attributes that hold one address. */
export const urlAttributes: ReadonlySet<string> = new Set(
  'cite href longdesc poster src url'.split(' '),
);

/** Attributes of data that libraries run, or that send something when a person clicks. */
export const unsafeData =
  /^data-(?:ng|bind|hx|v-|x-|on|action|controller|method|remote|turbo|ajax|url|src|href|html|template|content$|target|toggle|parent)/;

/**
 * What stands in no harmless text: bytes of control, references by number, further encodings,
 * templates, and words of scripts.
 */
export const acts = new RegExp(
  [
    '[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f`]',
    '&#|%3c|%3e|%25|%00|\\\\x|\\\\u|\\\\\\d|\\+AD',
    '\\{\\{|\\$\\{|<[?%]|<!(?!--)',
    'script\\s*:|data:(?:text|application)\\/|expression\\s*\\(|@import|-moz-binding|behaviou?r\\s*:',
    '\\bon[a-z]{3,20}\\s*=|srcdoc|formaction|xlink',
    '\\b(?:document|window|location|self|top|parent)\\s*[.[]|\\beval\\b|fromcharcode',
    '\\b(?:alert|prompt|confirm|fetch|settimeout|function)\\s*\\(|constructor|__proto__|=>',
    '&(?:colon|newline|tab|[lr]par|sol|grave|bsol|lbrace|lcub|lsqb|lbrack);?',
  ].join('|'),
  'i',
);
