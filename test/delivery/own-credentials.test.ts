/** A provider's worker holds no other provider's credentials. */

import { expect } from 'chai'

import { destinationKey, type Catalog, type Credentials } from '../../domain/catalog.ts'
import { ownCredentials } from '../../delivery/worker/own-credentials.ts'
import { AD_DESTINATIONS } from '../../fixtures/delivery/ad-install.ts'
import { catalogOf, destinationOf, WEBSITE } from '../../fixtures/delivery/builders.ts'

const GA4 = destinationOf()
const all = [GA4, ...Object.values(AD_DESTINATIONS)]

function credentialsOf(token: string): Credentials {
  return new Map(
    all.map(({ id }) => [
      destinationKey({ organization: 'acme', website: WEBSITE }, id),
      { token: `${token} of ${id}` },
    ]),
  )
}

describe('the credentials of a worker', () => {
  let catalog: Catalog
  let credentials: Credentials
  const source = { current: () => catalog, credentials: () => credentials }
  beforeEach(() => {
    catalog = catalogOf(all)
    credentials = credentialsOf('first')
  })

  it('are those of its provider and of no other', () => {
    for (const { id, provider } of all) {
      const own = ownCredentials(provider, source)()
      expect([...own]).to.deep.equal([
        [destinationKey({ organization: 'acme', website: WEBSITE }, id), { token: `first of ${id}` }],
      ])
    }
  })

  it('follow a new secret and a new catalog, and are made once for each', () => {
    const own = ownCredentials('meta', source)
    const before = own()
    expect(own()).to.equal(before)
    credentials = credentialsOf('second')
    expect([...own().values()]).to.deep.equal([{ token: 'second of acme-meta' }])
    catalog = catalogOf([GA4])
    expect(own()).to.have.property('size', 0)
  })
})
