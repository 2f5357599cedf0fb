/** What `make scale` does at the size of a large customer, with few facts: pages show what a count over all rows gives. */

import { expect } from 'chai'

import { hourOf } from '../../domain/durations.ts'
import { fillTables, rollUpAll } from '../../fixtures/scale/fill.ts'
import { sinceOf } from '../../fixtures/scale/shape.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { SECRET } from '../dashboard/support/stage.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { checkNumbers } from './checks.ts'
import { noting, unseenStatements } from './measure.ts'
import { askBesidePages, askEachKindOfPage, openPages, storeRarities, unaskedRoutes, type AskedPages } from './pages.ts'

const VISITS = 60_000
/** To make the facts up at once. The process of a test also holds what engines before it left; `make scale` keeps to the engine's own bound. */
const MEMORY_BYTES = 1_500 * 1024 * 1024

const say = (): void => undefined

describe('Pages over made-up facts', function () {
  this.timeout(600_000)
  const shape = { visits: VISITS, untilMs: hourOf(Date.now()), keyId: createKeyring([SECRET]).currentKeyId }
  let facts: TestFacts
  let noted: ReturnType<typeof noting>
  let pages: AskedPages

  before(async () => {
    facts = await openTestFacts({ memoryBytes: MEMORY_BYTES })
  })
  after(async () => {
    await pages?.stage.stop()
    await facts?.close()
  })

  it('are all that read facts', () => {
    expect(unaskedRoutes()).to.deep.equal([])
  })

  it('show numbers that a count over every stored row gives too', async () => {
    const rows = await fillTables(facts.connection, shape, say)
    expect(rows.get('visits')).to.be.greaterThan(VISITS)
    expect(await rollUpAll(facts, shape, say)).to.be.greaterThan(0)
    noted = noting(facts)
    pages = await openPages(noted.facts, shape.untilMs - 1)
    const { compared, wrong } = await checkNumbers({
      pages,
      connection: facts.connection,
      sinceMs: sinceOf(shape),
      say,
    })
    expect(wrong.map(({ what, shown, counted }) => `${what}: ${shown}, not ${counted}`)).to.deep.equal([])
    expect(compared).to.be.greaterThan(1_000)
  })

  it('run every statement that `make scale` measures', async () => {
    await storeRarities(facts, shape)
    await askEachKindOfPage(pages, say)
    await askBesidePages(noted.facts, shape)
    expect(unseenStatements(noted.statements())).to.deep.equal([])
  })
})
