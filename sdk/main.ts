/** The script tag: reads its attributes, starts the SDK with them, and sets `window.whence`. */

import { boot } from './core/boot.ts'
import * as debug from './core/debug.ts'
import { scriptAt } from './core/load-script.ts'
import type { Whence, WhenceCallback } from './whence.d.ts'

try {
  const script = document.currentScript
  // An element named `currentScript` would shadow the property, and could redirect the page to another service.
  const tag =
    script instanceof HTMLScriptElement ? script : document.querySelector<HTMLScriptElement>('script[data-project]')
  if (tag) startFromTag(tag)
} catch {
  // The page itself never sees an error.
}

function startFromTag(tag: HTMLScriptElement): void {
  const { dataset, nonce } = tag
  const { project } = dataset
  const serviceUrl = new URL('.', tag.src).href
  // The explaining bundle takes over, unless the page pins the bytes of this one.
  if (!DEBUG && 'debug' in dataset && !tag.integrity) {
    const talking = scriptAt(`${serviceUrl}browser.debug.js`, nonce)
    Object.assign(talking.dataset, dataset)
    return document.head.append(talking)
  }
  if (DEBUG) debug.checkTag(tag)
  if (!project) return
  // Until the script has loaded, the interface is a queue.
  const earlier = window.whence as Whence | WhenceCallback[] | undefined
  // The page contains the script twice: another website joins the first one's interface; the same one is there already.
  if (earlier && 'scope' in earlier) return void earlier.scope(project)
  const whence = (window.whence = boot({ serviceUrl, nonce, project, tagAttributes: dataset }))
  // Each in a separate task, so that one that throws does not stop the others.
  earlier?.forEach((callback) => queueMicrotask(() => callback(whence)))
}
