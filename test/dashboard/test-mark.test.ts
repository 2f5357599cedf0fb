/** The mark of a test from the dashboard: for a website of the organisation, for whom may change it. */

import { expect } from 'chai'

import { isTestMark, TEST_MARK_MS } from '../../domain/collection/test-mark.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { organizationOf, SECRET, startStage, websiteOf, type Stage, type Told } from './support/stage.ts'

describe('the mark of a test', () => {
  let stage: Stage
  before(async () => {
    const members = { 'anna@acme.dev': 'Member', 'vera@acme.dev': 'Viewer' }
    const manifests = [
      organizationOf('acme', { members }) + websiteOf('site', 'acme'),
      organizationOf('other', { members: { 'dora@other.dev': 'Owner' } }) + websiteOf('theirs', 'other'),
    ].join('---\n')
    stage = await startStage({ manifests })
  })
  after(() => stage.stop())

  const ask = (cookies: string, website: string): Promise<Told> =>
    stage.ask('POST', `/api/organizations/acme/websites/${website}/test`, { cookies, body: {} })

  it('is signed for a website and ten minutes, with a page of it that carries the mark', async () => {
    const told = await ask(await stage.signIn('anna@acme.dev'), 'site')
    expect(told.status).to.equal(201)
    const { mark, link, expiresAt } = told.body
    expect(Number(expiresAt)).to.be.closeTo(stage.nowMs() + TEST_MARK_MS, 5_000)
    expect(new URL(String(link)).hash).to.equal(`#_whence_test=${String(mark)}`)
    const keys = createKeyring([SECRET])
    expect(isTestMark(keys, { organization: 'acme', website: 'site' }, mark, stage.nowMs())).to.equal(true)
    expect(JSON.stringify(told.body)).to.not.include('anna')
  })

  it('is not made for websites of others, nor for who only reads', async () => {
    expect((await ask(await stage.signIn('anna@acme.dev'), 'theirs')).status).to.equal(404)
    expect((await ask(await stage.signIn('vera@acme.dev'), 'site')).status).to.equal(403)
  })
})
