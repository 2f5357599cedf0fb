/** `whencectl dead-letters` and `whencectl replay`: deliveries that failed for good, and their retries. */

import { presentOf, partialOf, keysOf } from '../../domain/typed-keys.ts'
import { deliveryKey } from '../../delivery/tools/replay.ts'
import { ownersOf } from '../../ports/facts/query-parts.ts'
import { listDeadLetters, replayDeadLetters, REPLAYS_PER_S } from '../../delivery/tools/replay.ts'
import type { DeadLetterFilter, ReplayStep, UnreadLetters } from '../../delivery/tools/replay.ts'
import type { ReadDeadLetter } from '../../domain/read-record.ts'
import { MAY_COUNT_TWICE } from '../../domain/reasons.ts'
import type { CommandArguments } from '../../runtime/settings/settings.ts'
import { openBackend, type ToolRun } from './backend.ts'
import type { ToolStores } from './live.ts'
import { limitOf, momentOf } from './flags.ts'
import { createTable, terminalChars, timeText, type TextColumn } from '../terminal/table.ts'
import { complain, print, printJson } from '../terminal/output.ts'

interface ListedLetter {
  readonly letter: ReadDeadLetter
  /** The present status of its delivery: a letter stays in the topic when its job is replayed. */
  readonly now: string
}

const COLUMNS: readonly TextColumn<ListedLetter>[] = [
  { head: 'FAILED (UTC)', cell: ({ letter }) => timeText(letter.failedAtMs) },
  { head: 'JOB ID', cell: ({ letter }) => letter.job.jobId },
  { head: 'WEBSITE', cell: ({ letter }) => letter.job.website },
  { head: 'DESTINATION', cell: ({ letter }) => letter.job.destination },
  { head: 'EVENT ID', cell: ({ letter }) => letter.job.install.eventId },
  { head: 'TRIES', cell: ({ letter }) => String(letter.job.attempts) },
  { head: 'REPLAY BEFORE', cell: ({ letter }) => timeText(letter.job.deadlineAtMs) },
  { head: 'NOW', cell: ({ now }) => now },
  { head: 'REASON', cell: ({ letter }) => letter.reason },
]

export async function deadLettersTool(run: ToolRun): Promise<number> {
  const limit = limitOf(run)
  const filter = filterOf(run)
  if (limit === null || filter === null) return 2
  const backend = await openBackend(run.settings)
  try {
    const { letters: found, unread } = await listDeadLetters(backend, filter, limit)
    const letters = await withStatus(backend, found)
    tellUnread(unread)
    if (letters.length === 0) complain('There is no failed delivery to show.\n')
    else if (run.flags.has('--json')) printJson(letters.map(plain))
    else
      print(
        createTable(COLUMNS, terminalChars())
          .lines(letters)
          .map((line) => `${line}\n`)
          .join(''),
      )
  } finally {
    await backend.close()
  }
  return 0
}

export async function replayTool(run: ToolRun): Promise<number> {
  const [jobId] = run.positionals
  const filter = filterOf(run)
  const perSecond = paceOf(run)
  if (filter === null || perSecond === null) return 2
  if (jobId === undefined && !run.flags.has('--all')) {
    complain('whencectl replay: name a job ID (see `whencectl dead-letters`), or use --all\n')
    return 2
  }
  const backend = await openBackend(run.settings)
  try {
    const wanted = { ...filter, ...(jobId === undefined ? {} : { jobIds: new Set([jobId]) }) }
    const mayCountTwice = selectsJustUnclear(wanted)
    const deps = { eventLog: backend, facts: backend, nowMs: Date.now, pace: { perSecond }, mayCountTwice }
    const tell = stepTeller(run.flags.has('--json'))
    const { replayed, refused, unread } = await replayDeadLetters(deps, wanted, tell)
    tellUnread(unread)
    if (replayed + refused === 0) {
      complain('whencectl replay: no failed delivery matches\n')
      return 1
    }
    const when = backend.isLive || replayed === 0 ? '' : '; they go out when the service runs'
    if (!run.flags.has('--json')) printLine(`${replayed} replayed, ${refused} not${when}`)
    return replayed === 0 ? 1 : 0
  } finally {
    await backend.close()
  }
}

/** A delivery that may count twice is sent again only if it is named, by ID or by reason. */
function selectsJustUnclear({ jobIds, reason = '' }: DeadLetterFilter): boolean {
  return jobIds !== undefined || reason.startsWith(MAY_COUNT_TWICE)
}

/** On standard error: the readable ones are the result. */
function tellUnread({ count, newer, offsets }: UnreadLetters): void {
  if (count === 0) return
  const where = `${offsets.join(', ')}${count > offsets.length ? ', …' : ''}`
  const later = newer === 0 ? '' : `; a later release wrote ${newer} of them and can read them`
  complain(`${count} dead letters cannot be read and were left out (offsets ${where})${later}\n`)
}

/** Prints one line for each, and from time to time the progress: on standard error, apart from the result. */
function stepTeller(isJson: boolean): (step: ReplayStep) => void {
  let toldAtMs = Date.now()
  return ({ letter: { job }, refusal, done, of }) => {
    if (isJson) printJson([{ jobId: job.jobId, destination: job.destination, refusal }])
    else if (refusal === null) printLine(`${job.jobId} goes to ${job.destination} of ${job.website} again`)
    else printLine(`${job.jobId} is not replayed: ${REFUSAL_TEXTS[refusal]}`)
    if (Date.now() - toldAtMs < PROGRESS_EVERY_MS || done === of) return
    toldAtMs = Date.now()
    complain(`${done} of ${of} checked\n`)
  }
}

const PROGRESS_EVERY_MS = 2_000

/** Replays per second; null, with a message on standard error, if it is not a valid number. */
function paceOf(run: CommandArguments): number | null {
  const { fallback, max } = REPLAYS_PER_S
  const pace = Number(run.flags.get('--rate') ?? fallback)
  if (Number.isInteger(pace) && pace >= 1 && pace <= max) return pace
  complain(`--rate must be a number from 1 to ${max}\n`)
  return null
}

const REFUSAL_TEXTS = {
  deadline_passed: 'its provider would no longer accept it',
  not_failed: 'its status is not failed, because it was replayed before or is being delivered',
  may_count_twice: `the provider may have it and would count it again; to send it all the same, name its job ID or use --reason ${MAY_COUNT_TWICE}`,
} as const

async function withStatus(backend: ToolStores, letters: readonly ReadDeadLetter[]): Promise<readonly ListedLetter[]> {
  if (letters.length === 0) return []
  const jobs = letters.map(({ job }) => job)
  const keys = { ...ownersOf(jobs), event_ids: jobs.map(({ install }) => install.eventId) }
  const rows = await backend.run('dispatchedJobs', keys)
  const now = new Map(rows.map((row) => [deliveryKey(row, row.event_id, row.destination), row.status]))
  return letters.map((letter) => {
    const { job } = letter
    return { letter, now: now.get(deliveryKey(job, job.install.eventId, job.destination)) ?? 'unknown' }
  })
}

/** Null, with a message on standard error, if a moment is invalid. */
function filterOf(run: CommandArguments): DeadLetterFilter | null {
  const nowMs = Date.now()
  const sinceMs = momentOf(run, '--since', nowMs)
  const untilMs = momentOf(run, '--until', nowMs)
  if (sinceMs === null || untilMs === null) return null
  const names = { website: '--website', destination: '--destination', reason: '--reason' } as const
  const texts = partialOf(keysOf(names), (name) => run.flags.get(names[name]))
  return { ...texts, failed: presentOf({ sinceMs, untilMs }) }
}

/** Without the visitor's identifiers, which stay on the log. */
function plain({ letter, now }: ListedLetter): object {
  const { visit, ...job } = letter.job
  return { ...job, visitId: visit.visitId, reason: letter.reason, failedAtMs: letter.failedAtMs, now }
}

function printLine(line: string): void {
  print(`${line}\n`)
}
