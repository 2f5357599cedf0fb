/** Made-up traffic: always the same for one seed, marked as such, and counted like real traffic. */

import { expect } from 'chai'
import { join } from 'node:path'

import { trafficOfDay } from '../../bin/example-data/traffic.ts'
import { until } from '../../fixtures/until.ts'
import { startTestService, TEST_SECRET, type TestService } from '../../fixtures/service/service.ts'
import { startProgram } from './support/run-whencectl.ts'

const PROGRAM = new URL('../../bin/example-data.ts', import.meta.url).pathname

const DAY_MS = 86_400_000
const DAY = Math.floor(Date.now() / DAY_MS) * DAY_MS - 2 * DAY_MS
const OPTIONS = { website: 'acme-dev', organization: 'acme', seed: 1, dayMs: DAY, keyId: 3 }

describe('example data', function () {
  this.timeout(120_000)

  it('are the same for one seed and day, and others for another', () => {
    const once = trafficOfDay(OPTIONS)
    expect(once.length).to.be.greaterThan(100)
    expect(trafficOfDay(OPTIONS)).to.deep.equal(once)
    expect(trafficOfDay({ ...OPTIONS, seed: 2 })).to.not.deep.equal(once)
  })

  it('ends when it is told to, though installs come up to a day after their visits', () => {
    const days = Array.from({ length: 20 }, (_, day) => ({ ...OPTIONS, dayMs: DAY + day * DAY_MS }))
    const timesOf = (options: typeof OPTIONS & { readonly untilMs?: number }): number[] =>
      trafficOfDay(options).map((record) => ('request' in record ? record.request.receivedAtMs : 0))
    const isLate = (dayMs: number) => (atMs: number) => atMs >= dayMs + DAY_MS
    expect(days.flatMap((day) => timesOf(day).filter(isLate(day.dayMs)))).to.not.deep.equal([])
    for (const day of days)
      expect(timesOf({ ...day, untilMs: day.dayMs + DAY_MS })).to.deep.equal(
        timesOf(day).filter((atMs) => !isLate(day.dayMs)(atMs)),
      )
  })

  it('says what it takes, and what is wrong with what it was given', async () => {
    const ran = async (...words: readonly string[]) => startProgram(process.execPath, [PROGRAM, ...words], {}).ended
    const help = await ran('--help')
    expect([help.status, help.stderr]).to.deep.equal([0, ''])
    for (const name of ['data', 'website', 'organization', 'days', 'seed']) expect(help.stdout).to.include(`--${name} `)
    const wrong = [['--website'], ['--nothing'], ['more'], ['--days', 'x'], ['--days', '0'], ['--seed', '1.5']]
    for (const words of wrong) {
      const { status, stderr } = await ran(...words)
      expect(status, words.join(' ')).to.equal(2)
      expect(stderr).to.match(/^example-data: .*--help\n$/u)
    }
  })

  it('are marked as made up, and reach no provider', () => {
    for (const record of trafficOfDay(OPTIONS)) {
      if (record.kind === 'visit') expect(record.visit.pageUrl).to.match(/^https:\/\/made-up\.example\//)
      if (record.kind !== 'install') continue
      expect(record.install.eventId).to.match(/^made-up-/)
      expect(record.install.deliveries).to.deep.equal([])
    }
  })

  describe('in a running service', () => {
    let service: TestService
    before(async () => {
      service = await startTestService()
    })
    after(() => service?.stop())

    it('are counted like real traffic, and only once if they are filled in again', async () => {
      const flags = ['--data', join(service.folder, 'data'), '--days', '2']
      const fill = async (): Promise<void> => {
        const { status, stdout, stderr } = await startProgram(process.execPath, [PROGRAM, ...flags], {
          WHENCE_SECRET: TEST_SECRET,
        }).ended
        expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' })
        expect(stdout).to.include('made-up records')
      }
      const visits = async (): Promise<number> => {
        const range = { since_ms: DAY, until_ms: DAY + 2 * DAY_MS, websites: ['acme-dev'], organization: 'acme' }
        const steps = await service.facts.run('visitSteps', range)
        return steps.reduce((sum, { counts: [begun = 0] }) => sum + begun, 0)
      }
      await fill()
      await service.drain()
      const expected = [0, 1]
        .flatMap((day) => trafficOfDay({ ...OPTIONS, dayMs: DAY + day * DAY_MS }))
        .filter(({ kind }) => kind === 'visit').length
      await until(async () => (await visits()) === expected)
      await fill()
      await service.drain()
      expect(await visits()).to.equal(expected)
      expect(service.ga4.total()).to.equal(0)
    })
  })
})
