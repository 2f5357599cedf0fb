/**
 * Commands that people give to a log stream. A command is an entry of the organisation's activity: it is durable and says who
 * gave it. The role `streams` reads it there, since only that role writes the progress of a stream.
 */

export type StreamCommand =
  | { readonly kind: 'skip' }
  | { readonly kind: 'test' }
  /** Unix ms: records from this time on. */
  | { readonly kind: 'resend'; readonly sinceMs: number }

const TYPES = { skip: 'stream_skip', resend: 'stream_resend', test: 'stream_test' } as const
export const STREAM_COMMAND_TYPES: readonly string[] = Object.values(TYPES)

interface CommandEntry {
  readonly type: (typeof TYPES)[keyof typeof TYPES]
  readonly message: string
}

/** `by`: who gave the command, by the name that entries of the activity use. */
export function commandEntry(command: StreamCommand, by: string): CommandEntry {
  const type = TYPES[command.kind]
  if (command.kind === 'skip') return { type, message: `Records that were not sent yet are skipped, by ${by}.` }
  if (command.kind === 'test') return { type, message: `A test is sent, by ${by}.` }
  const since = new Date(command.sinceMs).toISOString()
  return { type, message: `Records since ${since} are sent again, by ${by}.` }
}

/** Null for an entry that is no command. */
export function readCommand({
  type,
  message,
}: {
  readonly type: string
  readonly message: string
}): StreamCommand | null {
  if (type === TYPES.skip) return { kind: 'skip' }
  if (type === TYPES.test) return { kind: 'test' }
  const since = /^Records since (\S+) are/.exec(message)?.[1] ?? ''
  const sinceMs = Date.parse(since)
  return type === TYPES.resend && Number.isFinite(sinceMs) ? { kind: 'resend', sinceMs } : null
}

/** ID of the batch of a test. */
export function testBatchId(orderId: string): string {
  return `test-${orderId}`
}

/** The subject of activity entries about a stream. */
export function streamSubject(stream: string): string {
  return `LogStream/${stream}`
}
