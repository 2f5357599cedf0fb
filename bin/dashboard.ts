/** `whencectl dashboard`: people, sessions and the API under /api/ as a process of its own; any number of them may run. */

import { listenFor } from '../api/frame.ts'
import { watchDirectory, type ClusterDirectory } from '../dashboard/resources/cluster-directory.ts'
import { clusterWriter, type SecretPlaces } from '../dashboard/resources/cluster-writer.ts'
import { secretHit } from '../dashboard/http/limits.ts'
import { clusterPins } from '../dashboard/sign-in/cluster-pins.ts'
import type { HitVerbs } from '../ports/hot-state/hot-state.ts'
import { createKeyring } from '../runtime/keyring.ts'
import type { KubeClient } from '../runtime/kube/client.ts'
import { createKubeMetrics } from '../runtime/kube/metrics.ts'
import type { RunOutcome } from '../runtime/settings/settings.ts'
import type { SettingsOf } from '../runtime/settings/settings-of.ts'
import { openKube } from './wiring/cluster.ts'
import { openDataFolder } from './wiring/data-folder.ts'
import { reportEngines } from './wiring/engine-metrics.ts'
import { openClickHouseFacts, openKafka, openRedis } from './wiring/engine-servers.ts'
import { masterSecrets } from './wiring/master-secrets.ts'
import { openDashboard, toolsOf } from './wiring/people/dashboard.ts'
import { startMetrics } from './wiring/probes.ts'
import { runProgram, type Process } from './wiring/process.ts'
import { serveTools } from './tools/control.ts'

export function dashboard({ settings }: RunOutcome<'dashboard'>, env: NodeJS.ProcessEnv): Promise<number> {
  return runProgram('dashboard', settings, async (own) => {
    const { logger, lifecycle } = own
    const probes = await startMetrics(own, settings.metricsListen)
    openDataFolder(settings.data, logger)
    const keys = createKeyring(masterSecrets(settings, { mayCreate: false }))
    const client = await openKube(own, 'dashboard', settings, env)
    const directory = await openDirectory(own, settings, client)
    // The memory of a single process must not sign anyone in.
    const hotState = await openRedis(own, settings.hotState, { whenAway: 'reject' })
    // While Kafka is unavailable people can sign in and look; what must be durable is refused until it is back.
    const eventLog = await openKafka(own, settings.eventLog, { mayWait: true })
    const facts = await openClickHouseFacts(own, settings.facts, { isReadOnly: true })
    const stores = { eventLog, hotState, facts }
    reportEngines(own.registry, stores)
    const { inventory } = directory
    const writer = clusterWriter(client, Date.now, secretPlaces(hotState))
    const resources = { directory, inventory, writer, pins: clusterPins(client) }
    const people = await openDashboard(own, settings, { keys, stores, resources, signUpPlace: signUpPlace(settings) })
    await lifecycle.start(
      'tools',
      () => serveTools(settings.data, toolsOf(people)),
      (server) => server.close(),
    )
    await directory.synced
    const server = await lifecycle.start(
      'dashboard',
      () => listenFor(people.serve, settings.listen, settings.baseUrl, people.server),
      (started) => started.close(),
    )
    lifecycle.onDrain(() => server.drain())
    await lifecycle.start(
      'streams of events',
      () => people.streams,
      (opened) => opened.close(),
    )
    probes.ready()
    logger.info({ listen: `${settings.listen.host}:${server.port}`, baseUrl: settings.baseUrl }, 'serving people')
  })
}

function openDirectory(
  { lifecycle, logger, registry, nowMs }: Process,
  { catalog: place, watchNamespaces: namespaces, installation }: SettingsOf<'dashboard'>,
  client: KubeClient,
): Promise<ClusterDirectory> {
  const watching = { client, logger, metrics: createKubeMetrics(registry), random: Math.random }
  return lifecycle.start(
    'directory',
    () => watchDirectory({ watching, place, namespaces, installation, nowMs }),
    (watched) => watched.close(),
  )
}

/** Objects of people who sign up are in the first namespace that is watched. */
function signUpPlace({ watchNamespaces, installation }: SettingsOf<'dashboard'>) {
  return { namespace: watchNamespaces[0] ?? 'default', installation: installation === 'default' ? null : installation }
}

function secretPlaces(hotState: HitVerbs): SecretPlaces {
  return {
    take: async (room) => (await hotState.countHits([secretHit(room)])).kind === 'counted',
    // Nothing can be given back while the store is away, and the day ends by itself.
    giveBack: (room, agoMs) => hotState.returnHits([secretHit(room)], agoMs).catch(() => undefined),
  }
}
