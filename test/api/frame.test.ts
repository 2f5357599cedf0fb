/** The frame that serves the dashboard as a process of its own. */

import { expect } from 'chai'

import { listenFor } from '../../api/frame.ts'
import type { ApiServer } from '../../api/server.ts'
import { exchangeRaw } from './support/raw.ts'

describe('a server for what is not the api', () => {
  let server: ApiServer
  before(async () => {
    server = await listenFor(
      ({ url }, res) => {
        if (url !== '/api/me?a=b' && url !== '/') return false
        res.end('here')
        return true
      },
      { host: '127.0.0.1', port: 0 },
      'https://whence.acme.dev',
      {
        onBroken: () => undefined,
        onEnded: () => undefined,
        peers: { most: 100, peerOf: () => null },
      },
    )
  })
  after(() => server.close())

  const statusOf = async (target: string, host: string): Promise<number | undefined> => {
    const lines = [`GET ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', '', '']
    return (await exchangeRaw(server.port, [lines.join('\r\n')])).answers[0]?.status
  }

  it('finds a target that names it by its path', async () => {
    for (const [target, host] of [
      ['/api/me?a=b', 'inside'],
      ['https://whence.acme.dev/api/me?a=b', 'inside'],
      ['HTTPS://Whence.acme.dev:443/api/me?a=b', 'inside'],
      ['https://whence.acme.dev', 'inside'],
      ['http://inside:8080/api/me?a=b', 'inside:8080'],
    ] as const)
      expect(await statusOf(target, host), target).to.equal(200)
  })

  it('serves no other host', async () => {
    for (const target of ['http://evil.example/api/me?a=b', 'https://whence.acme.dev@evil.example/api/me?a=b'])
      expect(await statusOf(target, 'whence.acme.dev'), target).to.equal(404)
  })
})
