/** What a request to the dashboard may be made of: more than that is refused before it is parsed, and unknown addresses have a window of their own. */

import { expect } from 'chai'

import { answer } from '../../dashboard/http/call.ts'
import { cookieRules } from '../../dashboard/http/cookies.ts'
import { refuseUnknownPath } from '../../dashboard/http/limits.ts'
import { parametersIn, readQuery } from '../../dashboard/http/query.ts'
import { createRouteTable } from '../../dashboard/http/route-table.ts'
import type { RouteRow } from '../../dashboard/api/route.ts'
import { ROUTES } from '../../dashboard/api/routes.ts'
import { firstFinding, checkSchema } from '../../domain/schema/check-schema.ts'
import { objectSchema, type JsonSchema } from '../../domain/schema/json-schema.ts'
import { LIMITS, PATH_RULES } from '../../domain/limits.ts'
import type { Hit, HitCounter } from '../../ports/hot-state/hot-state.ts'
import { organizationOf, startStage, type Stage } from './support/stage.ts'

const NAMES = Array.from({ length: 3_850 }, (_, index) => index.toString(36).padStart(3, 'a'))

describe('the query of a request to the dashboard', () => {
  it('is not parsed if it has more parameters than any route takes', () => {
    const most = Array.from({ length: LIMITS.queryParameters }, (_, index) => `p${index}=1`)
    const fits = parametersIn(most.join('&'))
    expect('code' in fits ? fits : fits.size).to.equal(LIMITS.queryParameters)
    for (const query of [[...most, 'one=more'].join('&'), NAMES.join('&'), '&'.repeat(15_000)])
      expect(parametersIn(query)).to.deep.include({
        code: 'invalid_field',
        extra: { field: '', message: `has more than ${LIMITS.queryParameters} parameters` },
      })
  })

  it('may have as many parameters as the route with the most has', () => {
    const counts = Object.values(ROUTES).map((row: RouteRow) => Object.keys(row.query ?? {}).length)
    expect(Math.max(...counts)).to.be.at.most(LIMITS.queryParameters)
  })

  it('is refused for its first repeated or unknown parameter', () => {
    const row = { query: { limit: { type: 'integer' } }, rate: 'read' } as const
    const refusal = (query: string): unknown => readQuery(new URLSearchParams(query), row)
    expect(refusal('limit=1&b=1&a=1&a=2&b=3')).to.deep.include({ extra: { field: '/a', message: 'comes twice' } })
    expect(refusal('limt=1&b=1')).to.deep.include({
      extra: { field: '/limt', message: 'is not a field here; did you mean limit?' },
    })
  })
})

describe('a value with many members that its schema does not know', () => {
  const many = Object.fromEntries(NAMES.map((name) => [name, 1]))
  const known = Object.fromEntries(NAMES.slice(0, 20).map((name) => [`${name}z`, { type: 'string' }] as const))

  it('has as many findings as are told', () => {
    const schema = objectSchema(known, [])
    expect(firstFinding(schema, many)).to.deep.include({ kind: 'unknown', field: `/${Object.keys(many)[0]}` })
    expect(checkSchema(schema, many).map(({ field }) => field)).to.deep.equal(
      Object.keys(many)
        .slice(0, 50)
        .map((name) => `/${name}`),
    )
  })

  it('gets suggestions for the first few only, and none for a name longer than any', () => {
    const near = Object.fromEntries(Object.keys(known).map((name) => [`${name}z`, 1]))
    const suggested = checkSchema(objectSchema(known, []), near).filter(({ message }) =>
      message.includes('did you mean'),
    )
    expect(suggested).to.have.lengthOf(5)
    const long = 'displayName'.padEnd(60_000, 'e')
    expect(checkSchema(objectSchema({ displayName: { type: 'string' } }, []), { [long]: 1 })[0]?.message).to.equal(
      'is not a field here; there are displayName',
    )
  })

  it('has no pattern tried on a text longer than may be', () => {
    const schema: JsonSchema = { type: 'string', maxLength: 3, pattern: '^(a+)+$', patternMeaning: 'must be a' }
    expect(checkSchema(schema, `${'a'.repeat(60)}!`).map(({ message }) => message)).to.deep.equal([
      'has 61 characters, more than 3',
    ])
    expect(checkSchema(schema, 'ab').map(({ message }) => message)).to.deep.equal(['must be a'])
  })
})

describe('the path of a request to the dashboard', () => {
  const rows = Object.values(ROUTES) as readonly RouteRow[]
  const find = createRouteTable(rows.map((row) => ({ row, handle: async () => answer({}) })))
  const decode = globalThis.decodeURIComponent
  afterEach(() => {
    globalThis.decodeURIComponent = decode
  })

  it('is divided into as many segments as the longest route has, and each is decoded once', () => {
    let decoded = 0
    globalThis.decodeURIComponent = (text) => {
      decoded += 1
      return decode(text)
    }
    const most = Math.max(...rows.map(({ path }) => path.split('/').length))
    for (const path of [`/api/${'/'.repeat(15_000)}`, `/api/${'a/'.repeat(7_000)}`, '/api/nothing']) {
      decoded = 0
      expect(find('GET', path)).to.deep.equal({ unknown: true })
      expect(decoded, path.slice(0, 20)).to.be.at.most(most + 1)
    }
  })

  it('leads to each route by its method, with its parameters', () => {
    for (const row of rows) {
      const path = row.path.replaceAll(/:(\w+)/g, 'x%2F$1')
      const found = find(row.method, path)
      if (!('route' in found)) throw new Error(`${row.method} ${row.path} is not found`)
      expect(found.route.row.summary).to.equal(row.summary)
      const names = [...row.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
      expect(found.params).to.deep.equal(Object.fromEntries(names.map((name) => [name, `x/${name}`])))
    }
    expect(find('PATCH', '/api/me')).to.deep.equal({ allow: 'GET, HEAD' })
    for (const path of ['/api/me/', '/api//me', '/api/%', '/api/organizations//overview'])
      expect(find('GET', path), path).to.deep.equal({ unknown: true })
  })
})

describe('the cookies of a request to the dashboard', () => {
  it('are not looked through if there are more than browsers keep of a host', () => {
    const { read } = cookieRules('https://whence.example')
    const own = `__Host-session=${'a'.repeat(43)}`
    const others = (count: number): string => 'a=b; '.repeat(count)
    expect(read(others(LIMITS.headerParts - 1) + own, 'session')).to.equal('a'.repeat(43))
    expect(read(others(LIMITS.headerParts) + own, 'session')).to.equal(null)
    expect(read(';'.repeat(15_000), 'session')).to.equal(null)
  })
})

describe('an address that does not exist', () => {
  let stage: Stage
  before(async () => {
    stage = await startStage({ manifests: organizationOf('acme', { members: { 'anna@acme.dev': 'Owner' } }) })
  })
  after(() => stage.stop())

  it('is counted in a window of its own, of its client, and in no other', async () => {
    const cookies = await stage.signIn('anna@acme.dev')
    const ask = (path: string, address: string) => stage.ask('GET', path, { cookies, address })
    const { limit } = PATH_RULES.unknown_paths
    // Within one window.
    stage.advance(60_000 - (stage.nowMs() % 60_000))
    for (let count = 0; count < limit; count += 50)
      await Promise.all(Array.from({ length: 50 }, () => ask('/api/apple-touch-icon.png', '192.0.2.9')))
    const over = await ask('/api/nothing', '192.0.2.9')
    expect([over.status, over.body['error']]).to.deep.equal([429, 'rate_limited'])
    expect(Number(over.headers.get('retry-after'))).to.be.within(1, 60)
    expect((await ask('/api/nothing', '192.0.2.10')).status).to.equal(404)
    expect((await ask('/api/me', '192.0.2.9')).status).to.equal(200)
    const refused = await ask(`/api/sign-in?${NAMES.join('&')}`, '192.0.2.9')
    expect([refused.status, refused.body['message']]).to.deep.equal([400, 'has more than 64 parameters'])
  })

  it('is answered while nothing can be counted', async () => {
    const away = { countHits: () => Promise.reject(new Error('away')) }
    expect((await refuseUnknownPath('a', away)).code).to.equal('not_found')
    const hits: (readonly Hit[])[] = []
    const there: HitCounter = {
      async countHits(given) {
        hits.push(given)
        return { kind: 'counted', counts: [1] }
      },
    }
    await refuseUnknownPath('a', there)
    expect(hits).to.deep.equal([[{ key: 'unknown_paths:a', limit: PATH_RULES.unknown_paths.limit, windowS: 60 }]])
  })
})
