/** Which address a request is counted under, whatever a client writes into the list of proxies. */

import type { IncomingMessage } from 'node:http'

import { expect } from 'chai'

import { addressReader } from '../../api/http/client-address.ts'
import { LIMITS } from '../../domain/limits.ts'

const PROXY = '10.0.0.1'

function request(told: string | undefined, peer = PROXY): IncomingMessage {
  const headers = told === undefined ? {} : { 'x-forwarded-for': told }
  return { headers, socket: { remoteAddress: peer } } as unknown as IncomingMessage
}

describe('the address of a client', () => {
  const read = addressReader(['10.0.0.0/8', 'fd00::/8'])

  it('is the last one of the list that is no trusted proxy', () => {
    const cases: readonly (readonly [told: string | undefined, peer: string, address: string])[] = [
      [undefined, PROXY, PROXY],
      ['', PROXY, PROXY],
      ['198.51.100.7', '192.0.2.1', '192.0.2.1'],
      ['198.51.100.7', PROXY, '198.51.100.7'],
      ['203.0.113.9, 198.51.100.7', PROXY, '198.51.100.7'],
      ['203.0.113.9,198.51.100.7 , 10.9.9.9', PROXY, '198.51.100.7'],
      ['198.51.100.7,, ,10.9.9.9,', PROXY, '198.51.100.7'],
      ['10.1.1.1, 10.2.2.2', PROXY, '10.1.1.1'],
      ['2001:db8:1:2:3::4, fd00::1', PROXY, '2001:db8:1:2'],
      ['nonsense, 10.2.2.2', PROXY, PROXY],
      ['203.0.113.7, 10.1.2.3:555', PROXY, '203.0.113.7'],
      ['203.0.113.7:4711, 10.1.2.3:555, 10.4.4.4', PROXY, '203.0.113.7'],
      ['203.0.113.7, [fd00::1]:555', PROXY, '203.0.113.7'],
      ['203.0.113.7, [fd00::1], "[fd00::2]:8"', PROXY, '203.0.113.7'],
      ['203.0.113.7, fd00::1%eth0, [fd00::1%eth-0]:1', PROXY, '203.0.113.7'],
      ['203.0.113.7, ::ffff:10.1.2.3, [::ffff:10.1.2.4]:9', PROXY, '203.0.113.7'],
      ['203.0.113.7, ::ffff:a01:203', PROXY, '203.0.113.7'],
      ['203.0.113.7', '::ffff:10.0.0.1', '203.0.113.7'],
      ['203.0.113.7', 'fd00::1%eth0', '203.0.113.7'],
      ['[2001:db8:1:2:3::4]:80, 10.1.2.3:555', PROXY, '2001:db8:1:2'],
      ['203.0.113.7, 192.0.2.9:555', PROXY, '192.0.2.9'],
      ['203.0.113.7, 10.1.2.3:port', PROXY, PROXY],
      [`203.0.113.7, ${'1'.repeat(81)}`, PROXY, PROXY],
    ]
    for (const [told, peer, address] of cases) expect(read(request(told, peer)), String(told)).to.equal(address)
  })

  it('is looked for behind so many proxies and no more', () => {
    const proxies = (count: number): string => Array.from({ length: count }, (_, index) => `10.7.0.${index}`).join(', ')
    const most = LIMITS.forwardedHops
    expect(read(request(`198.51.100.7, ${proxies(most - 1)}`))).to.equal('198.51.100.7')
    expect(read(request(`198.51.100.7, ${proxies(most)}`))).to.equal('10.7.0.0')
  })

  it('is found as well after clients have named many addresses of a trusted network', () => {
    for (let index = 0; index < 3_000; index += 1)
      read(request(`198.51.100.7, 10.${8 + (index >> 8)}.0.${index & 255}, 10.9.9.9`))
    expect(read(request('198.51.100.8, 10.99.0.1'))).to.equal('198.51.100.8')
  })
})
