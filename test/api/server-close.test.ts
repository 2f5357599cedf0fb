/** A server that is stopped cuts off no client: neither connected ones nor arriving ones. */

import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import express from 'express'
import { listen, type ApiServer } from '../../api/server.ts'

const CALLERS = 100
const REQUEST = 'GET / HTTP/1.1\r\nHost: whence.test\r\n\r\n'

describe('a server that stops', () => {
  const start = (): Promise<ApiServer> => {
    const app = express()
    app.get('/', (_req, res) => void res.send('here'))
    return listen(app, { host: '127.0.0.1', port: 0 })
  }

  it('answers connections that were not accepted yet, and ends them', async () => {
    const { port, close } = await start()
    const answers = Array.from({ length: CALLERS }, () => {
      const socket = connect(port, '127.0.0.1')
      socket.write(REQUEST)
      return text(socket)
    })
    // In the same turn: all of them wait in the kernel.
    const closed = close()
    for (const answer of await Promise.all(answers)) {
      expect(answer).to.match(/^HTTP\/1\.1 200 /)
      expect(answer.toLowerCase()).to.include('connection: close')
    }
    await closed
  })

  it('makes clients that keep their connections close them', async () => {
    const { port, close } = await start()
    const agent = new Agent({ keepAlive: true })
    const call = (): Promise<string | undefined> =>
      new Promise((resolve, reject) => {
        get({ port, agent, host: '127.0.0.1' }, (response) => {
          response.resume().once('end', () => resolve(response.headers.connection))
        }).once('error', reject)
      })
    expect(await call()).to.equal('keep-alive')
    const closed = close()
    expect(await call()).to.equal('close')
    await closed
    agent.destroy()
  })

  it('takes no connection any more once it has stopped', async () => {
    const { port, close } = await start()
    await close()
    const refused = await new Promise((resolve) => connect(port, '127.0.0.1').once('error', resolve))
    expect(refused).to.have.property('code', 'ECONNREFUSED')
  })
})
