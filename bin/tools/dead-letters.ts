/** `whence dead-letters` and `whence replay`: deliveries that failed for good, and one more try for them. */

import { listDeadLetters, replayDeadLetters, type DeadLetterFilter } from '../../delivery/replay.ts'
import type { DeadLetter } from '../../domain/records.ts'
import type { RunOutcome } from '../../runtime/settings.ts'
import { openBackend, type ToolBackend } from './backend.ts'
import { limitOf } from './flags.ts'
import { createTable, printable, terminalChars, timeText, type Column } from './table.ts'

interface ListedLetter {
  readonly letter: DeadLetter
  /** How its delivery stands now: a letter stays where it is when its job was replayed. */
  readonly now: string
}

const COLUMNS: readonly Column<ListedLetter>[] = [
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

export async function deadLettersTool(run: RunOutcome): Promise<number> {
  const limit = limitOf(run)
  if (limit === null) return 2
  const backend = await openBackend(run.settings)
  try {
    const letters = await withStatus(backend, await listDeadLetters(backend, { ...filterOf(run), limit }))
    const lines = run.flags.has('--json')
      ? letters.map((listed) => JSON.stringify(plain(listed)))
      : createTable(COLUMNS, terminalChars()).lines(letters)
    if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
    else process.stderr.write('There is no failed delivery to show.\n')
  } finally {
    await backend.close()
  }
  return 0
}

export async function replayTool(run: RunOutcome): Promise<number> {
  const [jobId] = run.positionals
  if (jobId === undefined && !run.flags.has('--all')) {
    process.stderr.write('whence replay: name a job ID (see `whence dead-letters`), or say --all\n')
    return 2
  }
  const backend = await openBackend(run.settings)
  try {
    const letters = await listDeadLetters(backend, { ...filterOf(run), ...(jobId === undefined ? {} : { jobId }) })
    if (letters.length === 0) {
      process.stderr.write('whence replay: no failed delivery fits\n')
      return 1
    }
    const { replayed, refused } = await replayDeadLetters(
      { eventLog: backend, facts: backend, nowMs: Date.now },
      letters,
    )
    for (const { letter, reason } of refused) say(`${letter.job.jobId} is not replayed: ${REFUSAL_TEXTS[reason]}`)
    for (const { job } of replayed) say(`${job.jobId} goes to ${job.destination} of ${job.website} again`)
    const when = backend.isLive || replayed.length === 0 ? '' : '; they go out when the service runs'
    say(`${replayed.length} replayed, ${refused.length} not${when}`)
    return replayed.length === 0 ? 1 : 0
  } finally {
    await backend.close()
  }
}

const REFUSAL_TEXTS = {
  deadline_passed: 'its provider would no longer take it',
  not_failed: 'it does not stand as failed, because it was replayed before or is on its way',
} as const

async function withStatus(backend: ToolBackend, letters: readonly DeadLetter[]): Promise<readonly ListedLetter[]> {
  if (letters.length === 0) return []
  const jobs = letters.map(({ job }) => job)
  const keys = { websites: jobs.map(({ website }) => website), event_ids: jobs.map(({ install }) => install.eventId) }
  const rows = await backend.run('dispatchedJobs', keys)
  const now = new Map(rows.map((row) => [`${row.website}/${row.event_id}/${row.destination}`, row.status]))
  return letters.map((letter) => {
    const { website, install, destination } = letter.job
    return { letter, now: now.get(`${website}/${install.eventId}/${destination}`) ?? 'unknown' }
  })
}

function filterOf(run: RunOutcome): DeadLetterFilter {
  const names = { website: '--website', destination: '--destination', reason: '--reason' } as const
  const given = Object.entries(names).flatMap(([name, flag]) => {
    const value = run.flags.get(flag)
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(given) as DeadLetterFilter
}

/** Identifiers of the visitor stay on the log. */
function plain({ letter, now }: ListedLetter): object {
  const { visit, ...job } = letter.job
  return { ...job, visitId: visit.visitId, reason: letter.reason, failedAtMs: letter.failedAtMs, now }
}

function say(line: string): void {
  process.stdout.write(`${printable(line)}\n`)
}
