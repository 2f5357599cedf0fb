/** The server after its process stood still: what arrived meanwhile is not late. */

import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import express from 'express'
import { listen, type ApiServer } from '../../api/server.ts'

/** Longer than a first request may take to come, and than its head may take. */
const STILL_MS = 8_500
const BODY = 'x'.repeat(100)
const HEAD = ['POST / HTTP/1.1', 'Host: acme.dev', `Content-Length: ${BODY.length}`, 'Connection: close', '', ''].join(
  '\r\n',
)
const REQUEST = HEAD + BODY

/** What a client sends before the process stands still and, if anything, meanwhile. */
type Pieces = readonly [before: string, meanwhile: string]

/** Clients in a thread of their own: `begun` once the first pieces are sent, then what each was answered. */
const CLIENTS = `
  const { connect } = require('node:net')
  const { parentPort, workerData: { port, clients } } = require('node:worker_threads')
  const answers = clients.map(([before, meanwhile]) => new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => {
      if (before !== '') socket.write(before)
      setTimeout(() => meanwhile !== '' && socket.write(meanwhile), 1000)
    })
    socket.setEncoding('utf8').on('data', (data) => (answer += data)).on('error', () => undefined)
    socket.on('close', () => resolve(answer))
  }))
  setTimeout(() => parentPort.postMessage('begun'), 300)
  Promise.all(answers).then((all) => parentPort.postMessage(all))
`

describe('a server whose process stood still', function () {
  this.timeout(60_000)
  let server: ApiServer

  before(async () => {
    const app = express()
    // Otherwise it prints each request that was cut short.
    app.set('env', 'test')
    app.post('/', express.raw({ type: () => true }), (req, res) => void res.send(`got ${String(req.body.length)}`))
    server = await listen(app, { host: '127.0.0.1', port: 0 })
  })
  after(() => server.close())

  it('answers requests that came completely meanwhile, and ends those that still did not', async () => {
    const cuts = [0, 20, HEAD.length, HEAD.length + 50]
    const complete = cuts.map((cut): Pieces => [REQUEST.slice(0, cut), REQUEST.slice(cut)])
    const late: readonly Pieces[] = [
      [HEAD.slice(0, 20), ''],
      [HEAD.slice(0, 20), HEAD.slice(20)],
    ]
    const clients = new Worker(CLIENTS, {
      eval: true,
      workerData: { port: server.port, clients: [...complete, ...late] },
    })
    await once(clients, 'message')
    // In this phase of the event loop, so that timers fire before anything is read.
    await nextTurn()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STILL_MS)
    const [answers] = (await once(clients, 'message')) as [readonly string[]]
    for (const [index, cut] of cuts.entries())
      expect(answers[index], `cut at ${cut}`)
        .to.match(/^HTTP\/1\.1 200 /)
        .and.contain('got 100')
    for (const answer of answers.slice(cuts.length))
      expect(answer)
        .to.match(/^HTTP\/1\.1 408 /)
        .and.contain('{"error":"request_timeout"}')
  })
})
