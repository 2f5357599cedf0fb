/** Takes commands of people to a log stream: an entry of the activity, which the role `streams` finds there. */

import { PLAN_LIMITS } from '../../domain/limits.ts'
import { refuse, refuseField, type Refusal } from '../../domain/errors.ts'
import { refuseByPlan, refuseUse } from '../../domain/plan.ts'
import { commandEntry, streamSubject, testBatchId, type StreamCommand } from '../../domain/streams/commands.ts'
import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import type { NoteActivity } from '../events/activity.ts'
import { answerAccepted, type OrganizationCall, type CallTo } from '../http/call.ts'
import { refuseByRate, streamTestHit } from '../http/limits.ts'
import type { Inventory, ListedObject } from '../resources/inventory.ts'
import { streamId, streamOf, type CallOfStream } from './find.ts'

export interface OrderParts {
  readonly inventory: Inventory
  readonly hotState: HitCounter
  readonly noteActivity: NoteActivity
}

/** The answer has the ID of the future attempt. */
export function orderTest(parts: OrderParts) {
  return async (call: CallTo<'testStream'>) => {
    const object = orderable(call, parts)
    if ('code' in object) return object
    const limited = await refuseByRate([streamTestHit(call.scope.organization.id)], parts.hotState)
    if (limited !== null) return limited
    return answerAccepted({ attempt: testBatchId(await order(parts, call, { object, command: { kind: 'test' } })) })
  }
}

export function orderSkip(parts: OrderParts) {
  return async (call: CallTo<'skipStream'>) => {
    const object = orderable(call, parts)
    if ('code' in object) return object
    return answerAccepted({ order: await order(parts, call, { object, command: { kind: 'skip' } }) })
  }
}

export function orderResend(parts: OrderParts) {
  return async (call: CallTo<'resendStream'>) => {
    const object = orderable(call, parts)
    if ('code' in object) return object
    const { since: sinceMs } = call.body
    if (sinceMs >= call.nowMs) return refuseField('/since', 'must be in the past')
    return answerAccepted({ order: await order(parts, call, { object, command: { kind: 'resend', sinceMs } }) })
  }
}

/** Conditions without which no process serves a stream. */
const NEEDED: ReadonlySet<string> = new Set(['Accepted', 'ResolvedRefs'])

/** A stream that no process serves would carry out the command at some later time, to everyone's surprise. */
function orderable(call: CallOfStream, { inventory }: OrderParts): ListedObject | Refusal {
  const object = streamOf(call, inventory)
  if (object === null) return refuse('not_found')
  const { plan } = call.scope.organization
  const use = PLAN_LIMITS[plan].logStreams === 0 ? refuseByPlan(plan, 'logStreams', 1) : null
  if (use !== null) return refuseUse(use.use)
  const wrong = object.conditions.find(({ type, status }) => NEEDED.has(type) && status === 'False')
  return wrong === undefined ? object : refuseField('/stream', `is not in force: ${wrong.reason}`)
}

interface Order {
  readonly object: ListedObject
  readonly command: StreamCommand
}

function order({ noteActivity }: OrderParts, call: OrganizationCall, { object, command }: Order): Promise<string> {
  const { organization } = call.scope
  const { person } = call.session
  return noteActivity({
    organization: organization.id,
    website: '',
    subject: streamSubject(streamId(object)),
    actor: person,
    ...commandEntry(command, person),
    logRetentionDays: organization.logRetentionDays,
  })
}
