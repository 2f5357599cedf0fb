/** What the folder of the embedded program does not keep: unused Secrets of the dashboard, and what a crash left of a write. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { startFolderTidying } from '../../dashboard/resources/folder-tidying.ts'
import { folderWriter } from '../../dashboard/resources/folder-writer.ts'
import type { ResourceWriter } from '../../dashboard/resources/writer.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { openCatalogFolder, type FolderCatalog } from '../../runtime/catalog/source.ts'
import { createLogger } from '../../runtime/logger.ts'
import { organizationOf } from './support/stage.ts'

const SILENT = createLogger({ program: 'test', level: 'silent' })
const HOOK = { kind: 'Webhook', namespace: 'default', name: 'hook' }

describe('the folder of the dashboard', () => {
  let folder: string
  let written: string
  let catalog: FolderCatalog
  let writer: ResourceWriter
  let nowMs: number
  let remove: () => Promise<number>
  let close: () => Promise<void>

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-tidying-'))
    written = join(folder, 'dashboard')
    await writeFile(join(folder, 'acme.yaml'), organizationOf('acme'))
    nowMs = Date.parse('2026-11-23T00:00:00Z')
    const clock = { nowMs: () => nowMs }
    catalog = await openCatalogFolder({ folder, written, env: {}, logger: SILENT, ...clock })
    writer = folderWriter({ folder, written, env: {}, catalog: { refresh: catalog.refresh }, ...clock })
    const tidying = await startFolderTidying({ catalog, writer, written, logger: SILENT, ...clock })
    remove = tidying.removeUnused
    close = tidying.close
  })
  afterEach(async () => {
    await close?.()
    await catalog?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const add = async (name: string): Promise<void> => {
    const secret = {
      namespace: 'default',
      name,
      values: { secret: `whsec_${'A'.repeat(32)}` },
      tenant: null,
      owner: null,
    }
    expect(await writer.createSecret(secret)).to.deep.equal({ kind: 'written' })
  }
  /** Creates the webhook, or changes the Secret that it signs with. */
  const refer = async (name: string): Promise<void> => {
    const spec = {
      organizationRef: { name: 'acme' },
      url: 'https://hooks.example/',
      events: ['install.matched'],
      secretRef: { name, key: 'secret' },
    }
    const stored = await writer.read(HOOK)
    const outcome = await (stored === null
      ? writer.create({ ...HOOK, spec })
      : writer.replace({ ...HOOK, spec }, stored.version))
    expect(outcome).to.deep.equal({ kind: 'written' })
  }
  const left = async (): Promise<readonly string[]> =>
    (await readdir(written)).flatMap((name) => /-secret-default-(.+)\.yaml$/.exec(name)?.[1] ?? [])
  const later = (ms: number): Promise<number> => {
    nowMs += ms
    return remove()
  }

  it('loses a Secret an hour after it was made if nothing ever referred to it, and none that is in use', async () => {
    await add('used')
    await add('never-used')
    await refer('used')
    expect(await remove()).to.equal(0)
    expect(await later(HOUR_MS - 1)).to.equal(0)
    expect(await later(1)).to.equal(1)
    expect(await left()).to.deep.equal(['used'])
    for (let days = 0; days < 3; days += 1) expect(await later(DAY_MS)).to.equal(0)
    expect(await left()).to.deep.equal(['used'])
    expect(catalog.problems()).to.deep.equal([])
  })

  it('loses a Secret a day after it was replaced, and those of an object a day after that was deleted', async () => {
    await add('before')
    await refer('before')
    await remove()
    await add('after')
    await refer('after')
    expect(await later(MINUTE_MS)).to.equal(0)
    expect(await later(DAY_MS - 1)).to.equal(0)
    expect(await later(1)).to.equal(1)
    expect(await left()).to.deep.equal(['after'])
    const stored = await writer.read(HOOK)
    await writer.remove(HOOK, stored?.version ?? '')
    expect(await later(MINUTE_MS)).to.equal(0)
    expect(await later(DAY_MS)).to.equal(1)
    expect(await left()).to.deep.equal([])
  })

  it('keeps all while a file cannot be read or the folder is refused, and counts from then on', async () => {
    await add('unused')
    await remove()
    await writeFile(join(folder, 'broken.yaml'), 'kind: [')
    await catalog.refresh()
    expect(await later(DAY_MS)).to.equal(0)
    await rm(join(folder, 'broken.yaml'))
    await writeFile(join(folder, 'broken.yaml'), '# mended\n')
    await catalog.refresh()
    nowMs += MINUTE_MS
    await catalog.refresh()
    expect(catalog.problems()).to.deep.equal([])
    expect(await remove()).to.equal(0)
    expect(await later(DAY_MS - 1)).to.equal(0)
    expect(await later(1)).to.equal(1)
  })

  it('keeps Secrets that people wrote, of whatever type and in whichever folder', async () => {
    const text = (name: string, type: string): string =>
      `apiVersion: v1\nkind: Secret\ntype: ${type}\nmetadata: { name: ${name} }\nstringData: { a: b }\n`
    await writeFile(join(folder, 'own.yaml'), text('own', 'whence.dev/dashboard'))
    await mkdir(written)
    await writeFile(join(written, 'by-hand.yaml'), text('by-hand', 'whence.dev/dashboard'))
    await writeFile(join(written, '1763856000000-secret-default-opaque.yaml'), text('opaque', 'Opaque'))
    await catalog.refresh()
    await remove()
    expect(await later(3 * DAY_MS)).to.equal(0)
    expect(await later(3 * DAY_MS)).to.equal(0)
    for (const name of ['own', 'by-hand', 'opaque'])
      expect(await writer.read({ kind: 'Secret', namespace: 'default', name }), name).to.not.equal(null)
  })

  it('is rid of what a crash left of a write or of a removal, and of no other file', async () => {
    await mkdir(written)
    const kept = ['.note.tmp', 'README.md', '1763856000000-website-default-x.yaml']
    const left = ['.1763856000000-secret-default-x.yaml.tmp', '1763856000001-member-default-y.yaml']
    for (const name of kept) await writeFile(join(written, name), '# kept\n')
    for (const name of left) await writeFile(join(written, name), '# removed\n')
    const tidying = await startFolderTidying({ catalog, writer, written, logger: SILENT, nowMs: () => nowMs })
    await tidying.close()
    expect(await readdir(written)).to.have.members(kept)
  })

  it('stops nothing if it may not be written', async () => {
    await mkdir(written)
    await writeFile(join(written, '.1763856000000-secret-default-x.yaml.tmp'), 'x')
    await chmod(written, 0o500)
    const warnings: string[] = []
    const logger = {
      ...SILENT_LOGGER,
      info: () => undefined,
      warn: (_fields: object, text: string) => void warnings.push(text),
    }
    const tidying = await startFolderTidying({ catalog, writer, written, logger: logger as never, nowMs: () => nowMs })
    await tidying.close()
    await chmod(written, 0o700)
    // Whoever is root may write everywhere.
    expect(warnings.length).to.equal(process.getuid?.() === 0 ? 0 : 1)
  })
})
