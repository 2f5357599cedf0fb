/** Takes a support request: it is on the event log before the answer, and a mail is sent from there. */

import { DAY_MS } from '../../domain/durations.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { NoteActivity } from '../events/activity.ts'
import { answer, answerAccepted, type OrganizationCall, type CallTo } from '../http/call.ts'
import { refuseByRate, supportHits } from '../http/limits.ts'
import type { Outbox } from '../mail/outbox.ts'
import { diagnose, type DiagnosticsParts } from './diagnostics.ts'

export interface SupportParts {
  readonly diagnostics: DiagnosticsParts
  readonly hotState: HotState
  /** Null: no mail server is configured, or no support address. */
  readonly outbox: Outbox | null
  readonly noteActivity: NoteActivity
  /** Keyed: 32 hex digits. */
  readonly hash: (text: string) => string
}

/** Exactly what would be sent along with the message. */
export function previewSupport(parts: SupportParts) {
  return async (call: OrganizationCall) =>
    answer({ isMailed: parts.outbox !== null, diagnostics: await diagnose(call, parts.diagnostics) })
}

/** Repeating a request with the same ID sends one mail, whatever became of the first attempt. */
export function askSupport(parts: SupportParts) {
  return async (call: CallTo<'askSupport'>) => {
    const { outbox } = parts
    if (outbox === null) return refuse('mail_not_configured')
    const { organization } = call.scope
    const { person, email } = call.session
    const { id, message } = call.body
    const diagnostics = diagnosticsOf(call)
    if (typeof diagnostics !== 'string') return diagnostics
    const request = parts.hash(`support\n${organization.id}\n${person}\n${id}`)
    const isRepeat = (await parts.hotState.readOnce(countedKey(request))) !== null
    const limited = isRepeat ? null : await refuseByRate(supportHits(person, organization.id), parts.hotState)
    if (limited !== null) return limited
    const letter = { kind: 'support', organization: organization.id, person, email, message, diagnostics } as const
    await outbox.put(letter, request)
    // Only now: whoever gets no answer is given the place back, and counts again.
    if (!isRepeat) await parts.hotState.replaceOnce(countedKey(request), '1', DAY_MS)
    await parts.noteActivity({
      organization: organization.id,
      website: '',
      type: 'support_requested',
      subject: person,
      message: `Support was asked for; the request is ${request}.`,
      logRetentionDays: organization.logRetentionDays,
    })
    return answerAccepted({ request })
  }
}

/** Remembers for the day of the limit that a request was counted. */
function countedKey(request: string): string {
  return `support-counted/${request}`
}

function diagnosticsOf({ body }: CallTo<'askSupport'>): string | Refusal {
  const { diagnostics } = body
  if (diagnostics === undefined) return ''
  const text = JSON.stringify(diagnostics, null, 2)
  if (Buffer.byteLength(text) <= LIMITS.supportDiagnosticsBytes) return text
  return refuse('invalid_field', {
    field: '/diagnostics',
    message: `has more than ${LIMITS.supportDiagnosticsBytes} bytes`,
  })
}
