/** The roles of the delivery side: which engines each needs, and which parts it starts on them. */

import { recordOf } from '../../domain/typed-keys.ts'
import { randomUUID } from 'node:crypto'
import { startDecidedAnswers } from '../../delivery/state/decided-answers.ts'
import { createRefill, type Refill } from '../../delivery/recovery/refill.ts'
import { startDispatch } from '../../delivery/dispatch/dispatch.ts'
import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { startLateRevocations } from '../../delivery/state/late-revocations.ts'
import { ownCredentials, streamCredentials, webhookCredentials } from '../../delivery/worker/own-credentials.ts'
import { PROVIDERS } from '../../delivery/providers/index.ts'
import type { Provider } from '../../delivery/providers/provider.ts'
import { startReplayJobs } from '../../delivery/rollup/replay-jobs.ts'
import { startRetention } from '../../delivery/retention.ts'
import { startRollup } from '../../delivery/rollup/rollup.ts'
import { startState, type StateRole } from '../../delivery/state/state.ts'
import { startStreams } from '../../delivery/streams/streams.ts'
import { startWebhooks } from '../../delivery/webhooks/webhooks.ts'
import { startWorker, type Worker } from '../../delivery/worker/worker.ts'
import type { CatalogInHand } from '../../domain/published/catalog-number.ts'
import { PUBLIC_ONLY } from '../../domain/outbound/address.ts'
import type { Registry } from 'prom-client'
import { PROVIDER_IDS, type ProviderId } from '../../domain/providers/index.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { CatalogSource } from '../../runtime/catalog/source.ts'
import { createRandomness } from '../../runtime/random.ts'
import { ROLE_ENGINES } from '../../runtime/settings/setting-groups.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { reportEngines } from './engine-metrics.ts'
import type { EngineParts, Engines } from './engines.ts'
import { baseUrlOf, outboundProxyOf, tokenUrlOf } from './outbound.ts'

/** What roles run on. */
interface RoleEngines {
  readonly eventLog: EventLog
  readonly catalog: CatalogSource
  readonly facts: Facts
  readonly hotState: HotState
}

type EngineName = keyof RoleEngines
type PartsOn<N extends EngineName> = Omit<EngineParts, 'lifecycle'> & Pick<RoleEngines, N> & GivenParts

interface GivenParts {
  readonly registry: Registry
  /** Finishes open replays of decisions in another thread; absent: the role does so in this one. */
  readonly runReplaysElsewhere?: (signal: AbortSignal) => Promise<void>
}

interface RoleParts extends EngineParts, GivenParts {
  /** Opens an engine for a role that needs it; a process connects to no other. */
  readonly open: { readonly [N in Exclude<EngineName, 'hotState'>]: () => Promise<RoleEngines[N]> } & {
    readonly hotState: Engines['hotState']
  }
}

interface Stoppable {
  readonly close: () => Promise<void> | void
}

type StartRole = (parts: RoleParts) => Promise<void>
type DeliveryRole = NonNullable<Settings['role']>

/** One worker for each provider. */
const WORKERS = recordOf(PROVIDER_IDS, (id) =>
  role([...ROLE_ENGINES[id], 'catalog'], { [id]: (parts) => openWorker(PROVIDERS[id], parts) }),
)

const ROLES: Readonly<Record<DeliveryRole, StartRole>> = {
  'facts-writer': role(ROLE_ENGINES['facts-writer'], { 'facts-writer': startFactsWriter }),
  state: startStateRole,
  dispatch: role([...ROLE_ENGINES.dispatch, 'catalog'], {
    dispatch: ({ catalog, ...parts }) => startDispatch({ ...parts, ...copyOf(catalog), random: Math.random }),
    retention: ({ catalog, ...parts }) => startRetention({ ...parts, ...copyOf(catalog) }),
  }),
  rollup: role(ROLE_ENGINES.rollup, { rollup: startRollup, 'replays of decisions': startReplayJobs }),
  streams: role([...ROLE_ENGINES.streams, 'catalog'], {
    streams: ({ catalog, ...parts }) =>
      startStreams({
        ...parts,
        ...copyOf(catalog),
        credentials: streamCredentials(catalog),
        randomness: createRandomness(),
        owner: randomUUID(),
        outbound: { proxy: outboundProxyOf(parts.settings) },
        bucketOutbound: { policy: { ...PUBLIC_ONLY, networks: parts.settings.streamAllow } },
      }),
  }),
  webhooks: role([...ROLE_ENGINES.webhooks, 'catalog'], {
    webhooks: ({ catalog, ...parts }) =>
      startWebhooks({
        ...parts,
        ...copyOf(catalog),
        credentials: webhookCredentials(catalog),
        randomness: createRandomness(),
        outbound: { proxy: outboundProxyOf(parts.settings) },
      }),
  }),
  ...WORKERS,
}

/** Resolves when every part of the role runs; the lifecycle stops them. */
export function startRole(name: DeliveryRole, parts: RoleParts): Promise<void> {
  return ROLES[name](parts)
}

/** The part of the role `state` for a single process, which need not apply what it saw itself. */
export async function stateOfOneProcess(given: RoleParts): Promise<Refill> {
  const { lifecycle } = given
  const parts = await on(['eventLog', 'facts', 'hotState'], given)
  await startPart(lifecycle, 'decided answers', () => startDecidedAnswers(parts))
  await startPart(lifecycle, 'late revocations', () => startLateRevocations({ ...parts, random: Math.random }))
  const refill = await startPart(lifecycle, 'refill', () => createRefill({ ...parts, owner: randomUUID() }))
  refill.request()
  return refill
}

/** All workers of a single process. They stop at the same time: each may wait for a provider that hangs. */
export async function startWorkers(given: RoleParts): Promise<ReadonlyMap<ProviderId, Worker>> {
  const parts = await on(['eventLog', 'catalog', 'hotState'], given)
  const workers = new Map<ProviderId, Worker>()
  const stop = async (): Promise<void> =>
    void (await Promise.all([...workers.values()].map((worker) => worker.close())))
  const start = async (): Promise<void> => {
    try {
      for (const provider of Object.values(PROVIDERS)) workers.set(provider.id, await openWorker(provider, parts))
    } catch (error) {
      await stop()
      throw error
    }
  }
  await given.lifecycle.startBackground('workers', start, stop)
  return workers
}

/** These bring what was just answered further before they stop; all other parts begin to stop at once. */
const IN_TURN: ReadonlySet<string> = new Set(['facts-writer', 'dispatch'])

/** A role that needs these engines and starts these parts, in this order. */
function role<N extends EngineName>(
  needs: readonly N[],
  starts: Readonly<Record<string, (parts: PartsOn<N>) => Promise<Stoppable> | Stoppable>>,
): StartRole {
  return async (given) => {
    const parts = await on(needs, given)
    const { start: startInTurn, startBackground } = given.lifecycle
    for (const [name, start] of Object.entries(starts)) {
      const startOne = IN_TURN.has(name) ? startInTurn : startBackground
      await startOne(
        name,
        () => start(parts),
        (part) => part.close(),
      )
    }
  }
}

async function startStateRole(given: RoleParts): Promise<void> {
  let state: StateRole | null = null
  const hotState = () => given.open.hotState({ whenAway: 'reject', onLost: () => state?.storeLost() })
  const parts = await on(ROLE_ENGINES.state, { ...given, open: { ...given.open, hotState } })
  state = await startPart(given.lifecycle, 'state', () =>
    startState({ ...parts, random: Math.random, owner: randomUUID() }),
  )
  // The store was not watched until now: it may have lost data while this role was down or starting.
  state.storeLost()
}

/** Opens the engines, one after another, and reports them as metrics. */
async function on<N extends EngineName>(
  needs: readonly N[],
  { open, lifecycle: _, ...parts }: RoleParts,
): Promise<PartsOn<N>> {
  const engines: Partial<Record<EngineName, RoleEngines[EngineName]>> = {}
  for (const name of needs) engines[name] = await open[name]()
  const opened = engines as Pick<RoleEngines, N>
  if (hasEventLog(opened)) reportEngines(parts.registry, opened)
  return { ...parts, ...opened }
}

function hasEventLog(engines: Partial<RoleEngines>): engines is Partial<RoleEngines> & Pick<RoleEngines, 'eventLog'> {
  return engines.eventLog !== undefined
}

function copyOf({ current, asOf }: CatalogSource): CatalogInHand {
  return { catalog: current, catalogAsOf: asOf }
}

function startPart<P extends Stoppable>(
  lifecycle: EngineParts['lifecycle'],
  name: string,
  open: () => Promise<P> | P,
): Promise<P> {
  return lifecycle.start(name, open, (part) => part.close())
}

function openWorker(provider: Provider, given: PartsOn<'eventLog' | 'hotState' | 'catalog'>): Promise<Worker> {
  const { catalog, settings, ...parts } = given
  return startWorker({
    ...parts,
    provider,
    baseUrl: baseUrlOf(provider.id, settings),
    tokenUrl: tokenUrlOf(provider.id, settings),
    proxy: outboundProxyOf(settings),
    ...copyOf(catalog),
    credentials: ownCredentials(provider.id, catalog),
    random: Math.random,
  })
}
