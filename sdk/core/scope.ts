/**
 * Counts a page for one website: once per document and path, with marker and activation if the browser keeps markers.
 */

import type { Scope, ServiceAnswer, Page } from './types.ts'
import * as debug from './debug.ts'
import { markerName, openStorage, readKeptReceipt, removeMarkers, writeMarker } from './marker.ts'
import { request } from './net.ts'
import { extrasOf, reportProblem, resume } from './page.ts'
import { beginVisit, completeVisit, memoryKey, rememberLanding } from './visit.ts'
import type { Whence } from '../whence.d.ts'

/** The service's answer to a visit; stored unchanged. */
interface IssuedMarker {
  readonly receipt: string
}

export function createScope(page: Page, project: string): Scope {
  const counted = new Set<string>()

  const visit = async () => {
    // A prerendered page counts once it is shown, and never if it is not.
    if ((document as Document & { prerendering?: boolean }).prerendering) {
      await new Promise((resolve) => document.addEventListener('prerenderingchange', resolve))
    }
    const [root, body] = await Promise.all([openStorage(), beginVisit(page, project)])
    if (DEBUG) debug.checkStorage(root)
    if (!root) return
    const name = markerName(project, body.url_id)
    let sent: Promise<ServiceAnswer> | undefined
    const send = (leaving?: Event): unknown => (sent ??= scope.send('v1/visits', body, !!leaving))
    // A visitor who leaves is counted with what is known by then. Once the visit is sent this does nothing.
    addEventListener('pagehide', send)
    body.previous_receipt = await readKeptReceipt(root, name)
    await completeVisit(page, scope, body)
    // If the answer is no marker, the next line throws, and the visit is abandoned.
    const { marker } = (await send()) as { marker: IssuedMarker }
    if (!marker.receipt) return
    scope.currentReceipt = marker.receipt
    await writeMarker(root, name, marker)
    await scope.send('v1/visits/activate', { project, receipt: marker.receipt })
  }

  const scope: Scope = {
    project,
    adapters: new Map(),
    isDue: page.isAutomatic,
    isUrgent: false,
    running: Promise.resolve(),
    currentReceipt: undefined,
    send: async (path, body, isLast) => {
      const answer = (page.isAllowed && (await request(page.serviceUrl + path, body, isLast))) || {}
      if (DEBUG) debug.checkAnswer(page, { project, path, answer })
      return page.isAllowed ? answer : {}
    },
    count: () => {
      scope.isDue = !page.isAllowed
      if (!scope.isDue && !counted.has(location.pathname)) {
        counted.add(location.pathname)
        scope.running = scope.running.then(visit).catch(reportProblem)
      }
      return scope.running as Promise<void>
    },
    compose: async () => {
      const body = await beginVisit(page, project)
      await completeVisit(page, scope, body)
      return body
    },
    forget: () => {
      counted.clear()
      scope.isDue = page.isAutomatic
      scope.currentReceipt = undefined
      sessionStorage.removeItem(memoryKey(project))
      return removeMarkers()
    },
    whence: interfaceOf(page, () => scope, project),
  }
  // Before any request: the visitor may leave at once.
  if (page.isAllowed && page.isAutomatic) rememberLanding(page, project)
  return scope
}

function interfaceOf(page: Page, scopeOf: () => Scope, project: string): Whence {
  const whence: Whence = {
    project,
    start: () => scopeOf().count(),
    grant: () => {
      page.isAllowed = page.mayCollect
      resume(page)
    },
    deny: () => {
      page.isAllowed = false
      for (const scope of page.scopes.values()) scope.forget().catch(reportProblem)
    },
    handoff: async () => (await extrasOf(page))?.handoff(scopeOf()) ?? null,
    command: async (text) => (await (await extrasOf(page))?.command(scopeOf(), text)) ?? text,
    fill: (text) => page.extras?.fill(scopeOf(), text) ?? text,
    adapter: (name, read) => scopeOf().adapters.set(name, read),
    scope: (name) => page.scopeOf(name).whence,
    push: (callback) => callback(whence),
  }
  return whence
}
