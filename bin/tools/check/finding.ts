/** What a check of a page has found: one sentence each, with what to do about it. */

export interface Finding {
  readonly outcome: 'ok' | 'problem' | 'skipped'
  /** What was looked at, for programs: `page`, `script`, `website`, `origin`, `hook`, `policy`, `visit`, `marker`, `activation`, `browser`. */
  readonly check: string
  readonly words: string
}

export type Tell = (finding: Finding) => void

export const ok = (check: string, words: string): Finding => ({ outcome: 'ok', check, words })
export const problem = (check: string, words: string): Finding => ({ outcome: 'problem', check, words })
export const skipped = (check: string, words: string): Finding => ({ outcome: 'skipped', check, words })
