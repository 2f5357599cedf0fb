/** The script tag: reads its attributes, and starts the SDK with them. */

import { boot } from './core/boot.ts'
import { scriptAt } from './core/load-script.ts'
import { documentValue, findInPage } from './core/document-value.ts'
import { safely } from './core/page.ts'
import { explainMissingProject } from './core/debug.ts'

/** A script of the SDK. The explaining one has no attributes of its own, but the tag in whose place it runs. */
interface SdkScript extends HTMLScriptElement {
  whence?: HTMLScriptElement
}

safely(() => {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const script = (documentValue('currentScript') ?? findInPage('script[data-project]')) as SdkScript
  const tag = (DEBUG && script.whence) || script
  const { dataset, nonce, integrity } = tag
  const { project, debug } = dataset
  const serviceUrl = new URL('.', tag.src).href
  // The explaining bundle takes over, unless the page pins the bytes of this one. It also says that there is no project: tag managers
  // leave nothing of a script element but its address.
  const isReplaced =
    !DEBUG &&
    (debug !== undefined || !project) &&
    !integrity &&
    safely(() => {
      const talking: SdkScript = scriptAt(`${serviceUrl}browser.debug.js`, nonce)
      talking.whence = tag
      documentValue('head').append(talking)
      return true
    })
  if (isReplaced) return
  if (project) boot({ serviceUrl, nonce, project, tagAttributes: dataset })
  else if (DEBUG) explainMissingProject()
})
