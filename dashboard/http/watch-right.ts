/** Ends an answer that goes on for long once its person may not have it any more. */

import { every } from '../../common/every.ts'
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
): { readonly ended: AbortSignal; readonly close: () => void } {
  const ended = new AbortController()
  if (mayGoOn === undefined) return { ended: ended.signal, close: () => undefined }
  const ask = async (): Promise<void> => {
    if (!(await mayGoOn())) ended.abort(new Error('its person may not have it any more'))
  }
  const lookAtAge = (): void => {
    if (rightsAge() === 'unknown') ended.abort(new Error('who may do what is not known any more'))
  }
  const pace = { firstMs: RIGHT_EVERY_MS, onFailure: () => undefined }
  // Two loops: an answer that does not come must not keep the age from being looked at.
  const asking = every(RIGHT_EVERY_MS, ask, pace)
  const looking = every(RIGHT_EVERY_MS, lookAtAge, pace)
  return { ended: ended.signal, close: () => void Promise.all([asking.close(), looking.close()]) }
}
