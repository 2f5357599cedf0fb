/**
 * Counts a page for one website: once per document and path, with marker and activation if the browser keeps markers.
 */

import type { Scope, ServiceAnswer, Page } from './types.ts'
import * as debug from './debug.ts'
import { markerName, openStorage, readKeptReceipt, removeMarkers, writeMarker } from './marker.ts'
import { nativeDocument } from './native.ts'
import { request } from './net.ts'
import { reportProblem, safely } from './page.ts'
import { askExtras, loadedExtras, resume } from './parts.ts'
import { beginVisit, completeVisit, memoryKey, rememberLanding } from './visit.ts'
import type { Whence } from '../whence.d.ts'

/** The service's answer to a visit; stored unchanged. */
interface IssuedMarker {
  readonly receipt: string
}

export function createScope(page: Page, project: string): Scope {
  const counted = new Set<string>()

  /** Reads at once what the page shows now: by the turn of its visit it may show another route. */
  const begin = async () => {
    // A prerendered page counts once it is shown, and never if it is not.
    if ((nativeDocument as Document & { prerendering?: boolean }).prerendering) {
      await new Promise((resolve) => nativeDocument.addEventListener('prerenderingchange', resolve))
    }
    const [root, body] = await Promise.all([openStorage(), beginVisit(page, project)])
    if (DEBUG) debug.checkStorage(root)
    let sent: Promise<ServiceAnswer> | undefined
    const send = (leaving?: Event): unknown => root && (sent ??= scope.send('v1/visits', body, leaving))
    // Counts a visitor who leaves with what is known by then. Once the visit is sent this does nothing.
    addEventListener('pagehide', send)
    return { root, body, send }
  }

  const visit = async ({ root, body, send }: Awaited<ReturnType<typeof begin>>) => {
    if (!root) return
    const name = markerName(project, body.url_id)
    body.previous_receipt = await readKeptReceipt(root, name)
    await completeVisit(page, scope, body)
    // Throws if the answer is no marker: the visit is abandoned.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
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
    send: async (path, body, leaving) => {
      const answer = (page.isAllowed && (await request(page.serviceUrl + path, body, leaving))) || {}
      if (DEBUG) safely(() => debug.checkAnswer(page, { project, path, answer }))
      return page.isAllowed ? answer : {}
    },
    count: () => {
      scope.isDue = !page.isAllowed
      if (!scope.isDue && !counted.has(location.pathname)) {
        counted.add(location.pathname)
        scope.running = Promise.all([begin(), scope.running])
          .then(([begun]) => visit(begun))
          .catch(reportProblem)
      }
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
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
      // Storage that is blocked must not keep the markers from being removed.
      safely(() => sessionStorage.removeItem(memoryKey(project)))
      removeMarkers().catch(reportProblem)
    },
    whence: interfaceOf(page, () => scope, project),
  }
  // Before any request: the visitor may leave at once.
  if (page.isAllowed && page.isAutomatic) safely(() => rememberLanding(page, project))
  return scope
}

/** No call throws or rejects, whatever the page or the browser has blocked. */
function interfaceOf(page: Page, scopeOf: () => Scope, project: string): Whence {
  const whence: Whence = {
    project,
    start: async () => safely(scopeOf().count),
    grant: () => {
      page.isAllowed = page.mayCollect
      resume(page)
    },
    deny: () => {
      page.isAllowed = false
      for (const each of page.scopes.values()) each.forget()
    },
    handoff: async () => (await askExtras(page, (extras) => extras.handoff(scopeOf()))) ?? null,
    command: async (text) => (await askExtras(page, (extras) => extras.command(scopeOf(), text))) ?? text,
    fill: (text) => safely(() => loadedExtras()?.fill(scopeOf(), text)) ?? text,
    copied: () => void askExtras(page, (extras) => extras.copied(scopeOf())),
    prepare: () => void askExtras(page, (extras) => extras.prepare(scopeOf())),
    adapter: (name, read) => void scopeOf().adapters.set(name, read),
    scope: (name) => safely(() => page.scopeOf(name).whence) ?? whence,
    // What the callback throws is the page's own: the browser reports it, but it does not stop the caller.
    push: (callback) => void (async () => callback(whence))(),
  }
  return whence
}
