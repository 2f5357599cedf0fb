/** Every matched install reaches each provider under one ID, with the type and the visit of its row; nothing else does. */

import {
  keyOf,
  type Call,
  type Hit,
  type History,
  type Identity,
  type StoredDelivery,
  type StoredInstall,
  type Violation,
} from './history.ts'

interface Plan {
  readonly destination: string
  readonly provider: 'ga4' | 'meta'
  readonly status: string
}

interface Visitor extends Identity {
  readonly gpc: boolean
}

export function judgeDeliveries({ calls, stored }: History): Violation[] {
  const deliveries = Map.groupBy(stored.deliveries, keyOf)
  const hits = Map.groupBy(stored.hits, ({ id }) => id)
  const visitors = visitorsOf(calls)
  const known = new Set(stored.deliveries.map(({ job_id: id }) => id))
  const strangers = [...hits.keys()]
    .filter((id) => !known.has(id))
    .map((id) => ({
      rule: 'delivered_wrongly',
      website: '',
      subject: id,
      call: null,
      sentence: `a provider received ${id}, which is the ID of no delivery`,
    }))
  return [
    ...stored.installs.flatMap((row) =>
      judgeInstall({ row, deliveries: deliveries.get(keyOf(row)) ?? [], hits, visitors }),
    ),
    ...strangers,
  ]
}

function visitorsOf(calls: readonly Call[]): ReadonlyMap<string, Visitor> {
  return new Map(
    calls.flatMap(({ visit, identity, gpc }) =>
      identity === null || visit === '' ? [] : [[visit, { ...identity, gpc }]],
    ),
  )
}

interface InstallInput {
  readonly row: StoredInstall
  readonly deliveries: readonly StoredDelivery[]
  readonly hits: ReadonlyMap<string, readonly Hit[]>
  readonly visitors: ReadonlyMap<string, Visitor>
}

function judgeInstall({ row, deliveries, hits, visitors }: InstallInput): Violation[] {
  const plans = JSON.parse(row.deliveries) as Plan[]
  const visitor = visitors.get(row.visit_id)
  return plans.flatMap((plan) => {
    const fail = (rule: string, sentence: string): Violation[] => [
      {
        rule,
        website: row.website,
        subject: row.event_id,
        call: null,
        sentence: `event ${row.event_id} at ${plan.destination}: ${sentence}`,
      },
    ]
    const some = deliveries.filter(({ destination }) => destination === plan.destination)
    const [delivery] = some
    if (delivery === undefined || some.length > 1) return fail('not_delivered', `${some.length} rows of deliveries`)
    const sent = hits.get(delivery.job_id) ?? []
    const expected = expectedOf(row, plan, visitor)
    if (expected !== 'delivered') {
      if (sent.length > 0) return fail('delivered_wrongly', `it was sent, and is ${expected}`)
      return delivery.status === 'skipped' ? [] : fail('wrong_delivery', `${delivery.status}, and not ${expected}`)
    }
    if (delivery.status !== 'delivered') return fail('not_delivered', `${delivery.status} ${delivery.reason}`)
    if (!sent.some(({ isTaken }) => isTaken)) return fail('not_delivered', 'it never reached the provider')
    return sent.flatMap((hit) => judgeHit(hit, row, visitor).flatMap((why) => fail('wrong_delivery', why)))
  })
}

/** What must become of it; the plan says so as far as the request knows. */
function expectedOf(row: StoredInstall, plan: Plan, visitor: Visitor | undefined): 'delivered' | 'skipped' {
  const isSelected = plan.provider === 'ga4' || row.event_type === 'install_completed'
  const isRefused = plan.provider === 'meta' && visitor?.gpc === true
  return row.resolution === 'matched' && isSelected && !isRefused ? 'delivered' : 'skipped'
}

function judgeHit(hit: Hit, row: StoredInstall, visitor: Visitor | undefined): string[] {
  const found: string[] = []
  if (hit.provider === 'ga4' && hit.eventName !== row.event_type) found.push(`sent as ${hit.eventName}`)
  const identity = visitor?.[hit.provider]
  if (hit.identity !== identity) found.push(`sent as of ${hit.identity}, its visit is ${row.visit_id} of ${identity}`)
  return found
}
