/** The promises of calls to tenants' addresses: they go only where they may, and end in time and size. */

import { expect } from 'chai'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import tls from 'node:tls'
import { gzipSync } from 'node:zlib'

import { callOutbound, type OutboundParts } from '../../../delivery/outbound/call.ts'
import { isCallable, parseOutboundUrl } from '../../../domain/outbound/address.ts'
import { testCertificate } from '../../../fixtures/engines/certificate.ts'
import { hostileAnswers, hostileUrls } from './hostile.ts'

const PUBLIC_V4 = '1.1.1.1 8.8.8.8 9.9.9.9 11.0.0.1 93.184.215.14 100.63.255.255 100.128.0.1 126.255.255.255'.split(' ')
const MORE_V4 =
  '128.0.0.1 168.63.129.17 169.253.1.1 172.15.255.255 172.32.0.1 192.0.1.1 192.167.1.1 198.17.1.1 223.255.255.254'
const PUBLIC_V6 =
  '2001:200::1 2001:4860:4860::8888 2003::1 2400:cb00::1 2606:4700::1111 2620:fe::fe 2a00:1450::1 2c0f:fb50::1'
const NAMES = [
  'hooks.acme.dev',
  'acme.dev',
  's3.eu-central-1.amazonaws.com',
  'acme-logs.s3.eu-west-3.amazonaws.com',
  'storage.googleapis.com',
  'logs_in.acme.dev',
  'localhost.acme.dev',
  'internal.acme.dev',
  '10.acme.dev',
  '127.0.0.1.acme.dev',
  'a--b.acme.dev',
  'acme.co.uk',
  'xn--mnchen-3ya.de',
  'a.b.c.d.e.acme.io',
  'local.dev',
]
const LITERALS = [...PUBLIC_V4, ...MORE_V4.split(' ')]
const CERTIFICATE = testCertificate(NAMES, LITERALS)

interface Received {
  readonly host: string
  readonly target: string
  readonly body: string
}

describe('calls to addresses of tenants', () => {
  let server: ReturnType<typeof createHttpsServer>
  let canary: Canary
  let port: number
  let received: Received[]
  let respond: (response: ServerResponse, request: IncomingMessage) => void

  before(async () => {
    server = createHttpsServer({ key: CERTIFICATE.keyPem, cert: CERTIFICATE.certPem }, (request, response) => {
      void bodyOf(request).then((body) => {
        received.push({ host: request.headers.host ?? '', target: request.url ?? '', body })
        respond(response, request)
      })
    })
    port = await listening(server)
    canary = await Canary.set()
  })
  after(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
    await canary.strike()
  })
  beforeEach(() => {
    received = []
    respond = (response) => response.end('taken')
    canary.touched = 0
    canary.bytes = 0
  })

  /** Every address leads to this machine: a loopback one to its own port, others to the server, in disguise. */
  function net(answers: readonly string[] = ['93.184.215.14'], dialled: string[] = []): OutboundParts {
    return {
      policy: { ports: [443, 8443, port, canary.port], networks: [] },
      trustedPem: CERTIFICATE.certPem,
      resolve: () => Promise.resolve(answers),
      dial: (address, wanted) => {
        dialled.push(address)
        return isCallable(address) ? disguised(connect(port, '127.0.0.1'), address) : connect(wanted, '127.0.0.1')
      },
    }
  }

  function post(url: string, parts: OutboundParts): ReturnType<typeof callOutbound> {
    return callOutbound({ url, method: 'POST', headers: {}, body: '{"a":1}', secrets: ['canary-secret'] }, parts)
  }

  it('reach 50 public addresses of every kind', async () => {
    const viaName = NAMES.map((name, index) => [`https://${name}/in?i=${index}`, [PUBLIC_V4[index % 8] ?? '']] as const)
    const viaV6 = PUBLIC_V6.split(' ').map((address) => ['https://acme.dev:8443/v6', [address]] as const)
    const viaLiteral = LITERALS.map((address) => [`https://${address}/`, []] as const)
    const viaBoth = PUBLIC_V6.split(' ').map((address) => ['https://acme.dev', ['1.1.1.1', address]] as const)
    const odd = [
      ['HTTPS://ACME.DEV/In', ['1.1.1.1']],
      ['https://münchen.de/', ['1.1.1.1']],
      ['https://134744072/', []],
    ] as const
    const controls = [...viaName, ...viaV6, ...viaLiteral, ...viaBoth, ...odd]
    expect(controls.length).to.be.at.least(50)
    for (const [url, answers] of controls) {
      const dialled: string[] = []
      const { reply } = await post(url, net(answers, dialled))
      expect(reply, url).to.include({ status: 200, failure: '', body: 'taken' })
      expect(dialled, url).to.have.length(1)
    }
    expect(received).to.have.length(controls.length)
    expect(received[0]).to.deep.equal({ host: 'hooks.acme.dev', target: '/in?i=0', body: '{"a":1}' })
  })

  it('send no packet to a canary for any hostile URL, and look no name up for one', async () => {
    const urls = hostileUrls(canary.port)
    expect(new Set(urls).size).to.be.at.least(250)
    for (const url of urls) {
      const asked: string[] = []
      const dialled: string[] = []
      const parts = { ...net(['127.0.0.1'], dialled), resolve: (name: string) => noted(asked, name, ['127.0.0.1']) }
      const { reply } = await post(url, parts)
      expect(reply, url).to.include({ status: 0, failure: 'address_refused', isUnclear: false })
      expect([dialled, asked], url).to.deep.equal([[], []])
    }
    expect([canary.touched, received]).to.deep.equal([0, []])
  })

  it('send no packet to a canary for any hostile answer of a name server, alone or among good ones', async () => {
    const answers = hostileAnswers()
    expect(answers.length).to.be.at.least(150)
    for (const given of answers) {
      const dialled: string[] = []
      const { reply } = await post(`https://acme.dev:${canary.port}/`, net(given, dialled))
      expect(reply.failure, given.join()).to.equal('address_refused')
      expect(dialled, given.join()).to.deep.equal([])
    }
    expect([canary.touched, received]).to.deep.equal([0, []])
  })

  it('ask once for a name, so that a second answer cannot replace the vetted one', async () => {
    let asked = 0
    const dialled: string[] = []
    const flips = (): Promise<readonly string[]> => Promise.resolve(asked++ === 0 ? ['1.1.1.1'] : ['127.0.0.1'])
    const parts = { ...net([], dialled), resolve: flips }
    expect((await post(`https://acme.dev:${canary.port}/`, parts)).reply.status).to.equal(200)
    expect([asked, dialled]).to.deep.equal([1, ['1.1.1.1']])
    expect((await post(`https://acme.dev:${canary.port}/`, parts)).reply.failure).to.equal('address_refused')
    expect(canary.touched).to.equal(0)
  })

  it('send nothing if the connection ended elsewhere than at the vetted address', async () => {
    const parts = { ...net(), dial: (_address: string, wanted: number) => connect(wanted, '127.0.0.1') }
    const { reply } = await post(`https://acme.dev:${canary.port}/`, parts)
    expect(reply.failure).to.equal('address_refused')
    expect(canary.bytes).to.equal(0)
  })

  it('follow no redirect, wherever it leads', async () => {
    const targets = [`https://127.0.0.1:${canary.port}/`, `http://169.254.169.254/latest`, '//localhost/', '/other']
    for (const status of [301, 302, 303, 307, 308]) {
      for (const location of targets) {
        respond = (response) => response.writeHead(status, { location }).end()
        const dialled: string[] = []
        expect((await post('https://acme.dev/', net(['1.1.1.1'], dialled))).reply.status).to.equal(status)
        expect(dialled).to.have.length(1)
      }
    }
    expect([canary.touched, received.length]).to.deep.equal([0, 20])
  })

  it('try the next vetted address if one does not answer, and report an unknown name', async () => {
    const parts = net(['1.1.1.1', '8.8.8.8'])
    const dial = (address: string, wanted: number): Socket =>
      address === '1.1.1.1' ? connect(1, '127.0.0.1') : (parts.dial?.(address, wanted) ?? connect(1))
    expect((await post('https://acme.dev/', { ...parts, dial })).reply.status).to.equal(200)
    expect((await post('https://acme.dev/', net([]))).reply.failure).to.equal('name_unknown')
    const broken = { ...net(), resolve: () => Promise.reject(new Error('SERVFAIL')) }
    expect((await post('https://acme.dev/', broken)).reply.failure).to.equal('name_unknown')
  })

  it('trust no certificate of another name, and none from an untrusted authority', async () => {
    expect((await post('https://elsewhere.dev/', net())).reply).to.include({ failure: 'tls', isUnclear: false })
    const { trustedPem: _trusted, ...untrusting } = net()
    expect((await post('https://acme.dev/', untrusting)).reply.failure).to.equal('tls')
    expect(received).to.deep.equal([])
  })

  it('end when their time is over: a name that never resolves, a silent server, slow drips', async () => {
    // Long enough for a handshake on a busy machine.
    const inTime = { ...net(), callMs: 2_000 }
    const forever = { ...net(), callMs: 50, resolve: (_name: string, signal: AbortSignal) => untilAborted(signal) }
    expect((await post('https://acme.dev/', forever)).reply).to.include({ failure: 'timeout', isUnclear: false })
    respond = () => undefined
    expect((await post('https://acme.dev/', inTime)).reply).to.include({ failure: 'timeout', isUnclear: true })
    respond = (response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    }
    expect((await post('https://acme.dev/', inTime)).reply).to.include({ status: 200, failure: 'timeout' })
    // A handshake that never comes.
    const mute = {
      ...net(),
      callMs: 50,
      dial: (address: string) => disguised(connect(canary.port, '127.0.0.1'), address),
    }
    expect((await post('https://acme.dev/', mute)).reply.failure).to.equal('timeout')
  })

  it('keep 64 KB of an answer, decompress none, and refuse endless headers', async () => {
    respond = (response) => response.end('x'.repeat(200_000))
    const { reply } = await post('https://acme.dev/', net())
    expect([reply.failure, reply.body.length]).to.deep.equal(['too_large', 65_536])
    respond = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('0'.repeat(5_000_000)))
    expect((await post('https://acme.dev/', net())).reply).to.include({ status: 200, failure: 'encoded', body: '' })
    respond = (response) => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end()
    expect((await post('https://acme.dev/', net())).reply.failure).to.equal('connection')
  })

  it('log no secret: neither from an answer, nor the path and query that often are one', async () => {
    respond = (response) => response.end('you sent canary-secret')
    const { log } = await post('https://acme.dev/services/T0/canary-path?key=canary-key', net())
    expect(log).to.deep.equal({
      url: 'https://acme.dev/[hidden]',
      responseStatus: 200,
      responseBody: 'you sent [hidden]',
      failure: '',
    })
    const refused = await post('https://u:canary-password@acme.dev/', net())
    expect(JSON.stringify(refused.log)).not.to.contain('canary')
  })

  it('send no header that breaks out of its line', async () => {
    const headers = { 'x-key': 'a\r\nhost: localhost' }
    const { reply } = await callOutbound(
      { url: 'https://acme.dev/', method: 'POST', headers, body: '', secrets: [] },
      net(),
    )
    expect(reply).to.include({ failure: 'unsendable', isUnclear: false })
    expect(received).to.deep.equal([])
  })

  it('speak TLS 1.2 or newer, even if this process takes older ciphers', async () => {
    const before = tls.DEFAULT_CIPHERS
    const { keyPem: key, certPem: cert } = CERTIFICATE
    const old = createHttpsServer({ key, cert, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' })
    old.on('request', (_request, response) => void response.end('taken'))
    const oldPort = await listening(old)
    tls.DEFAULT_CIPHERS = 'ALL:@SECLEVEL=0'
    try {
      const dial = (address: string) => disguised(connect(oldPort, '127.0.0.1'), address)
      const { reply } = await post('https://acme.dev/', { ...net(), dial })
      expect(reply).to.include({ status: 0, failure: 'tls', isUnclear: false })
      expect((await post('https://acme.dev/', net())).reply.status).to.equal(200)
    } finally {
      tls.DEFAULT_CIPHERS = before
      old.closeAllConnections()
      await new Promise((done) => old.close(done))
    }
  })

  it('reach what the operator allows, and nothing else', () => {
    const policy = { ports: [9_000], networks: ['10.1.0.0/16', 'fd00:1::/32'] }
    const isTaken = (url: string): boolean => parseOutboundUrl(url, policy).ok
    expect(isTaken('https://10.1.2.3:9000/')).to.equal(true)
    expect(isTaken('https://[fd00:1::5]:9000/')).to.equal(true)
    expect(isTaken('https://10.2.2.3:9000/')).to.equal(false)
    expect(isTaken('https://[::ffff:10.1.2.3]:9000/')).to.equal(false)
    expect(isTaken('https://10.1.2.3/')).to.equal(false)
  })
})

/** Takes connections and counts them; says nothing. */
class Canary {
  touched = 0
  bytes = 0
  readonly port: number
  readonly #server: Server
  readonly #sockets: Set<Socket>

  private constructor(server: Server, port: number, sockets: Set<Socket>) {
    this.#server = server
    this.port = port
    this.#sockets = sockets
    server.on('connection', (socket: Socket) => {
      this.touched += 1
      sockets.add(socket)
      socket.on('error', () => undefined).on('data', (chunk) => (this.bytes += chunk.length))
    })
  }

  static async set(): Promise<Canary> {
    const server = createServer()
    return new Canary(server, await listening(server), new Set())
  }

  async strike(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((done) => this.#server.close(done))
  }
}

/** A connection that seems to end at another address. */
function disguised(socket: Socket, address: string): Socket {
  return Object.defineProperty(socket, 'remoteAddress', { value: address })
}

function noted(asked: string[], name: string, answer: readonly string[]): Promise<readonly string[]> {
  asked.push(name)
  return Promise.resolve(answer)
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled'))))
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
