/** How a service gets into the troubles of a world, and out of them. */

import { join } from 'node:path'

import { expect } from 'chai'

import { deleteOlder } from '../../../delivery/retention.ts'
import type { TestService } from '../../../fixtures/service/service.ts'
import { FactsUnavailable } from '../../../ports/facts/facts.ts'
import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { whencectl } from '../../bin/support/run-whencectl.ts'
import type { LedgerClock } from './clock.ts'
import type { Doors } from '../world/doors.ts'
import { MANIFESTS } from './objects.ts'

/** What an api passes on to the other roles. */
const PASSED_ON: readonly string[] = ['visits', 'activations', 'handoffs', 'installs']
/** By which the facts say what became of a receipt. */
const OF_RECEIPTS: readonly string[] = ['receiptFacts', 'receiptHistory']

interface Surroundings {
  readonly clock: LedgerClock
  /** Further objects of the service. */
  readonly manifests: string
}

export function troublesOf(
  service: TestService,
  { clock, manifests }: Surroundings,
): Pick<Doors, 'holdBack' | 'setClear' | 'erase' | 'forget'> {
  return {
    holdBack: holdingBack(service),
    setClear: clouding(service),
    erase: (words) =>
      clock.whileItRuns(async () => {
        const named = ['--website', 'acme-dev', '--data', join(service.folder, 'data')]
        const { status, stderr } = await whencectl(['erase', ...named, ...words, '--yes'])
        expect(status, stderr).to.equal(0)
      }),
    forget: () =>
      clock.whileItRuns(async () => {
        if (!isShort(service)) await service.apply({ 'acme.yaml': withShortRetention() + manifests })
        await service.drain()
        const { facts, catalog, nowMs } = service
        await deleteOlder({ facts, catalog: catalog.current, nowMs, logger: SILENT_LOGGER })
      }),
  }
}

const SHORT_DAYS = 30

function withShortRetention(): string {
  return MANIFESTS.replace('primaryOrigin:', `retentionDays: ${SHORT_DAYS}\n  primaryOrigin:`)
}

function isShort({ catalog }: TestService): boolean {
  return catalog.current().websites.get('acme-dev')?.retentionDays === SHORT_DAYS
}

/** As if the process had only its spool while something happens, and a log again when that is passed on. */
function holdingBack({ eventLog }: TestService): Doors['holdBack'] {
  const append = eventLog.append.bind(eventLog)
  let held: Parameters<typeof append>[] | null = null
  eventLog.append = async (...words) => {
    if (held !== null && PASSED_ON.includes(words[0])) held.push(words)
    else await append(...words)
  }
  return async (happen) => {
    const own: Parameters<typeof append>[] = []
    held = own
    await happen()
    held = null
    if (own.length === 0) throw new Error('nothing could be held back')
    return async () => {
      for (const words of own) await append(...words)
    }
  }
}

/** As if the hot state had forgotten all receipts, and the facts were away. */
function clouding({ hotState, facts }: TestService): Doors['setClear'] {
  let clouds = 0
  const receiptStates = hotState.receiptStates.bind(hotState)
  const run = facts.run.bind(facts)
  hotState.receiptStates = async (asked) => (clouds > 0 ? asked.map(() => 'unknown' as const) : receiptStates(asked))
  facts.run = (query, ...rest) =>
    clouds > 0 && OF_RECEIPTS.includes(query) ? Promise.reject(new FactsUnavailable('away')) : run(query, ...rest)
  return (isClear) => {
    clouds += isClear ? -1 : 1
    return clouds === 0
  }
}
