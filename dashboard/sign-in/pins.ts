/**
 * Port: which account at the identity provider a member's address belonged to when it first signed in. Addresses get recycled:
 * another account with the same address is another person.
 */

import { parsedAs, shapeOf, isText } from '../../domain/guards.ts'
import { sha256Hex } from '../../common/digest.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'

export type PinnedMember = { readonly namespace: string; readonly name: string }

export interface Account {
  readonly issuer: string
  /** Digest of the issuer's name for the account. */
  readonly subject: string
}

export interface Pins {
  /** The subject that is pinned for this issuer; null if there is none. */
  readonly read: (member: PinnedMember, issuer: string) => Promise<string | null>
  /** Pins it unless another one is pinned; resolves with the pinned one. */
  readonly pin: (member: PinnedMember, account: Account) => Promise<string>
  /** Called when the member is removed. */
  readonly forget: (member: PinnedMember) => Promise<void>
}

const SUBJECT_CHARS = 32

export function accountOf(issuer: string, sub: string): Account {
  return { issuer, subject: sha256Hex(`${issuer}\n${sub}`).slice(0, SUBJECT_CHARS) }
}

/** Long enough for people who rarely sign in; a folder has no status to keep it in. */
const KEPT_MS = 400 * 86_400_000

/** @throws Error if it cannot be read: whoever signs in must not be taken for the first one */
function accountIn(text: string): Account {
  const account = parsedAs(isAccount, text)
  if (account === null) throw new Error('the account that is pinned cannot be read')
  return account
}

const isAccount = shapeOf<Account>({ issuer: isText, subject: isText })

/** For the embedded program, whose hot state is on its disk. It has one issuer; after a change of issuer nothing is pinned. */
export function hotStatePins(hotState: OnceVerbs): Pins {
  const keyOf = ({ namespace, name }: PinnedMember): string => `pin/${sha256Hex(`${namespace}\n${name}`)}`
  const stored = async (member: PinnedMember): Promise<Account | null> => {
    const text = await hotState.readOnce(keyOf(member))
    return text === null ? null : accountIn(text)
  }
  const read: Pins['read'] = async (member, issuer) => {
    const account = await stored(member)
    return account?.issuer === issuer ? account.subject : null
  }
  return {
    read,
    async pin(member, account) {
      const before = await stored(member)
      if (before !== null && before.issuer !== account.issuer) await hotState.takeOnce(keyOf(member))
      await hotState.putOnce(keyOf(member), JSON.stringify(account), KEPT_MS)
      return (await read(member, account.issuer)) ?? account.subject
    },
    forget: async (member) => void (await hotState.takeOnce(keyOf(member))),
  }
}
