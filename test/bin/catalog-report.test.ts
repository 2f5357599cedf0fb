/** What the processes write into the activity about objects: one entry for all that read the same problem, written again if the log refused it. */

import { expect } from 'chai'

import type { Catalog, CatalogProblem } from '../../domain/catalog.ts'
import type { PublishedProblem } from '../../domain/published/problems.ts'
import { reportCatalog } from '../../bin/wiring/catalog-report.ts'
import type { Entry } from '../../ports/event-log/event-log.ts'
import { until } from '../../fixtures/until.ts'

const found: CatalogProblem = {
  object: 'Website/two',
  source: '',
  field: '/spec/id',
  reason: 'PlanLimit',
  message: 'no room',
  organization: 'acme',
}
const published = (sinceMs: number): PublishedProblem => ({ ...found, organization: 'acme', sinceMs })

function reporter(problems: readonly (CatalogProblem | PublishedProblem)[], refusals = 0) {
  const state = { problems, refusals }
  const written: Entry[] = []
  let changed = (): void => undefined
  reportCatalog({
    catalog: {
      current: () => ({ organizations: new Map([['acme', { logRetentionDays: 90 }]]) }) as unknown as Catalog,
      objectProblems: () => state.problems,
      onChange: (listener) => {
        changed = listener as () => void
        return () => true
      },
    },
    eventLog: {
      append: async (_topic, entries) => {
        if (state.refusals-- > 0) throw new Error('the log is unavailable')
        written.push(...entries)
      },
    },
    nowMs: () => 5_000,
    retryMs: 5,
  })
  const show = (next: readonly (CatalogProblem | PublishedProblem)[]): void => {
    state.problems = next
    changed()
  }
  return { written, show }
}

const recordIn = ({ value }: Entry) => JSON.parse(value) as Record<string, unknown>

describe('problems of objects in the activity', () => {
  it('are one and the same entry for all processes that read when they began', () => {
    const one = reporter([published(1_000)])
    const other = reporter([published(1_000)])
    expect(one.written).to.have.length(1)
    expect(other.written).to.deep.equal(one.written)
    expect(recordIn(one.written[0] as Entry)).to.deep.include({
      kind: 'activity',
      type: 'catalog_problem',
      organization: 'acme',
      subject: 'Website/two',
      atMs: 1_000,
      message: '/spec/id: no room',
      logRetentionDays: 90,
    })
    one.show([published(1_000)])
    expect(one.written, 'said once').to.have.length(1)
    one.show([published(2_000)])
    expect(new Set(one.written.map(({ key }) => key)).size, 'another time is another entry').to.equal(2)
  })

  it('have the time of the process that found them itself', () => {
    const one = reporter([found])
    const other = reporter([found])
    expect(recordIn(one.written[0] as Entry)['atMs']).to.equal(5_000)
    expect(other.written[0]?.key).not.to.equal(one.written[0]?.key)
  })

  it('are written later if the log refuses them', async () => {
    const { written } = reporter([published(1_000)], 2)
    expect(written).to.deep.equal([])
    await until(() => written.length > 0)
    expect(recordIn(written[0] as Entry)).to.include({ atMs: 1_000 })
  })
})
