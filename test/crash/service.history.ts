/**
 * What clients did and were answered, compared with what is stored: the promises of a service that may be killed any
 * time.
 */

/** `unknown`: no answer came, so it may or may not have happened. */
export type Outcome = 'ok' | 'refused' | 'unknown'

export interface Operation {
  /** Unique; the request carried it as its user agent. */
  readonly tag: string
  readonly kind: 'visit' | 'activation' | 'handoff' | 'event'
  readonly website: string
  /** The event's ID; for all others the visit's, or empty if no answer named it. */
  readonly subject: string
  /** The visit of an event's receipt or token, or the visit that a visit replaces; empty if there is none. */
  readonly names: string
  readonly hasToken: boolean
  readonly outcome: Outcome
  /** 0 if there was none. */
  readonly status: number
  /** What Node.js calls it if a connection broke; absent otherwise. */
  readonly brokenBy?: string
  readonly answer: Readonly<Record<string, any>>
  readonly beganAt: number
  readonly endedAt: number
}

export interface StoredInstall {
  readonly website: string
  readonly event_id: string
  /** JSON of the answer it was given. */
  readonly answer: string
}

export interface StoredDelivery {
  readonly website: string
  readonly event_id: string
  readonly job_id: string
  readonly status: string
}

export interface Stored {
  /** How many rows of request logs carry each tag. */
  readonly logs: ReadonlyMap<string, number>
  readonly installs: readonly StoredInstall[]
  readonly deliveries: readonly StoredDelivery[]
  readonly visitIds: ReadonlySet<string>
  readonly activeVisitIds: ReadonlySet<string>
  /** The dedupe ID of every request that the provider received. */
  readonly sentIds: readonly string[]
}

/**
 * Every broken promise in a sentence, of a service whose hot state was lost in between: an answer may then be given anew
 * and a receipt be unknown for a moment, but what is stored and delivered is there once all the same.
 */
export function brokenWithoutMemory(operations: readonly Operation[], stored: Stored): readonly string[] {
  const events = eventsByKey(operations)
  const rows = Map.groupBy(stored.installs, keyOf)
  return [
    ...logPromises(operations, stored),
    ...visitPromises(operations, stored),
    ...[...events].flatMap(([key, some]) => rowPromises(key, some, rows.get(key) ?? [])),
    ...deliveryPromises(operations, stored),
  ]
}

/** Every broken promise in a sentence; empty if all were kept. */
export function brokenPromises(operations: readonly Operation[], stored: Stored): readonly string[] {
  return [
    ...logPromises(operations, stored),
    ...visitPromises(operations, stored),
    ...installPromises(operations, stored),
    ...repeatPromises(operations),
    ...matchPromises(operations),
    ...deliveryPromises(operations, stored),
  ]
}

function logPromises(operations: readonly Operation[], { logs }: Stored): string[] {
  return operations.flatMap(({ tag, outcome, kind }) => {
    const rows = logs.get(tag) ?? 0
    if (outcome === 'ok' && rows !== 1) return [`${kind} ${tag} was answered and has ${rows} rows in the logs`]
    return rows > 1 ? [`${kind} ${tag} (${outcome}) has ${rows} rows in the logs`] : []
  })
}

function visitPromises(operations: readonly Operation[], { visitIds, activeVisitIds }: Stored): string[] {
  const broken: string[] = []
  for (const { kind, outcome, subject, tag } of operations) {
    if (outcome !== 'ok') continue
    if (kind !== 'event' && !visitIds.has(subject))
      broken.push(`${kind} ${tag} was answered and its visit is not there`)
    if (kind === 'activation' && !activeVisitIds.has(subject)) broken.push(`activation ${tag} was answered and is lost`)
  }
  // An unanswered request has no ID, but it made one visit at most.
  const answered = new Set(
    operations.filter(({ outcome, kind }) => outcome === 'ok' && kind !== 'event').map(subjectOf),
  )
  const unknown = operations.filter(({ outcome, kind }) => outcome === 'unknown' && kind !== 'event').length
  if (visitIds.size > answered.size + unknown) {
    broken.push(`${visitIds.size} visits, of ${answered.size} answered and ${unknown} unanswered requests`)
  }
  return broken
}

function installPromises(operations: readonly Operation[], { installs }: Stored): string[] {
  const rows = Map.groupBy(installs, keyOf)
  const events = eventsByKey(operations)
  const strangers = [...rows.keys()].filter((key) => !events.has(key))
  return [
    ...[...events].flatMap(([key, some]) => rowPromises(key, some, rows.get(key) ?? [])),
    ...[...events].flatMap(([key, some]) => answerPromises(key, some, rows.get(key)?.[0])),
    ...strangers.map((key) => `event ${key} is stored and nobody sent it`),
  ]
}

function rowPromises(key: string, events: readonly Operation[], { length }: readonly StoredInstall[]): string[] {
  const isAnswered = events.some(({ outcome }) => outcome === 'ok')
  const isRefused = events.every(({ outcome }) => outcome === 'refused')
  if (isAnswered && length !== 1) return [`event ${key} was answered and has ${length} rows`]
  if (isRefused && length > 0) return [`event ${key} was refused and has ${length} rows`]
  return length > 1 ? [`event ${key} has ${length} rows`] : []
}

/** A client's answer equals the row, and the deliveries follow from it. */
function answerPromises(key: string, events: readonly Operation[], row: StoredInstall | undefined): string[] {
  if (row === undefined) return []
  const stored = withoutDuplicate(JSON.parse(row.answer))
  return events
    .filter(({ outcome, answer }) => outcome === 'ok' && withoutDuplicate(answer) !== stored)
    .map(({ tag, answer }) => `event ${key} was told (${tag}) ${withoutDuplicate(answer)}, and stored is ${stored}`)
}

function repeatPromises(operations: readonly Operation[]): string[] {
  const broken: string[] = []
  for (const [key, events] of eventsByKey(operations)) {
    const answered = events.filter(({ outcome }) => outcome === 'ok')
    const firsts = answered.filter(({ answer }) => answer['duplicate'] === false)
    if (firsts.length > 1) broken.push(`event ${key} was first ${firsts.length} times: ${firsts.map(tagOf).join(', ')}`)
    if (new Set(answered.map(({ answer }) => withoutDuplicate(answer))).size > 1) {
      broken.push(`event ${key} was answered differently`)
    }
    for (const repeat of answered.filter(({ answer }) => answer['duplicate'] === true)) {
      const hasReason = events.some(
        (other) => other !== repeat && other.outcome !== 'refused' && other.beganAt <= repeat.endedAt,
      )
      if (!hasReason) broken.push(`event ${key} (${repeat.tag}) is called a repeat, and nothing came before it`)
    }
    // A first answer that comes after another answer has ended contradicts it.
    for (const first of firsts) {
      if (answered.some((other) => other.endedAt < first.beganAt)) broken.push(`event ${key} was first after an answer`)
    }
  }
  return broken
}

/** A receipt whose activation was answered matches, and a token matches, whatever was killed in between. */
function matchPromises(operations: readonly Operation[]): string[] {
  const replaced = new Set(operations.filter(({ kind }) => kind === 'visit').map(({ names }) => names))
  const activatedAt = new Map<string, number>()
  for (const { kind, outcome, subject, endedAt } of operations) {
    if (kind !== 'activation' || outcome !== 'ok') continue
    activatedAt.set(subject, Math.min(endedAt, activatedAt.get(subject) ?? Infinity))
  }
  return operations.flatMap(({ kind, outcome, names, answer, beganAt, hasToken, tag }) => {
    if (kind !== 'event' || outcome !== 'ok' || names === '' || answer['resolution'] === 'matched') return []
    const isActive = hasToken || (activatedAt.get(names) ?? Infinity) < beganAt
    return isActive && !replaced.has(names) ? [`event ${tag} is ${answer['resolution']}, and its visit is active`] : []
  })
}

function deliveryPromises(operations: readonly Operation[], { installs, deliveries, sentIds }: Stored): string[] {
  const byEvent = Map.groupBy(deliveries, keyOf)
  const sent = new Set(sentIds)
  const rows = new Map(installs.map((row) => [keyOf(row), row]))
  const broken = [...eventsByKey(operations)].flatMap(([key, events]) => {
    const row = rows.get(key)
    if (row === undefined || !events.some(({ outcome }) => outcome === 'ok')) return []
    // The row decides: it is what was answered first.
    return JSON.parse(row.answer).ga.status === 'pending' ? deliveryProblem(key, byEvent.get(key) ?? [], sent) : []
  })
  const known = new Set(deliveries.map(({ job_id: jobId }) => jobId))
  for (const id of sent) if (!known.has(id)) broken.push(`the provider received ${id}, which is no delivery's ID`)
  return broken
}

function deliveryProblem(key: string, deliveries: readonly StoredDelivery[], sent: ReadonlySet<string>): string[] {
  const [delivery] = deliveries
  if (delivery === undefined || deliveries.length > 1) return [`event ${key} has ${deliveries.length} deliveries`]
  if (delivery.status !== 'delivered') return [`the delivery of ${key} is ${delivery.status}`]
  return sent.has(delivery.job_id) ? [] : [`the delivery of ${key} never reached the provider`]
}

function eventsByKey(operations: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> {
  const events = operations.filter(({ kind }) => kind === 'event')
  return Map.groupBy(events, ({ website, subject }) => `${website}/${subject}`)
}

const keyOf = (row: { readonly website: string; readonly event_id: string }): string => `${row.website}/${row.event_id}`
const subjectOf = ({ subject }: Operation): string => subject
const tagOf = ({ tag }: Operation): string => tag

function withoutDuplicate(answer: Readonly<Record<string, any>>): string {
  const { duplicate: _, ...rest } = answer
  return JSON.stringify(rest)
}
