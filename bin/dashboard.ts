/** `whencectl dashboard`: people, sessions and the API under /api/ as a process of its own; any number of them may run. */

import { listenFor } from '../api/frame.ts'
import { watchDirectory } from '../dashboard/resources/cluster-directory.ts'
import { clusterWriter, type SecretPlaces } from '../dashboard/resources/cluster-writer.ts'
import { secretHit } from '../dashboard/http/limits.ts'
import { clusterPins } from '../dashboard/sign-in/cluster-pins.ts'
import type { HitVerbs } from '../ports/hot-state/hot-state.ts'
import { createKubeMetrics } from '../runtime/kube/metrics.ts'
import { createRegistry } from '../runtime/metrics.ts'
import type { RunOutcome } from '../runtime/settings/settings.ts'
import { kubeClientOf } from './wiring/cluster.ts'
import { openDashboard, toolsOf } from './wiring/people/dashboard.ts'
import { openDataFolder } from './wiring/data-folder.ts'
import { reportEngines } from './wiring/engine-metrics.ts'
import { engines } from './wiring/engines.ts'
import { runProgram } from './wiring/process.ts'
import { keyringOf, startMetrics } from './wiring/serve-api.ts'
import { serveTools } from './tools/control.ts'
import { version } from './wiring/version.ts'

export function dashboard({ settings }: RunOutcome, env: NodeJS.ProcessEnv): Promise<number> {
  return runProgram('dashboard', settings, async ({ logger, lifecycle }) => {
    const parts = { settings, logger, lifecycle, nowMs: Date.now }
    const registry = createRegistry('dashboard', version())
    const probes = await startMetrics(parts, registry)
    openDataFolder(settings.data, logger)
    const keys = keyringOf(settings, { mayCreate: false })
    const { catalog: place } = settings
    if (place === null) throw new Error('WHENCE_CATALOG is not set')
    const client = await lifecycle.start(
      'kube',
      () => kubeClientOf('dashboard', settings, env),
      (opened) => opened.close(),
    )
    const directory = await lifecycle.start(
      'directory',
      () =>
        watchDirectory({
          client,
          place,
          namespaces: settings.watchNamespaces,
          installation: settings.installation,
          logger,
          metrics: createKubeMetrics(registry),
          random: Math.random,
          nowMs: Date.now,
        }),
      (watched) => watched.close(),
    )
    // The memory of a single process must not sign anyone in.
    const open = engines(parts)
    const hotState = await open.hotState({ whenAway: 'reject' })
    // While Kafka is unavailable people can sign in and look; what must be durable is refused until it is back.
    const eventLog = await open.eventLog({ mayWait: true })
    const { facts } = await open.facts({ isReadOnly: true })
    reportEngines(registry, { eventLog, hotState, facts })
    const resources = {
      directory,
      inventory: directory.inventory,
      writer: clusterWriter(client, Date.now, secretPlaces(hotState)),
    }
    const dashboard = await openDashboard({
      ...parts,
      keys,
      registry,
      eventLog,
      hotState,
      facts,
      ...resources,
      pins: clusterPins(client),
    })
    await lifecycle.start(
      'tools',
      () => serveTools(settings.data, toolsOf(dashboard)),
      (server) => server.close(),
    )
    await directory.synced
    const server = await lifecycle.start(
      'dashboard',
      () => listenFor(dashboard.serve, settings.listen, { ...dashboard.server, baseUrl: settings.baseUrl }),
      (started) => started.close(),
    )
    lifecycle.onDrain(() => server.drain())
    await lifecycle.start(
      'streams of events',
      () => dashboard.streams,
      (opened) => opened.close(),
    )
    probes.ready()
    logger.info({ listen: `${settings.listen.host}:${server.port}`, baseUrl: settings.baseUrl }, 'serving people')
  })
}

function secretPlaces(hotState: HitVerbs): SecretPlaces {
  return {
    take: async (room) => (await hotState.countHits([secretHit(room)])).kind === 'counted',
    // Nothing can be given back while the store is away, and the day ends by itself.
    giveBack: (room, agoMs) => hotState.returnHits([secretHit(room)], agoMs).catch(() => undefined),
  }
}
