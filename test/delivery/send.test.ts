/** One exchange over real sockets: bounded in time and size, and clear about what may have arrived. */

import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net'

import { expect } from 'chai'

import { until } from '../../fixtures/until.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { ProviderReply, ProviderRequest } from '../../delivery/providers/provider.ts'
import { createSender } from '../../delivery/exchange/send.ts'

const REQUEST: ProviderRequest = {
  method: 'POST',
  path: '/mp/collect',
  query: { api_secret: 'a+b/c=', x: 'é' },
  headers: { 'content-type': 'application/json' },
  body: '{"name":"é"}',
  sessionMode: 'none',
  detail: '',
  secrets: [],
}

describe('an exchange with a provider', () => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  async function serve(listener: RequestListener): Promise<string> {
    return listen(createServer(listener))
  }

  async function serveRaw(onSocket: (socket: Socket) => void): Promise<string> {
    return listen(createTcpServer(onSocket))
  }

  async function listen(server: Server | TcpServer): Promise<string> {
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async function sendTo(
    baseUrl: string,
    options: { exchangeMs?: number; request?: ProviderRequest } = {},
  ): Promise<ProviderReply> {
    const { request = REQUEST, ...senderOptions } = options
    const sender = createSender({ baseUrl, ...senderOptions })
    try {
      return await sender.send(request)
    } finally {
      sender.close()
    }
  }

  it('sends path, query and body as they were built, and returns the answer', async () => {
    let seen = ''
    const url = await serve((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        seen = `${request.method} ${request.url} ${request.headers['content-length']} ${Buffer.concat(chunks).toString()}`
        response.writeHead(429, { 'Retry-After': '7' }).end('slow down')
      })
    })
    const reply = await sendTo(url)
    expect(seen).to.equal('POST /mp/collect?api_secret=a%2Bb%2Fc%3D&x=%C3%A9 13 {"name":"é"}')
    expect(reply).to.deep.include({ status: 429, body: 'slow down', failure: '', isUnclear: false })
    expect(reply.headers['retry-after']).to.equal('7')
  })

  it('follows no redirect', async () => {
    let hits = 0
    const url = await serve((_request, response) => {
      hits += 1
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    expect((await sendTo(url)).status).to.equal(302)
    expect(hits).to.equal(1)
  })

  it('ends at its limit if no server answers, and says that the request may have arrived', async () => {
    const url = await serve(() => undefined)
    const startedAtMs = Date.now()
    expect(await sendTo(url, { exchangeMs: 200 })).to.deep.include({ status: 0, failure: 'timeout', isUnclear: true })
    expect(Date.now() - startedAtMs).to.be.at.least(195)
  })

  it('ends at its limit if the body drips without end, and keeps the status that came', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    })
    expect(await sendTo(url, { exchangeMs: 200 })).to.deep.include({ status: 200, failure: 'timeout', isUnclear: true })
  })

  it('ends at its limit if even the headers drip', async () => {
    const url = await serveRaw((socket) => {
      const timer = setInterval(() => socket.write('H'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    const reply = await sendTo(url, { exchangeMs: 200 })
    expect(reply).to.deep.include({ status: 0, isUnclear: true })
    expect(['timeout', 'connection']).to.contain(reply.failure)
  })

  it('keeps 64 KB of an endless body and hangs up', async () => {
    let isHungUp = false
    const url = await serve((_request, response) => {
      response.on('close', () => (isHungUp = true))
      const fill = (): void => {
        while (!response.destroyed && response.write('x'.repeat(50_000)));
        if (!response.destroyed) response.once('drain', fill)
      }
      fill()
    })
    const reply = await sendTo(url)
    expect(reply).to.deep.include({ status: 200, failure: 'too_large', isUnclear: false })
    expect(reply.body).to.have.length(LIMITS.outboundBodyBytes)
    await until(() => isHungUp)
  })

  it('takes a body of exactly 64 KB whole', async () => {
    const url = await serve((_request, response) => response.end('x'.repeat(LIMITS.outboundBodyBytes)))
    expect(await sendTo(url)).to.deep.include({ status: 200, failure: '', isUnclear: false })
  })

  it('is clear that nothing arrived if there was no connection', async () => {
    const url = await serve(() => undefined)
    await closing.pop()?.()
    expect(await sendTo(url)).to.deep.include({ status: 0, failure: 'connection', isUnclear: false })
    expect(await sendTo('http://nowhere.invalid')).to.deep.include({ status: 0, isUnclear: false })
  })

  it('is clear that nothing arrived if the connection never became a secure one', async () => {
    const url = await serveRaw((socket) => socket.once('data', () => socket.end('no TLS here')))
    expect(await sendTo(url.replace('http:', 'https:'))).to.deep.include({
      status: 0,
      failure: 'connection',
      isUnclear: false,
    })
  })

  it('is unclear if the connection broke after the request', async () => {
    const url = await serveRaw((socket) => socket.once('data', () => socket.resetAndDestroy()))
    expect(await sendTo(url)).to.deep.include({ status: 0, failure: 'connection', isUnclear: true })
  })

  it('is unclear if the answer broke off in its body', async () => {
    const url = await serveRaw((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')),
    )
    expect(await sendTo(url)).to.deep.include({ status: 200, body: 'half', failure: 'connection', isUnclear: true })
  })

  it('treats an answer that is not HTTP as a broken connection', async () => {
    const url = await serveRaw((socket) => socket.once('data', () => socket.end('220 mail ready\r\n')))
    expect(await sendTo(url)).to.deep.include({ status: 0, failure: 'connection', isUnclear: true })
  })

  it('refuses a header that HTTP does not allow before anything is sent', async () => {
    const url = await serve(() => undefined)
    const request = { ...REQUEST, headers: { 'x-token': 'a\r\nb' } }
    expect(await sendTo(url, { request })).to.deep.include({ status: 0, failure: 'unsendable', isUnclear: false })
  })
})
