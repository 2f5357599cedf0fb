/** How the server's objects are built: V8 does not make them fast by accident. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import express from 'express'
import { listen } from '../../api/server.ts'

const REQUESTS = 50

describe('the server', () => {
  it('gives each request and response properties that are found without a look-up by name', async () => {
    setFlagsFromString('--allow-natives-syntax')
    const isFast = runInNewContext('(object) => %HasFastProperties(object)') as (object: object) => boolean
    const app = express()
    const seen = new Set<string>()
    app.get('/', (req, res) => {
      seen.add(`request: ${isFast(req)}, response: ${isFast(res)}`)
      res.end()
    })
    const server = await listen(app, { host: '127.0.0.1', port: 0 })
    for (let number = 0; number < REQUESTS; number += 1) await fetch(`http://127.0.0.1:${server.port}/`)
    await server.close()
    expect([...seen]).to.deep.equal(['request: true, response: true'])
  })
})
