/**
 * Every public file, built once at start: the SDK, the hook's source, the limits, the OpenAPI document and the setup
 * skill.
 */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shapeOf, listOf, isText, parsedAs } from '../../domain/guards.ts'
import { renderHookBody } from '../../domain/collection/hook-script.ts'
import type { ApiOptions } from '../deps.ts'
import { openApiDocument } from '../openapi/document.ts'
import { CACHE_FOREVER, CACHE_SHORT, staticFile, type StaticFile } from '../static-files.ts'
import { limitsFile } from './limits.ts'
import { skillFiles } from './skills.ts'

interface PublicFiles {
  /** The hook's source, as served by `/report.sh` and at the end of every served script. */
  readonly hookBody: string
  readonly byPath: ReadonlyMap<string, StaticFile>
}

const HOOK_SOURCE = new URL('../../hook/report.sh', import.meta.url)
const SCRIPT_TYPE = 'text/javascript; charset=utf-8'

export function publicFiles({ site, sdkFolder, prices }: ApiOptions): PublicFiles {
  const hookBody = renderHookBody(readFileSync(HOOK_SOURCE, 'utf8'), site.brand)
  const hookFile = staticFile({ type: 'text/plain; charset=utf-8', content: hookBody, cache: CACHE_SHORT })
  return {
    hookBody,
    byPath: new Map([
      ...sdkFiles(sdkFolder),
      ['/report.sh', hookFile],
      ['/api/limits', limitsFile(prices)],
      [
        '/openapi.json',
        staticFile({
          type: 'application/json; charset=utf-8',
          content: JSON.stringify(openApiDocument(site), null, 2),
          cache: CACHE_SHORT,
          isShared: true,
        }),
      ],
      ...skillFiles(site, hookFile.sha256),
    ]),
  }
}

interface SdkManifest {
  readonly files: readonly { readonly name: string; readonly url: string; readonly immutableUrl: string }[]
  /** Of earlier releases: pages that pin an address, or that hold an earlier script in a cache, still ask for them. */
  readonly earlier: readonly { readonly name: string; readonly immutableUrl: string }[]
}

const isManifest = shapeOf<SdkManifest>({
  files: listOf(shapeOf<SdkManifest['files'][number]>({ name: isText, url: isText, immutableUrl: isText })),
  earlier: listOf(shapeOf<SdkManifest['earlier'][number]>({ name: isText, immutableUrl: isText })),
})

/** Cached briefly under its plain name, for ever under the name that contains its hash. */
function sdkFiles(folder: string): [string, StaticFile][] {
  const path = join(folder, 'manifest.json')
  if (!existsSync(path)) throw new Error('the SDK is not built: run npm run -s build')
  const manifest = parsedAs(isManifest, readFileSync(path, 'utf8'))
  if (manifest === null) throw new Error('manifest.json is not a list of scripts: run npm run -s build')
  const make = (name: string, cache: string) =>
    staticFile({ type: SCRIPT_TYPE, content: readFileSync(join(folder, name)), cache, isShared: true })
  const earlier = manifest.earlier.map(({ name, immutableUrl }): [string, StaticFile] => [
    immutableUrl,
    make(name, CACHE_FOREVER),
  ])
  const current = manifest.files.flatMap(({ name, url, immutableUrl }): [string, StaticFile][] => {
    const forever: [string, StaticFile] = [immutableUrl, make(name, CACHE_FOREVER)]
    return url === immutableUrl ? [forever] : [[url, make(name, CACHE_SHORT)], forever]
  })
  return [...earlier, ...current]
}
