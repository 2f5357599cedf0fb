/** Counts tracked events against the plan's monthly quota and reports when it is used up. */

import type { Website } from '../../domain/catalog.ts'
import { PLAN_LIMITS } from '../../domain/limits.ts'
import { largerPlan } from '../../domain/plan.ts'
import { monthOf } from '../../domain/collection/rate.ts'
import type { UsageRequest } from '../../ports/hot-state/hot-state.ts'
import type { ApiDeps } from '../deps.ts'
import type { Exchange } from './exchange.ts'
import type { Recorder } from './request-logs.ts'

/** Share of the quota at which the organisation is told for the first time. */
const NEAR = 0.8

export interface CountedEvent {
  /** Over the quota of a plan that is cut off: the request is answered as usual but nothing is stored. */
  readonly isUnrecorded: boolean
  /** For a record that could not be made durable. */
  readonly giveBack: () => Promise<void>
}

interface CountedRequest {
  readonly exchange: Exchange
  readonly website: Website
}

/** Counts one tracked event, and records an activity if it is the first beyond the quota. */
export async function countTrackedEvent(
  { exchange, website }: CountedRequest,
  deps: ApiDeps,
  recorder: Recorder,
): Promise<CountedEvent> {
  const { organization } = website
  const plan = PLAN_LIMITS[organization.plan]
  const quota = plan.trackedEventsPerMonth
  const usage: UsageRequest = {
    organization: organization.id,
    month: monthOf(exchange.receivedAtMs),
    quota: plan.isCutOffOverQuota ? quota : null,
  }
  const outcome = await deps.hotState.addUsage(usage)
  const isFirstPast = outcome.isFirstOver || (usage.quota === null && outcome.used === quota + 1)
  const tell = (type: 'quota_near' | 'quota_reached', how: string): void => {
    const more = largerPlan(organization.plan, ({ trackedEventsPerMonth }) => trackedEventsPerMonth > quota)
    const message = `The ${organization.plan} plan's ${quota} tracked events of ${usage.month} are ${how}${more}.`
    recorder.activity({ organization: organization.id, website: website.id, type, subject: usage.month, message })
  }
  if (isFirstPast) tell('quota_reached', 'used up')
  else if (outcome.used === Math.ceil(quota * NEAR)) tell('quota_near', 'used to 80 %')
  const giveBack = outcome.isOver ? () => Promise.resolve() : () => deps.hotState.returnUsage(usage)
  return { isUnrecorded: outcome.isOver, giveBack }
}

/** A name for the bots of an organisation beside its own: no ID of an organisation contains a colon. */
const botsOf = (organization: string): string => `${organization}:bots`

/**
 * Counts a visit of a bot. It is no tracked event, but no more of them are stored than the plan has of those, and none once a plan that is cut
 * off has used up its own.
 */
export async function countBotVisit({ exchange, website }: CountedRequest, deps: ApiDeps): Promise<CountedEvent> {
  const { id, plan } = website.organization
  const { trackedEventsPerMonth: quota, isCutOffOverQuota } = PLAN_LIMITS[plan]
  const month = monthOf(exchange.receivedAtMs)
  const isUsedUp = isCutOffOverQuota && (await deps.hotState.readUsage(id, month)) >= quota
  if (isUsedUp) return { isUnrecorded: true, giveBack: () => Promise.resolve() }
  const usage: UsageRequest = { organization: botsOf(id), month, quota }
  const { isOver } = await deps.hotState.addUsage(usage)
  return { isUnrecorded: isOver, giveBack: isOver ? () => Promise.resolve() : () => deps.hotState.returnUsage(usage) }
}

/** Does the work of a counted request; takes the count back if the work fails. */
export async function uncountOnFailure<T>(usage: CountedEvent, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await usage.giveBack()
    throw error
  }
}
