/** `whencectl delivery --role ROLE`: one role of the delivery side as a separate process. */

import { createRegistry } from '../runtime/metrics.ts'
import type { RunOutcome } from '../runtime/settings/settings.ts'
import { openCatalog } from './wiring/cluster.ts'
import { engines } from './wiring/engines.ts'
import { runProgram } from './wiring/process.ts'
import { startRole } from './wiring/roles.ts'
import { startMetrics } from './wiring/serve-api.ts'
import { version } from './wiring/version.ts'

export function delivery({ settings }: RunOutcome, env: NodeJS.ProcessEnv): Promise<number> {
  return runProgram('delivery', settings, async ({ logger, lifecycle }) => {
    const { role } = settings
    if (role === null) throw new Error('no role is given')
    const registry = createRegistry('delivery', version())
    const parts = { settings, logger: logger.child({ role }), lifecycle, nowMs: Date.now, registry }
    const probes = await startMetrics(parts, registry)
    const { eventLog, facts, hotState } = engines(parts)
    const open = {
      eventLog: () => eventLog(),
      catalog: () => openCatalog({ ...parts, env }, `delivery-${role}`),
      facts: async () => (await facts()).facts,
      hotState,
    }
    await startRole(role, { ...parts, open })
    probes.ready()
    logger.info({ role }, 'working')
  })
}
