/** A backup that is taken while requests come in, restored into an empty folder. */

import { appendFile, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'

import { storedOwners } from '../../../bin/tools/backup/restore.ts'
import { openFolders } from '../../../bin/tools/folders.ts'
import { encodeRecord } from '../../../domain/records.ts'
import { visitRecord } from '../../contract/fact-samples.ts'
import { until } from '../../../fixtures/until.ts'
import { startProgram } from '../../../fixtures/service/programs.ts'
import { activeReceipt, eventBody, post, send, visitBody } from '../../../fixtures/service/requests.ts'
import { MANIFESTS, startTestService, TEST_ORIGIN, type TestService } from '../../../fixtures/service/service.ts'

const ENV = { WHENCE_TRUST_PROXY: '127.0.0.1/32' }
const SENDERS = 4

/** Two days ago. */
const SPEND_DAY = new Date(Date.now() - 172_800_000).toISOString().slice(0, 10)

interface Answered {
  readonly tag: string
  readonly atMs: number
}

describe('a backup', function () {
  this.timeout(180_000)
  let folder: string
  let backup: string
  let service: TestService | null = null
  let receipt = ''
  const answered: Answered[] = []

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-backup-'))
    backup = join(folder, 'backup')
    for (const name of ['old', 'new', 'damaged']) {
      await mkdir(join(folder, name, 'manifests'), { recursive: true })
      for (const [file, text] of Object.entries(MANIFESTS)) await writeFile(join(folder, name, 'manifests', file), text)
    }
  })
  after(async () => {
    await service?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const whence = async (...words: string[]): Promise<{ code: number | string; said: string }> => {
    const program = startProgram(words, { env: {}, isHeard: true })
    program.ready.catch(() => undefined)
    const code = await program.ended
    return { code, said: program.stdout() + program.stderr() }
  }

  it('is made while the service runs', async () => {
    service = await startTestService({ folder: join(folder, 'old'), env: ENV })
    receipt = await activeReceipt(service.url)
    // A secret in the data folder, as without the setting.
    await writeFile(join(folder, 'old/data/secret'), 'kept beside the stores\n', { mode: 0o600 })
    const isOver = { now: false }
    const senders = Array.from({ length: SENDERS }, (_, index) =>
      keepSending(service?.url ?? '', index, isOver, answered),
    )
    await until(() => answered.length > 20)
    await writeFile(join(folder, 'spend.csv'), `day,source,campaign,amount,currency\n${SPEND_DAY},x,launch,12.50,EUR\n`)
    // As soon as the website has visits.
    const words = ['spend', 'import', join(folder, 'spend.csv'), '--data', join(folder, 'old/data')]
    await until(async () => (await whence(...words)).code === 0)
    const beganAtMs = Date.now()
    const { code, said } = await whence('backup', backup, '--data', join(folder, 'old/data'))
    const tookUntilMs = Date.now()
    await until(() => answered.some(({ atMs }) => atMs > tookUntilMs))
    isOver.now = true
    await Promise.all(senders)
    expect(code, said).to.equal(0)
    expect(said).to.contain(`${backup} holds everything that was answered before`)
    expect(answered.filter(({ atMs }) => atMs > beganAtMs && atMs < tookUntilMs).length).to.be.greaterThan(0)
    expect(await readdir(join(folder, 'old/data'))).not.to.include('staging')
    expect((await stat(join(backup, 'whence-backup.json'))).mode & 0o777).to.equal(0o600)
    expect((await stat(backup)).mode & 0o777).to.equal(0o700)
    await service.stop()
    service = null
  })

  it('is refused into a folder that is not empty, both as a backup and as a restore', async () => {
    const again = await whence('backup', backup, '--data', join(folder, 'old/data'))
    expect(again).to.deep.equal({ code: 1, said: `whencectl backup: ${backup} is not empty\n` })
    const over = await whence('restore', backup, '--data', join(folder, 'old/data'))
    expect(over).to.deep.equal({ code: 1, said: `whencectl restore: ${join(folder, 'old/data')} is not empty\n` })
  })

  it('is not restored where its websites belong to another organisation, unless that is wanted', async () => {
    const moved = join(folder, 'moved/manifests')
    await mkdir(moved, { recursive: true })
    for (const [file, text] of Object.entries(MANIFESTS))
      await writeFile(join(moved, file), text.replaceAll('metadata: { name:', 'metadata: { namespace: team, name:'))
    const words = ['restore', backup, '--data', join(folder, 'moved/data'), '--manifests', moved] as const
    const refused = await whence(...words)
    expect(refused.code, refused.said).to.equal(1)
    expect(refused.said).to.contain(`acme-dev belongs to team/acme in ${moved}, its data to acme`)
    expect(await readdir(join(folder, 'moved/data'))).to.deep.equal([])
    expect((await whence(...words, '--other-owners')).code).to.equal(0)
  })

  it('knows whose records it holds, also while they are on the log alone', async () => {
    const data = join(folder, 'log-alone')
    const first = await openFolders(join(data, 'lmdb'), join(data, 'chdb'))
    const record = visitRecord({ organization: 'acme', website: 'acme-dev' })
    await first.eventLog.append('visits', [{ key: record.visit.visitId, value: encodeRecord(record) }])
    await first.close()
    const owners = await storedOwners(data, Date.now())
    expect(owners.map(({ organization, website }) => [organization, website])).to.deep.equal([['acme', 'acme-dev']])
  })

  it('restores every record that was answered before it began, once, and collection goes on', async () => {
    const { beganAt } = JSON.parse(await readFile(join(backup, 'whence-backup.json'), 'utf8')) as { beganAt: string }
    const { code, said } = await whence('restore', backup, '--data', join(folder, 'new/data'))
    expect(code, said).to.equal(0)
    expect(await readFile(join(folder, 'new/data/secret'), 'utf8')).to.equal('kept beside the stores\n')
    service = await startTestService({ folder: join(folder, 'new'), env: ENV })
    await service.drain()
    const logs = await service.facts.run('listLogs', { since_ms: 0, until_ms: Date.now() * 2, limit: 10_000 })
    const tags = logs.map(({ user_agent: tag }) => tag)
    const before = answered.filter(({ atMs }) => atMs < Date.parse(beganAt))
    expect(before.length).to.be.greaterThan(20)
    expect(before.filter((each) => tags.filter((tag) => tag === each.tag).length !== 1)).to.deep.equal([])
    expect(new Set(logs.map(({ id }) => id)).size).to.equal(logs.length)
    const spend = {
      organization: 'acme',
      websites: ['acme-dev'],
      since_ms: Date.parse(SPEND_DAY),
      until_ms: Date.now(),
    }
    expect(await service.facts.run('spendByCurrency', spend)).to.deep.equal([{ currency: 'EUR', amount: 1_250 }])
    // The receipt's state comes from the hot state, which is part of the copy.
    const event = await post(`${service.url}/v1/events`, eventBody({ receipts: [receipt] }))
    expect(event.body).to.include({ resolution: 'matched' })
    expect(await activeReceipt(service.url)).to.have.length(43)
  })

  it('that is damaged is not restored', async () => {
    const name = (await readdir(join(backup, 'lmdb')))[0] ?? ''
    await appendFile(join(backup, 'lmdb', name), 'x')
    const data = join(folder, 'damaged/data')
    const { code, said } = await whence('restore', backup, '--data', data)
    expect(code).to.equal(1)
    expect(said).to.equal(
      `whencectl restore: ${join(backup, 'lmdb', name)} is damaged or missing: nothing was restored\n`,
    )
    expect(await readdir(data)).to.deep.equal([])
    await rm(join(backup, 'whence-backup.json'))
    expect((await whence('restore', backup, '--data', data)).said).to.contain('holds no complete backup')
  })
})

/** Visits, one after the other, each with a tag of its own that Logs keep. */
async function keepSending(url: string, sender: number, isOver: { readonly now: boolean }, answered: Answered[]) {
  for (let number = 0; !isOver.now; number++) {
    const tag = `visit-${sender}-${number}`
    const address = `198.51.${number % 250}.${sender}`
    const headers = { 'Content-Type': 'application/json', 'User-Agent': tag, 'X-Forwarded-For': address }
    const { status } = await send(`${url}/v1/visits`, {
      method: 'POST',
      headers,
      body: JSON.stringify(visitBody()),
      origin: TEST_ORIGIN,
    })
    if (status === 200) answered.push({ tag, atMs: Date.now() })
  }
}
