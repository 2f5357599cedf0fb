/** The chart with stand-ins: workers deliver to them, but to a provider whose address is set. */

import { expect } from 'chai'

import { kubeTools } from '../../fixtures/engines/kube.ts'
import { render, type KubeManifest } from './support/render.ts'

/** The first use of helm on a machine builds it. */
const BUILD_MS = 1_300_000
/** In the order of `whencectl stand-ins`. */
const PORTS = {
  WHENCE_GA4_URL: 8090,
  WHENCE_GOOGLE_ADS_URL: 8091,
  WHENCE_GOOGLE_OAUTH_URL: 8092,
  WHENCE_META_URL: 8093,
  WHENCE_X_URL: 8095,
} as const

describe('the chart with stand-ins', function () {
  this.timeout(60_000)
  let helm = ''

  before(async function () {
    this.timeout(BUILD_MS)
    const tools = await kubeTools()
    if (tools === null) return this.skip()
    helm = tools.helm
    return undefined
  })

  const urlsOf = (manifests: readonly KubeManifest[], name: string): Readonly<Record<string, string>> => {
    const pod = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)
    const env: readonly { readonly name: string; readonly value?: string }[] =
      pod?.['spec'].template.spec.containers[0].env
    const urls = env.filter(({ name: each }) => each.endsWith('_URL') && each !== 'WHENCE_BASE_URL')
    return Object.fromEntries(urls.map(({ name: each, value = '' }) => [each, value]))
  }

  it('points every worker at them, or at the address of its own if a provider has one', async () => {
    const urls = urlsOf(await render(helm, 'stand-ins'), 'w-whence-meta')
    const standIns = Object.entries(PORTS).map(([name, port]) => [name, `http://w-whence-stand-ins.acme:${port}`])
    expect(urls).to.deep.equal({ ...Object.fromEntries(standIns), WHENCE_TIKTOK_URL: 'http://tiktok.acme:8090' })
  })

  it('has none unless it is asked for', async () => {
    const manifests = await render(helm, 'cluster')
    expect(manifests.filter(({ metadata }) => /stand-in/.test(metadata.name))).to.deep.equal([])
    expect(urlsOf(manifests, 'w-whence-meta')).to.deep.equal({})
  })
})
