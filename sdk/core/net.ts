/** Sends requests to the service: bounded in time, without credentials, and never with an exception. */

import type { ServiceAnswer } from './types.ts'
import * as debug from './debug.ts'
import { wait } from './page.ts'

/** Longest wait for the service's answer. */
const ANSWER_MS = 8_000

/**
 * The answer, or undefined if none came or it is no JSON. POSTs `body` as JSON if there is one, otherwise GETs.
 * `leaving`: the event of the page being left; no answer will be read. Requests with `keepalive` outlive their page. Browsers
 * without it use beacons, which only reach a service on the page's own origin, because a beacon to another origin
 * carries credentials and is refused.
 */
export async function request(url: string, body?: object, leaving?: Event): Promise<ServiceAnswer | undefined> {
  try {
    // The request takes its content type from the blob.
    const json = body && new Blob([JSON.stringify(body)], { type: 'application/json' })
    if (leaving && !('keepalive' in Request.prototype)) return void navigator.sendBeacon(url, json)
    const answering = fetch(url, {
      credentials: 'omit',
      // An activation arrives even if the visitor has followed a link.
      ...(json && { method: 'POST', body: json, keepalive: true }),
    })
    const response = await Promise.race([answering, wait(ANSWER_MS)])
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
    return (await response?.json()) as ServiceAnswer | undefined
  } catch {
    if (DEBUG) debug.explainSilence(url).catch(() => undefined)
    return
  }
}
