/** Streams of events that are open at the same time: a share for each session, person and organisation, and who is told to have reached it. */

import { expect } from 'chai'

import { createEventStreams } from '../../dashboard/events/event-streams.ts'
import { asCalled, type OrganizationCall } from '../../dashboard/http/call.ts'
import { isLimit } from '../../dashboard/http/refused.ts'
import { tailLogs, watchLive, type TailParts } from '../../dashboard/logs/tail.ts'
import { STREAM_PLACES } from '../../domain/limits.ts'

function call(session: string, person: string, organization: string): OrganizationCall {
  return {
    session: { id: session, person },
    scope: { organization: { id: organization }, role: 'Owner' },
    queryValues: {},
    nowMs: 0,
    signal: new AbortController().signal,
  } as unknown as OrganizationCall
}

describe('streams of events', () => {
  it('are so many for a session, a person and an organisation, each of which is named if it is reached', () => {
    const { enter } = createEventStreams()
    const taken = (asked: OrganizationCall) => {
      const place = enter(asked)
      return place.kind === 'full' ? (place.rule ?? 'nobody') : place.kind
    }
    const all = (count: number, make: (index: number) => OrganizationCall) =>
      Array.from({ length: count }, (_, index) => taken(make(index)))
    expect(all(5, () => call('s1', 'anna', 'a'))).to.deep.equal([...Array(4).fill('place'), 'streams_per_session'])
    // In other sessions, and in other organisations.
    expect(all(5, (index) => call(`s${2 + index}`, 'anna', `a${index}`)).slice(3)).to.deep.equal([
      'place',
      'streams_per_person',
    ])
    const people = all(STREAM_PLACES.organization + 1, (index) => call(`b${index}`, `ben ${index}`, 'b'))
    expect(people.indexOf('streams_per_organization')).to.equal(STREAM_PLACES.organization)
  })

  it('that others have left none of are refused, and not recorded for whoever asks', async () => {
    const streams = createEventStreams()
    const places = Array.from({ length: STREAM_PLACES.process }, (_, index) =>
      streams.enter(call(`s${index}`, `p${index}`, `o${index % 5}`)),
    )
    expect(places.every(({ kind }) => kind === 'place')).to.equal(true)
    let statements = 0
    const scope: TailParts['scope'] = (handle) => (asked) =>
      handle({ run: async () => ((statements += 1), []) } as never, asked)
    const parts = { streams, scope } as unknown as TailParts
    for (const watch of Object.values(asCalled({ tail: tailLogs(parts), live: watchLive(parts) }))) {
      const refusal = await watch(call('victim', 'victim', 'victims'))
      if (refusal.kind !== 'refused') throw new Error('there was a place')
      expect([refusal.code, refusal.extra]).to.deep.equal(['unavailable', { retryAfter: 5 }])
      expect(isLimit(refusal)).to.equal(false)
    }
    expect(statements, 'nothing is read for whoever gets no place').to.equal(0)
    const [first] = places
    if (first?.kind === 'place') for (const _ of [1, 2]) first.leave()
    expect(streams.enter(call('victim', 'victim', 'victims')).kind).to.equal('place')
    expect(streams.enter(call('another', 'another', 'others')).kind).to.equal('full')
  })

  it('whose beginning fails give their place back', async () => {
    const streams = createEventStreams()
    const scope: TailParts['scope'] = (handle) => (asked) =>
      handle({ run: () => Promise.reject(new Error('the facts are away')) } as never, asked)
    const watch = watchLive({ streams, scope } as unknown as TailParts)
    for (let count = 0; count <= STREAM_PLACES.session; count += 1)
      expect(await watch(call('s', 'p', 'o')).catch((error: Error) => error.message)).to.equal('the facts are away')
    expect(streams.enter(call('s', 'p', 'o')).kind).to.equal('place')
  })
})
