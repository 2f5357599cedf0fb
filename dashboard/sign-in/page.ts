/** The page on which people sign in: plain HTML and one script. The fragment of its address reaches no server. */

import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { sha256Integrity } from '../../common/digest.ts'
import { readPath, sendPage } from '../pages/answer.ts'

const SCRIPT = readFileSync(new URL('page.js', import.meta.url), 'utf8')
const STYLE = readFileSync(new URL('page.css', import.meta.url), 'utf8')
const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in to Whence</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/sign-in.css" integrity="${sha256Integrity(STYLE)}">
<main>
<h1>Sign in to Whence</h1>
<p id="status" role="status"></p>
<form id="by-link" hidden><p><label>Code from the mail <input id="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{8}" hidden></label></p><p><button>Sign in</button></p></form>
<form id="by-mail" hidden><p><label>E-mail address <input id="email" type="email" autocomplete="email" required></label></p><p><button>Send me a link</button></p></form>
<form id="by-oidc" hidden><p><button>Sign in with your organisation</button></p></form>
<section id="me" hidden><ul id="organizations"></ul><form id="sign-out"><p><button>Sign out</button></p></form></section>
</main>
<script src="/sign-in.js" integrity="${sha256Integrity(SCRIPT)}" defer></script>
</html>
`

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const FILES: Readonly<Record<string, { readonly text: string; readonly type: string }>> = {
  '/sign-in': { text: HTML, type: 'text/html' },
  '/sign-in.js': { text: SCRIPT, type: 'text/javascript' },
  '/sign-in.css': { text: STYLE, type: 'text/css' },
}

/** Serves the page, its script and its style sheet; false for everything else. */
export function servePage(req: IncomingMessage, res: ServerResponse): boolean {
  const path = readPath(req)
  const file = path !== null && Object.hasOwn(FILES, path) ? FILES[path] : undefined
  if (file === undefined) return false
  const own =
    file.type === 'text/html'
      ? { 'Cache-Control': 'no-store', 'Content-Security-Policy': POLICY }
      : { 'Cache-Control': 'no-cache' }
  // The address of this page may contain a token until its script has removed it.
  const headers = { 'Referrer-Policy': 'no-referrer', 'Content-Type': `${file.type}; charset=utf-8`, ...own }
  sendPage(req, res, headers, file.text)
  return true
}
