/** A distributed service whose clients, and whose broker, break every rule of their protocols: no process ends of it. */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { hasRedisServer } from '../../fixtures/engines/redis.ts'
import { ROLES, ROLES_BESIDE, startDistributed, type Distributed } from '../../fixtures/service/distributed.ts'
import type { Program } from '../../fixtures/service/programs.ts'
import { activeReceipt, eventBody, post } from '../../fixtures/service/requests.ts'
import { until } from '../../fixtures/until.ts'
import { answersAfterAttacks, listeningPorts } from '../e2e/support/hostile-sockets.ts'
import { KAFKA_LIES, lyingLinks, type LyingLinks } from '../e2e/support/lying-link.ts'

/** Answers replaced before the link is honest again: more than all processes have connections. */
const LIES_TOLD = 60

describe('a distributed service', function () {
  this.timeout(180_000)
  let service: Distributed
  let links: LyingLinks
  const programs = new Map<string, Program>()

  before(async function () {
    this.timeout(400_000)
    const jars = await kafkaJars()
    if (jars === null || !hasRedisServer()) return this.skip()
    links = lyingLinks()
    const unused = (): Promise<void> => Promise.reject(new Error('not a fault of this test'))
    service = await startDistributed({
      engines: { jars, links: { ...links, cut: unused, mend: unused, delay: unused } },
    })
    for (const role of [...ROLES, 'api'] as const) programs.set(role, service.program(role))
    for (const role of ROLES_BESIDE) programs.set(role, await service.add(role))
    programs.set('api with spool', await service.addSpooled())
  })
  after(async () => {
    await service?.stop()
    await links?.stop()
  })

  /** None has ended, or noticed an error that it did not expect. */
  const expectAllUnharmed = async (): Promise<void> => {
    for (const [name, program] of programs) {
      const how = await Promise.race([program.ended, wait(0, 'running')])
      expect(how, `${name}: ${program.stderr().slice(-2_000)}`).to.equal('running')
      expect(program.stderr(), name).not.to.match(/uncaught exception|unhandled rejection/)
    }
  }

  it('answers at every port of every process after clients that break HTTP or their connection', async () => {
    for (const [name, { pid }] of programs) {
      const ports = await listeningPorts(pid)
      expect(ports, name).to.have.length(name.startsWith('api') ? 2 : 1)
      for (const port of ports) {
        expect(await answersAfterAttacks(port), name).to.include(200)
      }
    }
    await expectAllUnharmed()
  })

  for (const lie of KAFKA_LIES) {
    it(`goes on after a broker whose answers are ${lie}`, async () => {
      links.tell('kafka', lie)
      await until(async () => {
        await expectAllUnharmed()
        return links.told() >= LIES_TOLD
      })
      links.tell('kafka', null)
      await expectAllUnharmed()
      const before = service.ga4.requests().length
      await until(() => reportedInstall())
      await until(() => service.ga4.requests().length > before)
      await expectAllUnharmed()
    })
  }

  const reportedInstall = async (): Promise<boolean> => {
    const receipt = await activeReceipt(service.url).catch(() => null)
    if (receipt === null) return false
    return (await post(`${service.url}/v1/events`, eventBody({ receipts: [receipt] }))).status === 200
  }
})
