/** What a log stream sends of a record: the line that Logs show, whatever its bodies hold. */

import { expect } from 'chai'
import fc from 'fast-check'

import { sentRecord } from '../../../domain/streams/plan.ts'
import { attemptText, requestText, streamPointer } from '../../../domain/streams/record.ts'

const BODY = fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\t', '\0', '\u001e', 'a', 'ä', '😀', '{', '}') })
const ROW = {
  organization: 'acme',
  website: 'acme',
  started_at: 1,
  started_at_ms: 1,
  attempt_id: 'a',
  request_url: 'https://x.dev',
  response_status: 204,
  code: '',
  duration_ms: 2,
  event_id: 'e',
  destination: 'd',
}
const HEAD = {
  direction: 'outbound',
  website: 'acme',
  at: 1,
  id: 'a',
  kind: 'delivery',
  method: 'POST',
  path: 'https://x.dev',
  status: 204,
  code: '',
  durationMs: 2,
  event: 'e',
  destination: 'd',
}
const utf8Bytes = (text: string): number => Buffer.byteLength(text)

describe('a record of a log stream', () => {
  it('is sent with its bodies, whatever they hold, and without them', () => {
    fc.assert(
      fc.property(BODY, BODY, (request, response) => {
        const row = { ...ROW, request_body: request, response_body: response }
        expect(JSON.parse(attemptText(row, true))).to.include({ requestBody: request, responseBody: response })
        expect(JSON.parse(attemptText(row, false))).to.deep.equal(HEAD)
      }),
    )
  })

  it('has the fields of a request in the order of the documentation, the body last', () => {
    const row = {
      website: 'acme',
      received_at_ms: 5,
      id: 'r',
      kind: 'visit',
      body: '{}',
      body_bytes: 2,
      body_form: 'text',
    }
    expect(Object.keys(JSON.parse(requestText(row, true)) as object).join()).to.equal(
      'direction,website,at,id,kind,method,path,status,code,durationMs,origin,bytes,userAgent,bodyForm,body',
    )
    expect(JSON.parse(requestText({ ...row, website: '~acme' }, true))).to.include({ website: '' })
    expect(JSON.parse(requestText(row, false)))
      .to.include({ at: 5, bytes: 2 })
      .and.not.to.have.property('body')
  })

  it('is pointed to by website, time and ID, with a size that is at least that of its texts', () => {
    const row = { ...ROW, request_body: 'ä'.repeat(50), response_body: 'no' }
    const pointer = streamPointer('attempts', row, utf8Bytes)
    expect(pointer).to.include({
      organization: 'acme',
      website: 'acme',
      id: 'a',
      atMs: 1,
      kind: 'delivery',
      status: 204,
    })
    expect(pointer?.bytes).to.be.greaterThanOrEqual(Buffer.byteLength(attemptText(row, true)))
    for (const text of ['\u0001'.repeat(100), '"\\'.repeat(100), '\ud800'.repeat(100)]) {
      const escaped = streamPointer('attempts', { ...row, request_body: text, request_url: text }, utf8Bytes)
      const sent = attemptText({ ...row, request_body: text, request_url: text }, true)
      expect(escaped?.bytes, text.slice(0, 2)).to.be.greaterThanOrEqual(Buffer.byteLength(sent))
    }
    expect(streamPointer('visits', row, utf8Bytes)).to.equal(null)
  })

  it('says that it is not there any more, and does not stop the stream', () => {
    const gone = { id: 'a', atMs: 5 }
    expect(JSON.parse(sentRecord(gone, undefined).text)).to.deep.equal({ type: 'unreadable', id: 'a', at: 5 })
    expect(sentRecord(gone, 'a line')).to.deep.equal({ atMs: 5, text: 'a line' })
  })
})
