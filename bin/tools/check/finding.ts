/** Findings of a check of a page: one sentence each, with the fix. */

export interface Finding {
  readonly outcome: 'ok' | 'problem' | 'skipped'
  /**
   * The subject, for programs: `page`, `script`, `website`, `origin`, `hook`, `policy`, `visit`, `marker`,
   * `activation`, `browser`, `crossing`.
   */
  readonly check: string
  readonly words: string
}

export type Tell = (finding: Finding) => void

export const ok = (check: string, words: string): Finding => ({ outcome: 'ok', check, words })
export const problem = (check: string, words: string): Finding => ({ outcome: 'problem', check, words })
export const skipped = (check: string, words: string): Finding => ({ outcome: 'skipped', check, words })
