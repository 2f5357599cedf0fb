/** The HTML document of the pages and the policy it comes with: no inline code, no markup from text, nothing foreign. */

import type { PagesBundle } from './assets.ts'
import { PAGE_HEADERS } from './answer.ts'
import { FAVICON } from './favicon.ts'

export interface DocumentParts {
  readonly bundle: PagesBundle
  /** The service's name as people read it; the pages take it from here. */
  readonly brand: string
  /** Unguessable text, new at each call. */
  readonly nonce: () => string
}

/** The document of all pages, with the headers that it must have. */
export interface HtmlPage {
  readonly headers: Readonly<Record<string, string>>
  readonly html: string
}

/** `isShared`: for whoever has its address, which neither search engines nor other websites are to learn. */
export function pageDocument({ bundle, brand, nonce: newNonce }: DocumentParts, isShared = false): HtmlPage {
  const nonce = newNonce()
  return {
    headers: { ...PAGE_HEADERS, 'Content-Security-Policy': contentPolicy(nonce), 'Permissions-Policy': NO_DEVICES },
    html: documentOf(bundle, { nonce, brand, isShared }),
  }
}

const NO_DEVICES = 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'
const SECRET_ADDRESS = [
  '<meta name="robots" content="noindex, nofollow">',
  '<meta name="referrer" content="no-referrer">',
]

interface WrittenDocument {
  readonly nonce: string
  readonly brand: string
  readonly isShared: boolean
}

function documentOf(
  { script, style, preload, assets }: PagesBundle,
  { nonce, brand, isShared }: WrittenDocument,
): string {
  const integrity = (name: string): string => assets.get(name)?.integrity ?? ''
  const links = preload.map(
    (name) => `<link rel="modulepreload" href="/assets/${name}" integrity="${integrity(name)}">`,
  )
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    ...(isShared ? SECRET_ADDRESS : []),
    `<meta name="application-name" content="${brand}">`,
    `<title>${brand}</title>`,
    `<link rel="icon" type="image/svg+xml" href="${FAVICON}">`,
    `<link rel="stylesheet" href="/assets/${style}" integrity="${integrity(style)}">`,
    ...links,
    `<script type="module" src="/assets/${script}" integrity="${integrity(script)}" nonce="${nonce}"></script>`,
    `<noscript>The pages of ${brand} need JavaScript.</noscript>`,
    '<div id="root"></div>',
    '</html>',
    '',
  ].join('\n')
}

/** Styles that the component library makes at run time carry the nonce; `default` is the pages' own Trusted Types policy. */
function contentPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ')
}
