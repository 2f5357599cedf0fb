/** `whencectl operator`: reconciles the custom resources of a cluster; one of several replicas leads. */

import { hostname } from 'node:os'
import { getHeapStatistics } from 'node:v8'

import { LIMITS } from '../domain/limits.ts'
import { encodeRecord, recordKey } from '../domain/records.ts'
import type { AuditTools } from '../operator/apply/audit.ts'
import { owningClient } from '../operator/apply/owned-objects.ts'
import { startOperator } from '../operator/operator.ts'
import type { TrafficFacts } from '../operator/apply/traffic.ts'
import { createRegistry } from '../runtime/metrics.ts'
import type { RunOutcome } from '../runtime/settings/settings.ts'
import { kubeClientOf } from './wiring/cluster.ts'
import type { EngineParts } from './wiring/engines.ts'
import { engines } from './wiring/engines.ts'
import { factsReader } from './wiring/facts-reader.ts'
import { runProgram } from './wiring/process.ts'
import { keyringOf, startMetrics } from './wiring/serve-api.ts'
import { version } from './wiring/version.ts'

export function operator({ settings }: RunOutcome, env: NodeJS.ProcessEnv): Promise<number> {
  return runProgram('operator', settings, async ({ logger, lifecycle }) => {
    const registry = createRegistry('operator', version())
    const { catalog: place, baseUrl, credentialSlots, installation, ownSecrets } = settings
    if (place === null) throw new Error('WHENCE_CATALOG is required for operator')
    const probes = await startMetrics({ settings, logger, lifecycle, nowMs: Date.now }, registry)
    const client = await lifecycle.start(
      'kube',
      () => kubeClientOf('operator', settings, env),
      (opened) => opened.close(),
    )
    const identity = settings.identity ?? `${hostname()}-${process.pid}`
    const onLost = (): void => lifecycle.fail('leader', new Error('the lease was lost'))
    const clock = { nowMs: Date.now, random: Math.random }
    const namespaces = settings.watchNamespaces
    const parts = { settings, logger, lifecycle, nowMs: Date.now }
    const readFacts = await openFacts(parts)
    const audit = await openAudit(parts)
    const started = await lifecycle.start(
      'operator',
      () =>
        startOperator({
          client: owningClient(client, place, Date.now),
          place,
          namespaces,
          identity,
          baseUrl,
          credentialSlots,
          installation,
          ownSecrets,
          roomBytes: getHeapStatistics().heap_size_limit * LIMITS.operatorHeapShare,
          registry,
          logger,
          onLost,
          readFacts,
          audit,
          ...clock,
        }),
      (opened) => opened.close(),
    )
    probes.ready(() => started.isReady())
    logger.info({ identity, catalog: `${place.namespace}/${place.name}` }, 'reconciling')
  })
}

/** Null if no event log is set: changes of objects then leave no entries in the activity. */
async function openAudit(parts: EngineParts): Promise<AuditTools | null> {
  const { settings } = parts
  if (settings.eventLog === null) return null
  const { changeHash } = keyringOf(settings, { mayCreate: false })
  const eventLog = await engines(parts).eventLog({ mayWait: true })
  return {
    changeHash,
    append: (entry) =>
      eventLog.append('activity', [{ key: recordKey(entry, entry.id), value: encodeRecord(entry) }], {
        deadlineMs: ENTRY_MS,
        patienceMs: ENTRY_MS,
      }),
  }
}

/** A status waits at most this long for a log that is unavailable. */
const ENTRY_MS = 2_000

/** Null if no ClickHouse is set: websites then show no figures. */
async function openFacts(parts: EngineParts): Promise<TrafficFacts | null> {
  if (parts.settings.facts === null) return null
  const { facts } = await engines(parts).facts()
  return factsReader(facts)
}
