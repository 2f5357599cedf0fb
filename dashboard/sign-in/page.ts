/** The page on which people sign in: plain HTML and one script. The fragment of its address reaches no server. */

import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { sha256Integrity } from '../../common/digest.ts'
import { readPath, sendPage } from '../pages/answer.ts'
import { PLAIN_STYLE, PLAIN_STYLE_PATH, plainPage, plainPolicy } from '../pages/plain-page.ts'

const SCRIPT = readFileSync(new URL('page.js', import.meta.url), 'utf8')

const htmlOf = (brand: string): string =>
  plainPage({
    title: `Sign in to ${brand}`,
    main: `<h1>Sign in to ${brand}</h1>
<p id="invited" hidden>You are invited to an organisation. Sign in with the address that the invitation was sent to. It then waits for you on the first page, or under Your account.</p>
<p id="status" role="status"></p>
<form id="by-link" hidden><p><label id="code-label" hidden>Code from the mail <input id="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{8}"></label></p><p><button>Sign in</button></p></form>
<form id="by-mail" hidden><p><label>E-mail address <input id="email" type="email" autocomplete="email" required></label></p><p><button>Send me a link</button></p></form>
<form id="by-oidc" hidden><p><button>Sign in with your organisation</button></p></form>
<section id="me" hidden><ul id="organizations"></ul><p><a href="/">Open the dashboard</a></p><form id="sign-out"><p><button>Sign out</button></p></form></section>`,
    script: `<script src="/sign-in.js" integrity="${sha256Integrity(SCRIPT)}" defer></script>
`,
  })

const POLICY = plainPolicy(["script-src 'self'", "connect-src 'self'", "form-action 'self'"])

/** Serves the page, its script and its style sheet; false for everything else. `brand` is the service's name as people read it. */
export function signInPages({ brand }: { readonly brand: string }) {
  const files: Readonly<Record<string, { readonly text: string; readonly type: string }>> = {
    '/sign-in': { text: htmlOf(brand), type: 'text/html' },
    '/sign-in.js': { text: SCRIPT, type: 'text/javascript' },
    [PLAIN_STYLE_PATH]: { text: PLAIN_STYLE, type: 'text/css' },
  }
  return (req: IncomingMessage, res: ServerResponse): boolean => {
    const path = readPath(req)
    const file = path !== null && Object.hasOwn(files, path) ? files[path] : undefined
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
}
