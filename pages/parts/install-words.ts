/** Explains the service's terms for installs. Unknown terms are shown unchanged. */

import { spanText } from './numbers.tsx'

export const EVENT_WORDS: Readonly<Record<string, string>> = {
  install_started: 'Install started',
  install_completed: 'Installed',
  first_run: 'First run',
}

export const RESOLUTION_WORDS: Readonly<Record<string, string>> = {
  matched: 'matched',
  unmatched: 'not matched',
  counted: 'only counted',
  pending: 'not decided yet',
}

/** How the visit was chosen: a short name and a sentence. */
export const POLICIES: Readonly<Record<string, { readonly name: string; readonly sentence: string }>> = {
  handoff: { name: 'Token', sentence: 'The install command carried the token of this very visit.' },
  latest_visit: {
    name: 'Latest visit',
    sentence: 'The browser on the machine kept markers; the latest one that counts was chosen.',
  },
  first_visit: {
    name: 'First visit',
    sentence:
      'The browser on the machine kept markers; the oldest one that counts was chosen, as the website asks for.',
  },
  same_installation: {
    name: 'Same installation',
    sentence: 'An earlier event of this installation had been matched to this visit.',
  },
  none: { name: 'None', sentence: 'There was nothing to choose from.' },
}

interface ReasonWords {
  readonly name: string
  /** What happened. */
  readonly sentence: string
  /** What to do about it. */
  readonly advice: string
}

/** Why an install has no visit. */
const REASONS: Readonly<Record<string, ReasonWords>> = {
  no_receipt: {
    name: 'No signal found',
    sentence: 'The command carried no token, and no browser on the machine kept a marker.',
    advice:
      'Show the copy button wherever the command stands: its token works in Safari, in private windows, over SSH and in containers, where no marker can be found.',
  },
  never_activated: {
    name: 'The marker was never confirmed',
    sentence: 'The browser wrote the marker, but did not say that it keeps it.',
    advice:
      'Look for refused activations in Logs. If there are none, the page was left within a second, or something in the browser blocks the second request.',
  },
  expired: {
    name: 'The visit was too old',
    sentence: 'It was more than 30 days old, which is how long a receipt holds.',
    advice: 'Nothing is broken. If there are many, invite people back to the install page: a new visit counts anew.',
  },
  revoked: {
    name: 'A newer visit had replaced it',
    sentence: 'The same browser had visited again, but the newer marker was not found on the machine.',
    advice: 'Mostly site data that was cleared in between. A token in the command does not depend on it.',
  },
  handoff_only: {
    name: 'The visit exists for its token alone',
    sentence: 'This visit may only be matched by a command that was copied, and the command carried no token.',
    advice: 'Show the command with the copy button, and let the installer pass the token on to the hook.',
  },
  unrecorded: {
    name: 'The visit came over the quota',
    sentence: 'The plan’s tracked events of the month were used up, so the visit was not recorded.',
    advice:
      'Whoever runs this service can set a larger plan in the Organization: visits are recorded again as soon as there is room.',
  },
  other_website: {
    name: 'It belongs to another website',
    sentence: 'The receipt or token was made for another website of this service.',
    advice: 'Compare the website in your installer’s hook with the one in the script tag.',
  },
  forged: {
    name: 'It was not issued here',
    sentence: 'The receipt or token does not bear this service’s signature.',
    advice:
      'If you changed the master secret, keep the one before among the secrets for 30 days. Otherwise somebody tries.',
  },
}

const NO_REASON: ReasonWords = {
  name: 'Not known',
  sentence: 'It came in before reasons were recorded.',
  advice: 'Nothing to do: installs of today have a reason.',
}

export function reasonWords(reason: string): ReasonWords {
  if (reason === '') return NO_REASON
  return REASONS[reason] ?? { name: reason, sentence: '', advice: '' }
}

const FILTERS: Readonly<Record<string, string>> = {
  policy: 'Matched by',
  reason: 'Why not',
  visit: 'Matched to visit',
  agent: 'Led to an install by',
  leastVisitAge: 'After the visit',
  visitAgeBelow: 'After the visit',
  kind: 'Counted as',
}

/** Filters of few values, each with words of its own; without words it is no chip. */
const CHOICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ranBy: { agent: 'Run by a coding agent', person: 'Run by a person' },
  leftOut: { only: 'Only from CI, containers and tests' },
}

/** "Source: newsletter"; null for a filter with a field of its own. */
export function filterText(name: string, value: string): string | null {
  const choice = CHOICES[name]
  if (choice !== undefined) return choice[value] ?? null
  const title = FILTERS[name]
  if (title === undefined) return null
  if (name === 'policy') return `${title}: ${POLICIES[value]?.name ?? value}`
  if (name === 'reason') return `${title}: ${reasonWords(value).name}`
  if (name === 'leastVisitAge') return `${title}: at least ${spanText(1_000 * Number(value))}`
  if (name === 'visitAgeBelow') return `${title}: less than ${spanText(1_000 * Number(value))}`
  return `${title}: ${value}`
}

/** The verdict about one receipt or token. */
const VERDICTS: Readonly<Record<string, string>> = {
  active: 'counted as a candidate',
  revoked: 'replaced by a newer visit',
  expired: 'more than 30 days old',
  never_activated: 'its marker was never confirmed',
  forged: 'not issued by this service',
  other_website: 'belongs to another website',
  handoff_only: 'may only be matched by its token',
  unrecorded: 'came over the quota',
  handoff: 'its token was in the command',
  undecided: 'not known yet',
  followed: 'matched by an earlier event',
}

export function verdictText(verdict: string): string {
  return VERDICTS[verdict] ?? verdict
}

const STATUSES: Readonly<Record<string, string>> = {
  pending: 'waits',
  retrying: 'is tried again',
  delivered: 'delivered',
  skipped: 'not sent',
  expired: 'too late',
  failed: 'failed',
}

export function statusText(status: string): string {
  return STATUSES[status] ?? status
}
