/** `whencectl operator`: reconciles the custom resources of a cluster; one of several replicas leads. */

import { hostname } from 'node:os'
import { getHeapStatistics } from 'node:v8'

import { LIMITS } from '../domain/limits.ts'
import { encodeRecord, recordKey } from '../domain/records.ts'
import type { AuditTools } from '../operator/apply/audit.ts'
import { owningClient } from '../operator/apply/owned-objects.ts'
import { startOperator } from '../operator/operator.ts'
import { createKeyring } from '../runtime/keyring.ts'
import type { RunOutcome } from '../runtime/settings/settings.ts'
import type { SettingsOf } from '../runtime/settings/settings-of.ts'
import { openKube } from './wiring/cluster.ts'
import { openClickHouseFacts, openKafka } from './wiring/engine-servers.ts'
import { factsReader } from './wiring/facts-reader.ts'
import { masterSecrets } from './wiring/master-secrets.ts'
import { startMetrics } from './wiring/probes.ts'
import { runProgram, type Process } from './wiring/process.ts'

export function operator({ settings }: RunOutcome<'operator'>, env: NodeJS.ProcessEnv): Promise<number> {
  return runProgram('operator', settings, async (own) => {
    const { logger, lifecycle, registry, nowMs } = own
    const { catalog: place, baseUrl, credentialSlots, installation, ownSecrets } = settings
    const probes = await startMetrics(own, settings.metricsListen)
    const client = await openKube(own, 'operator', settings, env)
    const identity = settings.identity ?? `${hostname()}-${process.pid}`
    const onLost = (): void => lifecycle.fail('leader', new Error('the lease was lost'))
    // Without ClickHouse websites show no figures.
    const readFacts = settings.facts === null ? null : factsReader(await openClickHouseFacts(own, settings.facts))
    const audit = await openAudit(own, settings)
    const roomBytes = getHeapStatistics().heap_size_limit * LIMITS.operatorHeapShare
    const started = await lifecycle.start(
      'operator',
      () =>
        startOperator({
          client: owningClient(client, place, nowMs),
          territory: { place, namespaces: settings.watchNamespaces, installation },
          rules: { baseUrl, credentialSlots, ownSecrets, roomBytes },
          stores: { readFacts, audit },
          process: { identity, registry, logger, nowMs, random: Math.random, onLost },
        }),
      (opened) => opened.close(),
    )
    probes.ready(() => started.isReady())
    logger.info({ identity, catalog: `${place.namespace}/${place.name}` }, 'reconciling')
  })
}

/** Null if no event log is set: changes of objects then leave no entries in the activity. */
async function openAudit(own: Process, settings: SettingsOf<'operator'>): Promise<AuditTools | null> {
  if (settings.eventLog === null) return null
  const { changeHash } = createKeyring(masterSecrets(settings, { mayCreate: false }))
  const eventLog = await openKafka(own, settings.eventLog, { mayWait: true })
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
