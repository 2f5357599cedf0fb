/** Cancels a replay: an entry of the activity, which the role `rollup` finds there before it goes on. */

import { cancelEntry } from '../../domain/collection/replay-decision.ts'
import { refuse, refuseField } from '../../domain/errors.ts'
import type { NoteActivity } from '../events/activity.ts'
import { answerAccepted, type CallTo } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'
import { replayState } from './show.ts'

interface CancelParts {
  readonly scope: ReadScope
  readonly noteActivity: NoteActivity
}

/** A replay that is over keeps what came out. */
export function cancelReplay({ scope, noteActivity }: CancelParts) {
  return scope(async ({ organization, run }, call: CallTo<'cancelReplay'>) => {
    const [row] = await run('replayById', { id: call.params.replay })
    if (row === undefined) return refuse('not_found')
    const state = replayState(row)
    if (state !== 'waiting' && state !== 'running') return refuseField('/replay', `is over: ${state}`)
    const { person } = call.session
    const entry = { ...cancelEntry(row), actor: person, logRetentionDays: organization.logRetentionDays }
    await noteActivity({ ...entry, organization: organization.id })
    return answerAccepted({ id: row.id })
  })
}
