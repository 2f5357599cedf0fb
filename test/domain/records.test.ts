/** Entries of the log come back as they were written. */

import { expect } from 'chai'
import fc from 'fast-check'
import { decodeRecord, encodeRecord, type RequestRecord } from '../../domain/records.ts'

const REQUEST: RequestRecord['request'] = {
  id: '019a0000000000000000000000aa',
  receivedAtMs: 1_790_000_000_000,
  durationMs: 1.5,
  website: 'acme-dev',
  organization: 'acme',
  method: 'POST',
  path: '/v1/visits',
  status: 200,
  code: '',
  origin: 'https://acme.dev',
  userAgent: 'Mozilla/5.0',
  addressHash: 'f0',
  body: '',
  bodyForm: 'text',
  bodyBytes: 0,
  isRedacted: false,
  logRetentionDays: 30,
}

const recordOf = (body: string, userAgent = ''): RequestRecord => ({
  v: 1,
  kind: 'request',
  request: { ...REQUEST, body, userAgent },
})

describe('a record on the log', () => {
  it('comes back as it was, whatever the body of its request', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, text, (body, userAgent) => {
        const record = recordOf(body, userAgent)
        expect(decodeRecord(encodeRecord(record))).to.deep.equal(record)
      }),
    )
    const lines = recordOf('{\n"a": 1\r\n}\n\n')
    expect(decodeRecord(encodeRecord(lines))).to.deep.equal(lines)
  })

  it('keeps the body as it is, so that its quotes cost nothing', () => {
    const body = '{"project":"acme-dev"}'
    expect(encodeRecord(recordOf(body)).endsWith(`\n${body}`)).to.equal(true)
  })

  it('is refused in an unknown version', () => {
    expect(() => decodeRecord('{"v":2}')).to.throw(/unknown version 2/)
    expect(() => decodeRecord('{"v":2,"request":{}}\nbody')).to.throw(/unknown version 2/)
  })
})
