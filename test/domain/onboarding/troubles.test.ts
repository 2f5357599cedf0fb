import { expect } from 'chai'

import { troublesOf, type SeenInstall, type SeenRequest } from '../../../domain/onboarding/troubles.ts'

const line = (more: Partial<SeenRequest>): SeenRequest => ({
  kind: 'request',
  path: '/v1/visits',
  origin: '',
  status: 403,
  code: '',
  at: 1_000,
  ...more,
})
const refusedAt = (origin: string, at: number) => line({ code: 'origin_not_allowed', origin, at })
const takenAt = (origin: string, at: number) => line({ kind: 'visit', status: 200, origin, at })
const install = (more: Partial<SeenInstall>): SeenInstall => ({ resolution: 'unmatched', reason: '', at: 5, ...more })
const named = (
  lines: readonly SeenRequest[],
  newest: SeenInstall | null = null,
  plan: 'Free' | 'Standard' = 'Standard',
) => troublesOf(lines, newest, plan).map(({ step, trouble, origin, count }) => [step, trouble, origin, count])

describe('what is wrong with a set-up', () => {
  it('is an origin that is not registered, by its name, however often', () => {
    const lines = [
      refusedAt('https://www.acme.dev', 3),
      refusedAt('https://a.dev', 2),
      refusedAt('https://www.acme.dev', 1),
    ]
    expect(named(lines)).to.deep.equal([
      ['visit_seen', 'origin_not_registered', 'https://www.acme.dev', 2],
      ['visit_seen', 'origin_not_registered', 'https://a.dev', 1],
    ])
  })

  it('is over once the same origin is taken, and not because of another one or an earlier visit', () => {
    const refused = refusedAt('https://www.acme.dev', 2)
    expect(named([takenAt('https://www.acme.dev', 3), refused])).to.deep.equal([])
    expect(named([takenAt('https://acme.dev', 3), refused])).to.have.length(1)
    expect(named([refused, takenAt('https://www.acme.dev', 1)])).to.have.length(1)
    const config = line({
      path: '/v1/projects/acme/browser-config',
      status: 200,
      origin: 'https://www.acme.dev',
      at: 3,
    })
    expect(named([config, refused])).to.have.length(1)
  })

  it('is an install path that does not exist, until the installer gets its script', () => {
    const refused = line({
      path: '/v1/projects/acme/paths/clii/report.sh',
      status: 404,
      code: 'install_path_not_found',
    })
    expect(named([refused])).to.deep.equal([['hook_reached', 'path_unknown', null, 1]])
    const taken = line({ path: '/v1/projects/acme/paths/cli/report.sh', status: 200, at: 2_000 })
    expect(named([taken, refused])).to.deep.equal([])
  })

  it('is a website that the script or the installer misspells', () => {
    const page = line({ path: '/v1/projects/acmee/browser-config', status: 404, code: 'website_not_found' })
    const event = line({ path: '/v1/events', status: 404, code: 'website_not_found' })
    expect(named([page, event])).to.deep.equal([
      ['visit_seen', 'website_unknown', null, 1],
      ['hook_reached', 'website_unknown', null, 1],
    ])
  })

  it('is no refusal of a receipt: pages that are opened twice have those', () => {
    expect(named([line({ path: '/v1/visits/activate', status: 409, code: 'receipt_revoked' })])).to.deep.equal([])
  })

  it('is why the newest install has no visit', () => {
    const of = (newest: SeenInstall, plan: 'Free' | 'Standard' = 'Standard') => named([], newest, plan)[0]?.[1]
    expect(of(install({ reason: 'expired' }))).to.equal('old_marker')
    expect(of(install({ reason: 'revoked' }))).to.equal('replaced_marker')
    expect(of(install({ reason: 'no_receipt' }))).to.equal('nothing_brought')
    expect(of(install({ resolution: 'counted' }), 'Free')).to.equal('plan_only_counts')
    expect(troublesOf([], null, 'Free').map(({ trouble }) => trouble)).to.deep.equal(['plan_only_counts'])
    expect(of(install({ resolution: 'counted' }))).to.equal('path_paused')
    expect(of(install({ resolution: 'matched' }))).to.equal(undefined)
    expect(of(install({ resolution: 'pending' }))).to.equal(undefined)
  })
})
