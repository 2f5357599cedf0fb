/** The HTML document of the pages and the policy it comes with: no inline code, no markup from text, nothing foreign. */

import type { PagesBundle } from './assets.ts'
import { FAVICON } from './favicon.ts'

/** `brand` is the service's name as people read it; the pages take it from here. */
export function documentOf(
  { script, style, preload, assets }: PagesBundle,
  { nonce, brand }: { readonly nonce: string; readonly brand: string },
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
export function contentPolicy(nonce: string): string {
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
