/** Which of the Secrets that the dashboard made are no longer needed, and since when. */

import { LIMITS } from '../../domain/limits.ts'

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
    // What an operator before this one saw is not known, except of a Secret that was made a moment ago.
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
