/** The two changes of the SDK that CONTRIBUTING describes, each made in a copy of the sources: the budget has room for them. */

import { expect } from 'chai'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BuildManifest, buildSdk } from '../../sdk/build.ts'
import { BEFORE_VISIT_BYTES, CORE_BYTES } from './support/budgets.ts'
import { fileOf } from './support/stage.ts'

const ROOT = path.join(import.meta.dirname, '../..')

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
  const textOf = (name: string) => readFile(path.join(folder, 'built', name), 'utf8')
  /** The core and the recorder, which load before every visit, with `more`. */
  const bytesBeforeVisit = (manifest: BuildManifest, more = 0) =>
    fileOf(manifest, '/browser').brotliBytes + fileOf(manifest, '/browser/recorder').brotliBytes + more

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
    const manifest = await built()
    const core = fileOf(manifest, '/browser')
    expect(await textOf(core.name)).to.include('page_language')
    expect(core.brotliBytes).to.be.at.most(CORE_BYTES)
    expect(bytesBeforeVisit(manifest)).to.be.at.most(BEFORE_VISIT_BYTES)
  })

  it("is there for a provider's click identifier", async () => {
    await change('sdk/core/source.ts', '|epik)', '|epik|njcid)')
    await writeFile(
      path.join(folder, 'sdk/readers/nightjar.ts'),
      `import type { IdentityReader } from '../core/types.ts'
      export const nightjar: IdentityReader = ({ cookieOf, clickOf, landing }) => {
        const njcid = clickOf('njcid', cookieOf('_njcid'))
        return { nj: cookieOf('_nj'), njcid, njcid_at: njcid && landing.landed_at }
      }`,
    )
    await change('sdk/readers/index.ts', 'import { x }', "import { nightjar } from './nightjar.ts'\nimport { x }")
    await change('sdk/readers/index.ts', '  x,\n', '  nightjar,\n  x,\n')
    const manifest = await built()
    const core = fileOf(manifest, '/browser')
    expect(await textOf(core.name)).to.include('njcid')
    expect(core.brotliBytes).to.be.at.most(CORE_BYTES)
    const readers = manifest.files.filter(({ url }) => url.startsWith('/browser/reader.'))
    const texts = await Promise.all(readers.map(({ name }) => textOf(name)))
    const nightjar = readers[texts.findIndex((text) => text.includes('njcid'))]
    expect(await textOf(fileOf(manifest, '/browser/recorder').name)).to.include(nightjar?.name)
    expect(bytesBeforeVisit(manifest, nightjar?.brotliBytes)).to.be.at.most(BEFORE_VISIT_BYTES)
  })
})
