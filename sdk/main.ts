/** The script tag: reads its attributes, and starts the SDK with them. */

import { boot } from './core/boot.ts'
import { scriptAt } from './core/load-script.ts'
import { nativeDocument } from './core/native.ts'
import { safely } from './core/page.ts'

safely(() => {
  const { currentScript } = nativeDocument
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const tag = (currentScript ?? nativeDocument.querySelector('script[data-project]')) as HTMLScriptElement
  const { dataset, nonce, integrity } = tag
  const { project, debug } = dataset
  const serviceUrl = new URL('.', tag.src).href
  // The explaining bundle takes over, unless the page pins the bytes of this one.
  const isReplaced =
    !DEBUG &&
    debug !== undefined &&
    !integrity &&
    safely(() => {
      const talking = scriptAt(`${serviceUrl}browser.debug.js`, nonce)
      Object.assign(talking.dataset, dataset)
      nativeDocument.head.append(talking)
      return true
    })
  if (isReplaced) return
  if (project) boot({ serviceUrl, nonce, project, tagAttributes: dataset })
  // Tag managers leave nothing of a script element but its address.
  // eslint-disable-next-line no-console -- without it nothing would say why nothing arrives
  else console.warn('[whence] no data-project: give the script tag the ID of your website')
})
