/** The small website that `make run` shows: one page with the SDK and an install command that really runs. */

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { portOf } from '../runtime/connections.ts'
import type { Catalog, Website } from '../domain/catalog.ts'
import { scriptAddress } from '../domain/collection/installer-line.ts'

export interface ExampleSite {
  readonly port: number
  /** The page as reached from a newsletter. */
  readonly pageUrl: string
  /** The install command that the page shows. */
  readonly command: string
  /** A newcomer's next steps, for the terminal. */
  readonly steps: string
  readonly close: () => Promise<void>
}

interface ExampleSiteOptions {
  /** Without a port: that of the first origin on this machine that a website of the catalog has. */
  readonly listen: { readonly host: string; readonly port: number | null }
  readonly catalog: () => Catalog
  readonly baseUrl: string
  /** Where the stand-in for GA4 shows what it received; null if there is none. */
  readonly ga4Url: string | null
  /** The command that explains an install; the default is for a service in the usual data folder. */
  readonly explain?: string
  /** What ending it does, in a sentence for the terminal. */
  readonly onEnd?: string
}

const PAGE = new URL('../examples/site/index.html', import.meta.url)

/** @throws if no website of the catalog has the site's origin, because no visit could be recorded; if its port is taken. */
export async function startExampleSite(options: ExampleSiteOptions): Promise<ExampleSite> {
  const { catalog, baseUrl, ga4Url } = options
  const wanted = options.listen.port ?? portInManifests(catalog())
  const server = createServer((req, res) => {
    const isPage = req.method === 'GET' && (req.url === '/' || req.url?.startsWith('/?') === true)
    const website = isPage ? websiteAt(origin, catalog()) : null
    if (website === null) {
      res.writeHead(404, { 'Content-Type': 'text/plain' }).end('There is one page here: /\n')
      return
    }
    const page = readFileSync(PAGE, 'utf8')
      .replaceAll('{{base_url}}', baseUrl)
      .replaceAll('{{website}}', website.id)
      .replaceAll('{{ga_cookie}}', `_ga_${website.measurementIds[0]?.slice(2) ?? 'NONE'}`)
      .replaceAll('{{command}}', installCommand(website, baseUrl))
      .replaceAll('{{ga4_hidden}}', ga4Url === null ? 'hidden' : '')
      .replaceAll('{{ga4_requests}}', ga4Url === null ? '' : `${ga4Url}/requests`)
    res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' }).end(page)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(options.listen.port === null ? takenPort(wanted, error) : error))
    server.listen(wanted, options.listen.host, resolve)
  })
  const port = portOf(server)
  const origin = `http://localhost:${port}`
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  const website = websiteAt(origin, catalog())
  if (website === null) {
    await close()
    throw new Error(`no Website in the manifests has the origin ${origin} of the example site`)
  }
  const pageUrl = `${origin}/?utm_source=newsletter&utm_campaign=launch`
  const command = installCommand(website, baseUrl)
  return { port, pageUrl, command, steps: stepsText({ ...STEPS, ...options, pageUrl, command }), close }
}

const LOCAL_ORIGIN = /^http:\/\/(?:localhost|127\.0\.0\.1):(\d+)$/

function portInManifests({ websites }: Catalog): number {
  const origins = [...websites.values()].flatMap((website) => [...website.origins])
  const port = origins.map((origin) => LOCAL_ORIGIN.exec(origin)?.[1]).find((found) => found !== undefined)
  if (port === undefined)
    throw new Error('no Website in the manifests has an origin on this machine, such as http://localhost:8081')
  return Number(port)
}

function takenPort(port: number, cause: Error): Error {
  if (!('code' in cause) || cause.code !== 'EADDRINUSE') return cause
  const what = `port ${port} of the example website is taken by another program`
  return new Error(`${what}; replace ${port} in its Website, in the folder of --manifests`, { cause })
}

function websiteAt(origin: string, catalog: Catalog): Website | null {
  return [...catalog.websites.values()].find((website) => website.origins.has(origin)) ?? null
}

function installCommand(website: Website, baseUrl: string): string {
  const address = scriptAddress({ baseUrl, website: website.id, path: website.organization.firstInstallPath })
  return `curl -fsSL ${address} | sh -s -- install_completed`
}

const STEPS = {
  explain: 'npm run -s whencectl -- explain',
  onEnd: 'Ctrl+C stops it; nothing that was answered is lost.',
}

interface Steps {
  readonly pageUrl: string
  readonly command: string
  readonly explain: string
  readonly onEnd: string
}

function stepsText({ pageUrl, command, explain, onEnd }: Steps): string {
  return [
    '',
    'Whence is running. Three steps show what it does:',
    '',
    '  1. Open this page in Chromium, Chrome, Edge, Brave or Firefox, not in a private window:',
    `       ${pageUrl}`,
    '  2. Run this command on the same machine, as an installer would (or copy it from the page, with a token in it):',
    `       ${command}`,
    '  3. See which visit the install came from, why, and what GA4 received:',
    `       ${explain}`,
    '',
    onEnd,
    '',
    '',
  ].join('\n')
}
