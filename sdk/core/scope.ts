/**
 * Counts a page for one website: once per document and path, with marker and activation if the browser keeps markers.
 */

import type { Scope, Page, VisitDraft } from './types.ts'
import * as debug from './debug.ts'
import { documentValue } from './document-value.ts'
import { request } from './net.ts'
import { reportProblem, safely } from './page.ts'
import type { PageArrival } from './landing.ts'
import type { PageView } from './source.ts'
import { arrive, beginVisit, viewRoute } from './visit.ts'
import type { Whence } from '../whence.d.ts'

export function createScope(page: Page, project: string): Scope {
  /** By path. */
  let counted: Record<string, boolean> = {}
  const memoryKey = `whence:${project}`
  /** Of the last page view. */
  let arrival: PageArrival | undefined
  /** What the document came with is the source of its first page view alone. */
  let view: PageView | undefined = page.view
  const arriveNow = () => {
    // The visitor may have refused while the caller waited: then the origin remembers nothing.
    if (!page.isAllowed) throw new Error('denied')
    arrival = arrive(view ?? viewRoute(), memoryKey, arrival)
    view = undefined
    return arrival
  }
  const isPrerendered = () => documentValue('prerendering')
  /** Before any request: the visitor may leave at once. */
  let first = page.isAllowed && page.isAutomatic && !isPrerendered() && safely(arriveNow)

  /** The configuration is asked for while the recorder loads. */
  const draftOf = async (landing: PageArrival): Promise<VisitDraft> => ({
    body: await beginVisit(page, project, landing),
    landing,
    configuring: scope.send(`v1/projects/${project}/browser-config`),
  })

  /** `before`: visits go one after the other. Rejects if the visitor refuses meanwhile. */
  const countNow = async (before: Promise<void> | undefined): Promise<void> => {
    // A prerendered page counts once it is shown, and never if it is not. The event does not bubble from the document.
    if (isPrerendered()) await new Promise((resolve) => addEventListener('prerenderingchange', resolve, true))
    // What the page shows is read at once: by the turn of its visit it may show another route.
    const landing = first || arriveNow()
    first = undefined
    const draft = await draftOf(landing)
    if (DEBUG) void debug.checkStorage()
    const send = (leaving?: Event) => (draft.sent ??= scope.send('v1/visits', draft.body, leaving))
    // Counts a visitor who leaves with what is known by then. Once the visit is sent this does nothing.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- it never rejects, and a wrapper is bytes that every page loads
    addEventListener('pagehide', send)
    await before
    await page.ask(page.recorder, (recorder) => recorder.record(page, scope, draft, send))
    if (!page.recorder.loaded) await send()
  }

  const scope: Scope = {
    project,
    memoryKey,
    adapters: new Map(),
    isDue: page.isAutomatic,
    send: async (path, body, leaving) => {
      const answer = page.isAllowed && (await request(page.serviceUrl + path, body, leaving))
      if (DEBUG && answer) safely(() => debug.checkAnswer(page, { project, path, answer }))
      return (page.isAllowed && answer) || {}
    },
    count: () => {
      scope.isDue = !page.isAllowed
      if (page.isAllowed && !counted[location.pathname]) {
        counted[location.pathname] = true
        scope.running = countNow(scope.running).catch(reportProblem)
      }
      return scope.running
    },
    draft: async () => draftOf(arrival ?? arriveNow()),
    forget: () => {
      counted = {}
      scope.isDue = page.isAutomatic
      scope.currentReceipt = arrival = first = undefined
      view = page.view
      // Storage that is blocked must not keep the markers from being removed.
      safely(() => localStorage.removeItem(memoryKey))
      void page.ask(page.keeper, (keeper) => keeper.forget(page, scope))
    },
    whence: interfaceOf(page, () => scope, project),
  }
  return scope
}

/** No call throws or rejects, whatever the page or the browser has blocked. */
function interfaceOf(page: Page, scopeOf: () => Scope, project: string): Whence {
  const whence: Whence = {
    project,
    start: async () => safely(scopeOf().count),
    grant: () => {
      page.isAllowed = page.mayCollect
      page.resume()
    },
    deny: () => {
      page.isAllowed = false
      for (const each of page.scopes.values()) each.forget()
    },
    handoff: async () => (await page.askExtras((extras) => extras.handoff(scopeOf()))) ?? null,
    command: async (text) => (await page.askExtras((extras) => extras.command(scopeOf(), text))) ?? text,
    fill: (text) => safely(() => page.fill?.(scopeOf(), text)) ?? text,
    link: (url) => safely(() => page.linkFor?.(scopeOf(), url)) ?? url,
    copied: () => void page.askExtras((extras) => extras.copied(scopeOf())),
    prepare: () => void page.askExtras((extras) => extras.prepare(scopeOf())),
    adapter: (name, read) => void scopeOf().adapters.set(name, read),
    scope: (name) => safely(() => page.scopeOf(name).whence) ?? whence,
    // What the callback throws is the page's own: the browser reports it, but it does not stop the caller.
    push: (callback) => void (async () => callback(whence))(),
  }
  return whence
}
