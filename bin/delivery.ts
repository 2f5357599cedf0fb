/** `whence delivery --role ROLE`: one role of the delivery side as a separate process. */

import { PROVIDERS } from '../delivery/providers/index.ts'
import type { Provider } from '../delivery/providers/provider.ts'
import type { StateRole } from '../delivery/state/state.ts'
import { PROVIDER_IDS } from '../domain/providers/index.ts'
import { createRegistry } from '../runtime/metrics.ts'
import type { RunOutcome } from '../runtime/settings/settings.ts'
import { openCatalog } from './wiring/cluster.ts'
import { engines, type Engines } from './wiring/engines.ts'
import { runProgram } from './wiring/process.ts'
import {
  dispatchRole,
  factsWriterRole,
  rollupRole,
  stateRole,
  streamsRole,
  workerRole,
  type RoleParts,
} from './wiring/roles.ts'
import { startMetrics } from './wiring/serve-api.ts'
import { version } from './wiring/version.ts'

export function delivery({ settings }: RunOutcome, env: NodeJS.ProcessEnv): Promise<number> {
  return runProgram('delivery', settings, async ({ logger, lifecycle }) => {
    const parts = { settings, logger: logger.child({ role: settings.role }), lifecycle, nowMs: Date.now }
    const registry = createRegistry('delivery', version())
    const probes = await startMetrics(parts, registry)
    const role = settings.role ?? ''
    const open = engines(parts)
    // Each role opens only what it needs: a worker has no ClickHouse, the facts-writer no catalog, figures no log.
    if (role === 'rollup') {
      await rollupRole({ ...parts, registry, facts: (await open.facts()).facts })
      probes.ready()
      logger.info({ role }, 'working')
      return
    }
    const base = { ...parts, registry, eventLog: await open.eventLog() }
    if (role === 'facts-writer') await factsWriterRole({ ...base, facts: (await open.facts()).facts })
    else if (role === 'state') await startStateRole(base, open)
    else if (role === 'dispatch') {
      const catalog = await openCatalog({ ...parts, registry, env }, `delivery-${role}`)
      await dispatchRole({ ...base, catalog, facts: (await open.facts()).facts })
    } else if (role === 'streams') {
      const catalog = await openCatalog({ ...parts, registry, env }, `delivery-${role}`)
      await streamsRole({ ...base, catalog, facts: (await open.facts()).facts, hotState: await open.hotState() })
    } else {
      const catalog = await openCatalog({ ...parts, registry, env }, `delivery-${role}`)
      await workerRole(providerOf(role), { ...base, catalog, hotState: await open.hotState() })
    }
    probes.ready()
    logger.info({ role }, 'working')
  })
}

async function startStateRole(base: RoleParts, open: Engines): Promise<void> {
  let role: StateRole | null = null
  const hotState = await open.hotState({ whenAway: 'reject', onLost: () => role?.storeLost() })
  const { facts } = await open.facts()
  role = await stateRole({ ...base, hotState, facts })
  // The store was not watched until now: it may have lost data while this role was down or starting.
  role.storeLost()
}

function providerOf(role: string): Provider {
  const id = PROVIDER_IDS.find((provider) => provider === role)
  if (id === undefined) throw new Error(`there is no role ${role}`)
  return PROVIDERS[id]
}
