/**
 * The groups of a signed-in person, as the identity provider last reported them. They are read again every 15 minutes while
 * the session is used. The grant for that is encrypted with a key derived from the cookie, so the store alone cannot use it.
 */

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

import { LIMITS } from '../../domain/limits.ts'
import type { SessionVerbs } from '../../ports/hot-state/session-verbs.ts'

/** The provider's grant for asking again. */
export interface GroupGrant {
  /** Whose account it is. */
  readonly subject: string
  readonly accessToken: string
  /** Unix ms; null if the provider did not say. */
  readonly accessEndsAtMs: number | null
  readonly refreshToken: string | null
}

/**
 * `read`: the provider reported these groups, and this grant for the next time. `over`: it no longer knows the person.
 * `away`: it did not answer, or must be asked in another way.
 */
export type GroupReading =
  | { readonly kind: 'read'; readonly groups: readonly string[]; readonly grant: GroupGrant }
  | { readonly kind: 'over' }
  | { readonly kind: 'away' }

/** Asks the identity provider; never rejects. */
export type ReadGroups = (grant: GroupGrant) => Promise<GroupReading>

interface GroupMemoryParts {
  readonly hotState: Pick<SessionVerbs, 'putOnce' | 'readOnce' | 'takeOnce'>
  readonly readGroups: ReadGroups
  readonly nowMs: () => number
}

interface GroupMemory {
  /** Remembers the groups of a new session. Without a grant they cannot be read again. */
  readonly begin: (session: SessionKey, groups: readonly string[], grant: GroupGrant | null) => Promise<void>
  /** The groups that count now; null if none are remembered. Without the cookie the provider is not asked. */
  readonly current: (session: SessionKey) => Promise<readonly string[] | null>
  readonly end: (id: string) => Promise<void>
}

interface SessionKey {
  readonly id: string
  /** The browser's cookie; null if it is unknown here. */
  readonly cookie: string | null
}

interface RememberedGroups {
  readonly groups: readonly string[]
  readonly readAtMs: number
  /** Whether the provider was unreachable the last time. */
  readonly isAway: boolean
  /** The encrypted grant; empty if there is none. */
  readonly sealed: string
}

/** Only one of several requests and processes asks, and no more often than this while the provider is unreachable. */
const ASKING_MS = 30_000
/** Set while a request reads them again. */
const GRACE_MS = 60_000
/** Larger grants are not kept: the groups then end an hour after signing in. */
const MOST_SEALED_CHARS = 16_384

export function createGroupMemory({ hotState, readGroups, nowMs }: GroupMemoryParts): GroupMemory {
  const keep = async (id: string, remembered: RememberedGroups): Promise<void> => {
    await hotState.takeOnce(groupsKey(id))
    await hotState.putOnce(groupsKey(id), JSON.stringify(remembered), LIMITS.dashboardSessionMs)
  }
  const readAgain = async (id: string, cookie: string, known: RememberedGroups): Promise<readonly string[]> => {
    const grant = unsealed(known.sealed, cookie)
    const isMine = grant !== null && (await hotState.putOnce(`${groupsKey(id)}/asking`, '', ASKING_MS))
    if (!isMine) return stillCounting(known, nowMs())
    const reading = await readGroups(grant)
    if (reading.kind === 'away') {
      await keep(id, { ...known, isAway: true })
      return stillCounting(known, nowMs())
    }
    const [groups, next] = reading.kind === 'read' ? [reading.groups, sealed(reading.grant, cookie)] : [[], '']
    await keep(id, { groups, readAtMs: nowMs(), isAway: false, sealed: next })
    await hotState.takeOnce(`${groupsKey(id)}/asking`)
    return groups
  }
  return {
    begin: async ({ id, cookie }, groups, grant) => {
      const text = grant === null || cookie === null ? '' : sealed(grant, cookie)
      await keep(id, { groups, readAtMs: nowMs(), isAway: text === '', sealed: text })
    },
    current: async ({ id, cookie }) => {
      const text = await hotState.readOnce(groupsKey(id))
      if (text === null) return null
      const known = JSON.parse(text) as RememberedGroups
      const ageMs = nowMs() - known.readAtMs
      if (ageMs < LIMITS.groupsReadAgainMs || known.groups.length + known.sealed.length === 0) return known.groups
      if (cookie !== null) return readAgain(id, cookie, known)
      const isDue = !known.isAway && ageMs >= LIMITS.groupsReadAgainMs + GRACE_MS
      return isDue ? [] : stillCounting(known, nowMs())
    },
    end: async (id) => void (await hotState.takeOnce(groupsKey(id))),
  }
}

function groupsKey(id: string): string {
  return `groups/${id}`
}

/** If they cannot be read again, they expire after an hour. */
function stillCounting({ groups, readAtMs }: RememberedGroups, nowMs: number): readonly string[] {
  return nowMs - readAtMs < LIMITS.groupMembershipMs ? groups : []
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

function sealed(grant: GroupGrant, cookie: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, sealingKey(cookie), nonce)
  const bytes = Buffer.concat([cipher.update(JSON.stringify(grant), 'utf8'), cipher.final()])
  const text = Buffer.concat([nonce, cipher.getAuthTag(), bytes]).toString('base64')
  return text.length > MOST_SEALED_CHARS ? '' : text
}

function unsealed(text: string, cookie: string): GroupGrant | null {
  if (text === '') return null
  const bytes = Buffer.from(text, 'base64')
  try {
    const decipher = createDecipheriv(CIPHER, sealingKey(cookie), bytes.subarray(0, NONCE_BYTES))
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
    return JSON.parse(plain.toString('utf8')) as GroupGrant
  } catch {
    return null
  }
}

/** The cookie is 256 random bits; the store knows another digest of it. */
function sealingKey(cookie: string): Buffer {
  return createHash('sha256').update(`groups of a session\n${cookie}`).digest()
}
