/** `whence explain`: why an install was matched or not, and how each of its deliveries stands. */

import { readJsonColumn } from '../../domain/json-column.ts'
import type { CandidateVerdict, DeliveryPlan } from '../../domain/model.ts'
import type { AttemptRow, DeliveryRow, InstallRow, VisitRow } from '../../ports/facts/query-rows.ts'
import type { RunOutcome } from '../../runtime/settings/settings.ts'
import { openBackend, type ToolBackend } from './backend.ts'
import { tell } from './explain-text.ts'
import { complain, print, printJson } from './output.ts'

export interface Explanation {
  readonly install: InstallRow
  /** Columns of the install that are damaged; what they say is left out. */
  readonly unread: readonly string[]
  readonly verdicts: readonly CandidateVerdict[]
  readonly plans: readonly DeliveryPlan[]
  /** The visits that the receipts named, as far as they are known. */
  readonly visits: readonly VisitRow[]
  readonly deliveries: readonly DeliveryRow[]
  readonly attempts: readonly AttemptRow[]
}

export async function explainTool(run: RunOutcome): Promise<number> {
  const backend = await openBackend(run.settings)
  try {
    const installs = await findInstalls(backend, run.positionals[0], run.flags.get('--website'))
    if (installs.length === 0) {
      const isAny = run.positionals[0] === undefined
      const what = isAny ? 'no install is recorded yet' : 'no recorded install has this event ID'
      complain(`whence explain: ${what} (a report takes a moment to show here)\n`)
      return 1
    }
    for (const install of installs) {
      const explanation = await gather(backend, install)
      if (run.flags.has('--json')) printJson([explanation])
      else print(tell(explanation, Date.now()))
    }
  } finally {
    await backend.close()
  }
  return 0
}

/** By event ID, or the newest one where none is named. */
async function findInstalls(
  backend: ToolBackend,
  eventId: string | undefined,
  website: string | undefined,
): Promise<readonly InstallRow[]> {
  if (eventId !== undefined) {
    const rows = await backend.run('installsByEventId', { event_id: eventId })
    return rows.filter((row) => website === undefined || row.website === website)
  }
  const filters = website === undefined ? {} : { website }
  return backend.run('listInstalls', { since_ms: 0, until_ms: Number.MAX_SAFE_INTEGER, limit: 1, ...filters })
}

async function gather(backend: ToolBackend, install: InstallRow): Promise<Explanation> {
  const told = readJsonColumn<CandidateVerdict[]>(install.verdicts)
  const plans = readJsonColumn<DeliveryPlan[]>(install.deliveries)
  const verdicts = told ?? []
  const ids = new Set(verdicts.flatMap(({ visitId }) => (visitId === null ? [] : [visitId])))
  if (install.visit_id !== '') ids.add(install.visit_id)
  const key = { website: install.website, event_id: install.event_id }
  const visits =
    ids.size === 0
      ? []
      : await backend.run('visitsByIds', { websites: [...ids].map(() => install.website), visit_ids: [...ids] })
  return {
    install,
    verdicts,
    unread: [...(told === null ? ['verdicts'] : []), ...(plans === null ? ['deliveries'] : [])],
    plans: plans ?? [],
    visits,
    deliveries: await backend.run('deliveriesOfInstall', key),
    attempts: await backend.run('attemptsOfInstall', key),
  }
}
