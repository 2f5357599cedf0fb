/**
 * Who ended the weekly mail of an organisation. The choice is on the log before anybody is told so, and in the facts for good; the hot state knows it until
 * it is there.
 */

import { sha256Hex } from '../../common/digest.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { mailDigest } from '../../domain/people/mail-choice.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'
import type { NoteActivity } from '../events/activity.ts'

interface MailChoice {
  /** ID of the organisation. */
  readonly organization: string
  readonly logRetentionDays: number
  readonly email: string
  readonly isEnded: boolean
}

export interface MailChoices {
  /** Rejects with `FactsUnavailable`, and while the hot state is away. */
  readonly isEnded: (organization: string, email: string) => Promise<boolean>
  /** Resolves once it cannot be lost any more. Rejects with `LogUnavailable`. */
  readonly choose: (choice: MailChoice) => Promise<void>
}

interface ChoiceParts {
  readonly facts: FactsReader
  readonly hotState: OnceVerbs
  readonly noteActivity: NoteActivity
}

/** Longer than an entry of the log waits to become a fact. */
const REMEMBERED_MS = 8 * DAY_MS
const ENDED = 'ended'
const WANTED = 'wanted'

export function createMailChoices({ facts, hotState, noteActivity }: ChoiceParts): MailChoices {
  return {
    async isEnded(organization, email) {
      const digest = mailDigest(organization, email, sha256Hex)
      const latest = await hotState.readOnce(choiceKey(digest))
      if (latest !== null) return latest === ENDED
      const [stored] = await facts.run('mailChoices', { organization, digests: [digest] })
      return stored?.is_ended ?? false
    },
    async choose({ organization, logRetentionDays, email, isEnded }) {
      const digest = mailDigest(organization, email, sha256Hex)
      const type = isEnded ? 'weekly_mail_ended' : 'weekly_mail_resumed'
      // Neither subject nor actor: whose choice it was is nobody else's business.
      await noteActivity({
        organization,
        website: '',
        type,
        subject: '',
        message: '',
        mailDigest: digest,
        logRetentionDays,
      })
      // Only until the facts have it; if the hot state is away, they will within seconds.
      await hotState.replaceOnce(choiceKey(digest), isEnded ? ENDED : WANTED, REMEMBERED_MS).catch(() => undefined)
    },
  }
}

function choiceKey(digest: string): string {
  return `mail-choice/${digest}`
}
