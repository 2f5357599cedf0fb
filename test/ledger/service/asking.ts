/** The ways to ask a service about a world. */

import { join } from 'node:path'

import { expect } from 'chai'

import { whencectl, type Ran } from '../../bin/support/run-whencectl.ts'
import type { Period } from '../world/book.ts'
import { ZONE } from '../world/calendar.ts'
import { kubectlWhence } from './kubectl.ts'
import { KEY, OWNER } from './objects.ts'
import { periodWords } from './surfaces.ts'

/** Words of a question; those of one name may be several. */
export type Words = Readonly<Record<string, string | readonly string[]>>

/** A service in this process or another. */
export interface AskedService {
  readonly url: string
  /** Holds its data. */
  readonly folder: string
  readonly signInLink: (wanted: { readonly email: string; readonly ownerOf: null }) => Promise<string>
}

export interface Surfaces {
  /** A page of the dashboard, asked about the website by the owner. */
  readonly read: (page: string, words: Words) => Promise<unknown>
  /** As a program asks with its key. */
  readonly readByKey: (page: string, words: Words, accept?: string) => Promise<Response>
  /** What the command line reports. */
  readonly report: (period: Period, ...words: readonly string[]) => Promise<Ran>
  /** The same through the plugin of kubectl. */
  readonly reportByKubectl: (period: Period, ...words: readonly string[]) => Promise<Ran>
  /** Any request of the owner to the dashboard. */
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>
}

/** Signs the owner in. */
export async function openSurfaces(service: AskedService): Promise<Surfaces> {
  const { url, folder } = service
  const headers = { Cookie: await signIn(service), Origin: url }
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    asked(service, path, { ...init, headers: { ...headers, ...init.headers } })
  const data = ['--data', join(folder, 'data'), '--time-zone', ZONE]
  const reportWords = (period: Period): readonly string[] => ['report', ...data, ...periodWords(period)]
  return {
    ask,
    read: async (page, words) => (await ask(`/api/organizations/acme/${page}?${queryOf(words)}`)).json(),
    readByKey: (page, words, accept = 'application/json') =>
      asked(service, `/v1/${page}?${queryOf(words)}`, { headers: { ...KEY.headers, Accept: accept } }),
    report: (period, ...words) => whencectl([...reportWords(period), ...words]),
    reportByKubectl: (period, ...words) => kubectlWhence(folder, [...reportWords(period), ...words]),
  }
}

function queryOf(words: Words): string {
  const query = new URLSearchParams({ website: 'acme-dev' })
  for (const [name, said] of Object.entries(words)) for (const word of [said].flat()) query.append(name, word)
  return query.toString()
}

async function asked({ url }: AskedService, path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url + path, init)
  expect(response.ok, response.ok ? path : `${path}: ${await response.text()}`).to.equal(true)
  return response
}

async function signIn({ url, signInLink }: AskedService): Promise<string> {
  const link = await signInLink({ email: OWNER, ownerOf: null })
  const token = /[A-Za-z0-9_-]{43}/.exec(new URL(link).hash + new URL(link).search)?.[0]
  const response = await fetch(`${url}/api/sign-in/link`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: url },
    body: JSON.stringify({ token }),
  })
  expect(response.status, await response.text()).to.equal(200)
  return response.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
}

/** By a session of its own: one ends within the time of the world. */
export async function testMark(service: AskedService): Promise<string> {
  const headers = { 'Content-Type': 'application/json', Cookie: await signIn(service), Origin: service.url }
  const path = '/api/organizations/acme/websites/acme-dev/test'
  const { mark } = (await (await asked(service, path, { method: 'POST', headers, body: '{}' })).json()) as {
    readonly mark: string
  }
  return mark
}
