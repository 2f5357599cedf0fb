/** Reads that run at the same time: so many for a person and an organisation; others wait, and a full queue refuses whoever filled it. */

import { expect } from 'chai'

import { answer, type Handler, type OrganizationCall } from '../../dashboard/http/call.ts'
import { refuse } from '../../domain/errors.ts'
import { LIMITS, READ_PLACES } from '../../domain/limits.ts'
import type { RunOptions } from '../../ports/facts/facts.ts'
import { handlePlaced, ReadPlaces, type PlacedParts } from '../../dashboard/http/places.ts'
import { READING_ROUTES } from '../../dashboard/reading.ts'
import { ROUTES } from '../../dashboard/api/routes.ts'
import type { RouteRow } from '../../dashboard/api/route.ts'
import { until } from '../../fixtures/until.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const STAYING = new AbortController().signal

interface Statement {
  readonly organization: unknown
  readonly share: RunOptions['share']
  readonly answer: () => void
}

describe('places for reads', () => {
  const page = (organization: string, person: string) => ({ rank: 'page', organization, person }) as const

  it('are so many for a person in all organisations, and for an organisation of all people', async () => {
    const places = new ReadPlaces()
    const taken = (reader: ReturnType<typeof page>) => {
      let isTaken = false
      void places.enter(reader, STAYING).then(() => (isTaken = true))
      return () => isTaken
    }
    const ofPerson = Array.from({ length: READ_PLACES.page.person + 2 }, (_, place) => taken(page(`o${place}`, 'p')))
    const ofOrganization = Array.from({ length: READ_PLACES.page.organization + 2 }, (_, place) =>
      taken(page('one', `p${place}`)),
    )
    const ofExports = taken({ ...page('one', 'p'), rank: 'export' } as never)
    await new Promise((done) => setImmediate(done))
    expect(ofPerson.filter((isTaken) => isTaken())).to.have.lengthOf(READ_PLACES.page.person)
    expect(ofOrganization.filter((isTaken) => isTaken())).to.have.lengthOf(READ_PLACES.page.organization)
    expect(ofExports(), 'a download has places of its own').to.equal(true)
  })

  it('go to those who wait in their order, and are given back once', async () => {
    const places = new ReadPlaces()
    const first = await Promise.all(
      Array.from({ length: READ_PLACES.page.person }, () => places.enter(page('o', 'p'), STAYING)),
    )
    const leaving = new AbortController()
    const order: string[] = []
    const left = places.enter(page('o', 'p'), leaving.signal).catch((error: Error) => void order.push(error.message))
    const waiting = ['second', 'third'].map(async (name) => {
      const place = await places.enter(page('o', 'p'), STAYING)
      order.push(name)
      return place
    })
    leaving.abort(new Error('left'))
    await left
    first[0]?.leave()
    first[0]?.leave()
    expect((await waiting[0])?.hasWaited).to.equal(true)
    expect(order).to.deep.equal(['left', 'second'])
    first[1]?.leave()
    await waiting[1]
    expect(first.some((place) => place?.hasWaited)).to.equal(false)
  })

  it('are asked again what the person may do if they had to wait, and are given back whatever happens', async () => {
    const handled: (string | undefined)[] = []
    const call = {
      rank: 'page',
      signal: STAYING,
      session: { person: 'p' },
      scope: { organization: { id: 'o' }, role: 'Owner' },
    } as unknown as OrganizationCall
    const handle: Handler = async ({ scope }) => {
      handled.push(scope?.role)
      if (scope?.role === 'Viewer') throw new Error('the handler fails')
      return answer({})
    }
    const left: string[] = []
    const after = (hasWaited: boolean, found: Awaited<ReturnType<PlacedParts['findAgain']>>) =>
      handlePlaced(handle, call, {
        places: { enter: async () => ({ hasWaited, leave: () => void left.push('left') }) },
        findAgain: async () => found,
      })
    expect(await after(false, refuse('unauthenticated'))).to.include({ status: 200 })
    expect(await after(true, refuse('unauthenticated'))).to.include({ code: 'unauthenticated' })
    expect(await after(true, { ...call.scope, role: 'Member' })).to.include({ status: 200 })
    const failing = after(true, { ...call.scope, role: 'Viewer' })
    expect(await failing.catch((error: Error) => error.message)).to.equal('the handler fails')
    expect(handled).to.deep.equal(['Owner', 'Member', 'Viewer'])
    expect(left).to.have.lengthOf(4)
  })

  it('wait in a queue of which nobody can take the last part', async () => {
    const places = new ReadPlaces()
    const { waiting } = READ_PLACES
    const refused = new Map<string, number>()
    const fill = (organization: string, people: number, each: number): void => {
      for (let person = 0; person < people; person += 1)
        for (let count = 0; count < each; count += 1)
          void places.enter(page(organization, `${organization} ${person}`), STAYING).then((place) => {
            if (place === null) refused.set(organization, (refused.get(organization) ?? 0) + 1)
          })
    }
    const greedy = Math.ceil(waiting.all / waiting.organization)
    for (let place = 0; place < greedy; place += 1) fill(`greedy-${place}`, 4, waiting.person)
    await new Promise((done) => setImmediate(done))
    const before = [...refused.values()].reduce((sum, count) => sum + count, 0)
    fill('modest', 3, READ_PLACES.page.person + 1)
    await new Promise((done) => setImmediate(done))
    expect(refused.get('modest')).to.equal(undefined)
    const after = [...refused.values()].reduce((sum, count) => sum + count, 0)
    expect(after - before, 'for each that came one of those who had the most is refused').to.equal(
      3 * (READ_PLACES.page.person + 1) - READ_PLACES.page.organization,
    )
  })
})

describe('reads of the dashboard', () => {
  let stage: Stage
  let asked: Statement[] = []
  let isHeld = false
  const facts = {
    run: (_query: string, params: object, { share }: RunOptions = {}): Promise<never[]> => {
      if (!isHeld) return Promise.resolve([])
      const { promise, resolve } = Promise.withResolvers<never[]>()
      asked.push({
        organization: (params as { organization?: unknown }).organization,
        share,
        answer: () => resolve([]),
      })
      return promise
    },
  }
  const cookies: Record<string, string> = {}
  before(async () => {
    const people = { 'anna@acme.dev': 'Owner', 'ben@acme.dev': 'Member', 'cleo@acme.dev': 'Viewer' }
    const manifests = [
      organizationOf('acme', { members: people }),
      organizationOf('other', { members: { 'dora@other.dev': 'Owner' } }),
    ].join('---\n')
    stage = await startStage({ manifests, facts: facts as never })
    for (const email of [...Object.keys(people), 'dora@other.dev']) cookies[email] = await stage.signIn(email)
  })
  beforeEach(() => {
    asked = []
    isHeld = true
  })
  afterEach(() => {
    isHeld = false
    for (const { answer } of asked) answer()
  })
  after(() => stage.stop())

  const read = (email: string, path = 'activity'): Promise<Told> => {
    const organization = email.endsWith('other.dev') ? 'other' : 'acme'
    return stage.ask('GET', `/api/organizations/${organization}/${path}`, { cookies: cookies[email] ?? '' })
  }
  const ofPerson = (count: number, email: string) => Array.from({ length: count }, () => read(email))
  const answerAll = async (told: readonly Promise<Told>[]): Promise<readonly number[]> => {
    isHeld = false
    for (const { answer } of asked.splice(0)) answer()
    return (await Promise.all(told)).map(({ status }) => status)
  }

  it('run so many at once, are charged to whoever reads, and all others wait', async () => {
    const { person, organization } = READ_PLACES.page
    const told = [...ofPerson(20, 'anna@acme.dev'), ...ofPerson(20, 'ben@acme.dev'), ...ofPerson(20, 'cleo@acme.dev')]
    await until(() => asked.length >= organization)
    told.push(read('dora@other.dev'))
    await until(() => asked.some((each) => each.organization === 'other'))
    const own = asked.filter((each) => each.organization === 'acme')
    expect(own).to.have.lengthOf(organization)
    const byPerson = Map.groupBy(own, ({ share }) => share?.person)
    for (const [id, statements] of byPerson) expect(statements, id).to.have.length.of.at.most(person)
    expect(own[0]?.share).to.deep.include({ rank: 'page', organization: 'acme' })
    expect(new Set(await answerAll(told))).to.deep.equal(new Set([200]))
  })

  it('answer 503 with Retry-After once too many of a person wait, and never 429 below the published number', async () => {
    const most = READ_PLACES.page.person + READ_PLACES.waiting.person
    const told = ofPerson(most, 'anna@acme.dev')
    await until(() => asked.length >= READ_PLACES.page.person)
    const over = await Promise.race(ofPerson(20, 'anna@acme.dev').concat(told))
    expect([over.status, over.body['error']]).to.deep.equal([503, 'unavailable'])
    expect(over.headers.get('retry-after')).to.equal(String(LIMITS.unavailableRetryS))
    expect(await answerAll([read('dora@other.dev'), read('ben@acme.dev')])).to.deep.equal([200, 200])
    const statuses = new Set(await answerAll(told))
    expect(statuses.has(429)).to.equal(false)
  })

  it('of downloads keep their place until they have ended, and pages have others', async () => {
    const told = ofPerson(20, 'anna@acme.dev')
    const files = Array.from({ length: 5 }, () => read('ben@acme.dev', 'installs/export'))
    const inRank = (rank: string) => asked.filter(({ share }) => share?.rank === rank)
    await until(
      () => inRank('export').length >= READ_PLACES.export.person && inRank('page').length >= READ_PLACES.page.person,
    )
    expect(inRank('export')).to.have.lengthOf(READ_PLACES.export.person)
    expect(new Set(await answerAll([...told, ...files]))).to.deep.equal(new Set([200]))
  })

  it('of each route have a rank: downloads and tails one of their own', () => {
    const ranks = Object.entries(ROUTES as Readonly<Record<string, RouteRow>>).map(([name, row]) => [name, row.rank])
    const named = (rank: string) => ranks.filter(([, each]) => each === rank).map(([name]) => name)
    expect(named('export')).to.have.members(READING_ROUTES.filter((name) => name.endsWith('Export')))
    expect(named('tail')).to.have.members(['logTail', 'live'])
  })
})
