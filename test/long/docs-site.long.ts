/** The documentation as a site: built, every link followed, and searched in a real browser. */

import { execFile } from 'node:child_process'
import { createReadStream, existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'

import { expect } from 'chai'

import { until } from '../../fixtures/until.ts'
import { brokenLinks } from '../../tools/site/check.ts'
import { openChromium, type ChromiumInstance } from '../sdk/support/browsers.ts'
import { ROOT } from '../tidy/source-files.ts'

const run = promisify(execFile)
const SITE = join(ROOT, 'dist/site')
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

describe('the site of the documentation', function () {
  this.timeout(300_000)
  let server: Server
  let chromium: ChromiumInstance
  let url: string

  before(async () => {
    const { stdout } = await run(process.execPath, ['tools/site/build.ts'], { cwd: ROOT, maxBuffer: 50_000_000 })
    expect(stdout).to.contain('dist/site: every link leads somewhere')
    server = createServer((req, res) => {
      const { pathname } = new URL(req.url ?? '/', 'http://site')
      const file = join(SITE, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
      if (!existsSync(file)) return void res.writeHead(404).end()
      res.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' })
      createReadStream(file).pipe(res)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    chromium = await openChromium()
  })
  after(async () => {
    await chromium?.close()
    server?.close()
  })

  it('notices a link, an anchor and a picture that lead nowhere', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'whence-site-'))
    try {
      await writeFile(
        join(folder, 'index.html'),
        '<h1 id="a">A</h1><a href="#a"></a><a href="b.html#b"></a><img src="/c.png">',
      )
      await writeFile(
        join(folder, 'b.html'),
        '<a class="x" href="/index.html#gone"></a><a href="https://example.com/gone"></a>',
      )
      expect([...brokenLinks(folder)].sort()).to.deep.equal([
        'b.html -> /index.html#gone',
        'index.html -> /c.png',
        'index.html -> b.html#b',
      ])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('finds a task by a search, and shows its picture', async () => {
    const page = await chromium.context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    await page.goto(`${url}/`)
    // The key works once the page's scripts run.
    const input = page.locator('#localsearch-input')
    await until(async () => {
      if ((await input.count()) === 0) await page.keyboard.press('Control+k')
      return input.isVisible()
    })
    await input.fill('which campaign brings installs')
    await page.locator('#localsearch-list a', { hasText: 'See which campaign brings installs' }).first().click()
    await page.waitForURL(/tasks\/campaigns/)
    const picture = page.locator('main img').first()
    await picture.scrollIntoViewIfNeeded()
    await page.waitForFunction("document.querySelector('main img').naturalWidth > 0")
    expect(await picture.getAttribute('alt')).to.contain('Sources')
    expect(errors).to.deep.equal([])
  })
})
