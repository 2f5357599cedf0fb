/** A server that stops cuts off no client, whether connected already or just arriving. */

import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import express from 'express'
import { listen, type ApiServer } from '../../api/server.ts'

const CALLERS = 100
const REQUEST = 'GET / HTTP/1.1\r\nHost: whence.test\r\n\r\n'

/** `answered`, or the code of what ended the connection. */
function once(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(REQUEST))
    let answer = ''
    socket.on('data', (part) => {
      answer += String(part)
      if (answer.endsWith('here')) socket.end()
    })
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => resolve(code))
    socket.on('close', () => resolve(answer.startsWith('HTTP/1.1 200 ') ? 'answered' : 'cut off'))
  })
}

describe('a server that stops', () => {
  const start = (): Promise<ApiServer> => {
    const app = express()
    app.get('/', (_req, res) => void res.send('here'))
    return listen(app, { host: '127.0.0.1', port: 0 })
  }

  it('answers connections that were not accepted yet, and closes them', async () => {
    const { port, close } = await start()
    const answers = Array.from({ length: CALLERS }, () => {
      const socket = connect(port, '127.0.0.1')
      socket.write(REQUEST)
      return text(socket)
    })
    // In the same turn, so that all of them wait in the kernel.
    const closed = close()
    for (const answer of await Promise.all(answers)) {
      expect(answer).to.match(/^HTTP\/1\.1 200 /)
      expect(answer.toLowerCase()).to.include('connection: close')
    }
    await closed
  })

  it('does not cut off a client that reconnects as soon as it is answered', async () => {
    const { port, close } = await start()
    let answered = 0
    const client = async (): Promise<string> => {
      for (;;) {
        const how = await once(port)
        if (how !== 'answered') return how
        answered++
      }
    }
    const clients = Array.from({ length: CALLERS }, client)
    while (answered < CALLERS) await wait(1)
    await close()
    expect(new Set(await Promise.all(clients))).to.deep.equal(new Set(['ECONNREFUSED']))
  })

  it('makes clients that keep their connections close them', async () => {
    const { port, close } = await start()
    const agent = new Agent({ keepAlive: true })
    const call = () => connectionSaid(port, agent)
    expect(await call()).to.equal('keep-alive')
    const closed = close()
    expect(await call()).to.equal('close')
    await closed
    agent.destroy()
  })

  it('ends the connections of whoever calls while it drains, and goes on accepting others', async () => {
    const { port, drain, close } = await start()
    const agent = new Agent({ keepAlive: true })
    const call = () => connectionSaid(port, agent)
    expect(await call()).to.equal('keep-alive')
    drain()
    for (let calls = 0; calls < 3; calls++) expect(await call()).to.equal('close')
    expect(await once(port)).to.equal('answered')
    await close()
    agent.destroy()
  })

  it('accepts no connection once it has stopped', async () => {
    const { port, close } = await start()
    await close()
    const refused = await new Promise((resolve) => connect(port, '127.0.0.1').once('error', resolve))
    expect(refused).to.have.property('code', 'ECONNREFUSED')
  })
})

/** The header `Connection` of an answer. */
function connectionSaid(port: number, agent: Agent): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    get({ port, agent, host: '127.0.0.1' }, (response) => {
      response.resume().once('end', () => resolve(response.headers.connection))
    }).once('error', reject)
  })
}
