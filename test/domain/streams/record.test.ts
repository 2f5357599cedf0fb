/** What a log stream sends of a record: the line that Logs show, whatever its bodies hold. */

import { expect } from 'chai'
import fc from 'fast-check'

import { sentRecord, type BacklogRecord } from '../../../domain/streams/plan.ts'
import { streamRecord, unpackedRecord } from '../../../domain/streams/record.ts'

const BODY = fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\t', '\0', '\u001e', 'a', 'ä', '😀', '{', '}') })
const FORM = { websites: [], kinds: [], minStatus: 0, includeBodies: true, compress: false }
const rowOf = (request: string, response: string) => ({
  ...{ organization: 'acme', website: 'acme', started_at: 1, attempt_id: 'a', request_url: 'https://x.dev' },
  ...{ response_status: 204, code: '', duration_ms: 2, event_id: 'e', destination: 'd' },
  ...{ request_body: request, response_body: response },
})

describe('a record of a log stream', () => {
  it('comes back with its bodies as they were, and without them', () => {
    fc.assert(
      fc.property(BODY, BODY, (request, response) => {
        const record = streamRecord('attempts', rowOf(request, response))?.text ?? ''
        const line = JSON.parse(unpackedRecord(record, true)) as object
        expect(line).to.include({ id: 'a', event: 'e', requestBody: request, responseBody: response })
        expect(line).not.to.have.property('bodies')
        const { requestBody: _request, responseBody: _response, ...head } = line as Record<string, unknown>
        expect(JSON.parse(unpackedRecord(record, false))).to.deep.equal(head)
      }),
    )
  })

  it('is kept without an escape for the quotes of its bodies', () => {
    const body = JSON.stringify({ a: 'b', c: 'd' })
    expect(streamRecord('attempts', rowOf(body, ''))?.text).to.include(body)
  })

  it('says that it cannot be read, and does not stop the stream', () => {
    const broken = { id: 'a', atMs: 5, record: 'no record' } as BacklogRecord
    expect(JSON.parse(sentRecord(broken, FORM).text)).to.deep.equal({ type: 'unreadable', id: 'a', at: 5 })
  })
})
