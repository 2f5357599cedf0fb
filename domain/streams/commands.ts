/**
 * What people order of a log stream. An order is an entry of the organisation's activity: it is durable, says who gave it,
 * and the role `streams` reads it from there, since only that role writes how far a stream is.
 */

export type StreamCommand =
  | { readonly kind: 'skip' }
  | { readonly kind: 'test' }
  /** Records that came at this time or later, Unix ms. */
  | { readonly kind: 'resend'; readonly sinceMs: number }

const TYPES = { skip: 'stream_skip', resend: 'stream_resend', test: 'stream_test' } as const
export const STREAM_COMMAND_TYPES: readonly string[] = Object.values(TYPES)

interface CommandEntry {
  readonly type: (typeof TYPES)[keyof typeof TYPES]
  readonly message: string
}

/** `by`: who ordered it, as entries of the activity name people. */
export function commandEntry(command: StreamCommand, by: string): CommandEntry {
  const type = TYPES[command.kind]
  if (command.kind === 'skip') return { type, message: `What was not sent yet is skipped, by ${by}.` }
  if (command.kind === 'test') return { type, message: `A test is sent, by ${by}.` }
  const since = new Date(command.sinceMs).toISOString()
  return { type, message: `Records since ${since} are sent again, by ${by}.` }
}

/** Null for an entry that orders nothing. */
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

/** What entries of the activity call a stream. */
export function streamSubject(stream: string): string {
  return `LogStream/${stream}`
}
