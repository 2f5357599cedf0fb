/** Answers documents and their files, unlike the API's JSON. */

import type { IncomingMessage, ServerResponse } from 'node:http'

/** No other website may frame, open or read our pages. */
export const PAGE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

/** The path of a request that only reads; null for every other request. */
export function readPath({ method, url = '/' }: IncomingMessage): string | null {
  return method === 'GET' || method === 'HEAD' ? (url.split('?', 1)[0] ?? '/') : null
}

/** Answers 200, without the body to a HEAD. */
export function sendPage(
  req: IncomingMessage,
  res: ServerResponse,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
): void {
  res.writeHead(200, { ...PAGE_HEADERS, ...headers, 'Content-Length': Buffer.byteLength(body) })
  res.end(req.method === 'HEAD' ? undefined : body)
}

const A_YEAR = 'max-age=31536000'

/** Has browsers come to whatever this serves over https alone; it is for a service that is reached so. Other answers keep their own headers. */
export function overHttpsAlone(
  serve: (req: IncomingMessage, res: ServerResponse) => boolean,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  return (req, res) => {
    // Collection is most of what comes, and never served here.
    if (req.url?.startsWith('/v1/') === true) return serve(req, res)
    res.setHeader('Strict-Transport-Security', A_YEAR)
    const isServed = serve(req, res)
    if (!isServed) res.removeHeader('Strict-Transport-Security')
    return isServed
  }
}
