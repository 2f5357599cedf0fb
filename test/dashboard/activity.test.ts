/** Activity in the dashboard's API, over a real engine. */

import { expect } from 'chai'

import type { ActivityRecord } from '../../domain/records.ts'
import { store } from '../contract/fact-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const MANIFESTS = ['acme', 'other']
  .map((name) => organizationOf(name, { members: { [`anna@${name}.dev`]: 'Viewer' } }))
  .join('---\n')
const DAY_MS = 86_400_000

describe('activity in the dashboard', () => {
  let facts: TestFacts
  let stage: Stage
  let anna: string
  before(async () => {
    facts = await openTestFacts()
    stage = await startStage({ manifests: MANIFESTS, facts })
    anna = await stage.signIn('anna@acme.dev')
    const now = Date.now()
    const entry = (organization: string, number: number, changes: Partial<ActivityRecord> = {}): ActivityRecord => ({
      v: 1,
      kind: 'activity',
      id: String(number).padStart(8, '0'),
      atMs: now - Math.floor(number / 3) * 1_000,
      organization,
      website: '',
      type: 'rate_limit_reached',
      subject: `Website/w-${number % 7}`,
      message: `entry ${number}`,
      logRetentionDays: 30,
      ...changes,
    })
    const mine = Array.from({ length: 230 }, (_, number) => entry('acme', number))
    await store(facts, [
      ...mine,
      ...mine.slice(0, 20),
      entry('acme', 900, { type: 'quota_reached', atMs: now - 3_600_000 }),
      entry('acme', 903, {
        type: 'object_changed',
        actor: 'p_0',
        manager: 'argocd',
        fields: ['/spec/x'],
        atMs: now - 7_200_000,
      }),
      entry('acme', 901, { atMs: now - 100 * DAY_MS, message: 'too old' }),
      entry('other', 902, { message: 'of somebody else' }),
    ])
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const list = (query = '', organization = 'acme'): Promise<Told> =>
    stage.ask('GET', `/api/organizations/${organization}/activity${query}`, { cookies: anna })
  type Entry = {
    readonly id: string
    readonly at: number
    readonly type: string
    readonly object: string
    readonly message: string
  }
  const entriesOf = ({ body }: Told): readonly Entry[] => body['entries'] as Entry[]

  it('is 50 entries unless a limit says otherwise, 200 at most, and more is refused', async () => {
    expect(entriesOf(await list())).to.have.length(50)
    expect(entriesOf(await list('?limit=200'))).to.have.length(200)
    for (const limit of ['201', '0', '-1', 'many']) {
      const told = await list(`?limit=${limit}`)
      expect([told.status, told.body['error'], told.body['field']], limit).to.deep.equal([
        400,
        'invalid_field',
        '/limit',
      ])
    }
  })

  it('gives every entry of the organisation once over all pages, newest first, also those of one moment', async () => {
    const seen: Entry[] = []
    for (let query = '?limit=64'; query !== '';) {
      const told = await list(query)
      seen.push(...entriesOf(told))
      query = told.body['next'] === null ? '' : `?limit=64&cursor=${String(told.body['next'])}`
    }
    expect(new Set(seen.map(({ id }) => id)).size).to.equal(232)
    expect(seen).to.have.length(232)
    expect(seen.map(({ at }) => at)).to.deep.equal(seen.map(({ at }) => at).sort((a, b) => b - a))
    expect(JSON.stringify(seen)).to.not.include('of somebody else').and.not.include('too old')
  })

  it('is filtered by type and object', async () => {
    expect(entriesOf(await list('?type=quota_reached')).map(({ id }) => id)).to.deep.equal(['00000900'])
    const some = entriesOf(await list('?object=Website/w-3&limit=200'))
    expect(some.length).to.equal(33)
    expect(new Set(some.map(({ object }) => object))).to.deep.equal(new Set(['Website/w-3']))
  })

  it('is filtered by who did it, and says what changed by whom', async () => {
    const [entry, ...more] = entriesOf(await list('?actor=p_0'))
    expect(more).to.deep.equal([])
    expect(entry).to.deep.include({ id: '00000903', actor: 'p_0', manager: 'argocd', fields: ['/spec/x'] })
  })

  it('refuses a cursor of another list, and shows nothing of other organisations', async () => {
    const next = String((await list('?limit=10')).body['next'])
    for (const cursor of ['x', next.slice(0, -1), `${next}0`])
      expect((await list(`?cursor=${cursor}`)).status).to.equal(400)
    expect((await list(`?cursor=${next}&limit=10`)).status).to.equal(200)
    expect((await list('', 'other')).status).to.equal(404)
  })
})
