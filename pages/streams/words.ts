/** Log streams and webhooks in a reader's words. Unknown ones are shown as they are. */

import { spanText } from '../parts/numbers.tsx'
import type { ListedStream, StreamGap, ListedWebhook } from './streams-data.ts'

interface Sentence {
  readonly tone: 'good' | 'bad' | 'warn' | 'plain'
  readonly words: string
}

/** What a stream does, in one sentence. */
export function streamWords(stream: ListedStream): Sentence {
  const { state, behind, lagMs, lastError, failingSince } = stream
  const left = behind === 0 ? 'nothing is left to send' : `${behind.toLocaleString()} records are left to send`
  const old = lagMs === null ? '' : `, the oldest ${spanText(lagMs)} old`
  if (stream.paused || state === 'Paused') return { tone: 'plain', words: `Paused; ${left}${old}.` }
  if (state === null) return { tone: 'plain', words: 'Nothing was sent yet.' }
  if (state === 'NotVerified')
    return {
      tone: 'warn',
      words: 'Its receiver has not confirmed yet that it wants the records. Nothing is sent until it does.',
    }
  if (state === 'Failing') {
    const since = failingSince === null ? '' : ` for ${spanText(Date.now() - failingSince)}`
    return { tone: 'bad', words: `Failing${since}: ${lastError ?? 'no answer'}; ${left}${old}.` }
  }
  return {
    tone: state === 'Behind' ? 'warn' : 'good',
    words: `${state === 'Behind' ? 'Behind' : 'Sends'}; ${left}${old}.`,
  }
}

const GAPS: Readonly<Record<string, string>> = {
  overflow: 'It was too far behind, so the oldest were dropped',
  skipped: 'They were skipped',
  too_large: 'The receiver refused them for their size',
  log_renewed: 'The event log was recreated, so some may be missing',
}

export function gapWords({ reason, dropped }: StreamGap): string {
  const count = dropped === null ? '' : `: ${dropped.toLocaleString()} ${dropped === 1 ? 'record' : 'records'}`
  return `${GAPS[reason] ?? reason}${count}`
}

/** The state of a webhook, in one sentence. */
export function webhookWords({ state, lastError, lastDay: { delivered, waiting, lost } }: ListedWebhook): Sentence {
  const day = `in 24 hours ${delivered.toLocaleString()} delivered, ${waiting.toLocaleString()} on their way, ${lost.toLocaleString()} given up`
  if (state === 'Paused') return { tone: 'plain', words: `Paused: events that happen now are not sent later; ${day}.` }
  if (state === 'Idle') return { tone: 'plain', words: 'There has been no event to send yet.' }
  if (state === 'Failing') return { tone: 'bad', words: `Failing: ${lastError}; ${day}.` }
  return { tone: lost > 0 ? 'warn' : 'good', words: `Delivers; ${day}.` }
}

export const ATTEMPT_WORDS: Readonly<Record<string, string>> = {
  batch: 'Records',
  test: 'Test',
  verify: 'Verification request',
  delivered: 'delivered',
  retrying: 'is tried again',
  waiting: 'waits',
  failed: 'given up',
  expired: 'too late',
}
