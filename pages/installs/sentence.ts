/** What became of an install, in one sentence. */

import type { InstallDetail } from '../data/installs.ts'
import { POLICIES, reasonWords } from '../parts/install-words.ts'
import { spanText } from '../parts/numbers.tsx'
import { DIRECT, originText } from './origin.tsx'

export function sentenceOfInstall({ install, visits }: InstallDetail): string {
  const { resolution, reason } = install
  if (resolution === 'counted')
    return 'Only counted: on the plan Free, which whoever runs this service can change, or while its install path is paused, nothing is read of it.'
  if (resolution === 'pending') {
    return 'Not decided yet: what decides it could not be read when it was reported. It is decided within an hour.'
  }
  if (resolution !== 'matched') {
    const { name, sentence } = reasonWords(reason)
    return `Not matched. ${name}: ${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1)}`
  }
  const visit = visits.find(({ visit_id: id }) => id === install.visit_id)
  const issuedAtMs = install.visit_issued_at_ms ?? visit?.issued_at_ms
  const when = issuedAtMs === undefined ? '' : ` ${spanText(install.received_at_ms - issuedAtMs)} before`
  const from = visit === undefined ? '' : visitFrom(originText(visit))
  return `Matched to a visit${when}${from}. ${POLICIES[install.selection_policy]?.sentence ?? ''}`
}

function visitFrom(origin: string): string {
  return origin === DIRECT ? ' that came directly' : ` from ${origin}`
}
