/** A founder at a terminal: `whencectl init`, its texts pasted into a real Next.js site, and the first steps of the set-up turn green. */

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import type { BrowserContext } from 'playwright-core'

import { findChromium, launchChromium } from '../../bin/demo/chromium.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { until } from '../../fixtures/until.ts'
import { shell, startWhencectl, whencectl, type Running } from '../bin/support/run-whencectl.ts'
import { buildProject, serveProject } from './support/real-site.ts'
import { SET_UP_PROJECTS } from './support/set-up-projects.ts'

/** What is printed below each heading that begins with a number. */
function textsIn(printed: string): readonly string[] {
  const parts = printed.split(/^\d+\. .*:\n/m).slice(1)
  return parts.map((part) => {
    const lines = part.split('\n').slice(1)
    const end = lines.findIndex((line) => line !== '' && !line.startsWith('    '))
    return (end < 0 ? lines : lines.slice(0, end))
      .map((line) => line.slice(4))
      .join('\n')
      .trim()
  })
}

describe('from whencectl init to the first green step', function () {
  this.timeout(600_000)
  let folder: string
  let program: Running
  let browser: BrowserContext

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-founder-'))
    browser = await launchChromium(await findChromium(process.env), join(folder, 'home'), 'person')
  })
  after(async () => {
    await browser?.close()
    program?.child.kill('SIGTERM')
    await program?.ended
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  it('needs seven answers, two pasted texts, and a visit', async () => {
    const startedMs = performance.now()
    const typed = (what: string): void =>
      console.log(`      ${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(4)} s  ${what}`)
    const servicePort = await freePort()
    const sitePort = await freePort()
    const service = `http://127.0.0.1:${servicePort}`
    const manifests = join(folder, 'manifests')
    const answers = ['Acme', 'Europe/Berlin', `http://localhost:${sitePort}`, 'nextjs', 'curl', '', 'TokensAndMarkers']
    typed(`whencectl init: ${answers.map((answer) => answer || '(Enter)').join(', ')}`)
    const asked = answers.map((answer) => `${answer}\\n`).join('')
    const ran = await shell(`printf '${asked}' | $WHENCE init '${manifests}' --base-url ${service}`)
    expect(ran.status, ran.stderr).to.equal(0)
    expect(await readdir(manifests)).to.deep.equal(['acme.yaml'])
    const [script = '', command = ''] = textsIn(ran.stdout)
    expect(script).to.include(`${service}/browser.js`)

    typed('whencectl embedded --manifests manifests')
    const places = ['--manifests', manifests, '--data', join(folder, 'data'), '--metrics-listen', '127.0.0.1:0']
    program = startWhencectl(['embedded', '--listen', `127.0.0.1:${servicePort}`, '--base-url', service].concat(places))
    await until(() =>
      fetch(`${service}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )

    typed('the two texts pasted into the site, and next build')
    const real = SET_UP_PROJECTS.find(({ place }) => place === 'NextJs') ?? expect.fail('no project of Next.js')
    const home = join(folder, 'site')
    await buildProject(
      home,
      real.project(script, () => command),
    )
    const { stop } = await serveProject(home, real.serve, sitePort)
    try {
      typed('a visit')
      const site = await browser.newPage()
      const activated = site.waitForResponse((response) => response.url().endsWith('/v1/visits/activate'))
      await site.goto(`http://localhost:${sitePort}${real.pathOf('Curl')}`)
      await activated
      const email = 'founder@acme.dev'
      const linked = await whencectl([
        'sign-in-link',
        '--data',
        join(folder, 'data'),
        '--email',
        email,
        '--owner-of',
        'acme',
      ])
      const page = await browser.newPage()
      await page.goto(/(http\S+)/.exec(linked.stdout)?.[1] ?? expect.fail(linked.stderr))
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL('**/app/acme/**')
      await page.goto(`${service}/app/acme/checklist`)
      await page.getByText('3 of 8 steps are done').waitFor()
      typed('three steps are green: the website, its script, a marker')
    } finally {
      await stop()
    }
  })
})
