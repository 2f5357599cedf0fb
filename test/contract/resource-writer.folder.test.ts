/** The contract over a folder. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { folderInventory } from '../../dashboard/resources/folder-inventory.ts'
import { folderWriter } from '../../dashboard/resources/folder-writer.ts'
import { openCatalogFolder } from '../../runtime/catalog/source.ts'
import { createLogger } from '../../runtime/logger.ts'
import { organization, resource } from '../../fixtures/service/manifests.ts'
import { resourceWriterContract } from './resource-writer.contract.ts'

resourceWriterContract('a folder', async () => {
  const root = await mkdtemp(join(tmpdir(), 'whence-writer-'))
  const [folder, written] = [join(root, 'manifests'), join(root, 'written')]
  await mkdir(folder)
  await writeFile(join(folder, 'acme.yaml'), JSON.stringify(organization('acme')))
  const logger = createLogger({ program: 'test', level: 'silent' })
  const nowMs = Date.now
  const catalog = await openCatalogFolder({ folder, written, env: {}, logger, nowMs })
  return {
    writer: folderWriter({ folder, written, env: {}, refresh: catalog.refresh, nowMs }),
    inventory: folderInventory(catalog, nowMs),
    organization: 'acme',
    async writeElsewhere(kind, name, spec) {
      await writeFile(join(folder, `${name}.yaml`), JSON.stringify(resource(kind, name, { ...spec })))
      await catalog.refresh()
      return `${name}.yaml`
    },
    async stop() {
      await catalog.close()
      await rm(root, { recursive: true, force: true })
    },
  }
})
