/**
 * The mark of a test: a page view or an event that carries one is recorded and counts toward the quota, and is in no figure and no
 * delivery. The dashboard signs it for one person and website. A mark that proves nothing is ignored: whoever makes one up cannot hide traffic.
 */

import { MINUTE_MS } from '../durations.ts'
import type { OwnedWebsite } from '../model.ts'

/** Under a key of its own. `testHash` signs; a mark counts if any of `testHashes` made it. */
export interface TestKeys {
  readonly testHash: (text: string) => string
  readonly testHashes: (text: string) => readonly string[]
}

/** Long enough to open a page, copy its command and run it. */
export const TEST_MARK_MS = 10 * MINUTE_MS
/** End of its time in seconds, person, signature: letters, digits and dots alone, for addresses and shells. */
const FORM = /^t1\.([0-9a-z]{1,9})\.(p_[0-9a-f]{16})\.([0-9a-f]{32})$/

interface Tester extends OwnedWebsite {
  /** As `personId` names them. */
  readonly person: string
}

export function issueTestMark(keys: Pick<TestKeys, 'testHash'>, tester: Tester, nowMs: number): string {
  const until = Math.ceil((nowMs + TEST_MARK_MS) / 1_000).toString(36)
  return `t1.${until}.${tester.person}.${keys.testHash(markText(tester, until))}`
}

/** Whether it was signed for this website and is not over. */
export function isTestMark(keys: TestKeys, website: OwnedWebsite, mark: unknown, nowMs: number): boolean {
  const [, until = '', person = '', hash = ''] = (typeof mark === 'string' ? FORM.exec(mark) : null) ?? []
  if (hash === '' || Number.parseInt(until, 36) * 1_000 < nowMs) return false
  return keys.testHashes(markText({ ...website, person }, until)).includes(hash)
}

/** None of them can contain a NUL. */
function markText({ organization, website, person }: Tester, until: string): string {
  return [organization, website, person, until].join('\0')
}
