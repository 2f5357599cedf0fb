/** Pages of plain HTML with one style sheet: where people sign in, and what they see when something is wrong. They load nothing of the bundle. */

import { readFileSync } from 'node:fs'

import { sha256Integrity } from '../../common/digest.ts'
import { FAVICON } from './favicon.ts'

export const PLAIN_STYLE = readFileSync(new URL('plain-page.css', import.meta.url), 'utf8')
/** Where that style sheet is served. */
export const PLAIN_STYLE_PATH = '/sign-in.css'

interface PlainPage {
  readonly title: string
  /** Markup. What others wrote goes through `escapedText` first. */
  readonly main: string
  /** Markup of a script, after the page. */
  readonly script?: string
}

export function plainPage({ title, main, script = '' }: PlainPage): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapedText(title)}</title>
<link rel="icon" type="image/svg+xml" href="${FAVICON}">
<link rel="stylesheet" href="${PLAIN_STYLE_PATH}" integrity="${sha256Integrity(PLAIN_STYLE)}">
<main>
${main}
</main>
${script}</html>
`
}

/** What a plain page may do: `own` adds to it. No script turns text into markup. */
export function plainPolicy(own: readonly string[] = []): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    'img-src data:',
    ...own,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

export function escapedText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
