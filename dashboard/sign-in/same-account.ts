/** Checks that an address still belongs to the account that first signed in with it, and records it in the activity if not. */

import { LIMITS } from '../../domain/limits.ts'
import { membersNamed } from '../../domain/people/standing.ts'
import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { NoteActivity } from '../events/activity.ts'
import type { Directory } from '../resources/directory.ts'
import type { Account, Pins } from './pins.ts'

interface AccountParts {
  readonly directory: Directory
  readonly pins: Pins
  readonly hotState: HitCounter
  readonly personId: (email: string) => string
  readonly noteActivity: NoteActivity
  readonly logger: Logger
}

export interface Accounts {
  /** False if a member of this address is pinned to another account; nothing is pinned then. */
  readonly isSame: (email: string, account: Account) => Promise<boolean>
}

const TOLD_EVERY_S = 3_600

export function createAccounts(parts: AccountParts): Accounts {
  return { isSame: (email, account) => isSameAccount(email, account, parts) }
}

async function isSameAccount(email: string, account: Account, parts: AccountParts): Promise<boolean> {
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

async function noteReplaced({ organization, person }: Replaced, parts: AccountParts): Promise<void> {
  const { directory, hotState, noteActivity } = parts
  const told = { key: `told:account_replaced:${organization}:${person}`, limit: 1, windowS: TOLD_EVERY_S }
  if ((await hotState.countHits([told])).kind !== 'counted') return
  await noteActivity({
    organization,
    website: '',
    type: 'account_replaced',
    subject: person,
    message:
      'somebody with the address of a member was not signed in, as the account at the identity provider is another one; if it is the same person, remove the member and invite them again',
    logRetentionDays: directory.organizations().get(organization)?.logRetentionDays ?? LIMITS.logRetentionDays.fallback,
  })
}
