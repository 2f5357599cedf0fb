/** What every download has in common: what it reads, and that it ends when the person loses the right to it. */

import type { OrganizationFacts } from '../reads/scope.ts'

export interface Download {
  readonly reads: OrganizationFacts
  /** Called before each page. */
  readonly mayGoOn: () => Promise<boolean>
  /** Called after each page, with how many rows of it are sent: a limit may end the download within a page. */
  readonly onRows: (rows: number) => void
}

/** @throws Error if the person has lost the right to it; the answer is then cut off, without its last line. */
export async function checkMayGoOn({ mayGoOn }: Download): Promise<void> {
  if (!(await mayGoOn())) throw new Error('the export was ended: its person may not have it any more')
}
