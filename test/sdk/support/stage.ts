/** What every suite in a browser needs: the SDK as it is built, a service that serves it and records, and a website. */

import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { buildSdk, type BuildManifest } from '../../../sdk/build.ts'
import { startRecordingService, type RecordingService } from './recording-service.ts'
import { startSite, type Site } from './site.ts'

export interface SdkStage {
  readonly manifest: BuildManifest
  /** Folder of the built files. */
  readonly bundle: string
  readonly service: RecordingService
  readonly site: Site
  readonly close: () => Promise<void>
}

export async function openStage(): Promise<SdkStage> {
  const bundle = await mkdtemp(path.join(os.tmpdir(), 'whence-sdk-bundle-'))
  const manifest = await buildSdk(bundle)
  const service = await startRecordingService(bundle)
  const site = await startSite()
  const close = async (): Promise<void> => {
    await site.close()
    await service.close()
    await rm(bundle, { recursive: true, force: true })
  }
  return { manifest, bundle, service, site, close }
}

/** The file whose address begins like this: `/browser/extras`. */
export function fileOf({ files }: BuildManifest, stem: string): BuildManifest['files'][number] {
  const file = files.find(({ url }) => url.startsWith(`${stem}.`))
  if (!file) throw new Error(`nothing is served as ${stem}`)
  return file
}

/** What pages of both drivers can do. */
interface Tab {
  goto(url: string): Promise<unknown>
  evaluate(source: string): Promise<unknown>
}

/** Makes the visitor a new one: its origin remembers no landing and no sitting. */
export async function forgetVisitor(tab: Tab, site: Site): Promise<void> {
  await tab.goto(site.add(''))
  await tab.evaluate('localStorage.clear()')
}
