/** The script tag: reads its attributes, starts the SDK with them, and puts `window.whence` in place. */

import { boot } from './core/boot.ts'
import * as debug from './core/debug.ts'
import { scriptAt } from './core/load-script.ts'
import type { Whence, WhenceCallback } from './whence.d.ts'

try {
  const script = document.currentScript
  // An element named `currentScript` would shadow the property, and could then name a service of its own.
  const tag =
    script instanceof HTMLScriptElement ? script : document.querySelector<HTMLScriptElement>('script[data-project]')
  if (tag) start(tag)
} catch {
  // A page is never told.
}

function start(tag: HTMLScriptElement): void {
  const { dataset, nonce } = tag
  const { project } = dataset
  const serviceUrl = new URL('.', tag.src).href
  // The bundle that explains itself takes over, unless the page pins the bytes of this one.
  if (!DEBUG && 'debug' in dataset && !tag.integrity) {
    const talking = scriptAt(`${serviceUrl}browser.debug.js`, nonce)
    Object.assign(talking.dataset, dataset)
    return document.head.append(talking)
  }
  if (DEBUG) debug.checkTag(tag)
  if (!project) return
  // Before the script is here a queue is in the place of the interface.
  const earlier = window.whence as Whence | WhenceCallback[] | undefined
  // The script is in the page twice: another website joins the first one's interface, the same one is there already.
  if (earlier && 'scope' in earlier) return void earlier.scope(project)
  const whence = (window.whence = boot({ serviceUrl, nonce, project, wishes: dataset }))
  // Each in a task of its own: one that throws does not keep the others from running.
  earlier?.forEach((callback) => queueMicrotask(() => callback(whence)))
}
