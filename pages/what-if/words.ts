/** Names selection policies for people, and says how an install was matched. */

import { VISIT_POLICIES, type SelectionPolicy } from '../../domain/model.ts'
import type { ReplayLine } from './replays-data.ts'

const POLICY_WORDS: Readonly<Record<SelectionPolicy, string>> = {
  latest_visit: 'the latest visit',
  first_visit: 'the first visit',
  handoff: 'the copied command',
  same_installation: 'an earlier event',
  none: 'unmatched',
}

export const POLICY_CHOICES = VISIT_POLICIES.map((value) => ({ value, label: POLICY_WORDS[value] }))

export function policyWords({ policy, windowDays, tokensOnly }: ReplayLine): string {
  const what = tokensOnly ? 'copied commands only' : POLICY_WORDS[policy]
  return `${what}, ${windowDays === 1 ? '1 day' : `${windowDays} days`}`
}

/** How an install was matched, and the source of its visit; null if it was not matched. */
export function matchWords(policy: SelectionPolicy, source: string | null): string {
  if (source === null) return POLICY_WORDS.none
  return `${POLICY_WORDS[policy]}, ${source === '' ? 'no source' : source}`
}
