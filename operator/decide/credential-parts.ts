/** Writes the credentials of each holder into as many texts as their size requires. */

import type { Compilation } from '../../domain/catalog/compile-catalog.ts'
import { LIMITS } from '../../domain/limits.ts'
import { CREDENTIAL_HOLDERS, heldCredentials, type CredentialHolder } from '../../domain/published/holders.ts'
import { isSameList } from '../../domain/published/parts.ts'

/** The texts of each holder, and the alternating keys and values they were made from. */
export type CredentialMemory = Map<
  CredentialHolder,
  { readonly from: readonly unknown[]; readonly texts: readonly string[] }
>

/** Members in a fixed order: equal credentials give equal texts. Who has nothing to send has none. */
export function credentialParts(
  { catalog, credentials }: Compilation,
  memory: CredentialMemory,
): ReadonlyMap<CredentialHolder, readonly string[]> {
  const from = new Map<CredentialHolder, unknown[]>(CREDENTIAL_HOLDERS.map((holder) => [holder, []]))
  for (const { holder, key } of heldCredentials(catalog)) from.get(holder)?.push(key, credentials.get(key) ?? {})
  return new Map([...from].map(([holder, list]) => [holder, credentialTexts(holder, list, memory)]))
}

/** Size of one object's credentials in such a text, in bytes. */
export function credentialBytes(key: string, credentials: Readonly<Record<string, string>>): number {
  const bytes = BYTES.get(credentials) ?? Buffer.byteLength(memberText(key, credentials)) + 1
  BYTES.set(credentials, bytes)
  return bytes
}

/** The compiler reuses unchanged credential objects, and no two objects share one. */
const BYTES = new WeakMap<object, number>()

function credentialTexts(
  holder: CredentialHolder,
  from: readonly unknown[],
  memory: CredentialMemory,
): readonly string[] {
  const last = memory.get(holder)
  if (last !== undefined && isSameList(last.from, from)) return last.texts
  const pairs = from.flatMap((key, index) => (index % 2 === 0 ? [[String(key), from[index + 1]] as const] : []))
  pairs.sort(([a], [b]) => (a < b ? -1 : 1))
  const texts = cut(pairs.map(([key, value]) => memberText(key, value))).map(
    (members) => `{"credentials":{${members.join(',')}}}`,
  )
  memory.set(holder, { from, texts })
  return texts
}

function memberText(key: string, value: unknown): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`
}

function cut(members: readonly string[]): readonly (readonly string[])[] {
  const lists: string[][] = []
  let room = 0
  for (const member of members) {
    const bytes = Buffer.byteLength(member) + 1
    if (bytes > room) {
      lists.push([])
      room = LIMITS.credentialPartBytes
    }
    lists.at(-1)?.push(member)
    room -= bytes
  }
  return lists
}
