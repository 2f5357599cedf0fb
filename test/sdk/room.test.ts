/** The two changes of the SDK that CONTRIBUTING describes, each made in a copy of the sources: the budget has room for them. */

import { expect } from 'chai'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BuildManifest, buildSdk } from '../../sdk/build.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const CORE_BROTLI_BYTES = 3 * 1024

describe('sdk, room for changes', function () {
  this.timeout(30_000)
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'whence-sdk-room-'))
    const isSource = (file: string) => !file.startsWith(path.join(ROOT, 'sdk/dist'))
    for (const name of ['sdk', 'domain'])
      await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true, filter: isSource })
    await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
    await writeFile(path.join(folder, 'package.json'), '{"type":"module"}')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function change(file: string, before: string, after: string): Promise<void> {
    const text = await readFile(path.join(folder, file), 'utf8')
    expect(text, file).to.include(before)
    await writeFile(path.join(folder, file), text.replace(before, after))
  }
  /** Built by the copy itself, and by the copy's own budget. */
  async function built(): Promise<BuildManifest> {
    const copy: unknown = await import(pathToFileURL(path.join(folder, 'sdk/build.ts')).href)
    return (copy as { readonly buildSdk: typeof buildSdk }).buildSdk(path.join(folder, 'built'))
  }
  const partOf = async (name: string, { files }: BuildManifest) => {
    const file = files.find(({ url }) => url.startsWith(name))
    return { text: await readFile(path.join(folder, 'built', file?.name ?? ''), 'utf8'), bytes: file?.brotliBytes ?? 0 }
  }

  it('is there for a field of a visit', async () => {
    await change(
      'sdk/core/visit.ts',
      'gpc: hasGpc()',
      'gpc: hasGpc(), page_language: nativeDocument.documentElement.lang',
    )
    await change(
      'sdk/core/types.ts',
      '  readonly gpc: boolean\n',
      '  readonly gpc: boolean\n  readonly page_language: string\n',
    )
    const core = await partOf('/browser.js', await built())
    expect(core.text).to.include('page_language')
    expect(core.bytes).to.be.at.most(CORE_BROTLI_BYTES)
  })

  it("is there for a provider's click identifier", async () => {
    await change('sdk/core/source.ts', '|epik)', '|epik|njcid)')
    await change(
      'sdk/readers/identities.ts',
      '    tiktok: () =>',
      "    nightjar: () => ({ njcid: clicks['njcid'], njcid_at: clicks['njcid'] && landed_at, nj: cookie('_nj') }),\n    tiktok: () =>",
    )
    const manifest = await built()
    const core = await partOf('/browser.js', manifest)
    expect(core.text).to.include('njcid')
    expect(core.bytes).to.be.at.most(CORE_BROTLI_BYTES)
    expect((await partOf('/browser/readers', manifest)).text).to.include('nightjar')
  })
})
