/** Which delivery stands for an install that a later event of its machine tells of. */

import { expect } from 'chai'

import { laterOutcomes } from '../../domain/delivery/install-outcomes.ts'

const delivery = (event_id: string, destination: string, status: string, website = 'site') => ({
  website,
  event_id,
  destination,
  provider: 'meta',
  status,
  reason: status === 'skipped' ? 'unmatched' : '',
})

describe('an install that has the visit of a later event', () => {
  it('counts once for each destination, by the delivery that got furthest', () => {
    const later = ['install', 'first-run', 'again'].map((event_id) => ({
      website: 'site',
      install_id: 'install',
      event_id,
    }))
    const groups = laterOutcomes(later, [
      delivery('install', 'ads', 'skipped'),
      delivery('first-run', 'ads', 'delivered'),
      delivery('again', 'ads', 'skipped'),
      delivery('install', 'more-ads', 'skipped'),
      delivery('first-run', 'more-ads', 'failed'),
      delivery('first-run', 'ads', 'pending', 'another-site'),
    ])
    expect(groups.map(({ destination, status, installs }) => [destination, status, installs])).to.deep.equal([
      ['ads', 'delivered', 1],
      ['more-ads', 'failed', 1],
    ])
  })

  it('is skipped for the reason of the event that has the visit, not for its own lack of one', () => {
    const later = ['first-run', 'again', 'install'].map((event_id) => ({
      website: 'site',
      install_id: 'install',
      event_id,
    }))
    const skipped = (event_id: string, reason: string) => ({ ...delivery(event_id, 'ads', 'skipped'), reason })
    const groups = laterOutcomes(later, [
      skipped('install', 'unmatched'),
      skipped('again', 'not_an_install'),
      skipped('first-run', 'no_identifier'),
    ])
    expect(groups.map(({ reason, installs }) => [reason, installs])).to.deep.equal([['no_identifier', 1]])
  })
})
