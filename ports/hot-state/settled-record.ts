/** The part of an install that the hot state remembers, from its record on the log. */

import { matchedVisit } from '../../domain/collection/install.ts'
import type { InstallRecord } from '../../domain/records.ts'
import type { Settlement } from './hot-state.ts'

/** An answer without the claim's owner. */
export type KnownAnswer = Omit<Settlement, 'owner'>

export function answerInRecord({ install }: InstallRecord): KnownAnswer {
  const { organization, website, eventId, installationId, receivedAtMs } = install
  return {
    organization,
    website,
    eventId,
    installationId,
    receivedAtMs,
    answer: JSON.stringify(install.answer),
    isPending: install.resolution === 'pending',
    matched: matchedVisit(install),
  }
}
