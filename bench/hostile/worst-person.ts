/** What the worst person does, all within the published limits. Run as a process, with a `WorstPerson` as its argument. */

import { get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

import { SCALE_ORGANIZATION } from '../../fixtures/scale/shape.ts'
import type { DueRequest } from '../support/open-loop.ts'

export const KINDS = ['pages', 'searches', 'downloads', 'tails', 'parsing'] as const
export type Kind = (typeof KINDS)[number]

export interface WorstPerson {
  /** Of the dashboard. */
  readonly port: number
  readonly kinds: readonly Kind[]
  /** Headers of each of the person's sessions. */
  readonly sessions: readonly DueRequest['headers'][]
}

const PAGES_PER_S = 10
const SEARCHES_AT_ONCE = 8
const DOWNLOADS_AT_ONCE = 20
const TAILS = 8
const PARSED_PER_S = 20
const SINCE = Date.now() - 7 * 86_400_000

/** Goes on until the process is ended; what it is answered does not matter. */
async function attack({ port, sessions, kinds }: WorstPerson): Promise<void> {
  const own = `/api/organizations/${SCALE_ORGANIZATION}`
  const headersOf = (index: number) => sessions[index % sessions.length] ?? {}
  const forEver = (atOnce: number, path: (index: number) => string): Promise<unknown>[] =>
    Array.from({ length: atOnce }, async (_, index) => {
      for (;;) await asked(path(index), headersOf(index))
    })
  const asked = async (path: string, headers: DueRequest['headers']): Promise<void> => {
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
      await response.body?.pipeTo(new WritableStream())
      if (!response.ok) await wait(1_000 / PAGES_PER_S)
    } catch {
      // It was cut off.
    }
  }
  const atRate = async (rate: number, path: string): Promise<void> => {
    for (let index = 0; ; index += 1) {
      void asked(path, headersOf(index))
      await wait(1_000 / rate)
    }
  }
  const names = Array.from({ length: 3_850 }, (_, index) => index.toString(36).padStart(3, 'a'))
  const starts: Readonly<Record<Kind, () => readonly Promise<unknown>[]>> = {
    pages: () => [atRate(PAGES_PER_S, `${own}/installs?since=${SINCE}`)],
    searches: () => forEver(SEARCHES_AT_ONCE, (index) => `${own}/logs?text=nowhere-${index}`),
    downloads: () => forEver(DOWNLOADS_AT_ONCE, () => `${own}/installs/export`),
    tails: () => Array.from({ length: TAILS }, (_, index) => openTail(index)),
    parsing: () => [
      atRate(PARSED_PER_S, `/api/sign-in?${names.join('&')}`),
      atRate(PARSED_PER_S, `/api/${'/'.repeat(15_000)}`),
    ],
  }
  function openTail(index: number): Promise<void> {
    return new Promise((resolve) => {
      const request = { port, host: '127.0.0.1', path: `${own}/logs/tail`, headers: headersOf(index) }
      get(request, (response) =>
        response
          .on('error', () => undefined)
          .on('close', resolve)
          .resume(),
      ).on('error', () => resolve())
    })
  }
  await Promise.all(kinds.flatMap((kind) => starts[kind]()))
}

if (import.meta.main) {
  void attack(JSON.parse(process.argv[2] ?? '') as WorstPerson)
  process.send?.('begun')
}
