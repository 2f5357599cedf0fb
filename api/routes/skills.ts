/** `GET /skills/<brand>-setup/...`: what a coding agent needs to set Whence up in a repository. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installerLine } from '../../domain/collection/installer-line.ts'
import type { AnswerNamed } from '../openapi/schemas.ts'
import type { PublicSite } from '../deps.ts'
import { CACHE_SHORT, staticFile, type StaticFile } from '../static-files.ts'
import { sha256Hex } from '../../common/digest.ts'
import { shellQuoted } from '../../common/shell.ts'

const SOURCE = fileURLToPath(new URL('../skills', import.meta.url))
const TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown; charset=utf-8',
  sh: 'text/x-shellscript; charset=utf-8',
}

/** Files by path; `manifest.json` lists the SHA-256 of each and of the hook's source. */
export function skillFiles(site: PublicSite, hookSha256: string): [string, StaticFile][] {
  const root = `/skills/${site.brand}-setup`
  const files = readdirSync(SOURCE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(SOURCE.length + 1))
    .sort()
    .map((name) => ({ name, content: fillSkill(readFileSync(join(SOURCE, name), 'utf8'), site) }))
  const fileNames = files.map(({ name }) => name).filter((name) => name !== 'install.sh')
  const installer: readonly (readonly [string, string])[] = [
    ['{{files}}', shellQuoted(fileNames.join(' '))],
    ['{{root}}', shellQuoted(`${site.baseUrl}${root}`)],
  ]
  const rendered = files.map(({ name, content }) => ({
    name,
    content: installer.reduce((text, [mark, value]) => text.replaceAll(mark, () => value), content),
  }))
  const manifest: AnswerNamed<'SkillManifest'> = {
    name: `${site.brand}-setup`,
    version: site.version,
    base_url: site.baseUrl,
    files: rendered.map(({ name, content }) => ({ path: name, sha256: sha256Hex(content) })),
    hook: { url: `${site.baseUrl}/report.sh`, sha256: hookSha256 },
  }
  const manifestFile = staticFile({
    type: 'application/json; charset=utf-8',
    content: `${JSON.stringify(manifest, null, 2)}\n`,
    cache: CACHE_SHORT,
  })
  return [
    ...rendered.map(({ name, content }): [string, StaticFile] => [`${root}/${name}`, skillFile(name, content)]),
    [`${root}/manifest.json`, manifestFile],
  ]
}

function skillFile(name: string, content: string): StaticFile {
  const type = TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain; charset=utf-8'
  return staticFile({ type, content, cache: CACHE_SHORT })
}

/** Fills in the address and the brand, which the sources do not contain. */
function fillSkill(text: string, site: PublicSite): string {
  return text
    .replaceAll('{{installer_line}}', () => installerLine({ ...site, website: 'WEBSITE_ID', path: null }))
    .replaceAll('{{base_url}}', () => site.baseUrl)
    .replaceAll('{{brand}}', site.brand)
    .replaceAll('{{BRAND}}', site.brand.toUpperCase().replaceAll('-', '_'))
}
