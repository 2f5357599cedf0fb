/** Takes a support request: on the event log before it is answered, and sent by mail from there. */

import { refuse, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { NoteActivity } from '../events/activity.ts'
import { answer, scopeOf, sessionOf, textField, type Call, type Handler } from '../http/call.ts'
import { refuseByRate, supportHits } from '../http/limits.ts'
import type { Outbox } from '../mail/outbox.ts'
import { diagnose, type DiagnosticsParts } from './diagnostics.ts'

export interface SupportParts extends DiagnosticsParts {
  readonly hotState: Pick<HotState, 'countHits' | 'returnHits'>
  /** Null: there is no mail, or nobody who would get it. */
  readonly outbox: Outbox | null
  readonly noteActivity: NoteActivity
  /** Keyed: 32 hex digits. */
  readonly hash: (text: string) => string
}

/** What would be sent beside the message, word for word. */
export function previewSupport(parts: SupportParts): Handler {
  return async (call) => answer({ isMailed: parts.outbox !== null, diagnostics: await diagnose(call, parts) })
}

/** Repeated with the same ID it is one mail, whatever became of the first try. */
export function askSupport(parts: SupportParts): Handler {
  return async (call) => {
    const { outbox } = parts
    if (outbox === null) return refuse('mail_not_configured')
    const { organization } = scopeOf(call)
    const { person, email } = sessionOf(call)
    const message = textField(call, 'message')
    const diagnostics = diagnosticsOf(call)
    if (typeof diagnostics !== 'string') return diagnostics
    const hits = supportHits(person, organization.id)
    const limited = await refuseByRate(hits, parts.hotState)
    if (limited !== null) return limited
    const request = parts.hash(`support\n${organization.id}\n${person}\n${textField(call, 'id')}`)
    const letter = { kind: 'support', organization: organization.id, person, email, message, diagnostics } as const
    await outbox.put(letter, request).catch(async (error: unknown) => {
      await parts.hotState.returnHits(hits, 0)
      throw error
    })
    await parts.noteActivity({
      ...{ organization: organization.id, website: '', type: 'support_requested', subject: person },
      message: `Support was asked for; the request is ${request}.`,
      logRetentionDays: organization.logRetentionDays,
    })
    return answer({ request }, { status: 202 })
  }
}

function diagnosticsOf({ body }: Call): string | Refusal {
  const { diagnostics } = body
  if (diagnostics === undefined) return ''
  const text = JSON.stringify(diagnostics, null, 2)
  if (Buffer.byteLength(text) <= LIMITS.supportDiagnosticsBytes) return text
  return refuse('invalid_field', {
    field: '/diagnostics',
    message: `has more than ${LIMITS.supportDiagnosticsBytes} bytes`,
  })
}
