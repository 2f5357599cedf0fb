import { expect } from 'chai'

import { campaignLink, LINK_PARTS, type CampaignParts } from '../../../domain/onboarding/campaign-link.ts'
import { LIMITS } from '../../../domain/limits.ts'

const NOTHING: CampaignParts = { source: '', medium: '', campaign: '', term: '', content: '' }
const linkOf = (page: string, parts: Partial<CampaignParts>) => campaignLink(page, { ...NOTHING, ...parts })

describe('a link for a campaign', () => {
  it('says what was typed, trimmed, and nothing of what was not', () => {
    expect(
      linkOf('https://acme.dev', { source: ' newsletter ', medium: 'email', campaign: 'Spring sale & more' }),
    ).to.deep.equal({
      kind: 'link',
      url: 'https://acme.dev/?utm_source=newsletter&utm_medium=email&utm_campaign=Spring%20sale%20%26%20more',
      channel: 'Email',
    })
  })

  it('keeps the rest of the page’s address, and replaces what that said', () => {
    const page = 'https://acme.dev/install?a=%2f&UTM_Source=old&utm_id=7&b#os=linux'
    const link = linkOf(page, { source: 'google', medium: 'cpc' })
    expect(link).to.deep.include({
      url: 'https://acme.dev/install?a=%2f&utm_id=7&b&utm_source=google&utm_medium=cpc#os=linux',
    })
    expect(link).to.deep.include({ channel: 'Paid Search' })
  })

  it('is read by browsers as it was typed', () => {
    const typed = 'ä b+c/d?e=f#g'
    const link = linkOf('https://acme.dev/', { campaign: typed })
    expect(link.kind === 'link' && new URL(link.url).searchParams.get('utm_campaign')).to.equal(typed)
  })

  it('is not made of a text that is no address, nor with what the service would leave out', () => {
    for (const page of ['', 'acme.dev', 'javascript:alert(1)', 'https://'])
      expect(linkOf(page, { source: 'x' }), page).to.deep.equal({ kind: 'unusable', because: 'page' })
    for (const part of LINK_PARTS) {
      expect(linkOf('https://acme.dev', { [part]: '🚀'.repeat(LIMITS.utmChars) }).kind).to.equal('link')
      const tooLong = linkOf('https://acme.dev', { [part]: 'x'.repeat(LIMITS.utmChars + 1) })
      expect(tooLong).to.deep.equal({ kind: 'unusable', because: part })
    }
  })
})
