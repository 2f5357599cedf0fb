/** Starts the roles of the delivery side on the engines that they need. */

import { randomUUID } from 'node:crypto'
import { startDecidedAnswers } from '../../delivery/state/decided-answers.ts'
import { createRefill, type Refill } from '../../delivery/recovery/refill.ts'
import { startDispatch } from '../../delivery/dispatch/dispatch.ts'
import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { startLateRevocations } from '../../delivery/state/late-revocations.ts'
import { ownCredentials, streamCredentials } from '../../delivery/worker/own-credentials.ts'
import { PROVIDERS } from '../../delivery/providers/index.ts'
import type { Provider } from '../../delivery/providers/provider.ts'
import { startReplayJobs } from '../../delivery/rollup/replay-jobs.ts'
import { startRollup } from '../../delivery/rollup/rollup.ts'
import { startState, type StateRole } from '../../delivery/state/state.ts'
import { startStreams } from '../../delivery/streams/streams.ts'
import { startWorker, type Worker } from '../../delivery/worker/worker.ts'
import type { Registry } from 'prom-client'
import type { ProviderId } from '../../domain/providers/index.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { CatalogSource } from '../../runtime/catalog/source.ts'
import { createRandomness } from '../../runtime/random.ts'
import { reportEngines } from './engine-metrics.ts'
import type { EngineParts } from './engines.ts'
import { baseUrlOf, tokenUrlOf } from './provider-urls.ts'

export interface RoleParts extends EngineParts {
  readonly eventLog: EventLog
  readonly registry: Registry
}

export async function factsWriterRole({ lifecycle, ...parts }: RoleParts & { readonly facts: Facts }): Promise<void> {
  reportEngines(parts.registry, parts)
  await lifecycle.start(
    'facts-writer',
    () => startFactsWriter(parts),
    (role) => role.stop(),
  )
}

export async function stateRole({
  lifecycle,
  ...parts
}: RoleParts & { readonly hotState: HotState; readonly facts: Facts }): Promise<StateRole> {
  reportEngines(parts.registry, parts)
  return lifecycle.start(
    'state',
    () => startState({ ...parts, random: Math.random, owner: randomUUID() }),
    (role) => role.stop(),
  )
}

/** The part of the role `state` for a single process, which need not apply what it saw itself. */
export async function stateOfOneProcess({
  lifecycle,
  ...parts
}: RoleParts & { readonly hotState: HotState; readonly facts: Facts }): Promise<Refill> {
  await lifecycle.start(
    'decided answers',
    () => startDecidedAnswers(parts),
    (role) => role.stop(),
  )
  await lifecycle.start(
    'late revocations',
    () => startLateRevocations({ ...parts, random: Math.random }),
    (role) => role.stop(),
  )
  const refill = await lifecycle.start(
    'refill',
    async () => createRefill({ ...parts, owner: randomUUID() }),
    (role) => role.stop(),
  )
  refill.request()
  return refill
}

export async function dispatchRole({
  lifecycle,
  catalog,
  ...parts
}: RoleParts & { readonly facts: Facts; readonly catalog: CatalogSource }): Promise<void> {
  reportEngines(parts.registry, parts)
  await lifecycle.start(
    'dispatch',
    () => startDispatch({ ...parts, catalog: catalog.current, random: Math.random }),
    (role) => role.stop(),
  )
}

export async function rollupRole({
  lifecycle,
  ...parts
}: EngineParts & { readonly facts: Facts; readonly registry: Registry }): Promise<void> {
  await lifecycle.start(
    'rollup',
    async () => startRollup(parts),
    (role) => role.stop(),
  )
  await lifecycle.start(
    'replays of decisions',
    async () => startReplayJobs(parts),
    (role) => role.stop(),
  )
}

/** `streams`: log streams to webhooks, with the credentials of these alone. */
export async function streamsRole({
  lifecycle,
  catalog,
  ...parts
}: RoleParts & { readonly facts: Facts; readonly hotState: HotState; readonly catalog: CatalogSource }): Promise<void> {
  reportEngines(parts.registry, parts)
  const credentials = streamCredentials(catalog)
  await lifecycle.start(
    'streams',
    async () =>
      startStreams({
        ...{ ...parts, catalog: catalog.current, credentials },
        ...{ randomness: createRandomness(), owner: randomUUID() },
      }),
    (role) => role.stop(),
  )
}

type WorkerParts = RoleParts & { readonly hotState: HotState; readonly catalog: CatalogSource }

export async function workerRole(provider: Provider, parts: WorkerParts): Promise<void> {
  reportEngines(parts.registry, parts)
  await parts.lifecycle.start(
    provider.id,
    () => openWorker(provider, parts),
    (role) => role.stop(),
  )
}

/** One for each provider there is. They stop at the same time: each may wait for a provider that hangs. */
export async function workerRoles(parts: WorkerParts): Promise<ReadonlyMap<ProviderId, Worker>> {
  const workers = new Map<ProviderId, Worker>()
  const stop = async (): Promise<void> => void (await Promise.all([...workers.values()].map((worker) => worker.stop())))
  const start = async (): Promise<void> => {
    try {
      for (const provider of Object.values(PROVIDERS)) workers.set(provider.id, await openWorker(provider, parts))
    } catch (error) {
      await stop()
      throw error
    }
  }
  reportEngines(parts.registry, parts)
  await parts.lifecycle.start('workers', start, stop)
  return workers
}

function openWorker(provider: Provider, { catalog, settings, lifecycle: _, ...parts }: WorkerParts): Promise<Worker> {
  return startWorker({
    ...parts,
    provider,
    baseUrl: baseUrlOf(provider.id, settings),
    tokenUrl: tokenUrlOf(provider.id, settings),
    catalog: catalog.current,
    credentials: ownCredentials(provider.id, catalog),
    random: Math.random,
  })
}
