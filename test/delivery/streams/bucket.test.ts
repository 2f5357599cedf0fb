/** Log streams to a bucket, on a real S3 server: objects of lines, the same again after a kill, and what is refused. */

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

import { expect } from 'chai'

import type { OutboundParts } from '../../../delivery/outbound/call.ts'
import { bucketSender } from '../../../delivery/streams/bucket-sender.ts'
import type { BucketTarget } from '../../../delivery/streams/sender.ts'
import type { LogRecord } from '../../../domain/records.ts'
import { testCertificate } from '../../../fixtures/engines/certificate.ts'
import { S3_KEYS, S3_REGION, startS3, versitygwProgram, type S3Server } from '../../../fixtures/engines/versitygw.ts'
import { requestRecord, unique } from '../../contract/fact-samples.ts'
import { hostileUrls } from '../outbound/hostile.ts'
import { TlsServer } from '../support/tls-server.ts'
import { Receiver } from './receiver.ts'
import { Stage, type ActorOptions } from './stage.ts'

const BUILD_MS = 700_000
const HOST = 's3.acme.dev'
const PUBLIC = '93.184.215.14'
const CERTIFICATE = testCertificate([HOST, `*.${HOST}`])

describe('a log stream to a bucket', function () {
  this.timeout(120_000)
  let server: S3Server
  let stage: Stage
  let receiver: Receiver
  let organization: string
  let folder: string
  let target: BucketTarget
  /** The guard as it is, and a network in which the name leads to the S3 server. */
  let outbound: OutboundParts

  before(async function () {
    this.timeout(BUILD_MS)
    const program = await versitygwProgram()
    if (program === null) return this.skip()
    server = await startS3(program, CERTIFICATE, HOST)
    stage = await Stage.open()
    receiver = await Receiver.open()
    outbound = {
      trustedPem: CERTIFICATE.certPem,
      resolve: async () => [PUBLIC],
      dial: () => Object.defineProperty(connect(server.port, '127.0.0.1'), 'remoteAddress', { value: PUBLIC }),
    }
    return undefined
  })
  after(async () => {
    await receiver?.close()
    await stage?.close()
    await server?.stop()
  })
  beforeEach(async () => {
    organization = unique('organization')
    stage.nowMs = Date.now()
    const bucket = unique('bucket')
    folder = await server.bucket(bucket)
    const place = {
      endpoint: `https://${HOST}`,
      region: S3_REGION,
      bucket,
      prefix: 'logs of (acme)/2026',
      addressing: 'Path',
      encryption: null,
    } as const
    target = { kind: 's3', ...place, ...S3_KEYS, sessionToken: null }
  })

  const requests = (count: number): LogRecord[] =>
    Array.from({ length: count }, () => requestRecord({ organization, website: 'acme', receivedAtMs: Date.now() }))
  const idsOf = (records: readonly LogRecord[]): string[] =>
    records.flatMap((record) => ('request' in record ? [record.request.id] : []))
  const begun = async (more: Partial<ActorOptions> = {}) => {
    const actor = stage.actor({ organization, receiver, target, bucket: outbound, ...more })
    await stage.settle(actor)
    return actor
  }
  const keys = async (): Promise<readonly string[]> => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
      .sort()
  }
  const lines = async (key: string): Promise<readonly { readonly id: string; readonly type?: string }[]> => {
    const text = gunzipSync(await readFile(join(folder, key))).toString()
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly id: string })
  }
  const state = async () =>
    (await stage.facts.run('streamStates', {})).find((each) => each.organization === organization)

  it('writes lines of JSON under a key of the hour, at most one object in flushSeconds unless it is full', async () => {
    const actor = await begun()
    const first = requests(3)
    await stage.write('requests', first)
    await stage.settle(actor)
    const hour = new Date(stage.nowMs).toISOString().slice(11, 13)
    const [key = '', ...others] = await keys()
    expect(others).to.deep.equal([])
    expect(key).to.match(/^logs of \(acme\)\/2026\/dt=\d{4}-\d\d-\d\d\/hour=\d\d\/acme-logs-[0-9a-f]{16}\.ndjson\.gz$/)
    expect(key).to.include(`/hour=${hour}/`)
    expect((await lines(key)).map(({ id }) => id)).to.deep.equal(idsOf(first))
    const second = requests(2)
    await stage.write('requests', second)
    await stage.settle(actor)
    expect(await keys(), 'a minute has not passed').to.have.lengthOf(1)
    stage.nowMs += 60_000
    await stage.settle(actor)
    const all = (await Promise.all((await keys()).map(lines))).flat().map(({ id }) => id)
    expect(all.toSorted()).to.deep.equal([...idsOf(first), ...idsOf(second)].toSorted())
    expect(await state()).to.include({ state: 'Delivering', delivered: 5, behind: 0 })
    expect(receiver.verifications, 'credentials say that it wants them').to.equal(0)
  })

  it('writes the same object again after a kill, and no other', async () => {
    let armed = true
    let kills = 0
    const bodies: string[] = []
    const actor = await begun({
      sender: (own) => ({
        ...own,
        pack: (plan, records) => async () => {
          const sent = await own.pack(plan, records)()
          const [key = ''] = await keys()
          bodies.push(`${key} ${(await readFile(join(folder, key))).toString('base64')}`)
          if (armed) {
            kills += 1
            armed = kills < 3
            throw new Error('killed')
          }
          return sent
        },
      }),
    })
    const wanted = requests(40)
    await stage.write('requests', wanted)
    await stage.settle(actor)
    expect(kills).to.equal(3)
    expect(new Set(bodies).size).to.equal(1)
    const [key = '', ...others] = await keys()
    expect(others).to.deep.equal([])
    expect((await lines(key)).map(({ id }) => id)).to.deep.equal(idsOf(wanted))
    expect(await state()).to.include({ delivered: 40 })
  })

  it('writes the same object again after its prefix was changed, and the next one under the new prefix', async () => {
    let isKilled = false
    const actor = await begun({
      sender: (own) => ({
        ...own,
        pack: (plan, records) => async () => {
          const sent = await own.pack(plan, records)()
          if (isKilled) return sent
          isKilled = true
          actor.inForce = { ...actor.inForce, target: { ...target, prefix: 'elsewhere' } }
          throw new Error('killed')
        },
      }),
    })
    await stage.write('requests', requests(4))
    await stage.settle(actor)
    const [key = '', ...others] = await keys()
    expect(others).to.deep.equal([])
    expect(key).to.match(/^logs of/)
    stage.nowMs += 60_000
    await stage.write('requests', requests(1))
    await stage.settle(actor)
    expect((await keys()).filter((each) => each.startsWith('elsewhere/'))).to.have.lengthOf(1)
    expect(await state()).to.include({ delivered: 5 })
  })

  it('writes under its new prefix, as another object, what the bucket refuses under the one before', async () => {
    const asked: string[] = []
    const taken: string[] = []
    const policed = new TlsServer(CERTIFICATE, ({ url = '' }, body, response) => {
      const isRefused = url.includes('/wrong/')
      asked.push(url)
      if (!isRefused) taken.push(...gunzipSync(body).toString().trimEnd().split('\n'))
      response
        .writeHead(isRefused ? 403 : 200, { 'content-type': 'application/xml' })
        .end(isRefused ? '<Error><Code>AccessDenied</Code></Error>' : '')
    })
    await policed.listen()
    const actor = await begun({ bucket: policed.outbound(), target: { ...target, prefix: 'wrong' } })
    await stage.write('requests', requests(2))
    await stage.settle(actor)
    expect(await state()).to.include({ state: 'Failing', last_error: 'http_403 AccessDenied' })
    actor.inForce = { ...actor.inForce, target: { ...target, prefix: 'right' } }
    await stage.settle(actor)
    expect(taken).to.have.lengthOf(2)
    expect(asked.map((url) => url.split('/')[2])).to.deep.equal(['wrong', 'wrong', 'right'])
    const names = new Set(asked.map((url) => url.split('/').at(-1)))
    expect(names.size).to.equal(2)
    expect(await state()).to.include({ state: 'Delivering', delivered: 2, dropped: 0 })
    await policed.close()
  })

  it('keeps everything while credentials or bucket are wrong, says so in the words of S3, and goes on once they are right', async () => {
    const wrong = { ...target, secretAccessKey: 'wrong' }
    const actor = await begun({ target: wrong })
    await stage.write('requests', requests(2))
    await stage.settle(actor)
    expect(await state()).to.include({ state: 'Failing', last_error: 'http_403 SignatureDoesNotMatch' })
    actor.inForce = { ...actor.inForce, target: { ...target, bucket: 'no-such-bucket' } }
    await stage.settle(actor)
    expect(await state()).to.include({ last_error: 'http_404 NoSuchBucket' })
    actor.inForce = { ...actor.inForce, target }
    await stage.settle(actor)
    expect(await state()).to.include({ state: 'Delivering', delivered: 2, last_error: '' })
    expect(
      JSON.stringify(await stage.facts.run('streamProgress', { organization, stream: 'default/acme-logs' })),
    ).to.not.include(S3_KEYS.secretAccessKey)
  })

  it('writes fewer records at once to a store that refuses a size, and drops the record that it never takes', async () => {
    const taken: string[] = []
    const small = new TlsServer(CERTIFICATE, (_request, body, response) => {
      const text = gunzipSync(body).toString()
      const isLarge = text.length > 4_000
      if (!isLarge) taken.push(...text.trimEnd().split('\n'))
      const refusal = '<Error><Code>EntityTooLarge</Code><Message>too large</Message></Error>'
      response.writeHead(isLarge ? 400 : 200).end(isLarge ? refusal : '')
    })
    await small.listen()
    try {
      const actor = await begun({ bucket: small.outbound() })
      const first = requests(9)
      const last = requests(9)
      const large = requestRecord({
        organization,
        website: 'acme',
        receivedAtMs: Date.now(),
        body: 'x'.repeat(9_000),
      })
      await stage.write('requests', [...first, large, ...last])
      await stage.settle(actor)
      expect(await state()).to.include({ state: 'Failing', last_error: 'http_400 EntityTooLarge', dropped: 0 })
      for (let tries = 1; tries < 6; tries += 1) {
        expect(await state(), `after ${tries}`).to.include({ dropped: 0 })
        stage.nowMs += 45 * 60_000
        await stage.settle(actor)
      }
      const lines = taken.map((line) => JSON.parse(line) as { id: string; type?: string; reason?: string })
      expect(lines.filter(({ type }) => type === undefined).map(({ id }) => id)).to.deep.equal(
        idsOf([...first, ...last]),
      )
      expect(lines.filter(({ type }) => type === 'gap').map(({ reason }) => reason)).to.deep.equal(['too_large'])
      expect(actor.told).to.include('stream_too_large 1')
      expect(await state()).to.include({ state: 'Delivering', delivered: 18, dropped: 1 })
    } finally {
      await small.close()
    }
  })

  it('writes a test beside the batches', async () => {
    const sender = bucketSender({ stream: 'acme-logs', target, outbound, nowMs: Date.now })
    const { outcome, shown } = await sender.test('test-1')
    expect([outcome.isTaken, shown.status]).to.deep.equal([true, 200])
    const [key = ''] = await keys()
    expect(key).to.equal('logs of (acme)/2026/whence-test-1.ndjson.gz')
    expect((await lines(key)).map(({ type }) => type)).to.deep.equal(['test'])
  })

  it('writes to a store that has the bucket before its host', async () => {
    const dialled: string[] = []
    const resolve = async (name: string): Promise<readonly string[]> => {
      dialled.push(name)
      return [PUBLIC]
    }
    const before = { ...target, addressing: 'VirtualHost' } as const
    const parts = { stream: 'acme-logs', target: before, outbound: { ...outbound, resolve }, nowMs: Date.now }
    const { shown } = await bucketSender(parts).test('test-1')
    expect(shown).to.include({ status: 200, error: '' })
    expect(dialled).to.deep.equal([`${target.bucket}.${HOST}`])
    expect(await keys()).to.deep.equal(['logs of (acme)/2026/whence-test-1.ndjson.gz'])
  })

  it('signs what a bucket with Object Lock, or one that encrypts, asks of each object', async () => {
    const seen: IncomingHttpHeaders[] = []
    const store = new TlsServer(CERTIFICATE, ({ headers }, body, response) => {
      seen.push(headers)
      const isWhole = headers['content-md5'] === createHash('md5').update(body).digest('base64')
      response.writeHead(isWhole ? 200 : 400).end(isWhole ? '' : '<Error><Code>InvalidRequest</Code></Error>')
    })
    await store.listen()
    try {
      const sent = async (encryption: BucketTarget['encryption']) => {
        const parts = { stream: 'acme-logs', target: { ...target, encryption }, outbound: store.outbound() }
        return (await bucketSender({ ...parts, nowMs: Date.now }).test('test-1')).shown.status
      }
      const key = 'arn:aws:kms:eu-central-1:1:key/2'
      expect([
        await sent(null),
        await sent({ algorithm: 'AES256' }),
        await sent({ algorithm: 'aws:kms', kmsKeyId: key }),
      ]).to.deep.equal([200, 200, 200])
      const name = 'x-amz-server-side-encryption'
      expect(seen.map((headers) => [headers[name], headers[`${name}-aws-kms-key-id`]])).to.deep.equal([
        [undefined, undefined],
        ['AES256', undefined],
        ['aws:kms', key],
      ])
      for (const { authorization = '' } of seen) expect(authorization).to.match(/SignedHeaders=[^,]*content-md5/)
      expect(seen[2]?.authorization).to.contain(`${name};${name}-aws-kms-key-id`)
    } finally {
      await store.close()
    }
  })

  it('calls no hostile endpoint', async () => {
    const dialled: string[] = []
    const dial = (address: string): never => {
      dialled.push(address)
      throw new Error('dialled')
    }
    const urls = hostileUrls(1)
    expect(new Set(urls).size).to.be.at.least(250)
    for (const endpoint of urls) {
      const parts = { stream: 'acme-logs', outbound: { ...outbound, dial }, nowMs: Date.now }
      for (const addressing of ['Path', 'VirtualHost'] as const) {
        const { outcome } = await bucketSender({ ...parts, target: { ...target, endpoint, addressing } }).test('test-1')
        expect(outcome.error, `${addressing} ${endpoint}`).to.equal('address_refused')
      }
    }
    expect(dialled).to.deep.equal([])
  })
})
