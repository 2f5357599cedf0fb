/** Checks that an address still belongs to the account that first signed in with it, and records it in the activity if not. */

import { LIMITS } from '../../domain/limits.ts'
import { membersNamed } from '../../domain/people/standing.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Randomness } from '../../runtime/random.ts'
import { createActivity } from '../events/activity.ts'
import type { Directory } from '../resources/directory.ts'
import type { Account, Pins } from './pins.ts'

export interface SameAccountParts {
  readonly directory: Directory
  readonly pins: Pins
  readonly eventLog: LogWriter
  readonly hotState: HitCounter
  readonly personId: (email: string) => string
  readonly randomness: Randomness
  readonly nowMs: () => number
  readonly logger: Logger
}

const TOLD_EVERY_S = 3_600

/** False if a member of this address is pinned to another account; nothing is pinned then. */
export async function isSameAccount(email: string, account: Account, parts: SameAccountParts): Promise<boolean> {
  const members = membersNamed(email, parts.directory.members())
  const pinned = await Promise.all(members.map((member) => parts.pins.read(member, account.issuer)))
  const others = members.filter((_, place) => pinned[place] !== null && pinned[place] !== account.subject)
  if (others.length === 0) {
    const now = await Promise.all(members.map((member) => parts.pins.pin(member, account)))
    if (now.every((subject) => subject === account.subject)) return true
  }
  for (const { organization } of others)
    await noteReplaced({ organization, person: parts.personId(email) }, parts).catch((error: unknown) =>
      parts.logger.warn({ err: error }, 'owners were not told of a replaced account'),
    )
  return false
}

interface Replaced {
  readonly organization: string
  readonly person: string
}

async function noteReplaced({ organization, person }: Replaced, parts: SameAccountParts): Promise<void> {
  const { directory, hotState } = parts
  const told = { key: `told:account_replaced:${organization}:${person}`, limit: 1, windowS: TOLD_EVERY_S }
  if ((await hotState.countHits([told])).kind !== 'counted') return
  await createActivity(parts)({
    organization,
    website: '',
    type: 'account_replaced',
    subject: person,
    message:
      'somebody with the address of a member was not signed in, as the account at the identity provider is another one; if it is the same person, remove the member and invite them again',
    logRetentionDays: directory.organizations().get(organization)?.logRetentionDays ?? LIMITS.logRetentionDays.fallback,
  })
}
