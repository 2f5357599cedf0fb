/** What a website's activity shows of pages that try to count from an origin that it has not registered. */

import { expect } from 'chai'
import { LIMITS } from '../../domain/limits.ts'
import { until } from '../../fixtures/until.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { startApi, type Api } from './support/api.ts'

const CONFIG = '/v1/projects/acme-dev/browser-config'
const HOUR_MS = 3_600_000

describe('origins that are not registered', () => {
  let api: Api
  let lasts = 0
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())
  beforeEach(() => {
    api.service.advance(2 * HOUR_MS)
  })

  /**
   * Those of the hour before. An answer does not wait for its entry, so this moves on by an hour and waits for an entry that
   * comes after them. Each test begins with two new hours.
   */
  const entries = async () => {
    const sinceMs = api.service.nowMs() - HOUR_MS
    api.service.advance(HOUR_MS)
    const last = `https://last-${++lasts}.example`
    await read(last)
    let found: readonly QueryRow<'listActivity'>[] = []
    await until(async () => {
      const period = { since_ms: sinceMs, until_ms: api.service.nowMs() + 1, limit: 10_000 }
      const rows = await api.service.facts.run('listActivity', period)
      found = rows.filter(({ type }) => type === 'origin_not_registered')
      return found.some(({ subject }) => subject === last)
    })
    return found.filter(({ subject }) => !subject.startsWith('https://last-'))
  }
  const read = (origin: string) => api.get(CONFIG, { origin })

  it('are recorded when a page asks for its configuration, or sends a visit', async () => {
    await read('https://www.acme.dev')
    expect((await api.visit({}, { origin: 'https://staging.acme.dev' })).status).to.equal(403)
    const told = await entries()
    expect(told.map(({ subject }) => subject)).to.have.members(['https://www.acme.dev', 'https://staging.acme.dev'])
    for (const entry of told) {
      expect(entry).to.include({ organization: 'acme', website: 'acme-dev' })
      expect(entry.message).to.include(entry.subject).and.include('additionalDomains')
    }
  })

  it('are recorded once an hour', async () => {
    for (let times = 0; times < 3; times++) await read('https://www.acme.dev')
    expect(await entries()).to.have.length(1)
    await read('https://www.acme.dev')
    expect(await entries()).to.have.length(1)
  })

  it('are recorded for twenty origins an hour and website at most', async () => {
    expect(LIMITS.unregisteredOriginsPerHour).to.equal(20)
    for (let index = 0; index < 25; index++) await read(`https://n${index}.example`)
    expect(await entries()).to.have.length(20)
  })

  it('are not recorded if they are registered, or are not the origin of a page', async () => {
    for (const origin of ['https://acme.dev', 'null', 'https://', 'x'.repeat(300)]) await read(origin)
    expect(await entries()).to.have.length(0)
  })
})
