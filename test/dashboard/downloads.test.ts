/** Downloads that end early: at a limit, when their client leaves, or when the right to them is lost; read in the thread of the requests, and in one of their own. */

import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'

import { expect } from 'chai'

import { decodeRecord, type ActivityRecord } from '../../domain/records.ts'
import { until } from '../../fixtures/until.ts'
import type { QueryParameters } from '../../ports/facts/query-rows.ts'
import { organizationOf, startStage, type Stage, type StageOptions } from './support/stage.ts'

const WEBSITE = `---\napiVersion: whence.dev/v1alpha1\nkind: Website\nmetadata: { name: acme-one }\nspec: { organizationRef: { name: acme }, displayName: one, primaryOrigin: 'https://one.example', providers: [ga4] }\n`
const MEMBERS = { 'anna@acme.dev': 'Member', 'olga@acme.dev': 'Owner' }
const EXPORT = '/api/organizations/acme/logs/export?direction=inbound'
const QUIET_MS = 400

for (const isApart of [false, true])
  describe(isApart ? 'a download from another thread' : 'a download', () => {
    let stage: Stage
    let cookies: string
    let queries: number
    let body: string
    /** So many queries; later ones hang. */
    let answered: number
    /** As many lines as requested, each a millisecond older, without end. */
    const run = async (
      _query: string,
      params: Readonly<Record<string, number>>,
      { signal }: { signal: AbortSignal },
    ) => {
      signal.throwIfAborted()
      queries += 1
      if (queries > answered) await once(signal, 'abort')
      signal.throwIfAborted()
      const { limit = 0, until_ms: untilMs = 0 } = params
      return Array.from({ length: limit }, (_, index) => {
        const at_ms = untilMs - 1 - index
        const id = at_ms.toString(16).padStart(28, '0')
        const request = { kind: 'visit', method: 'POST', path: '/v1/visits', status: 200, code: 'ok', duration_ms: 1 }
        return { at_ms, id, website: 'acme-one', ...request, origin: '', bytes: 1, event_id: '', destination: '', body }
      })
    }
    /** The same lines, as an engine writes them for another thread. */
    const lines = async (statement: string, params: QueryParameters, { signal }: { readonly signal?: AbortSignal }) => {
      if (statement.includes('system.settings')) return Buffer.from('')
      const rows = await run('', params as never, { signal: signal as AbortSignal })
      return Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'))
    }
    const apart: NonNullable<StageOptions['readThread']> = {
      connection: { lines: lines as never },
    }
    before(async () => {
      const manifests = organizationOf('acme', { members: MEMBERS }) + WEBSITE
      stage = await startStage({ manifests, facts: { run } as never, ...(isApart ? { readThread: apart } : {}) })
    })
    beforeEach(async () => {
      queries = 0
      answered = Number.POSITIVE_INFINITY
      body = 'x'
      cookies = await stage.signIn('anna@acme.dev')
    })
    after(() => stage?.stop())

    const headers = (): Record<string, string> => ({ Cookie: cookies, 'Sec-Fetch-Site': 'same-origin' })
    const start = (): Promise<Response> => fetch(stage.url + EXPORT, { headers: headers() })
    /** Nothing of the answer is read: only for a client that reads the system makes its buffer larger, up to all of 25 MB. */
    const startUnread = async () => {
      const client = get(stage.url + EXPORT, { headers: headers() }).on('error', () => undefined)
      const [response] = (await once(client, 'response')) as [IncomingMessage]
      return { client, response }
    }
    const trailerOf = async (response: Response): Promise<any> =>
      (JSON.parse((await response.text()).trimEnd().split('\n').at(-1) ?? '') as Record<string, any>)['export']

    /** What the activity says of each download. */
    const noted = async (): Promise<readonly string[]> =>
      (await stage.eventLog.read('activity', 0, 1_000))
        .map(({ value }) => decodeRecord<ActivityRecord>(value))
        .filter(({ type }) => type === 'export')
        .map(({ message }) => message)

    /** Resolves once no query has come for a while. */
    async function quiet(): Promise<number> {
      for (let seen = -1; seen !== queries; await wait(QUIET_MS)) seen = queries
      return queries
    }

    it('ends at 100,000 records and says where to continue', async () => {
      const trailer = await trailerOf(await start())
      expect(trailer).to.include({ records: 100_000, truncated: 'records' })
      const more = await stage.ask('GET', `/api/organizations/acme/logs?cursor=${trailer.continueBefore}`, { cookies })
      expect(more.status).to.equal(200)
    })

    it('ends at 25 MB, within its first page too, and the activity says how many records were sent', async () => {
      for (const [characters, least, most] of [
        [10_000, 2_400, 2_600],
        [16_000, 1_500, 1_700],
      ] as const) {
        body = 'x'.repeat(characters)
        const before = (await noted()).length
        const trailer = await trailerOf(await start())
        expect(trailer.truncated).to.equal('bytes')
        expect(trailer.records).to.be.within(least, most)
        await until(async () => (await noted()).length > before)
        expect((await noted()).at(-1)).to.equal(`${trailer.records} records were downloaded: Logs with direction.`)
      }
    })

    it('runs no more queries once its client has left, or while the client does not read', async () => {
      body = 'x'.repeat(2_000)
      const { client } = await startUnread()
      const whileWaiting = await quiet()
      // What fits into 25 MB would be 6 pages.
      expect(whileWaiting).to.be.within(1, 5)
      client.destroy()
      const atTheEnd = await quiet()
      expect(atTheEnd - whileWaiting).to.be.at.most(1)
    })

    for (const [slow, hangsAfter] of [
      ['client', Number.POSITIVE_INFINITY],
      ['engine', 1],
    ] as const)
      it(`is cut off without its last line once its person has signed out, though it waits for a slow ${slow}`, async () => {
        body = 'x'.repeat(2_000)
        answered = hangsAfter
        const cutOff = (): number => stage.logLines.filter((line) => line.includes('was cut off')).length
        const before = cutOff()
        const { response } = await startUnread()
        await quiet()
        expect(cutOff()).to.equal(before)
        await stage.ask('POST', '/api/sign-out', { cookies, body: {} })
        await until(() => cutOff() > before)
        const failure = await finished(response.resume()).catch((error: unknown) => error)
        expect(failure).to.be.instanceOf(Error)
      })
  })
