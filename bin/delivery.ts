/** `whencectl delivery --role ROLE`: one role of the delivery side as a separate process. */

import type { EngineUrl } from '../runtime/settings/parse.ts'
import type { RunOutcome } from '../runtime/settings/settings.ts'
import type { SettingsOf } from '../runtime/settings/settings-of.ts'
import type { CredentialHolder } from '../domain/published/holders.ts'
import { openCatalog } from './wiring/cluster.ts'
import { openClickHouseFacts, openKafka, openRedis } from './wiring/engine-servers.ts'
import { startMetrics } from './wiring/probes.ts'
import { runProgram, type Process } from './wiring/process.ts'
import {
  startCallingWebhooks,
  startDispatching,
  startKeepingState,
  startRollingUp,
  startSending,
  startStreamingLogs,
  startWritingFacts,
  storeLoss,
} from './wiring/roles.ts'

export function delivery({ settings }: RunOutcome<'delivery'>, env: NodeJS.ProcessEnv): Promise<number> {
  return runProgram('delivery', settings, async (given) => {
    const { role } = settings
    const own = { ...given, logger: given.logger.child({ role }) }
    const probes = await startMetrics(own, settings.metricsListen)
    await startRole(own, settings, env)
    probes.ready()
    own.logger.info({ role }, 'working')
  })
}

/** Each role connects to the engines that it works on, and to no other. */
async function startRole(own: Process, settings: SettingsOf<'delivery'>, env: NodeJS.ProcessEnv): Promise<void> {
  const log = (url: EngineUrl) => openKafka(own, url)
  const facts = (url: EngineUrl) => openClickHouseFacts(own, url)
  const catalog = (holder: CredentialHolder | null = null) =>
    openCatalog(own, settings, { program: `delivery-${settings.role}`, holder, env })
  switch (settings.role) {
    case 'facts-writer':
      return startWritingFacts(own, { eventLog: await log(settings.eventLog), facts: await facts(settings.facts) })
    case 'state': {
      const loss = storeLoss()
      const eventLog = await log(settings.eventLog)
      const hotState = await openRedis(own, settings.hotState, { whenAway: 'reject', onLost: loss.tell })
      return startKeepingState(own, { eventLog, hotState, facts: await facts(settings.facts) }, loss)
    }
    case 'dispatch': {
      const eventLog = await log(settings.eventLog)
      const hotState = await openRedis(own, settings.hotState)
      const stores = { eventLog, hotState, facts: await facts(settings.facts) }
      return startDispatching(own, { ...stores, catalog: await catalog() })
    }
    case 'rollup': {
      const eventLog = await log(settings.eventLog)
      return startRollingUp(own, { eventLog, facts: await facts(settings.facts), catalog: await catalog() })
    }
    case 'streams': {
      const eventLog = await log(settings.eventLog)
      const hotState = await openRedis(own, settings.hotState)
      const stores = { eventLog, hotState, facts: await facts(settings.facts) }
      return startStreamingLogs(own, settings, { ...stores, catalog: await catalog('streams') })
    }
    case 'webhooks': {
      const eventLog = await log(settings.eventLog)
      const hotState = await openRedis(own, settings.hotState)
      const stores = { eventLog, hotState, facts: await facts(settings.facts) }
      return startCallingWebhooks(own, settings, { ...stores, catalog: await catalog('webhooks') })
    }
    default: {
      const eventLog = await log(settings.eventLog)
      const hotState = await openRedis(own, settings.hotState)
      return startSending(own, settings, { eventLog, hotState, catalog: await catalog(settings.role) })
    }
  }
}
