/** The example website of `make run`: it listens where a Website of the manifests has its origin. */

import { expect } from 'chai'

import { startExampleSite, type ExampleSite } from '../../bin/example-site.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { compile, organization, website } from '../../fixtures/service/manifests.ts'

describe('the example website', () => {
  const sites: ExampleSite[] = []
  afterEach(() => Promise.all(sites.splice(0).map((site) => site.close())))

  const startAt = async (primaryOrigin: string, port: number | null): Promise<ExampleSite> => {
    const { catalog } = compile(organization('acme'), website('other'), website('site', { primaryOrigin }))
    const baseUrl = 'http://127.0.0.1:8080'
    const site = await startExampleSite({
      listen: { host: '127.0.0.1', port },
      catalog: () => catalog,
      baseUrl,
      ga4Url: null,
    })
    sites.push(site)
    return site
  }
  const failure = (started: Promise<ExampleSite>): Promise<string> =>
    started.then(
      () => 'started',
      (error: unknown) => String(error),
    )

  it('moves with the origin of its Website, without an option', async () => {
    const port = await freePort()
    const site = await startAt(`http://localhost:${port}`, null)
    expect(site.port).to.equal(port)
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).to.equal(200)
  })

  it('says what to change if that port is taken, or if there is none', async () => {
    const port = await freePort()
    await startAt(`http://localhost:${port}`, null)
    expect(await failure(startAt(`http://localhost:${port}`, null))).to.match(
      new RegExp(`port ${port} of the example website is taken .* replace ${port} in its Website`, 'u'),
    )
    expect(await failure(startAt('https://acme.dev', null))).to.include('has an origin on this machine')
  })
})
