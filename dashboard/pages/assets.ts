/** The bundle of the pages, read into memory once: under 500 KB, and so no address can reach a file. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { shapeOf, isText, listOf, isNumber, parsedAs } from '../../domain/guards.ts'
import type { PagesManifest, BuiltAsset } from '../../common/pages-manifest.ts'

export interface Asset {
  readonly contentType: string
  readonly integrity: string
  readonly plain: Buffer
  readonly brotli: Buffer
}

export interface PagesBundle {
  /** Names of the files that the page starts with. */
  readonly script: string
  readonly style: string
  readonly preload: readonly string[]
  readonly assets: ReadonlyMap<string, Asset>
}

/** @throws Error if the pages have not been built. */
export function readPagesBundle(folder: string): PagesBundle {
  const { script, style, preload, assets } = readPagesManifest(folder)
  const read = (name: string): Buffer => readFileSync(join(folder, name))
  return {
    script,
    style,
    preload,
    assets: new Map(
      assets.map(({ name, contentType, integrity }) => [
        name,
        { contentType, integrity, plain: read(name), brotli: read(`${name}.br`) },
      ]),
    ),
  }
}

const isManifest = shapeOf<PagesManifest>({
  script: isText,
  style: isText,
  preload: listOf(isText),
  assets: listOf(
    shapeOf<BuiltAsset>({
      name: isText,
      contentType: isText,
      integrity: isText,
      bytes: isNumber,
      brotliBytes: isNumber,
    }),
  ),
})

function readPagesManifest(folder: string): PagesManifest {
  try {
    const manifest = parsedAs(isManifest, readFileSync(join(folder, 'manifest.json'), 'utf8'))
    if (manifest === null) throw new Error('manifest.json is not a list of pages')
    return manifest
  } catch (error) {
    throw new Error('the pages of the dashboard are not built: run npm run -s build', { cause: error })
  }
}
