/** A website for the browsers of these tests: each path answers with the page that a test has put there. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SitePage {
  readonly body: string
  readonly headers?: Record<string, string>
}

export interface Site {
  /** A secure context without a certificate. */
  readonly origin: string
  /** The same server under another host: another site for the browser. */
  readonly foreignOrigin: string
  /** Puts a page at a path of its own and returns its address. One with the header `location` is a redirect. */
  readonly add: (body: string, headers?: Record<string, string>) => string
  /** What browsers have asked for, with its query. */
  readonly asked: string[]
  readonly close: () => Promise<void>
}

/** Pages stay until the site is closed; every one has its own path, so that tests do not see each other's markers. */
export async function startSite(): Promise<Site> {
  const pages = new Map<string, SitePage>()
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const page = pages.get(new URL(request.url ?? '/', 'http://site').pathname)
    const status = page?.headers?.['location'] ? 302 : 200
    response.writeHead(page ? status : 404, { 'content-type': 'text/html; charset=utf-8', ...page?.headers })
    response.end(page && `<!doctype html><meta charset="utf-8"><title>${request.url ?? ''}</title>${page.body}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const origin = `http://localhost:${port}`
  return {
    origin,
    asked,
    foreignOrigin: `http://127.0.0.1:${port}`,
    add: (body, headers = {}) => {
      const path = `/page-${pages.size}`
      pages.set(path, { body, headers })
      return origin + path
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
