/** One install with all that belongs to it: what can be read at the same time is. */

import type { FactsReader } from '../../ports/facts/facts.ts'
import { expect } from 'chai'
import { readInstall } from '../../dashboard/installs/list.ts'
import type { OrganizationFacts, ReadScope } from '../../dashboard/reads/scope.ts'
import type { CallTo } from '../../dashboard/http/call.ts'

const READS = {
  organization: { id: 'acme' },
  websites: [{ id: 'acme-dev' }],
  asked: {},
} as unknown as OrganizationFacts
const SCOPE = ((handle) => (call) => handle(READS, call)) as ReadScope
const CALL = { params: { website: 'acme-dev', event: 'an-event-id' } } as unknown as CallTo<'install'>

describe('one install', () => {
  it('is read in two rounds: by its event, then by its visits', async () => {
    const rounds: string[][] = [[]]
    const install = { verdicts: '[]', visit_id: 'a'.repeat(32) }
    const run = async (query: string): Promise<readonly unknown[]> => {
      rounds.at(-1)?.push(query)
      await new Promise((resolve) => setImmediate(resolve))
      if (rounds.length === 1) rounds.push([])
      return query === 'installByEvent' ? [install] : [query]
    }
    const outcome = await readInstall(SCOPE, { run } as unknown as FactsReader)(CALL)
    expect(rounds).to.deep.equal([
      ['installByEvent', 'deliveriesOfInstall', 'attemptsOfInstall'],
      ['visitsByIds', 'receiptHistory', 'handoffsOfVisits'],
    ])
    expect((outcome as { readonly body: unknown }).body).to.deep.equal({
      install,
      visits: ['visitsByIds'],
      receipts: ['receiptHistory'],
      handoffs: ['handoffsOfVisits'],
      deliveries: ['deliveriesOfInstall'],
      attempts: ['attemptsOfInstall'],
    })
  })
})
