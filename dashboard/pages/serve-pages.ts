/** Serves the pages: one HTML document for all their addresses, and the files of the bundle. */

import type { IncomingMessage, ServerResponse } from 'node:http'

import { PAGE_HEADERS, readPath, sendPage } from './answer.ts'
import type { Asset } from './assets.ts'
import { pageDocument, type DocumentParts } from './document.ts'

const REFERRER = { 'Referrer-Policy': 'same-origin' } as const

/** Hashed names: the content of each never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable'

/** False for every address that is not one of the pages. */
export function pagesServer(parts: DocumentParts): (req: IncomingMessage, res: ServerResponse) => boolean {
  const { assets } = parts.bundle
  return (req, res) => {
    const path = readPath(req)
    if (path === null) return false
    if (path === '/' || path.startsWith('/app/')) {
      const { headers, html } = pageDocument(parts)
      const head = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' }
      sendPage(req, res, { ...REFERRER, ...head, ...headers }, html)
      return true
    }
    if (!path.startsWith('/assets/')) return false
    serveAsset(req, res, assets.get(path.slice('/assets/'.length)))
    return true
  }
}

function serveAsset(req: IncomingMessage, res: ServerResponse, asset: Asset | undefined): void {
  if (asset === undefined) {
    res.writeHead(404, { ...PAGE_HEADERS, ...REFERRER, 'Cache-Control': 'no-store', 'Content-Length': 0 }).end()
    return
  }
  const takesBrotli = /\bbr\b/.test(String(req.headers['accept-encoding'] ?? ''))
  const headers = { ...REFERRER, 'Content-Type': asset.contentType, 'Cache-Control': FOR_EVER, Vary: 'Accept-Encoding' }
  if (takesBrotli) sendPage(req, res, { ...headers, 'Content-Encoding': 'br' }, asset.brotli)
  else sendPage(req, res, headers, asset.plain)
}
