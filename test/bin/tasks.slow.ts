/** The pages of docs/tasks: every block of commands is run as printed, beside a service that has visits and installs. */

import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect } from 'chai'

import { RECEIPT_VERDICTS } from '../../domain/model.ts'
import { activeReceipt, eventBody, post, send, visitBody } from '../../fixtures/service/requests.ts'
import { startTestService, type TestService } from '../../fixtures/service/service.ts'
import { until } from '../../fixtures/until.ts'
import { ROOT } from '../tidy/source-files.ts'
import { PROGRAM } from './support/run-whencectl.ts'

const run = promisify(execFile)
const FOLDER = join(ROOT, 'docs/tasks')
const INSTALLATION = '0f1e2d3c4b5a69788796a5b4c3d2e1f0'

/** What the commands of a page must show; the pages say so in words. */
const SHOWN: Readonly<Record<string, readonly RegExp[]>> = {
  'agents.md': [/claude-code/],
  'campaigns.md': [/launch/, /"campaign":"launch"/],
  'commands.md': [/matched/],
  'deliveries.md': [],
  'erasure.md': [/1 installations/, /Erased:/],
  'funnel.md': [/acme\.dev/],
  'ga4.md': [/no problems/, /matched/, /acme-ga4/],
  'match-rate.md': [],
  'one-install.md': [/matched/, /install_completed/],
  'spend.md': [/^[0-9a-f]{28}: 1 rows of .* for acme-dev, 12\.50 EUR$/m],
  'unmatched.md': [/no_receipt/, /unmatched/],
}

describe('the pages of tasks', function () {
  this.timeout(120_000)
  let service: TestService
  let site: Server
  let folder: string

  before(async () => {
    service = await startTestService()
    folder = await mkdtemp(join(tmpdir(), 'whence-tasks-'))
    await mkdir(join(folder, 'bin'))
    const shim = `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`
    await writeFile(join(folder, 'bin/whencectl'), shim)
    await chmod(join(folder, 'bin/whencectl'), 0o755)
    // The page that `whencectl check` looks at, as the task shows it.
    const html = blocksOf(await readFile(join(FOLDER, 'commands.md'), 'utf8'), 'html')[0] ?? ''
    site = createServer((_, res) =>
      res.setHeader('Content-Type', 'text/html').end(html.replaceAll('https://whence.acme.dev', service.url)),
    )
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    const receipt = await activeReceipt(service.url)
    await reportByAgent(service.url)
    await post(`${service.url}/v1/events`, eventBody({ receipts: [receipt], installation_id: INSTALLATION }))
    await post(`${service.url}/v1/visits`, visitBody())
    await service.drain()
    // Figures of the hour are counted a moment later.
    await until(async () =>
      (await runPage('```sh\nwhencectl report --by campaign --data /var/lib/whence\n```')).includes('launch'),
    )
  })
  after(async () => {
    site?.close()
    await service?.stop()
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  })

  async function runPage(text: string): Promise<string> {
    const script = blocksOf(text, 'sh')
      .join('\n')
      .replaceAll('/var/lib/whence', join(service.folder, 'data'))
      .replaceAll('/etc/whence/manifests', join(folder, 'manifests'))
      .replaceAll('https://acme.dev/install', `http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
    const env = {
      PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
      WHENCE_GA4_URL: service.ga4.url,
      WHENCE_MANIFESTS: join(folder, 'manifests'),
      GA4_API_SECRET: 'a-secret-of-the-stream',
    }
    // `check` ends with 1 if it finds something: this site is not at the address that the website registered.
    const outcome = await run('sh', ['-c', script], { env, cwd: folder }).catch(
      (error: { stdout: string; stderr: string }) => error,
    )
    expect(outcome.stderr, script).not.to.match(/^whencectl\b.*:/m)
    return outcome.stdout
  }

  it('are all known here', async () => {
    expect((await readdir(FOLDER)).sort()).to.deep.equal(Object.keys(SHOWN).sort())
  })

  // Erasing comes last: the other tasks show what it erases.
  for (const name of [...Object.keys(SHOWN).filter((each) => each !== 'erasure.md'), 'erasure.md']) {
    it(`${name} shows what it says`, async () => {
      const text = await readFile(join(FOLDER, name), 'utf8')
      await mkdir(join(folder, 'manifests'), { recursive: true })
      for (const file of await readdir(join(service.folder, 'manifests'))) {
        const own = await readFile(join(service.folder, 'manifests', file), 'utf8')
        // The page brings the destination itself.
        await writeFile(join(folder, 'manifests', file), own.split('---').slice(0, 3).join('---'))
      }
      for (const [index, yaml] of blocksOf(text, 'yaml').entries())
        await writeFile(join(folder, `manifests/own-${index}.yaml`), yaml)
      const shown = await runPage(text)
      for (const pattern of SHOWN[name] ?? [])
        expect(pattern.test(shown), `${pattern.source} in: ${shown}`).to.equal(true)
    })
  }

  it('name every reason why an install has no visit', async () => {
    const text = await readFile(join(FOLDER, 'unmatched.md'), 'utf8')
    // With these there is a visit, or it is not decided yet.
    const matching: readonly string[] = ['active', 'handoff', 'undecided']
    for (const verdict of RECEIPT_VERDICTS.filter((each) => !matching.includes(each)))
      expect(text).to.contain(`| \`${verdict}\` |`)
  })
})

/** Without a receipt, from the hook as a coding agent runs it. */
async function reportByAgent(url: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json', 'User-Agent': 'whence-hook/1 agent/claude-code' }
  const { status } = await send(`${url}/v1/events`, { method: 'POST', headers, body: JSON.stringify(eventBody()) })
  expect(status).to.equal(200)
}

function blocksOf(text: string, language: string): readonly string[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, kind, body = '']) =>
    kind === language ? [body] : [],
  )
}
