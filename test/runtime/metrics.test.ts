/** The metrics server: one address, the registry's text, nothing else. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'chai'
import { Counter } from 'prom-client'

import { until } from '../../fixtures/until.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry, serveMetrics, taskFailures } from '../../runtime/metrics.ts'

describe('failures of work in the background', () => {
  it('are counted by task as they are logged', async () => {
    const registry = createRegistry('test', '1')
    const logger = createLogger({ program: 'test', level: 'silent', onTaskFailure: taskFailures(registry) })
    logger.warn({ task: 'trim' }, 'not deleted')
    logger.child({ part: 'log' }).error({ task: 'trim' }, 'not deleted')
    logger.warn({ task: 'rollup' }, 'not counted')
    logger.info({ task: 'rollup' }, 'counted')
    logger.warn('no task')
    const text = await registry.metrics()
    expect(text).to.include('whence_task_failures_total{task="trim"} 2')
    expect(text).to.include('whence_task_failures_total{task="rollup"} 1')
  })
})

describe('metrics server', () => {
  it('serves what parts have counted, with version and process metrics', async () => {
    const registry = createRegistry('test', '1.2.3')
    new Counter({ name: 'whence_things_total', help: 'Things.', registers: [registry] }).inc(3)
    const server = await serveMetrics(registry, { host: '127.0.0.1', port: 0 })
    try {
      const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`)
      const text = await answer.text()
      expect(answer.headers.get('content-type')).to.contain('text/plain')
      expect(text).to.contain('whence_things_total 3')
      expect(text).to.contain('whence_info{program="test",version="1.2.3"} 1')
      expect(text).to.contain('process_resident_memory_bytes')
    } finally {
      await server.close()
    }
  })

  it('answers 404 to everything else', async () => {
    const server = await serveMetrics(createRegistry('test', '1'), { host: '127.0.0.1', port: 0 })
    try {
      expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).to.equal(404)
      expect((await fetch(`http://127.0.0.1:${server.port}/metrics`, { method: 'POST', body: 'x' })).status).to.equal(
        404,
      )
    } finally {
      await server.close()
    }
  })

  it('answers probes while one client holds all the connections that it gives to one peer', async () => {
    const server = await serveMetrics(createRegistry('test', '1'), { host: '127.0.0.1', port: 0 })
    const sockets = Array.from({ length: 300 }, () => connect(server.port, '127.0.0.1').on('error', () => undefined))
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
      for (const socket of sockets) socket.resume().write('GET /met')
      for (let count = 0; count < 20; count++) {
        const answer = await fetch(`http://127.0.0.1:${server.port}/live`)
        expect(answer.status).to.equal(200)
      }
      const areClosed = (): boolean => sockets.every(({ closed }) => closed)
      expect(await until(areClosed, { withinMs: 15_000, everyMs: 50 })).to.equal(true)
    } finally {
      for (const socket of sockets) socket.destroy()
      await server.close()
    }
  }).timeout(30_000)

  it('ends the connections of clients that read nothing or next to nothing, and answers others meanwhile', async () => {
    const registry = createRegistry('test', '1')
    new Counter({ name: 'whence_long_total', help: 'x'.repeat(2_000_000), registers: [registry] })
    const connectionTimes = { writeMs: 1_000 }
    const server = await serveMetrics(registry, { host: '127.0.0.1', port: 0 }, { connectionTimes })
    const sockets = Array.from({ length: 4 }, () => connect(server.port, '127.0.0.1').on('error', () => undefined))
    const drip = setInterval(() => {
      for (const socket of sockets.slice(0, 2)) socket.read(1)
      // Who reads nothing learns of a reset only by writing.
      for (const socket of sockets) if (!socket.destroyed) socket.write('\r\n')
    }, 100)
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
      // More than the kernel keeps for them.
      for (const socket of sockets) socket.pause().write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(10))
      const gone = sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve)))
      const answer = await fetch(`http://127.0.0.1:${server.port}/live`)
      expect(answer.status).to.equal(200)
      await Promise.all(gone)
    } finally {
      clearInterval(drip)
      for (const socket of sockets) socket.destroy()
      await server.close()
    }
  }).timeout(60_000)

  it('rejects when the address is taken', async () => {
    const first = await serveMetrics(createRegistry('test', '1'), { host: '127.0.0.1', port: 0 })
    try {
      const second = serveMetrics(createRegistry('test', '1'), { host: '127.0.0.1', port: first.port })
      expect(await second.then(() => '', (error: unknown) => (error as { code: string }).code)).to.equal('EADDRINUSE') // prettier-ignore
    } finally {
      await first.close()
    }
  })
})
