/** Pauses and resumes a log stream: one field of its object. */

import { refuse } from '../../domain/errors.ts'
import { notTriedOut, writeSpec, type WriteParts } from '../configuration/write.ts'
import { streamOf, type CallOfStream } from './find.ts'

/** Answers the changed object; `conflict` if someone else changed it meanwhile. */
export function setPaused(parts: WriteParts, isPaused: boolean) {
  return async (call: CallOfStream) => {
    const ref = streamOf(call, parts.inventory)
    const stored = ref === null ? null : await parts.writer.read(ref)
    if (ref === null || stored === null) return refuse('not_found')
    return notTriedOut(await writeSpec(parts, call, { ref, stored, after: { ...stored.spec, paused: isPaused } }))
  }
}
