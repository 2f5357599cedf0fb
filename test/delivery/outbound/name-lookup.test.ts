/** The look-up of names that tenants give, against a real name server: which addresses may be connected to after each of its answers. */

import { expect } from 'chai'
import { Socket } from 'node:net'

import { callOutbound } from '../../../delivery/outbound/call.ts'
import { startNameServer, type NameAnswer, type NameServer } from './name-server.ts'

const NAME = 'hooks.acme.dev'
const V4 = '93.184.215.14'
const V6 = '2606:4700::1111'

interface Called {
  readonly failure: string
  /** Addresses that a connection was opened to; none of them accepts one. */
  readonly dialled: readonly string[]
}

describe('names that tenants give', () => {
  let server: NameServer

  beforeEach(async () => {
    server = await startNameServer()
  })
  afterEach(() => server.stop())

  async function call(answer?: NameAnswer, callMs?: number): Promise<Called> {
    if (answer !== undefined) server.answer = () => answer
    const dialled: string[] = []
    const request = { url: `https://${NAME}/`, method: 'POST', headers: {}, body: '', secrets: [] } as const
    const { reply } = await callOutbound(request, {
      nameServers: [server.address],
      dial: (address) => {
        dialled.push(address)
        return new Socket().destroy()
      },
      ...(callMs === undefined ? {} : { callMs }),
    })
    return { failure: reply.failure, dialled }
  }

  it('are looked up once in each family, as they are, and lead to every address that was found', async () => {
    expect(await call({ A: [V4, '1.1.1.1'], AAAA: [V6] })).to.deep.equal({
      failure: 'connection',
      dialled: [V4, '1.1.1.1', V6],
    })
    expect(server.asked.toSorted()).to.deep.equal([`A ${NAME}`, `AAAA ${NAME}`])
  })

  it('lead somewhere if only one family has an answer', async () => {
    expect((await call({ A: [V4] })).dialled).to.deep.equal([V4])
    expect((await call({ AAAA: [V6] })).dialled).to.deep.equal([V6])
  })

  const mixes: readonly NameAnswer[] = [
    { A: ['127.0.0.1'] },
    { AAAA: ['::1'] },
    { A: [V4], AAAA: ['::1'] },
    { A: [V4], AAAA: ['fd00::1'] },
    { A: [V4], AAAA: ['::ffff:10.0.0.1'] },
    { A: [V4], AAAA: ['64:ff9b::a9fe:a9fe'] },
    { A: ['169.254.169.254'], AAAA: [V6] },
    { A: [V4, '10.0.0.1'], AAAA: [V6] },
    { A: [V4], AAAA: [V6, 'fe80::1'] },
    { A: ['0.0.0.0'], AAAA: [V6] },
  ]
  for (const answer of mixes) {
    it(`lead nowhere with ${JSON.stringify(answer)}`, async () => {
      expect(await call(answer)).to.deep.equal({ failure: 'address_refused', dialled: [] })
    })
  }

  it('lead nowhere if an alias ends in a private network, and on if it does not', async () => {
    expect(await call({ alias: 'inside.acme.dev', A: ['192.168.0.1'] })).to.deep.equal({
      failure: 'address_refused',
      dialled: [],
    })
    expect((await call({ alias: 'edge.example.net', A: [V4] })).dialled).to.deep.equal([V4])
  })

  it('that change their answer are looked up again at each call, and never within one', async () => {
    server.answer = (_, round) => (round === 0 ? { A: [V4] } : { A: ['127.0.0.1'] })
    expect((await call()).dialled).to.deep.equal([V4])
    expect(server.asked).to.have.length(2)
    expect(await call()).to.deep.equal({ failure: 'address_refused', dialled: [] })
    expect(server.asked).to.have.length(4)
  })

  it('that are unknown, that have no address, or whose server fails, are distinguished from refused ones', async () => {
    for (const answer of [{ code: 3 }, {}, { code: 2 }]) {
      expect(await call(answer), JSON.stringify(answer)).to.deep.equal({ failure: 'name_unknown', dialled: [] })
    }
  })

  it('with more addresses than anybody has are not called', async () => {
    const many = Array.from({ length: 65 }, (_, index) => `93.184.215.${index + 1}`)
    expect(await call({ A: many })).to.deep.equal({ failure: 'address_refused', dialled: [] })
    expect((await call({ A: many.slice(0, 64) })).dialled).to.deep.equal(many.slice(0, 3))
  })

  it('whose server does not answer take no longer than the call', async () => {
    expect(await call({ isSilent: true }, 100)).to.deep.equal({ failure: 'timeout', dialled: [] })
  })
})
