/** Which Secrets objects refer to, and which of those that the dashboard made are no longer needed, and since when. */

import { LIMITS } from '../limits.ts'
import { objectOf } from '../strict-json.ts'

/** A Secret that may no longer be in use. */
export interface UnusedSecret {
  /** `namespace/name`. */
  readonly key: string
  readonly uid: string
  readonly createdAtMs: number
}

interface UnusedSecrets {
  /**
   * Gives the Secrets that are due to be deleted. To be called with all Secrets that the dashboard made and the keys of all Secrets
   * that any object refers to.
   */
  readonly due: (made: readonly UnusedSecret[], referred: ReadonlySet<string>, nowMs: number) => readonly UnusedSecret[]
  /** To be called while not everything is known: from then on every Secret counts as just seen. */
  readonly startOver: () => void
}

interface Unreferred {
  readonly sinceMs: number
  /** Nothing referred to it since it was made. */
  readonly isNew: boolean
}

export function createUnusedSecrets(): UnusedSecrets {
  const unreferred = new Map<string, Unreferred>()
  /** Secrets that were referred to while this process looked. */
  const used = new Set<string>()
  const note = ({ uid, createdAtMs }: UnusedSecret, nowMs: number): Unreferred => {
    // What a process before this one saw is not known, except of a Secret that was made a moment ago.
    const isNew = !used.has(uid) && nowMs - createdAtMs < LIMITS.unusedSecretMs
    const noted = unreferred.get(uid) ?? { sinceMs: nowMs, isNew }
    unreferred.set(uid, noted)
    return noted
  }
  return {
    due: (made, referred, nowMs) => {
      const existing = new Set(made.map(({ uid }) => uid))
      for (const uid of unreferred.keys()) if (!existing.has(uid)) unreferred.delete(uid)
      for (const uid of used) if (!existing.has(uid)) used.delete(uid)
      return made.filter((secret) => {
        if (referred.has(secret.key)) {
          used.add(secret.uid)
          unreferred.delete(secret.uid)
          return false
        }
        const { sinceMs, isNew } = note(secret, nowMs)
        return nowMs - sinceMs >= (isNew ? LIMITS.unusedSecretMs : LIMITS.replacedSecretMs)
      })
    },
    startOver: () => unreferred.clear(),
  }
}

interface SecretReference {
  /** Of a Secret in the namespace of the object. */
  readonly name: string
  /** The member that is referred to; null if it is the whole Secret. */
  readonly member: string | null
}

/** `spec` is that of a Destination, LogStream or Webhook, as it was written. */
export function secretReferences(spec: unknown): readonly SecretReference[] {
  const fields = Object.entries(objectOf(spec))
  const inBlocks = fields.flatMap(([, block]) => Object.entries(objectOf(block)))
  // A Webhook has no block.
  const own = fields.filter(([field]) => /secretRef$/i.test(field))
  return [...own, ...inBlocks].flatMap(([field, ref]) => {
    const { name, key } = objectOf(ref)
    if (!field.endsWith('Ref') || typeof name !== 'string') return []
    return [{ name, member: typeof key === 'string' ? key : null }]
  })
}
