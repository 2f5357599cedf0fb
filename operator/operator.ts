/**
 * The operator: gathers what the cluster holds, decides what it should hold, and applies the difference.
 *
 * Every pass checks everything, so nothing depends on single events; unchanged objects cost no request. Replicas that
 * do not lead keep their copies up to date and write nothing.
 */

import { recordOf } from '../domain/typed-keys.ts'
import type { Registry } from 'prom-client'

import { objectKey } from '../domain/catalog/objects.ts'
import { RESOURCE_KINDS, type ResourceKind } from '../domain/resources/resources.ts'
import { KubeError, type KubeClient } from '../runtime/kube/client.ts'
import { createKubeMetrics } from '../runtime/kube/metrics.ts'
import type { KubeObject } from '../runtime/kube/objects.ts'
import { publishedProblems } from '../runtime/catalog/whole-catalog.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Decision } from './decide/decide.ts'
import type { InForce } from './decide/gathered.ts'
import { heldNamespaces, readInForce } from './apply/in-force.ts'
import { decide, emptyMemory } from './decide/decide.ts'
import { createDefinitionCheck } from './gather/definitions.ts'
import { inSlices } from './in-slices.ts'
import { createForeignReport } from './apply/foreign-objects.ts'
import { createEvents } from './apply/events.ts'
import { startLeader } from './leader.ts'
import { createOperatorMetrics } from './metrics.ts'
import { pack } from './decide/pack.ts'
import { openPublisher } from './apply/publisher.ts'
import { createRoom } from './gather/room.ts'
import { createSecretValues, referredSecrets, withoutUnread } from './gather/secrets.ts'
import { auditOf, type AuditTools } from './apply/audit.ts'
import { createStatuses } from './apply/statuses.ts'
import type { TrafficFacts } from './apply/traffic.ts'
import { startTraffic } from './apply/traffic.ts'
import { QUEUE_RULES } from './queue-rules.ts'
import { stoppableClient, stoppableTraffic } from './apply/stoppable.ts'
import { createWorkQueue, type Urgency } from './work-queue.ts'
import { createSecretCleanup } from './apply/secret-cleanup.ts'
import { ownership, withoutPaused } from './gather/ownership.ts'
import { watchWorld, type Territory } from './gather/world.ts'
import { createWriter } from './apply/writer.ts'
import { sha256Hex } from '../common/digest.ts'
import { every, type Repetition } from '../common/every.ts'

interface OperatorOptions {
  readonly client: KubeClient
  readonly territory: Territory
  readonly rules: OperatorRules
  readonly stores: OperatorStores
  readonly process: OperatorProcess
  /** Set by tests. */
  readonly pace?: OperatorPace
}

/** What decisions depend on besides the cluster. */
interface OperatorRules {
  /** Used in the snippets that statuses show. */
  readonly baseUrl: string
  /** How many Secrets the credentials of one provider may fill; the operator has rights to that many. */
  readonly credentialSlots: number
  /** Names of the service's own Secrets in the catalog's namespace. */
  readonly ownSecrets: readonly string[]
  /** About as many bytes of heap as everything that is read may take up. */
  readonly roomBytes: number
}

/** What the operator needs of the service's stores, none of which it knows. */
interface OperatorStores {
  /** Source of the websites' figures and the destinations' states; null if they are not shown. */
  readonly readFacts: TrafficFacts | null
  /** Records who changed what; null if changes leave no entries in the activity. */
  readonly audit: AuditTools | null
}

/** The process that the operator runs in. */
interface OperatorProcess {
  /** Unique among the replicas. */
  readonly identity: string
  readonly registry: Registry
  readonly logger: Logger
  readonly nowMs: () => number
  readonly random: () => number
  /** The Lease was lost: the process must end, since another one may be writing. */
  readonly onLost: () => void
}

interface OperatorPace {
  /** Time between two readings of figures. */
  readonly trafficMs: number
  /** Time between two checks of the Secrets with credentials. */
  readonly tidyMs: number
}

export interface Operator {
  readonly isLeading: () => boolean
  /** Whether everything that decisions depend on is known. */
  readonly isReady: () => boolean
  readonly close: () => Promise<void>
}

/** How long a change waits for others. */
const GATHER_MS = 50
/** How long a stop waits for writes under way; an API server that takes longer may never answer. */
const LAST_WRITES_MS = 3_000
/** Status writes in flight: enough to keep the API server busy, few enough that none waits long. */
const CONCURRENCY = 32
/** After this many failures in a row the statuses report that the catalog could not be written. */
const TOLD_FAILURES = 6
const PASS = 'pass'
/** Checks the Secrets with credentials, which send no events. */
const TIDY = 'tidy'
const TIDY_MS = 30_000

export function startOperator(options: OperatorOptions): Operator {
  const loop = new OperatorLoop(options)
  return {
    isLeading: () => loop.leader.isLeading(),
    isReady: () => loop.isReady(),
    close: () => loop.close(),
  }
}

class OperatorLoop {
  readonly leader
  readonly #options: OperatorOptions
  readonly #room
  /** Aborted once a stop has waited long enough. */
  readonly #givenUp = new AbortController()
  readonly #world
  readonly #secrets
  readonly #credentials
  readonly #publisher
  readonly #readMap
  readonly #tidying: Repetition
  readonly #statuses
  readonly #audit
  readonly #definitions
  readonly #secretCleanup
  /** Separate from the statuses: publishing never waits for status writes. */
  readonly #passes
  readonly #queue
  readonly #metrics
  readonly #traffic
  #decision: Decision | null = null
  /** What the cluster holds; undefined until it was read. */
  #inForce: InForce | null | undefined
  readonly #memory = emptyMemory()
  readonly #ownSecrets: ReadonlySet<string>
  #gathering: NodeJS.Timeout | null = null
  /** When the first unpublished change was seen. */
  #changedAtMs: number | null = null
  /** When the oldest unpublished change was seen. */
  #unpublishedSinceMs: number | null = null
  #isFirstReview = true
  /** The last known state of the namespaces. */
  #spaces = ''
  readonly #tellForeign

  constructor(options: OperatorOptions) {
    const { signal } = this.#givenUp
    const client = stoppableClient(options.client, signal)
    const { territory, rules, stores, pace } = options
    const { registry, logger, identity, nowMs, random, onLost } = options.process
    const { place, namespaces, installation } = territory
    this.#options = options
    this.#ownSecrets = new Set(rules.ownSecrets.map((name) => objectKey('Secret', place.namespace, name)))
    const onFailure = (key: string, error: unknown, failures: number): void => this.#failed(key, error, failures)
    const common = { random, onFailure, rules: QUEUE_RULES }
    this.#passes = createWorkQueue({ ...common, handle: () => this.#pass(), concurrency: 1 })
    this.#queue = createWorkQueue({
      ...common,
      handle: (key) => (key === TIDY ? this.#tidy() : this.#statuses.settle(key)),
      concurrency: CONCURRENCY,
    })
    this.#metrics = createOperatorMetrics(registry, this.#gauges())
    const { wrote } = this.#metrics
    const writer = createWriter({ client, mayWrite: () => this.leader.mayWrite(), onWrite: wrote })
    const onChange = (): void => this.#changed()
    const room = createRoom({ bytes: rules.roomBytes, onCut: onChange })
    this.#room = room
    const watching = { client, logger, metrics: createKubeMetrics(registry), random }
    const news = { onChange, onStatus: (key: string) => this.#statusChanged(key), onGone: writer.forgetWritten }
    const world = watchWorld({ watching, territory, room, news, nowMs })
    this.#world = world
    this.#secrets = createSecretValues({ client, watched: world.secrets, room })
    const { credentialSlots } = rules
    const { own, credentials, publisher } = openPublisher({ client, place, credentialSlots, nowMs }, world, writer)
    this.#readMap = (name: string) => own('configmaps', name)
    this.#credentials = credentials
    this.#publisher = publisher
    const tidyMs = pace?.tidyMs ?? TIDY_MS
    this.#tidying = every(tidyMs, () => this.#queue.put(TIDY, 'later'), {
      firstMs: tidyMs,
      onFailure: (error) => this.#failed(TIDY, error, 1),
    })
    const events = createEvents({ writer, identity, logger, nowMs })
    this.#tellForeign = createForeignReport({ installation, logger, tell: events.tell })
    this.#audit = auditOf(stores.audit, nowMs, world.resource, () => this.#decision)
    const onDiffering = this.#metrics.differing
    this.#definitions = createDefinitionCheck({ client, namespaces, sha256Hex, logger, onChange: onDiffering })
    const { resources, dashboardSecrets } = world
    const isAllKnown = (): boolean =>
      world.isWhole() && room.cut().size === 0 && this.#definitions.differing().length === 0
    const known = { resources, dashboardSecrets, isAllKnown }
    this.#secretCleanup = createSecretCleanup({ client, writer, world: known, logger, nowMs })
    this.#statuses = createStatuses({
      writer,
      onTransition: events.transition,
      nowMs,
      current: (key) => this.#current(key),
      installation,
      audit: this.#audit,
    })
    this.leader = startLeader({
      // It gives its Lease back after everything else was given up.
      client: options.client,
      candidacy: { namespace: place.namespace, name: place.name, identity },
      logger,
      time: { nowMs, clockMs: () => performance.now(), random },
      onElected: () => this.#elected(),
      onLost: () => {
        this.#metrics.leading(false)
        onLost()
      },
    })
    const shown = {
      decision: () => (this.leader.isLeading() ? this.#decision : null),
      current: (kind: ResourceKind, { metadata }: KubeObject) =>
        world.resource(kind, metadata.namespace ?? '', metadata.name),
    }
    const read = stores.readFacts === null ? null : stoppableTraffic(stores.readFacts, signal)
    const onRead = this.#metrics.readTraffic
    this.#traffic = startTraffic({ read, writer, shown, onRead, logger, nowMs }, pace?.trafficMs)
  }

  isReady(): boolean {
    return this.#world.isReady()
  }

  async close(): Promise<void> {
    if (this.#gathering !== null) clearTimeout(this.#gathering)
    void this.#tidying.close()
    const lastMoment = setTimeout(() => this.#givenUp.abort(), LAST_WRITES_MS)
    await Promise.all([this.#traffic.close(), this.#world.close(), this.#passes.close(), this.#queue.close()])
    clearTimeout(lastMoment)
    await this.leader.close()
  }

  #gauges(): Parameters<typeof createOperatorMetrics>[1] {
    return {
      depth: () => this.#passes.depth() + this.#queue.depth(),
      longestRunningMs: () => Math.max(this.#passes.longestRunningMs(), this.#queue.longestRunningMs()),
      unpublishedMs: () => (this.#unpublishedSinceMs === null ? 0 : performance.now() - this.#unpublishedSinceMs),
    }
  }

  #current(key: string): KubeObject | undefined {
    const decided = this.#decision?.objects.get(key)
    const { namespace = '', name = '' } = decided?.object.metadata ?? {}
    return decided === undefined ? undefined : this.#world.resource(decided.kind, namespace, name)
  }

  #elected(): void {
    this.#metrics.leading(true)
    this.#isFirstReview = true
    this.#changed()
    this.#queue.put(TIDY, 'later')
  }

  /** Something changed: starts a pass once other changes had time to join it. */
  #changed(): void {
    if (!this.#world.isReady() || !this.leader.isLeading()) return
    this.#changedAtMs ??= performance.now()
    this.#unpublishedSinceMs ??= this.#changedAtMs
    this.#gathering ??= setTimeout(() => {
      this.#gathering = null
      this.#passes.put(PASS, 'now')
    }, GATHER_MS)
  }

  /** Written by this operator or another program: it is checked, and written only if it differs from the decision. */
  #statusChanged(key: string): void {
    if (this.leader.isLeading() && this.#decision !== null) this.#queue.put(key, 'later')
  }

  async #pass(): Promise<void> {
    const changedAtMs = this.#changedAtMs
    this.#changedAtMs = null
    try {
      this.#inForce ??= await readInForce(
        this.#publisher,
        this.#credentials,
        this.#readMap,
        this.#options.territory.place,
      )
      const decision = await this.#decide(this.#inForce)
      this.#decision = decision
      await this.#publisher.publish(decision)
      this.#inForce = decision.inForce
      this.#publishedAll(changedAtMs)
      this.#review(decision, true)
    } catch (error) {
      this.#changedAtMs ??= changedAtMs
      // Another operator has published: what is in force is not what this one knows.
      if (error instanceof KubeError && error.status === 409) this.#inForce = undefined
      throw error
    }
  }

  #publishedAll(changedAtMs: number | null): void {
    this.#unpublishedSinceMs = this.#changedAtMs
    if (changedAtMs !== null) this.#metrics.published((performance.now() - changedAtMs) / 1_000)
  }

  async #decide(before: InForce | null): Promise<Decision> {
    const world = this.#world
    const all = recordOf(RESOURCE_KINDS, (kind) => world.resources(kind))
    const { own: mine, foreign } = ownership(all, this.#options.territory.installation)
    const running = withoutPaused(mine)
    this.#metrics.foreign(foreign.length)
    this.#tellForeign(foreign)
    const { Destination, LogStream, Webhook } = running.resources
    const referred = referredSecrets([...Destination, ...LogStream, ...Webhook])
    const { secrets, unread, isMore } = await this.#secrets.read(referred)
    if (isMore) this.#changed()
    const { resources, waiting } = withoutUnread(running.resources, unread)
    const paused = new Set([...running.paused, ...waiting])
    const partsInUse = this.#publisher.partsInUse()
    const startedAtMs = performance.now()
    const namespaces = world.namespaces()
    const { rules, territory, process } = this.#options
    const { baseUrl, credentialSlots } = rules
    const own = { baseUrl, credentialSlots, ownSecrets: this.#ownSecrets, paused, nowMs: process.nowMs() }
    const held = heldNamespaces(world, this.#definitions.differing())
    // From memory if there is one: a problem keeps its time even if the answer to its publication was lost.
    const published = this.#decision?.problems ?? publishedProblems(territory.place, world.configMap)
    const gathered = { resources, secrets, namespaces, partsInUse, before, published, ...own, ...held }
    const decision = await inSlices(decide(gathered, { sha256Hex, pack }, this.#memory), this.#givenUp.signal)
    this.#metrics.decided((performance.now() - startedAtMs) / 1_000, decision)
    this.#metrics.cut(this.#room.cut())
    this.#metrics.unreadable(new Set([...held.heldNamespaces, ...world.outdated()]))
    return decision
  }

  /** The status writes of a start wait behind those of people's changes. */
  #review(decision: Decision, isPublished: boolean): void {
    const urgency: Urgency = this.#isFirstReview ? 'later' : 'now'
    this.#isFirstReview = false
    for (const key of this.#statuses.review(decision, isPublished)) this.#queue.put(key, urgency)
  }

  /** What was cut comes back as soon as there is room for it. */
  #reopen(): void {
    const kinds = this.#room.reopen()
    for (const kind of kinds) if (kind !== 'Secret') this.#world.readAgain(kind)
    if (!kinds.has('Secret')) return
    this.#secrets.readCutAgain()
    this.#changed()
  }

  async #tidy(): Promise<void> {
    this.#reopen()
    if (!this.leader.isLeading()) return
    if (this.#decision !== null) await this.#audit?.recordGone(this.#decision.objects)
    await this.#definitions.compare()
    const differing = this.#definitions.differing()
    const spaces = JSON.stringify([differing, [...this.#world.namespaceStates()], [...this.#world.outdated()]])
    const isNews = spaces !== this.#spaces
    this.#spaces = spaces
    await this.#secretCleanup.run()
    const isDamaged = this.#inForce !== undefined && (await this.#credentials.tidy())
    // Invitations expire and the guard's memory changes without an event.
    const isOver = this.#decision !== null && this.#decision.changesAtMs <= this.#options.process.nowMs()
    if (isNews || isDamaged || isOver || this.#memory.guard.size > 0) this.#changed()
  }

  #failed(key: string, error: unknown, failures: number): void {
    // Everything that waits is refused then, and the process ends.
    if (!this.leader.isLeading()) return
    this.#metrics.retried()
    const why = error instanceof Error ? error.message : String(error)
    if (failures === 1 || failures % 10 === 0) {
      this.#options.process.logger.warn({ key, failures, why }, 'could not be written, retrying')
    }
    if (key === PASS && failures === TOLD_FAILURES && this.#decision !== null) this.#review(this.#decision, false)
  }
}
