/** `whencectl api` while none of its engines is there: it starts, serves what needs none, and refuses the rest at once. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'

import { freePorts } from '../../fixtures/engines/free-port.ts'
import { startProgram, type Program } from '../../fixtures/service/programs.ts'
import { eventBody, send, visitBody, type Reply } from '../../fixtures/service/requests.ts'
import { until } from '../../fixtures/until.ts'
import { MANIFESTS, TEST_ORIGIN, TEST_SECRET } from '../../fixtures/service/service.ts'

/** What a client may have to wait: the deadlines of a log that is away, and of look-ups. The hook waits five seconds. */
const SOON_MS = 4_500

describe('an api that starts while Kafka, Redis and ClickHouse are away', function () {
  this.timeout(60_000)
  let folder: string
  let program: Program
  let url = ''
  let metrics = ''

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-api-alone-'))
    await writeFile(join(folder, 'acme.yaml'), MANIFESTS['acme.yaml'] ?? '')
    const [kafka, redis, facts, own, ownMetrics] = await freePorts(5)
    url = `http://127.0.0.1:${own}`
    metrics = `http://127.0.0.1:${ownMetrics}`
    const env = {
      WHENCE_SECRET: TEST_SECRET,
      WHENCE_MANIFESTS: folder,
      WHENCE_EVENT_LOG: `kafka://127.0.0.1:${kafka}`,
      WHENCE_HOT_STATE: `redis://127.0.0.1:${redis}`,
      WHENCE_FACTS: `http://127.0.0.1:${facts}`,
      WHENCE_METRICS_LISTEN: `127.0.0.1:${ownMetrics}`,
    }
    program = startProgram(['api', '--listen', `127.0.0.1:${own}`], { env })
    await program.ready
  })
  after(async () => {
    await program?.end('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })

  const post = (path: string, body: unknown, origin: string | null): Promise<Reply> =>
    send(url + path, {
      method: 'POST',
      origin,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(SOON_MS),
      headers: { 'Content-Type': 'application/json' },
    })
  const isReady = async (): Promise<boolean> => (await send(`${metrics}/ready`)).status === 200

  it('is ready, and serves the hook, the SDK, configurations and its health', async () => {
    expect(await isReady()).to.equal(true)
    for (const path of ['/v1/projects/acme-dev/report.sh', '/report.sh', '/browser.js', '/health'])
      expect((await send(url + path)).status, path).to.equal(200)
    const config = await send(`${url}/v1/projects/acme-dev/browser-config`, { origin: TEST_ORIGIN })
    expect(config.status, config.text).to.equal(200)
  })

  it('refuses what must be stored, with a time to come again, and stays ready', async () => {
    for (let round = 0; round < 3; round++)
      for (const refused of [
        await post('/v1/visits', visitBody(), TEST_ORIGIN),
        await post('/v1/events', eventBody(), null),
      ]) {
        expect([refused.status, refused.body['error']]).to.deep.equal([503, 'unavailable'])
        expect(refused.headers.get('retry-after')).to.equal('2')
        expect(await isReady()).to.equal(true)
      }
    const { body } = await send(`${url}/health`)
    expect(body['event_log']).to.deep.include({ isAccepting: false })
    expect((await send(`${metrics}/metrics`)).text).to.match(/^whence_event_log_refusing\{why="(failing|late)"\} 1$/m)
  })

  it('drains when it is told, and ends', async () => {
    process.kill(program.pid, 'SIGUSR2')
    await until(async () => !(await isReady()))
    expect((await send(`${url}/health`)).headers.get('connection')).to.equal('close')
    expect(await program.end('SIGTERM')).to.equal(0)
  })
})
