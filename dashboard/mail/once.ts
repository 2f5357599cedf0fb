/** Sends a mail that several letters on the log may ask for: a client that repeats a request does not know whether it was accepted. */

import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'

export type MailMemory = OnceVerbs

/** Longer than any letter is on its way. */
const REMEMBERED_MS = 8 * DAY_MS
/** Longer than one attempt takes. */
const TRY_MS = MINUTE_MS

/**
 * `void`: it was sent before. `later`: another process is sending it now. After a crash between sending and remembering it arrives
 * twice, with one Message-ID. Rejects as `send` does.
 */
export async function sendOnce(
  mailId: string,
  memory: MailMemory,
  send: () => Promise<void>,
): Promise<'sent' | 'void' | 'later'> {
  const sent = `mail-sent/${mailId}`
  const sending = `mail-sending/${mailId}`
  if ((await memory.readOnce(sent)) !== null) return 'void'
  if (!(await memory.putOnce(sending, '1', TRY_MS))) return 'later'
  try {
    // The sender may have ended between the two reads.
    if ((await memory.readOnce(sent)) !== null) return 'void'
    await send()
    await memory.putOnce(sent, '1', REMEMBERED_MS)
    return 'sent'
  } finally {
    await memory.takeOnce(sending)
  }
}
