/** Tests of markup that editors write, and of markup that acts. */

import { describe, expect, test } from 'vitest';
import { html5 } from './families/html.table.ts';
import { isHarmlessMarkup } from './harmless-markup.ts';

/** As TinyMCE, CKEditor, Trix, Summernote, Froala, Quill, WordPress and mail programs do. */
const written = [
  '<p>Hello <strong>world</strong>, see <a href="https://example.com/page?id=3&amp;x=1" target="_blank" rel="noopener">our page</a>.</p>',
  '<p>Picture: <img src="../img/cat.jpg" alt="A cat" width="320" height="200" /></p>',
  '<p><img src="https://cdn.example.com/a/b.png" alt="" /></p>\n<p>&nbsp;</p>',
  '<h2>Prices</h2>\n<table style="border-collapse: collapse; width: 100%;" border="1">\n<tbody>\n<tr>\n<td style="width: 50%;">Size</td>\n<td>10</td>\n</tr>\n</tbody>\n</table>',
  '<ul>\n<li>One</li>\n<li>Two &ndash; <em>three</em></li>\n</ul>\n<p style="text-align: center;"><span style="color: #e03e2d;">Red</span></p>',
  '<p><a href="/shop/list?sort=price&amp;dir=asc">Shop</a> and <a href="mailto:me@example.com">mail</a></p>',
  '<blockquote>\n<p>He said &ldquo;select your table&rdquo;; she left.</p>\n</blockquote>\n<hr />\n<p>End</p>',
  '<figure class="image image_resized" style="width:50%;"><img src="/uploads/2026/11/photo.jpg" alt="Photo"><figcaption>The sea</figcaption></figure>',
  '<figure class="table"><table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></figure>',
  '<p><span style="background-color:hsl(60,75%,60%);font-family:Arial, Helvetica, sans-serif;">Text</span></p>',
  '<pre><code class="language-css">a { color: red; background: url(x.png) }</code></pre>',
  '<figure class="media"><oembed url="https://www.youtube.com/watch?v=abc"></oembed></figure>',
  '<div>Hello<br>there<br><br><strong>Bold</strong></div><ul><li>a</li></ul>',
  '<figure data-trix-attachment="{&quot;contentType&quot;:&quot;image/png&quot;,&quot;filename&quot;:&quot;a.png&quot;,&quot;height&quot;:20}" data-trix-content-type="image/png" class="attachment attachment--preview"><img src="/rails/active_storage/blobs/abc/a.png" width="20" height="20"></figure>',
  '<p>Hi,<br></p><p><img style="width: 25%;" src="/media/a.jpg" data-filename="a.jpg"><br></p>',
  '<p><img src="https://i.froala.com/download/abc.jpg" class="fr-fic fr-dib" style="width: 300px;"></p><p data-f-id="pbf">Powered</p>',
  '<p class="ql-align-center">Hello <a href="https://example.com" rel="noopener noreferrer" target="_blank">link</a></p><p><br></p>',
  'Some text with <a href="http://example.com/?p=12">a link</a>.\n\n<img class="alignnone size-medium wp-image-12" src="http://blog.example/wp-content/uploads/a-300x200.jpg" alt="" width="300" height="200" />\n\n[gallery ids="1,2"]',
  '<div dir="ltr">Hi Bob,<div><br></div><div>On Mon, Nov 2, 2026 at 3:04 PM Al &lt;<a href="mailto:al@example.com">al@example.com</a>&gt; wrote:<br></div><blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid rgb(204,204,204);padding-left:1ex">Yes</blockquote></div>',
  '<p class="MsoNormal"><span lang="EN-US" style="font-size:11.0pt;font-family:&quot;Calibri&quot;,sans-serif">Hello<o:p></o:p></span></p>',
  '<p>Logo <img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==" alt="x"></p>',
  '<img width="640" alt="Screenshot" src="https://user-images.example.com/1/2-3.png">\n\nSteps:\n1. open\n2. close',
  '<p dir="ltr" style="text-align: left;">Question 1: <img class="img-fluid" role="presentation" src="https://moodle.example/draftfile.php/5/user/draft/123/a.png" alt="" width="200" height="100" /><br></p>',
  '<table width="600" cellpadding="0" cellspacing="0" border="0" align="center" bgcolor="#ffffff"><tr><td align="left" valign="top"><a href="https://shop.example/sale?utm_source=mail&utm_medium=a"><img src="https://shop.example/i/h.gif" border="0" alt="Sale" style="display:block"></a></td></tr></table>',
  '<p><a id="top" name="top"></a>Go <a href="#end">down</a> or <a href="tel:+4912345">call</a></p>',
  '<video controls width="300"><source src="/media/a.mp4" type="video/mp4">No video</video>',
  '<p>Listen: <audio controls="controls" src="/a.mp3"></audio></p>',
  '<ol start="3" type="a"><li value="3">x</li></ol><p><sub>2</sub><sup>3</sup><s>no</s><u>yes</u></p>',
  '<!-- pagebreak --><p>Next</p>',
  '<html><body><p style="color:red">Hi</p><img src="cid:1"></body></html>',
  '<html><head>\n<meta http-equiv="Content-Type" content="text/html; charset=utf-8"></head><body style="font-family:Arial" bgcolor="#fff" text="#000"><div>Hi</div></body></html>',
  '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>News</title><style>p{margin:0}</style></head><body><p>Hi</p></body></html>',
  '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd"><html xmlns="http://www.w3.org/1999/xhtml"><head><title>a</title></head><body></body></html>',
  '<html xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns="http://www.w3.org/TR/REC-html40"><head><style><!--\n@font-face {font-family:Calibri; panose-1:2 15 5 2;}\np.MsoNormal {margin:0cm; font-size:11.0pt;}\n--></style></head><body lang="EN-US" link="#0563C1" vlink="#954F72"><p class="MsoNormal">Hi<o:p></o:p></p></body></html>',
  '<iframe width="560" height="315" src="https://www.youtube-nocookie.com/embed/9bZkp7q19f0?start=12" title="Player" frameborder="0" allow="autoplay; encrypted-media" allowfullscreen></iframe>',
];

/** Markup that is near to that of editors, and may act or hide something. */
const acting = [
  ...['<p onclick="go()">x</p>', '<img src="a" onerror=alert(1)>', '<img src=x ONERROR = "a">'],
  ...['<a href="javascript:alert(1)">x</a>', '<a href="java&#115;cript:alert(1)">x</a>'],
  ...['<a href="java&Tab;script:x">x</a>', '<a href=" javascript&colon;x">x</a>'],
  ...['<a href="data:text/html,<b>">x</a>', '<img src="data:image/svg+xml;base64,PHN2Zz4=">'],
  ...['<a href="vbscript:x">x</a>', '<a href="blob:x">x</a>', '<a href="x:y/z">x</a>'],
  ...['<p style="width:expression(alert(1))">x</p>', '<p style="background:url(//x)">x</p>'],
  ...['<p style="-moz-binding:x">x</p>', '<p style="width:\\65xpression(1)">x</p>'],
  ...['<a style="position:fixed;top:0;left:0;width:100%" href="//x">x</a>'],
  '<iframe src="https://www.youtube.com/embed/a" srcdoc="b"></iframe>',
  '<iframe src="https://www.youtube.com.x.example/embed/a"></iframe>',
  '<iframe src="https://www.youtube.com/redirect?q=a"></iframe>',
  ...['<p><svg></p>', '<p><iframe src="//x"></p>', '<p><object data="x"></p>', '<base href="//x">'],
  ...['<p><form action="//x"><input name="q"></form></p>', '<p><style>p{}</style></p>'],
  ...['<p><script src="//x"></script></p>', '<p><scr<script>ipt></p>', '<p><a href="x</p>'],
  ...['"><img src="a.png">', "'/><img src='a.png'>", '<p>x</p>"><b>y</b>', '<p title="a">b"></p>'],
  ...['<p>&lt;script&gt;x&lt;/script&gt;</p>', '<p>&LTscript&gt;</p>', '<p>%3Cscript%3E</p>'],
  ...['<p>{{constructor.constructor(1)}}</p>', '<p>${x}</p>', '<p>`x`</p>', '<p><?php x ?></p>'],
  ...['<p>+ADw-script+AD4-</p>', '<p>\\x3cscript</p>', '<p>\\u003cscript</p>', '<p\0>x</p>'],
  ...[
    "<p>'-alert(1)-'</p>",
    '<p>document.cookie</p>',
    '<b data-ng-init="x">y</b>',
    '<b ng-init=x>',
  ],
  ...['<a data-remote="true" data-method="delete" href="/a">x</a>', '<b v-on:click="x">y</b>'],
  ...['<b @click="x">y</b>', '<b :is="x">y</b>', '<b x-data="x">y</b>', '<b hx-get="/x">y</b>'],
  ...['<!--#exec cmd="ls"--><p>x</p>', '<!--[if IE]><b><![endif]-->', '<!--><img src=x-->'],
  ...['<p/onclick=x>', '<p a=b/onclick="x">', '<p a="b"onclick="x">', '<img src=a/onerror=x>'],
  ...['</p onclick="x">', '<p title=`x`>', '< p>', '<p', '<p>a < b</p>', '<P\u000conclick=x>'],
  ...['<body onload="x">', '<html onclick="x">', '<html><body background="//x"></body></html>'],
  '<html><head><meta http-equiv="refresh" content="0;url=//x"></head></html>',
  '<html><head><meta http-equiv=Set-Cookie content="a=b"></head></html>',
  '<html><head><style>a{background:url(//x)}</style></head></html>',
  '<html><head><style>@import "x";</style></head></html>',
  '<html><head><style>a{position:fixed}</style></head></html>',
  '<html><head><style>a{}</style></style></head><body onload=x></html>',
  '<html><head><style><!-- a{} --><script>x</script></style></head></html>',
  '<html xmlns:x="//x"><body>a</body></html>',
  '<!DOCTYPE html SYSTEM "http://x.example/a.dtd"><html><body>a</body></html>',
  '<!DOCTYPE html [<!ENTITY a "b">]><html><body>a</body></html>',
  '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://x.example/a.dtd"><html></html>',
  ...['<p>a</p><html><body>b</body></html>', '<!DOCTYPE html><p>a</p>', '<body><p>a</p></body>'],
  '<html><head><base href="//x"><link rel="stylesheet" href="/a.css"></head></html>',
  ...['<b xlink:href="x">y</b>', '<img srcset="a, javascript:x 2x">', '<video><source onerror=x>'],
];

describe('harmless markup', () => {
  test.each(written)('is what editors write: %s', (text) => {
    expect(isHarmlessMarkup(text)).toBe(true);
  });

  test.each(acting)('is none that may act: %s', (text) => {
    expect(isHarmlessMarkup(text)).toBe(false);
  });

  test.each(['plain text', 'a & b', '', '1 > 0', 'see &lt; here'])('has tags: %s', (text) => {
    expect(isHarmlessMarkup(text)).toBe(false);
  });

  test('no attack that detectors of markup know is harmless, alone or beside harmless markup', () => {
    const attacks = html5.detectors.flatMap(({ examples }) => examples.attacks);
    expect(attacks.length).toBeGreaterThan(40);
    const forms = (text: string): string[] => [
      ...[text, `<p>${text}</p>`, `<p>a</p>\n${text}`, `${text}<p>b</p>`],
      `<html><body><p>a</p>${text}</body></html>`,
      `<!DOCTYPE html><html><head><title>${text}</title></head><body></body></html>`,
      `<html><head><style>${text}</style></head><body></body></html>`,
      ...[`<html><head><meta name="a" content="${text}"></head></html>`, `<html lang="${text}">`],
      ...[`<p title="${text}">x</p>`, `<b>x</b>${text}<i>y</i>`, `<!-- a -->${text}`],
    ];
    expect(attacks.flatMap(forms).filter(isHarmlessMarkup)).toEqual([]);
  });

  test('a text of 64 KB costs a step for each tag', () => {
    expect(isHarmlessMarkup('<b>x</b>'.repeat(8_000))).toBe(true);
    expect(isHarmlessMarkup('<b>x</b>'.repeat(9_000))).toBe(false);
    expect(isHarmlessMarkup(`<p ${'a '.repeat(30_000)}`)).toBe(false);
    expect(isHarmlessMarkup(`<p>${'"   '.repeat(16_000)}</p>`)).toBe(true);
  });
});
