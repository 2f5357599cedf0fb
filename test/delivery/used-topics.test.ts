/** Topics that a catalog has a use for are made as soon as it has. */

import { expect } from 'chai'

import { startPreparingTopics } from '../../delivery/used-topics.ts'
import type { Catalog } from '../../domain/catalog.ts'
import type { Topic } from '../../domain/records.ts'
import { compile, ga4Destination, organization, secret, webhook, website } from '../../fixtures/service/manifests.ts'
import { until } from '../../fixtures/until.ts'

const SITE = [organization('acme'), website('site'), secret('keys', { ga4: 'x', hook: 'y' })]

describe('topics of the catalog', () => {
  const prepared: Topic[] = []
  const failures: unknown[] = []
  let refusals = 0
  let current: Catalog
  let changed = (): void => undefined
  let preparing: { readonly close: () => Promise<void> }

  const become = (...objects: Parameters<typeof compile>): void => {
    current = compile(...objects).catalog
    changed()
  }

  beforeEach(() => {
    prepared.length = 0
    failures.length = 0
    refusals = 0
    become(...SITE)
    preparing = startPreparingTopics({
      eventLog: {
        append: () => Promise.reject(new Error('nothing is appended')),
        prepare: async (topic) => {
          if (refusals-- > 0) throw new Error('away')
          prepared.push(topic)
        },
      },
      catalog: {
        current: () => current,
        onChange: (listener) => {
          changed = listener
          return () => void (changed = () => undefined)
        },
      },
      onFailure: (error) => failures.push(error),
    })
  })
  afterEach(() => preparing.close())

  it('are made with the first destination of a provider and the first webhook, and none before', async () => {
    expect(prepared).to.deep.equal([])
    become(...SITE, ga4Destination('one'), ga4Destination('two'))
    await until(() => prepared.length > 0)
    expect(prepared).to.deep.equal(['deliver.ga4'])
    become(...SITE, webhook('hook'))
    await until(() => prepared.includes('webhooks'))
  })

  it('are tried again if the log does not answer', async () => {
    refusals = 1
    become(...SITE, ga4Destination('one'))
    await until(() => failures.length === 1)
    changed()
    await until(() => prepared.length === 1)
  })
})
