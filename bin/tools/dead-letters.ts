/** `whence dead-letters` and `whence replay`: deliveries that failed for good, and one more try for them. */

import { listDeadLetters, replayDeadLetters, type DeadLetterFilter } from '../../delivery/replay.ts'
import type { DeadLetter } from '../../domain/records.ts'
import type { RunOutcome } from '../../runtime/settings.ts'
import { openBackend } from './backend.ts'
import { tableLines, timeText, type Column } from './table.ts'

const COLUMNS: readonly Column<DeadLetter>[] = [
  { head: 'FAILED (UTC)', cell: (letter) => timeText(letter.failedAtMs) },
  { head: 'JOB ID', cell: ({ job }) => job.jobId },
  { head: 'WEBSITE', cell: ({ job }) => job.website },
  { head: 'DESTINATION', cell: ({ job }) => job.destination },
  { head: 'EVENT ID', cell: ({ job }) => job.install.eventId },
  { head: 'ATTEMPTS', cell: ({ job }) => String(job.attempts) },
  { head: 'REPLAY BEFORE', cell: ({ job }) => timeText(job.deadlineAtMs) },
  { head: 'REASON', cell: ({ reason }) => reason },
]

export async function deadLettersTool(run: RunOutcome): Promise<number> {
  const backend = await openBackend(run.settings)
  try {
    const limit = Number(run.flags.get('--limit') ?? 50)
    const letters = await listDeadLetters(backend, { ...filterOf(run), limit })
    const lines = run.flags.has('--json')
      ? letters.map(({ job, reason, failedAtMs }) => JSON.stringify({ ...withoutVisit(job), reason, failedAtMs }))
      : tableLines(letters, COLUMNS, true)
    process.stdout.write(`${lines.join('\n')}\n`)
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
    const deps = { eventLog: backend, facts: backend, nowMs: Date.now }
    const { replayed, refused } = await replayDeadLetters(deps, letters)
    for (const { letter, reason } of refused) process.stdout.write(`${letter.job.jobId} not replayed: ${reason}\n`)
    const when = backend.isLive ? '' : '; they go out when the service runs'
    process.stdout.write(`${replayed.length} replayed, ${refused.length} not${when}\n`)
    return letters.length === 0 || (replayed.length === 0 && refused.length > 0) ? 1 : 0
  } finally {
    await backend.close()
  }
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
function withoutVisit(job: DeadLetter['job']): object {
  const { visit, ...rest } = job
  return { ...rest, visitId: visit.visitId }
}
