/** Ends an answer that goes on for long once its person may not have it any more. */

import type { Directory } from '../resources/directory.ts'
import type { StreamAnswer } from './call.ts'

const RIGHT_EVERY_MS = 500

/**
 * Aborts once the person has lost the right to the answer. While that cannot be found out, the answer goes on, unless nobody's rights are
 * known any more.
 */
export function watchRight(
  mayGoOn: StreamAnswer['mayGoOn'],
  { rightsAge }: Directory,
): { readonly ended: AbortSignal; readonly stop: () => void } {
  const ended = new AbortController()
  if (mayGoOn === undefined) return { ended: ended.signal, stop: () => undefined }
  const timer = setInterval(() => {
    if (rightsAge() === 'unknown') ended.abort(new Error('who may do what is not known any more'))
    mayGoOn().then(
      (may) => may || ended.abort(new Error('its person may not have it any more')),
      () => undefined,
    )
  }, RIGHT_EVERY_MS)
  return { ended: ended.signal, stop: () => clearInterval(timer) }
}
