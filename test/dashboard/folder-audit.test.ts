/** What the audit of a folder does for one change: in a folder with many objects, it looks at the changed one alone. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { startFolderAudit, type FolderAudit } from '../../dashboard/resources/folder-audit.ts'
import type { ActivityRecord } from '../../domain/records.ts'
import { organization, website } from '../../fixtures/service/manifests.ts'
import { until } from '../../fixtures/until.ts'
import { openCatalogFolder, type FolderCatalog } from '../../runtime/catalog/source.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRandomness } from '../../runtime/random.ts'

describe('the audit of a folder', () => {
  let root: string
  let catalog: FolderCatalog
  let audit: FolderAudit
  const hashed: string[] = []
  const entries: ActivityRecord[] = []
  const write = (name: string, object: object) => writeFile(join(root, 'manifests', name), JSON.stringify(object))
  const site = (name: string, displayName: string) =>
    website(name, { organizationRef: { name: 'acme' }, primaryOrigin: `https://${name}.dev`, displayName })

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'whence-audit-'))
    await mkdir(join(root, 'manifests'))
    await write('1.yaml', organization('acme'))
    await write('2.yaml', site('one', 'One'))
    await write('3.yaml', site('two', 'Two'))
    const logger = createLogger({ program: 'test', level: 'silent' })
    catalog = await openCatalogFolder({ folder: join(root, 'manifests'), env: {}, logger, nowMs: Date.now })
    audit = startFolderAudit({
      catalog,
      file: join(root, 'audit.json'),
      stamps: { nowMs: Date.now, randomness: createRandomness() },
      logger,
      eventLog: {
        append: async (_topic, all) => {
          for (const { value } of all) entries.push(JSON.parse(value) as ActivityRecord)
        },
      },
      changeHash: (text) => {
        hashed.push(text)
        return text.padEnd(64, '0')
      },
    })
  })
  afterEach(async () => {
    await audit.close()
    await catalog.close()
    await rm(root, { recursive: true, force: true })
  })

  it('makes digests of the changed object alone', async () => {
    await until(async () => entries.length === 3)
    expect(hashed).to.include.members(['"One"', '"Two"'])
    hashed.length = 0
    await write('3.yaml', site('two', 'Second'))
    await until(async () => entries.length === 4)
    expect(entries[3]).to.deep.include({ subject: 'Website/two', fields: ['/spec/displayName'] })
    expect(hashed).to.include('"Second"')
    expect(hashed).to.not.include('"One"')
  })
})
