/**
 * Sends install events at a fixed rate, as a thread of its own: what its benchmark reads meanwhile would hold up its clock otherwise. Asked for
 * so many seconds, it answers with the times of all of them, in ascending order.
 */

import { parentPort, workerData } from 'node:worker_threads'

import { eventBody } from '../../fixtures/service/requests.ts'
import { openLoop, type DueRequest } from '../support/open-loop.ts'

export interface InstallEvents {
  readonly port: number
  readonly perSecond: number
  /** In turns. */
  readonly websites: number
}

const { port, perSecond, websites } = workerData as InstallEvents
let events = 0

parentPort?.on('message', (seconds: number) => {
  void openLoop({ port, perSecond, seconds, next }).then((times) => parentPort?.postMessage(times))
})

/** Each from an address of its own: with enough of them no limit is reached. */
function next(): DueRequest {
  const place = events++
  const address = `${20 + (place >> 16)}.${(place >> 8) & 255}.${place & 255}.1`
  const body = eventBody({ project: `site-${place % websites}`, install_path: undefined })
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address }
  return { path: '/v1/events', headers, body: JSON.stringify(body) }
}
