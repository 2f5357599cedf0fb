import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import ts from 'typescript'
import { buildPackage } from '../../sdk/build-package.ts'
import type { ChromiumInstance } from './support/browsers.ts'
import { openChromium } from './support/browsers.ts'
import { FILLED, INSTALL } from './support/command.ts'
import type { RecordingService } from './support/recording-service.ts'
import type { Site } from './support/site.ts'
import { forgetVisitor, openStage, type SdkStage } from './support/stage.ts'

/** What a page loads before it requests anything more. */
const CORE_BROTLI_BYTES = 4 * 1024
const ROOT = path.join(import.meta.dirname, '../..')

describe('the package whence-js', function () {
  this.timeout(60_000)
  let folder: string
  let installed: string

  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'whence-package-'))
    await buildPackage(path.join(folder, 'package'))
    // As from the registry: packed, and installed from the tarball into a project of its own.
    const npm = (words: string[], cwd: string) =>
      execFileSync('npm', [...words, '--no-audit', '--no-fund', '--loglevel=error'], { cwd, encoding: 'utf8' })
    const tarball = npm(['pack', '--pack-destination', folder], path.join(folder, 'package')).trim()
    const project = path.join(folder, 'project')
    await mkdir(project)
    await writeFile(path.join(project, 'package.json'), '{"name":"of-a-user","type":"module","private":true}')
    npm(['install', '--offline', path.join(folder, tarball)], project)
    installed = path.join(project, 'node_modules/whence-js')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const textOf = (name: string) => readFile(path.join(installed, name), 'utf8')
  /** The entry and all that it imports at once. */
  const loadedWith = async (name: string): Promise<string> => {
    const text = await textOf(name)
    const chunks = [...text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map(([, chunk = '']) =>
      loadedWith(path.join(path.dirname(name), chunk)),
    )
    return text + (await Promise.all(chunks)).join('')
  }

  it('keeps its core within 4 KB of brotli, and loads the extras later', async () => {
    const core = await loadedWith('index.js')
    expect(brotliCompressSync(core).byteLength).to.be.above(1_000).and.below(CORE_BROTLI_BYTES)
    expect(core).to.match(/import\("\.\/extras-/)
    expect(core).not.to.include('[whence]')
    expect(await loadedWith('development/index.js')).to.include('[whence]')
  })

  it('has the version and licence of the product, and has no dependencies', async () => {
    const manifest = JSON.parse(await textOf('package.json'))
    const product = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'))
    expect(manifest).to.include({ name: 'whence-js', version: product.version, license: product.license })
    expect(manifest).not.to.have.any.keys('dependencies', 'scripts')
    expect(await textOf('LICENSE')).to.include('Apache License')
  })

  it('does nothing on a server, and leaves commands as they are', () => {
    const source = `import { start } from 'whence-js'
      const whence = start({ project: 'acme-dev', service: 'https://whence.example' })
      whence.push((each) => each.grant())
      console.log(JSON.stringify([await whence.command('x | sh'), whence.fill('y'), await whence.handoff()]))`
    for (const condition of ['default', 'development']) {
      const words = ['--conditions', condition, '--input-type=module', '-e', source]
      const said = execFileSync(process.execPath, words, { cwd: path.join(folder, 'project'), encoding: 'utf8' })
      expect(JSON.parse(said)).to.deep.equal(['x | sh', 'y', null])
    }
  })

  it('has types that a strict project takes, with both ways to resolve modules', async () => {
    const project = path.join(folder, 'project')
    await mkdir(path.join(project, 'node_modules/@types'), { recursive: true })
    for (const name of ['@types/react', 'csstype'])
      await symlink(path.join(ROOT, 'node_modules', name), path.join(project, 'node_modules', name))
    const file = path.join(project, 'page.ts')
    await writeFile(
      file,
      `import { start, type Handoff, type Whence } from 'whence-js'
      import { useInstallCommand, useWhence } from 'whence-js/react'
      const whence: Whence = start({ project: 'p', service: '/w', consent: 'required', scriptHosts: ['get.acme.dev'] })
      export const handoff: Promise<Handoff | null> = whence.handoff()
      export function Install(): string {
        useWhence({ project: 'p', service: '/w' }).grant()
        const { command, buttonProps, copy } = useInstallCommand('x | sh')
        void copy().then((isCopied: boolean) => isCopied)
        return command + String(buttonProps.onClick)
      }
      document.addEventListener('whence:copy', ({ detail }) => detail.filled)
      // @ts-expect-error: no such word of consent
      start({ project: 'p', service: '/w', consent: 'yes' })`,
    )
    for (const [module, moduleResolution] of [
      [ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
      [ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
    ] as const) {
      const program = ts.createProgram([file], {
        strict: true,
        noEmit: true,
        module,
        moduleResolution,
        target: ts.ScriptTarget.ES2022,
        lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
        types: [],
      })
      const problems = ts
        .getPreEmitDiagnostics(program)
        .map((each) => ts.flattenDiagnosticMessageText(each.messageText, ' '))
      expect(problems).to.deep.equal([])
    }
  })

  describe('on a page', () => {
    let stage: SdkStage
    let service: RecordingService
    let site: Site
    let chromium: ChromiumInstance
    let page: Page

    before(async () => {
      stage = await openStage()
      ;({ service, site } = stage)
      chromium = await openChromium()
    })
    after(async () => {
      await chromium?.close()
      await stage?.close()
    })
    beforeEach(async () => {
      service.reset()
      page = await chromium.context.newPage()
      await forgetVisitor(page, site)
      await page.route(
        (url) => url.pathname.startsWith('/modules/'),
        (route) => route.fulfill({ path: path.join(installed, new URL(route.request().url()).pathname.slice(9)) }),
      )
    })
    afterEach(() => page.close())

    const moduleThat = (does: string) =>
      `<script type="module">import { start } from '/modules/index.js'
      const options = { project: 'acme-dev', service: '${service.url}' }; ${does}</script>`

    it('records, marks and fills as the script tag does', async () => {
      await page.goto(`${site.add(INSTALL + moduleThat('start(options)'))}?utm_source=news`)
      await service.waitFor('/v1/handoffs')
      expect((await service.waitFor('/v1/visits'))[0]?.body.source.utm).to.deep.equal({ source: 'news' })
      await page.evaluate('whence.handoff()')
      await page.click('[data-whence-copy]')
      await page.waitForFunction(`navigator.clipboard.readText().then((text) => text.includes('wht_'))`)
      expect(await page.evaluate('navigator.clipboard.readText()')).to.match(FILLED)
      expect(service.requests.map((each) => each.path)).not.to.include('/browser.js')
    })

    it("reads the identifiers of the website's providers", async () => {
      service.config = { measurementIds: ['G-A1'], providers: ['ga4', 'x'] }
      const tags = `document.cookie = '_ga=GA1.1.5.6'; document.cookie = '_ga_A1=GS1.1.77.1'`
      await page.goto(`${site.add(moduleThat(`${tags}; start(options)`))}?twclid=t1&fbclid=f1`)
      const [visit] = await service.waitFor('/v1/visits')
      expect(visit?.body.identities).to.deep.equal({
        ga4: { 'G-A1': { client_id: '5.6', session_id: '77' } },
        x: { twclid: 't1', twclid_at: visit?.body.source.landed_at },
      })
    })

    it('counts the page once, however often it is started and whatever else is on the page', async () => {
      const tag = `<script async src="${service.url}/browser.js" data-project="acme-dev"></script>`
      await page.goto(site.add(moduleThat('start(options); start(options)') + tag))
      await service.waitFor('/v1/visits/activate')
      await page.waitForLoadState('load')
      await page.evaluate('whence.start()')
      expect(await service.waitFor('/v1/visits')).to.have.length(1)
    })

    /** As `useInstallCommand` is called by a component, without React around it. */
    const FAKE_REACT =
      'export const useState = (first) => [first, () => {}]; export const useCallback = (call) => call; export const useEffect = (call) => call()'
    for (const [what, spoil] of [
      [
        'storage and cookies that are blocked',
        `for (const [owner, name] of [[window, 'localStorage'], [document, 'cookie'], [navigator, 'storage'], [window, 'crypto'], [navigator, 'clipboard']])
        Object.defineProperty(owner, name, { get() { throw new DOMException('no', 'SecurityError') } })`,
      ],
      ['a queue that nobody empties', `window.whence = []`],
      [
        'an element with its name',
        `document.body.insertAdjacentHTML('beforeend', '<table><th id="whence" scope="col"></table>')`,
      ],
      ['a name that belongs to somebody else', `Object.defineProperty(window, 'whence', { value: 7 })`],
      ['a name that cannot be read', `Object.defineProperty(window, 'whence', { get() { throw new Error('no') } })`],
    ] as const) {
      it(`never throws on a page with ${what}`, async () => {
        const errors: string[] = []
        page.on('pageerror', (error) => errors.push(String(error)))
        await page.route(
          (url) => url.pathname === '/fake-react.js',
          (route) => route.fulfill({ contentType: 'text/javascript', body: FAKE_REACT }),
        )
        const imports = `<script type="importmap">{"imports":{"react":"/fake-react.js"}}</script>`
        const calls = `import { useInstallCommand, useWhence } from '/modules/react.js'
          ${spoil}
          const before = useInstallCommand('x | sh')
          before.buttonProps.onPointerEnter(); before.buttonProps.onClick(); await before.copy()
          const used = useWhence(options)
          const whence = start(options)
          whence.grant(); whence.deny(); whence.adapter('a', 7); whence.push(() => {})
          const { command, copy } = useInstallCommand('x | sh')
          await copy()
          window.said = [command, whence.fill('y'), used.fill('z'), await whence.command('x'), await whence.handoff(), await whence.start()]`
        await page.goto(site.add(imports + moduleThat(calls).replace('</script>', '</script><p>')))
        await page.waitForFunction('window.said')
        expect(await page.evaluate('window.said')).to.deep.equal(['x | sh', 'y', 'z', 'x', null, undefined])
        expect(errors).to.deep.equal([])
      })
    }

    it('copies a token by the first click on the button of a component, which counts', async () => {
      await page.route(
        (url) => url.pathname === '/fake-react.js',
        (route) => route.fulfill({ contentType: 'text/javascript', body: FAKE_REACT }),
      )
      const imports = `<script type="importmap">{"imports":{"react":"/fake-react.js"}}</script>`
      // Effects of a component run before those of the one around it, which starts the SDK.
      const calls = `import { useInstallCommand, useWhence } from '/modules/react.js'
        const { buttonProps } = useInstallCommand('curl -fsSL https://acme.dev/install.sh | sh')
        useWhence(options)
        document.querySelector('button').onclick = buttonProps.onClick`
      await page.goto(site.add(`${imports}<button>Copy</button>${moduleThat(calls)}`))
      const [asked] = await service.waitFor('/v1/handoffs')
      expect(asked?.body).to.have.property('receipt')
      await page.waitForFunction(`whence.fill('x | sh').includes('wht_')`)
      await page.evaluate('document.querySelector("button").click()')
      const [, copied] = await service.waitFor('/v1/handoffs', 2)
      expect(copied?.body).to.deep.equal({ ...asked?.body, copied: true })
      expect(await page.evaluate('navigator.clipboard.readText()')).to.match(FILLED)
    })

    it('waits for consent, and reaches the service below a path of the page', async () => {
      const wishes = `start({ ...options, service: '/w/', consent: 'required' })`
      await page.route(
        (url) => url.pathname.startsWith('/w/'),
        (route) => route.continue({ url: route.request().url().replace(`${site.origin}/w`, service.url) }),
      )
      await page.goto(site.add(moduleThat(wishes)))
      await page.waitForFunction('window.whence?.scope')
      expect(service.requests).to.deep.equal([])
      await page.evaluate('whence.grant()')
      await service.waitFor('/v1/visits/activate')
    })
  })
})
