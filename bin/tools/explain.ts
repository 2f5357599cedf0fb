/** `whencectl explain`: why an install was matched or not, and the status of its deliveries. */

import type { InstallRow } from '../../ports/facts/query-rows.ts'
import { newestInstalls } from './lists/newest-installs.ts'
import { openBackend, type ToolRun } from './backend.ts'
import type { ToolStores } from './live.ts'
import { explainText } from './explain/explain-text.ts'
import { complain, print, printJson } from '../terminal/output.ts'
import { withValues } from '../terminal/values.ts'
import { explainInstall, type Explanation } from './explain/explanation.ts'

export async function explainTool(run: ToolRun): Promise<number> {
  const backend = await openBackend(run.settings)
  try {
    const installs = await findInstalls(backend, run.positionals[0], run.flags.get('--website'))
    if (installs.length === 0) {
      const isAny = run.positionals[0] === undefined
      const what = isAny ? 'no install is recorded yet' : 'no recorded install has this event ID'
      complain(`whencectl explain: ${what} (a report takes a moment to appear here)\n`)
      return 1
    }
    for (const install of installs) {
      const explanation = await explainInstall(backend, install)
      if (run.flags.has('--json')) printJson([explanationValues(explanation)])
      else print(explainText(explanation, Date.now()))
    }
  } finally {
    await backend.close()
  }
  return 0
}

function explanationValues(explanation: Explanation): object {
  const { install, visits } = explanation
  return { ...explanation, install: withValues(install), visits: visits.map(withValues) }
}

/** By event ID, or the newest one if none is given. */
async function findInstalls(
  backend: ToolStores,
  eventId: string | undefined,
  website: string | undefined,
): Promise<readonly InstallRow[]> {
  if (eventId !== undefined) {
    const rows = await backend.run('installsByEventId', { event_id: eventId })
    return rows.filter((row) => website === undefined || row.website === website)
  }
  const filters = website === undefined ? {} : { website }
  return newestInstalls(backend, { since_ms: 0, until_ms: Number.MAX_SAFE_INTEGER, limit: 1, ...filters })
}
