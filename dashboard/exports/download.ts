/** What every download has in common: what it reads, and that it ends with the right to it. */

import type { OrganizationFacts } from '../reads/scope.ts'

export interface Download {
  readonly reads: OrganizationFacts
  /** Asked before each page. */
  readonly mayGoOn: () => Promise<boolean>
  /** Told after each page. */
  readonly onRows: (rows: number) => void
}

/** @throws Error if the person may not have it any more; the answer is then cut off, without its last line. */
export async function checkMayGoOn({ mayGoOn }: Download): Promise<void> {
  if (!(await mayGoOn())) throw new Error('the export was ended: its person may not have it any more')
}
