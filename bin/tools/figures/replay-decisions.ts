/** `whencectl replay-decisions`: what another policy would have decided about the installs of a period. */

import type { OwnedWebsite } from '../../../domain/model.ts'
import { replayDecisions, type ReplayRequest } from '../../../delivery/rollup/replay-decisions.ts'
import { cancelOpenReplay } from '../../../delivery/tools/cancel-replay.ts'
import type { ReplayResult } from '../../../domain/collection/replay-decision.ts'
import { DAY_MS } from '../../../domain/durations.ts'
import { LIMITS } from '../../../domain/limits.ts'
import { VISIT_POLICIES, type VisitPolicy } from '../../../domain/model.ts'
import type { CommandArguments } from '../../../runtime/settings/settings.ts'
import { complain, print, printJson } from '../../terminal/output.ts'
import { createTable, terminalChars, timeText, type TextColumn } from '../../terminal/table.ts'
import { openBackend, type ToolRun } from '../backend.ts'
import { momentOf } from '../flags.ts'
import { ownedBy } from './report.ts'
import type { ToolStores } from '../live.ts'

const DEFAULT_DAYS = 30
const MOST_DAYS = LIMITS.receiptLifetimeMs / DAY_MS
/** `--json` shows more. */
const SHOWN_CHANGES = 50

type Change = ReplayResult['changes'][number]

export async function replayDecisionsTool(run: ToolRun): Promise<number> {
  const cancelled = run.flags.get('--cancel')
  if (cancelled !== undefined) return cancel(run, cancelled)
  const wanted = wantedReplay(run, Date.now())
  if (wanted === null) return 2
  const backend = await openBackend(run.settings)
  try {
    const owned = await websiteOf(backend, run)
    if (owned === null) return 2
    const onProgress = ({ installs, reachedMs }: { installs: number; reachedMs: number }): void =>
      complain(`${installs} installs decided again, up to ${timeText(reachedMs)} ...\n`)
    // From another process rows come all at once.
    const result = await replayDecisions(
      { run: backend.run, each: backend.run },
      { ...wanted, ...owned },
      { onProgress },
    )
    if (run.flags.has('--json')) printJson([{ ...owned, ...result }])
    else show(result)
  } finally {
    await backend.close()
  }
  return 0
}

async function cancel(run: ToolRun, id: string): Promise<number> {
  const backend = await openBackend(run.settings)
  try {
    const isOpen = await cancelOpenReplay({ facts: backend, eventLog: backend, nowMs: Date.now }, id)
    if (isOpen) print(`${id} is cancelled${backend.isLive ? '' : ' when the service runs'}\n`)
    else complain(`whencectl replay-decisions: no replay with the ID ${id} waits or runs\n`)
    return isOpen ? 0 : 1
  } finally {
    await backend.close()
  }
}

/** Null after a message on standard error. */
function wantedReplay(run: CommandArguments, nowMs: number): Omit<ReplayRequest, keyof OwnedWebsite> | null {
  const policy = run.flags.get('--policy') ?? 'latest_visit'
  const windowDays = Number(run.flags.get('--window') ?? MOST_DAYS)
  const until = momentOf(run, '--until', nowMs)
  const since = momentOf(run, '--since', nowMs)
  if (until === null || since === null) return null
  const untilMs = until ?? nowMs
  const sinceMs = since ?? untilMs - DEFAULT_DAYS * DAY_MS
  const refuse = (why: string): null => {
    complain(`${why}\n`)
    return null
  }
  if (!isVisitPolicy(policy)) return refuse(`--policy must be one of ${VISIT_POLICIES.join(', ')}`)
  if (!(windowDays > 0 && windowDays <= MOST_DAYS)) {
    return refuse(`--window must be a number of days up to ${MOST_DAYS}: receipts hold no longer`)
  }
  if (sinceMs >= untilMs) return refuse('--since must be before --until')
  const isTokensOnly = run.flags.has('--tokens-only')
  return { policy: { policy, windowMs: windowDays * DAY_MS, isTokensOnly }, sinceMs, untilMs }
}

function isVisitPolicy(text: string): text is VisitPolicy {
  return VISIT_POLICIES.some((each) => each === text)
}

/** The named website, or the only one; null after a message on standard error. */
async function websiteOf(backend: ToolStores, run: CommandArguments): Promise<OwnedWebsite | null> {
  const known = await backend.run('websitesWithFigures', {})
  const named = ownedBy(known, run)
  const [only] = named
  if (only !== undefined && named.length === 1) return only
  complain(whichIsMeant(known, named))
  return null
}

function whichIsMeant(known: readonly OwnedWebsite[], named: readonly OwnedWebsite[]): string {
  if (known.length === 0) return 'There are no installs to decide again.\n'
  const [one] = named
  const isOneId = one !== undefined && named.every(({ website }) => website === one.website)
  if (isOneId) return `--organization must name one of ${named.map(({ organization }) => organization).join(', ')}\n`
  return `--website must name one of ${known.map(({ website }) => website).join(', ')}\n`
}

function show({ installs, matched, replayedMatched, notDecided, changed, sources, changes }: ReplayResult): void {
  print(`${installs} installs, of which ${notDecided} were only counted or are pending\n`)
  print(`matched: ${matched} as decided, ${replayedMatched} under this policy; ${changed} have another visit or none\n`)
  if (changed === 0) return
  const sourceColumns: readonly TextColumn<ReplayResult['sources'][number]>[] = [
    { head: 'LOST', cell: ({ lost }) => String(lost) },
    { head: 'GAINED', cell: ({ gained }) => String(gained) },
    { head: 'SOURCE', cell: ({ source }) => source || '-' },
  ]
  const changeColumns: readonly TextColumn<Change>[] = [
    { head: 'TIME (UTC)', cell: ({ receivedAtMs }) => timeText(receivedAtMs) },
    { head: 'EVENT ID', cell: ({ eventId }) => eventId },
    { head: 'AS DECIDED', cell: ({ selectionPolicy, source }) => visitText(selectionPolicy, source) },
    { head: 'UNDER THIS POLICY', cell: (each) => visitText(each.replayedPolicy, each.replayedSource) },
  ]
  print(`\n${table(sourceColumns, sources)}\n${table(changeColumns, changes.slice(0, SHOWN_CHANGES))}`)
  if (changed > SHOWN_CHANGES) print(`The first ${SHOWN_CHANGES} of ${changed}; --json shows up to 10,000.\n`)
}

function visitText(policy: string, source: string | null): string {
  return source === null ? 'unmatched' : `${policy}, ${source === '' ? 'no source' : source}`
}

function table<R>(columns: readonly TextColumn<R>[], rows: readonly R[]): string {
  return createTable(columns, terminalChars())
    .lines(rows)
    .map((line) => `${line}\n`)
    .join('')
}
