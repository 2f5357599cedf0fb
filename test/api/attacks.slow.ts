/** Clients that hold connections open for nothing: these are closed in time, and another client is served meanwhile. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { connectionPeer } from '../../api/http/client-address.ts'
import type { ConnectionEnd } from '../../runtime/connections.ts'
import { bareCatalog, startBareApi, type BareApi } from './support/bare-api.ts'

const ATTACKERS = 64
const SHARE = 100
/** Short, to keep the test short. */
const PATIENCE_MS = 1_000
/** Node.js allows 5 s for a header block and 10 s for a request, and checks once a second. */
const BOUND_MS = 16_000

describe('connections held open for nothing are closed', () => {
  let api: BareApi
  let ended: ConnectionEnd[] = []
  let sockets: Socket[] = []
  const drips: NodeJS.Timeout[] = []
  beforeEach(async () => {
    ended = []
    api = await startBareApi(bareCatalog(), {
      onBroken: () => undefined,
      onEnded: (why) => void ended.push(why),
      peers: { most: SHARE, peerOf: connectionPeer([]) },
      connectionTimes: { firstRequestMs: 3 * PATIENCE_MS, idleMs: PATIENCE_MS, writeMs: PATIENCE_MS },
    })
  })
  afterEach(async () => {
    for (const drip of drips.splice(0)) clearInterval(drip)
    for (const socket of sockets.splice(0)) socket.destroy()
    await api.close()
  })

  const attack = async (count = ATTACKERS): Promise<Socket[]> => {
    const own = Array.from({ length: count }, () => connect(api.port, '127.0.0.1').on('error', () => undefined))
    sockets = [...sockets, ...own]
    await Promise.all(own.map((socket) => once(socket, 'connect')))
    return own
  }
  const drip = (own: readonly Socket[], text: string): void => {
    const send = (): void => own.forEach((socket) => socket.writable && socket.write(text))
    drips.push(setInterval(send, PATIENCE_MS / 4))
  }
  /** A client with its own address that repeats its request until `isOver`. Every answer must be `200`. */
  const serveHonest = async (isOver: () => boolean): Promise<number> => {
    const began = performance.now()
    let answers = 0
    while (!isOver() && performance.now() - began < BOUND_MS) {
      const honest = connect({ port: api.port, host: '127.0.0.1', localAddress: '127.0.0.2' })
      honest.write('GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      const [head] = (await once(honest, 'data')) as [Buffer]
      expect(head.toString('latin1', 0, 15)).to.equal('HTTP/1.1 200 OK')
      honest.destroy()
      answers++
      await wait(20)
    }
    return answers
  }
  const closedOf =
    (own: readonly Socket[]): (() => boolean) =>
    () =>
      own.every(({ closed }) => closed)

  it('by headers that never end', async () => {
    const own = await attack()
    own.forEach((socket) => socket.write('GET /health HTTP/1.1\r\nHost: a\r\n').valueOf() && socket.resume())
    drip(own, 'X: y\r\n')
    expect(await serveHonest(closedOf(own))).to.be.above(10)
    expect(closedOf(own)()).to.equal(true)
  }).timeout(30_000)

  it('by a body that never ends', async () => {
    const own = await attack()
    const head = 'POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n'
    own.forEach((socket) => socket.write(head).valueOf() && socket.resume())
    drip(own, ' ')
    expect(await serveHonest(closedOf(own))).to.be.above(10)
    expect(closedOf(own)()).to.equal(true)
  }).timeout(30_000)

  it('by empty lines, before the first request and after one', async () => {
    const own = await attack()
    own.forEach((socket) => socket.resume())
    own.slice(0, 32).forEach((socket) => socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n'))
    drip(own, '\r\n')
    expect(await serveHonest(closedOf(own))).to.be.above(10)
    expect(closedOf(own)()).to.equal(true)
    expect(ended.filter((why) => why === 'idle').length).to.be.at.least(32)
  }).timeout(30_000)

  it('by answers that are requested but never read', async () => {
    const own = await attack()
    own.forEach((socket) => socket.pause().write('GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(400)))
    const isOver = (): boolean => ended.filter((why) => why === 'unread').length === ATTACKERS
    expect(await serveHonest(isOver)).to.be.above(10)
    expect(isOver()).to.equal(true)
  }).timeout(30_000)

  it('by one address beyond its share: idle ones are closed first, and if none is idle it gets no more', async () => {
    const first = await attack(SHARE)
    const further = await attack(20)
    further.forEach((socket) => socket.resume().write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n'))
    await Promise.all(further.map((socket) => once(socket, 'data')))
    const isOver = (): boolean => first.filter(({ closed }) => closed).length >= 20
    first.forEach((socket) => socket.resume())
    await serveHonest(isOver)
    expect(isOver()).to.equal(true)

    const busy = await attack(SHARE)
    const lines = ['Host: a', 'Content-Type: application/json', 'Content-Length: 9999', 'Expect: 100-continue']
    busy.forEach((socket) => socket.write(['POST /v1/events HTTP/1.1', ...lines, '', ''].join('\r\n')))
    await Promise.all(busy.map((socket) => once(socket, 'data')))
    const late = await attack(1)
    late.forEach((socket) => socket.resume())
    await serveHonest(() => late.every(({ closed }) => closed))
    expect(late.every(({ closed }) => closed)).to.equal(true)
    expect(ended).to.include('too_many_of_one_peer')
  }).timeout(30_000)

  it('except those of a trusted proxy, which are not counted together', () => {
    const peerOf = connectionPeer(['10.0.0.0/8', '::1'])
    expect(['10.1.2.3', '::1', '::ffff:10.1.2.3'].map(peerOf)).to.deep.equal([null, null, null])
    expect(['192.0.2.1', '::ffff:192.0.2.1', undefined].map(peerOf)).to.deep.equal([
      '192.0.2.1',
      '192.0.2.1',
      'unknown',
    ])
    expect(peerOf('2001:db8:1:2::9')).to.equal(peerOf('2001:db8:1:2:ffff::1'))
    expect(connectionPeer([])('10.1.2.3')).to.equal('10.1.2.3')
  })
})
