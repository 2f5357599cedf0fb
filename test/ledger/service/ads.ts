/** The places where ads are bought, as one server: each answers in its own way whatever it is told. */

import { createServer } from 'node:http'

import type { AdPlace } from '../world/told.ts'

export interface AdServer {
  readonly url: string
  /** How many events a place has taken. */
  readonly taken: (place: AdPlace) => number
  readonly stop: () => Promise<void>
}

type Answer = readonly [status: number, body: object]

/** In Meta's words. */
const ANSWERS: Readonly<Record<AdPlace['answers'], (events: number) => Answer>> = {
  takes: (events) => [200, { events_received: events, messages: [], fbtrace_id: 'A1' }],
  refuses: () => [400, { error: { code: 100, message: 'Invalid parameter' } }],
  'is busy': () => [400, { error: { code: 80_004, message: 'There have been too many calls' } }],
}

export async function openAds(places: readonly AdPlace[]): Promise<AdServer> {
  const taken = new Map<string, number>()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const place = places.find(({ number }) => request.url?.split('/')[2] === number)
      const events = eventsIn(text)
      const [status, body] = place === undefined ? [404, {}] : ANSWERS[place.answers](events)
      if (place !== undefined && status === 200) taken.set(place.number, (taken.get(place.number) ?? 0) + events)
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the places of ads have no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    taken: ({ number }) => taken.get(number) ?? 0,
    stop: () => new Promise((stopped) => server.close(() => stopped())),
  }
}

function eventsIn(text: string): number {
  const body: unknown = JSON.parse(text)
  const events: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'data') : null
  return Array.isArray(events) ? events.length : 0
}
