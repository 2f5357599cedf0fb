/**
 * The groups of a signed-in person, as the identity provider last reported them. They are read again every 15 minutes while
 * the session is used. The grant for that is encrypted with a key derived from the cookie, so the store alone cannot use it.
 */

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'

import { shapeOf, listOf, isText, isNumber, isFlag, orNull, parsedAs } from '../../domain/guards.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'

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
 * `read`: the provider reported these groups. `over`: it no longer knows the person. `unsaid`: it knows the person, but says
 * nothing of groups where it can be asked again. `away`: it did not answer. `grant` is for the next time.
 */
export type GroupReading =
  | { readonly kind: 'read'; readonly groups: readonly string[]; readonly grant: GroupGrant }
  | { readonly kind: 'over' }
  | { readonly kind: 'unsaid' | 'away'; readonly grant: GroupGrant }

/** Asks the identity provider; never rejects. */
export type ReadGroups = (grant: GroupGrant) => Promise<GroupReading>

interface GroupMemoryParts {
  readonly hotState: OnceVerbs
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

export interface SessionKey {
  readonly id: string
  /** The browser's cookie; null if it is unknown here. */
  readonly cookie: string | null
  /** No request with the cookie is to be expected, so groups count as if they could not be read. */
  readonly isUnattended?: boolean
}

interface RememberedGroups {
  readonly groups: readonly string[]
  readonly readAtMs: number
  /** Whether they could not be read the last time. */
  readonly isAway: boolean
  /** The encrypted grant; empty if there is none. */
  readonly sealed: string
}

const isRemembered = shapeOf<RememberedGroups>({
  groups: listOf(isText),
  readAtMs: isNumber,
  isAway: isFlag,
  sealed: isText,
})
const isGrant = shapeOf<GroupGrant>({
  subject: isText,
  accessToken: isText,
  accessEndsAtMs: orNull(isNumber),
  refreshToken: orNull(isText),
})

/** Only one of several requests and processes asks, and no more often than this while the provider is unreachable. */
const ASKING_MS = 30_000
/** Set while a request reads them again. */
const GRACE_MS = 60_000
/** Larger grants are not kept: the groups then end an hour after signing in. */
const MOST_SEALED_CHARS = 16_384
/** How often, and at most how many times, a request looks whether another one has read groups that count no longer. */
const LOOK_MS = 50
const LOOKS_MAX = 100

export function createGroupMemory(parts: GroupMemoryParts): GroupMemory {
  const { hotState, nowMs } = parts
  return {
    begin: async ({ id, cookie }, groups, grant) => {
      const text = grant === null || cookie === null ? '' : sealed(grant, cookie)
      await keepGroups(id, { groups, readAtMs: nowMs(), isAway: text === '', sealed: text }, hotState)
    },
    current: async ({ id, cookie, isUnattended = false }) => {
      const known = await rememberedGroups(id, hotState)
      if (known === null) return null
      const ageMs = nowMs() - known.readAtMs
      if (ageMs < LIMITS.groupsReadAgainMs || known.groups.length + known.sealed.length === 0) return known.groups
      if (cookie !== null) return readAgain({ id, cookie }, known, parts)
      const isDue = !isUnattended && !known.isAway && ageMs >= LIMITS.groupsReadAgainMs + GRACE_MS
      return isDue ? [] : stillCounting(known, nowMs())
    },
    end: async (id) => void (await hotState.takeOnce(groupsKey(id))),
  }
}

/** At once, so that concurrent requests and a crash find the groups of before or those of now. */
function keepGroups(id: string, groups: RememberedGroups, hotState: GroupMemoryParts['hotState']): Promise<void> {
  return hotState.replaceOnce(groupsKey(id), JSON.stringify(groups), LIMITS.dashboardSessionMs)
}

async function rememberedGroups(id: string, hotState: GroupMemoryParts['hotState']): Promise<RememberedGroups | null> {
  const text = await hotState.readOnce(groupsKey(id))
  return text === null ? null : parsedAs(isRemembered, text)
}

async function readAgain(
  { id, cookie }: { readonly id: string; readonly cookie: string },
  known: RememberedGroups,
  { hotState, readGroups, nowMs }: GroupMemoryParts,
): Promise<readonly string[]> {
  const grant = unsealed(known.sealed, cookie)
  if (grant === null) return stillCounting(known, nowMs())
  const asking = `${groupsKey(id)}/asking`
  if (!(await hotState.putOnce(asking, '', ASKING_MS))) return readByAnother(id, known, { hotState, nowMs })
  const reading = await readGroups(grant)
  if (reading.kind === 'away' || reading.kind === 'unsaid') {
    await keepGroups(id, { ...known, isAway: true, sealed: sealed(reading.grant, cookie) }, hotState)
    // It would say no more a moment later.
    if (reading.kind === 'unsaid') await hotState.replaceOnce(asking, '', LIMITS.groupsReadAgainMs)
    return stillCounting(known, nowMs())
  }
  const [groups, next] = reading.kind === 'read' ? [reading.groups, sealed(reading.grant, cookie)] : [[], '']
  await keepGroups(id, { groups, readAtMs: nowMs(), isAway: false, sealed: next }, hotState)
  await hotState.takeOnce(asking)
  return groups
}

/** What counts while another request asks; if that is nothing any more, what it finds out. */
async function readByAnother(
  id: string,
  known: RememberedGroups,
  { hotState, nowMs }: Pick<GroupMemoryParts, 'hotState' | 'nowMs'>,
): Promise<readonly string[]> {
  let latest: RememberedGroups | null = known
  for (let looks = 0; looks < LOOKS_MAX && latest !== null; looks += 1) {
    const isOver = nowMs() - latest.readAtMs >= LIMITS.groupMembershipMs
    if (!isOver || latest.isAway || latest.groups.length === 0) break
    await setTimeout(LOOK_MS)
    latest = await rememberedGroups(id, hotState)
  }
  return latest === null ? [] : stillCounting(latest, nowMs())
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
    return parsedAs(isGrant, plain.toString('utf8'))
  } catch {
    return null
  }
}

/** The cookie is 256 random bits; the store knows another digest of it. */
function sealingKey(cookie: string): Buffer {
  return createHash('sha256').update(`groups of a session\n${cookie}`).digest()
}
