/** Texts that no door may take for a mail address. */

/** Each is no address, or another mailbox for somebody who reads it differently. */
export const NO_ADDRESSES: readonly string[] = [
  ...['<<a@b.dev>>', '<a@b.dev>', 'a@b.dev>', 'a<b@x.dev', 'a\0@x.dev', 'a@x.dev\0', 'A <a@b.dev>', 'a@b.dev,c@d.dev'],
  ...['a;b@x.dev', 'a@b@x.dev', '"a b"@x.dev', '"a"@x.dev', 'a(comment)@x.dev', 'a b@x.dev', ' a@b.dev', 'a@b.dev '],
  ...['a@b.dev\n', 'a@b.dev\r\nBcc: c@d.dev', 'a\tb@x.dev', 'a\\@b.dev', 'a:b@x.dev', '[a]@x.dev', 'mailto:a@b.dev'],
  ...[
    '.a@b.dev',
    'a.@b.dev',
    'a..b@x.dev',
    '@b.dev',
    'a@',
    'a',
    '',
    'a@b',
    'a@.dev',
    'a@b..dev',
    'a@b.dev.',
    'a@-b.dev',
  ],
  ...['a@b-.dev', 'a@1.2.3.4', 'a@[1.2.3.4]', 'a@b_c.dev', 'a@b.dev/c', 'a@b.dev?c', 'jörg@acme.dev', 'a@äcme.dev'],
  // Letters whose lower case is an ASCII letter, or that look like one.
  ...[
    '\u212Aevin@acme.dev',
    'a@\u212A.dev',
    'İ@acme.dev',
    'а@acme.dev',
    'ａ@acme.dev',
    'a\u200b@acme.dev',
    'a@acme\u3002dev',
  ],
  ...[`${'a'.repeat(65)}@b.dev`, `a@${'b'.repeat(64)}.dev`, `a@${'b.'.repeat(130)}dev`],
]
