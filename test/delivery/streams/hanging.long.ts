/** The role `streams` itself: a receiver that hangs holds up its own stream, and none of 50 beside it. */

import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { startStreams } from '../../../delivery/streams/streams.ts'
import { logStreamKey, type Catalog, type LogStream } from '../../../domain/catalog.ts'
import { until } from '../../../fixtures/until.ts'
import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { requestRecord, unique } from '../../contract/fact-samples.ts'
import { Receiver, SECRET, URL_OF_RECEIVER } from './receiver.ts'
import { Stage, STREAM } from './stage.ts'

const HEALTHY = 50
const ROUNDS = 3
const PUBLIC = '93.184.215.14'
/** Tells the receiver that hangs from the other one. */
const HANGING_PORT = 8443
/** The engine that is asked has one thread. */
const LOOK_EVERY_MS = 100
/** Longer than the test: no call ends by itself. */
const CALL_MS = 600_000

describe('the role of log streams', function () {
  this.timeout(300_000)
  let stage: Stage
  let healthy: Receiver
  let hanging: Receiver
  let role: ReturnType<typeof startStreams> | null = null
  const registry = new Registry()
  const others = Array.from({ length: HEALTHY }, () => unique('healthy'))
  const stuck = unique('hanging')

  before(async () => {
    stage = await Stage.open()
    healthy = await Receiver.open()
    hanging = await Receiver.open()
  })
  after(async () => {
    // Ends the call that hangs, for which the role would wait.
    await hanging?.close()
    await role?.close()
    await healthy?.close()
    await stage?.close()
  })

  /** One stream for each organisation. */
  const start = (): ReturnType<typeof startStreams> => {
    const streamOf = (organization: string): LogStream => {
      const url = organization === stuck ? URL_OF_RECEIVER.replace('/logs', `:${HANGING_PORT}/logs`) : URL_OF_RECEIVER
      return { ...STREAM, id: `default/${organization}`, objectName: organization, webhook: { url } }
    }
    const all = [stuck, ...others].map((id) => ({ id, logRetentionDays: 90, logStreams: [streamOf(id)] }))
    const organizations = new Map(all.map((each) => [each.id, each])) as unknown as Catalog['organizations']
    const credentials = new Map(
      all.flatMap(({ logStreams }) => logStreams.map((stream) => [logStreamKey(stream), { secret: SECRET }] as const)),
    )
    return startStreams(
      {
        facts: stage.facts,
        eventLog: stage.log,
        telemetry: { logger: SILENT_LOGGER, registry },
        nowMs: Date.now,
        catalog: { current: () => ({ organizations, number: 1 }), credentials: () => credentials },
        hotState: { claimJob: async () => true, releaseJob: async () => undefined },
      },
      {
        bucket: {},
        webhook: healthy.outbound({
          callMs: CALL_MS,
          resolve: async () => [PUBLIC],
          dial: (_address, port) => {
            const own = port === HANGING_PORT ? hanging.port : healthy.port
            return Object.defineProperty(connect(own, '127.0.0.1'), 'remoteAddress', { value: PUBLIC })
          },
        }),
      },
    )
  }
  /** A record for each; gives their IDs. */
  const write = async (organizations: readonly string[]): Promise<readonly string[]> => {
    const records = organizations.map((organization) =>
      requestRecord({ organization, website: 'acme', receivedAtMs: Date.now() }),
    )
    await stage.write('requests', records)
    return records.map(({ request }) => request.id)
  }
  const arrived = (ids: readonly string[]): boolean => {
    const held = new Set(healthy.records.map(({ id }) => id))
    return ids.every((id) => held.has(id))
  }

  it(`delivers to ${HEALTHY} streams, round after round, while one call to another receiver hangs`, async () => {
    role = start()
    await until(() => healthy.verifications === HEALTHY && hanging.verifications === 1)
    await until(async () => {
      await pause(LOOK_EVERY_MS)
      return (await stage.facts.run('streamStates', {})).length === HEALTHY + 1
    })
    const asked = hanging.asked
    hanging.mood = 'hangs'
    await write([stuck])
    await until(() => hanging.asked > asked)
    for (let round = 1; round <= ROUNDS; round += 1) {
      const before = healthy.ids.length
      const ids = await write(others)
      await until(() => arrived(ids))
      expect(healthy.ids.length - before, `a batch for each stream in round ${round}`).to.equal(HEALTHY)
      expect(hanging.asked - asked, 'it is still the same call that hangs').to.equal(1)
    }
    const states = await stage.facts.run('streamStates', {})
    const delivered = states.map(({ organization, delivered: count }) => [organization, count])
    expect(Object.fromEntries(delivered)[stuck]).to.equal(0)
    expect(hanging.records).to.deep.equal([])
    expect([...healthy.faults, ...hanging.faults]).to.deep.equal([])
    expect(await registry.metrics()).to.include('whence_stream_dropped_records_total{reason="too_large"} 0')
  })
})
