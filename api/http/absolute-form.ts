/** Requests whose target is a whole address. */

import type { Request } from 'express'

const ABSOLUTE_FORM = /^(https?:\/\/)([^/?#@\\]+)((?:[/?].*)?)$/i

/**
 * A target in absolute form becomes the path of that address, as a server must accept it (RFC 9112, section 3.2.2), if it names this service: by
 * its own address, or by the host that the request is for anyway. Any other address stays, and is refused: this is no proxy.
 */
export function takeOriginForm(req: Request, baseUrl: string): void {
  const [, scheme = '', authority = '', path = ''] = ABSOLUTE_FORM.exec(req.url) ?? []
  if (authority === '') return
  const host = targetHost(`${scheme}${authority}`)
  const own = [targetHost(baseUrl), targetHost(`${scheme}${req.headers.host ?? ''}`)]
  if (host === undefined || !own.includes(host)) return
  const target = path.startsWith('/') ? path : `/${path}`
  req.url = target
  req.originalUrl = target
}

function targetHost(address: string): string | undefined {
  return URL.parse(address)?.host
}
