/** The country of a time zone. */

import { expect } from 'chai'
import { countryOfZone } from '../../domain/zone-countries.ts'

describe('the country of a time zone', () => {
  it('is the one that the database of time zones names, by current and former names', () => {
    const examples = [
      'Europe/Berlin',
      'America/Argentina/Ushuaia',
      'Asia/Calcutta',
      'US/Eastern',
      'Iceland',
      'Pacific/Yap',
    ]
    expect(examples.map(countryOfZone)).to.deep.equal(['DE', 'AR', 'IN', 'US', 'IS', 'FM'])
  })

  it('is unknown for UTC, offsets and texts that are no zone', () => {
    const none = ['', 'UTC', 'Etc/UTC', 'Etc/GMT+5', 'EST', 'Nowhere/City', '["Europe/Berlin","Europe/Paris"]', 'DE']
    for (const zone of none) expect(countryOfZone(zone), zone).to.equal('')
  })

  it('is known for every place that this Node has', () => {
    const places = Intl.supportedValuesOf('timeZone').filter((zone) => zone.includes('/') && !zone.startsWith('Etc/'))
    expect(places.length).to.be.above(400)
    expect(places.filter((zone) => !/^[A-Z]{2}$/.test(countryOfZone(zone)))).to.deep.equal([])
  })
})
