/** `make run-distributed` as a user would follow it: start it, do the three steps, end it with Ctrl-C. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { until } from '../../fixtures/until.ts'
import { startProgram, whencectl, type Running } from '../bin/support/run-whencectl.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { activeReceipt, eventBody, post, urlIdOf } from '../../fixtures/service/requests.ts'

const SCRIPT = new URL('../../examples/distributed/run.ts', import.meta.url).pathname
/** Of the quickstart's website. */
const MEASUREMENT_ID = 'G-EXAMPLE001'
const PAUSE_MS = 200

describe('make run-distributed', function () {
  this.timeout(180_000)
  let running: Running
  let home: string

  before(async function () {
    if ((await kafkaJars()) === null) this.skip()
    home = await mkdtemp(join(tmpdir(), 'whence-run-distributed-'))
    running = startProgram(process.execPath, [SCRIPT], {})
  })
  after(async () => {
    running?.child.kill('SIGTERM')
    await running?.ended
    if (home !== undefined) await rm(home, { recursive: true, force: true })
  })

  const printed = (pattern: RegExp) =>
    until(
      async () => {
        if (running.child.exitCode !== null) throw new Error(`it ended: ${JSON.stringify(await running.ended)}`)
        return pattern.exec(running.stdout())?.[1]
      },
      { what: () => `${String(pattern)} is printed, and not only ${running.stdout()}`, everyMs: PAUSE_MS },
    )

  it('prints three steps that lead to a matched install, and ends every process at Ctrl-C', async () => {
    const explain = await printed(/npm run -s whencectl -- (explain .+)/)
    const command = await printed(/(curl .+)/)
    const page = await printed(/(http:\S+\?utm_source\S+)/)
    // Step 1 without a browser: what the page's SDK would send.
    const api = new URL(/http:\S+/.exec(command)?.[0] ?? '').origin
    const identities = { ga4: { [MEASUREMENT_ID]: { client_id: '1111111111.1790000001', session_id: '1790000000' } } }
    const more = { page_url: page, url_id: urlIdOf(page), identities }
    const receipt = await activeReceipt(api, more, new URL(page).origin)
    // Step 2 sends what it finds in this home folder, which is nothing; the visit's own install goes beside it.
    await promisify(execFile)('sh', ['-c', command], { env: { PATH: process.env['PATH'], HOME: home } })
    const event = eventBody({ receipts: [receipt] })
    const { body } = await post(`${api}/v1/events`, event)
    expect(body).to.include({ resolution: 'matched' })
    const [, ...words] = explain.split(' ')
    const story = await until(async () => {
      const { status, stdout, stderr } = await whencectl(['explain', event['event_id'], ...words])
      expect(status, stderr).to.be.oneOf([0, 1])
      return status === 0 && stdout.includes('delivered') ? stdout : null
    })
    expect(story).to.include('matched').and.include('newsletter')
    const newest = await until(async () => {
      const { stdout } = await whencectl(['installs', '--json', '--facts', words[1] ?? ''])
      const rows = stdout.split('\n').filter((line) => line !== '')
      return rows.length === 2 ? rows.map((line) => JSON.parse(line).resolution) : null
    })
    expect(newest.toSorted()).to.deep.equal(['matched', 'unmatched'])
    const pids = [...running.stdout().matchAll(/\(process (\d+)\)/g)].map(([, pid]) => Number(pid))
    expect(pids).to.have.length(12)
    running.child.kill('SIGINT')
    expect((await running.ended).status).to.equal(0)
    for (const pid of pids) expect(() => process.kill(pid, 0), `process ${pid}`).to.throw('ESRCH')
  })
})
