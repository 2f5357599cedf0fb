/**
 * Lays out what the site is built from: docs/ and the pages of the root in one folder, in which every link leads to a page or
 * to a copy of the file.
 */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'

import { CHAPTERS, fileOf } from './contents.ts'
import { localLinks } from './markdown-links.ts'

const ROOT = path.join(import.meta.dirname, '../..')
/** Decisions are pages, and too many for the sidebar. */
const ADR_FOLDER = 'docs/adr'
const OPENAPI = ['docs/openapi.json', 'docs/dashboard-openapi.json']

/** Every page of the site, as a file of the repository. */
export function sitePages(): readonly string[] {
  const listed = CHAPTERS.flatMap(({ pages }) => pages.map(fileOf))
  const decisions = readdirSync(path.join(ROOT, ADR_FOLDER)).sort()
  return [...listed, ...decisions.map((name) => `${ADR_FOLDER}/${name}`)]
}

/** Where a file of the repository lies on the site: pages without `docs/`, other files below `repository/`. */
function placeOf(file: string, pages: ReadonlySet<string>): string {
  return pages.has(file) ? file.replace(/^docs\//, '') : `repository/${file}`
}

/** Empties `folder` and fills it. Pictures and files go into its `public`, as they are. */
export function writeSource(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  const pages = new Set(sitePages())
  for (const page of pages) {
    const text = readFileSync(path.join(ROOT, page), 'utf8')
    const target = path.join(folder, placeOf(page, pages))
    mkdirSync(path.dirname(target), { recursive: true })
    writeFileSync(target, withSiteLinks(text, page, { pages, folder }))
  }
  for (const file of OPENAPI) cpSync(path.join(ROOT, file), path.join(folder, 'public', path.basename(file)))
  writeFileSync(path.join(folder, 'index.md'), homePage(pages))
  writeFileSync(path.join(folder, 'adr/index.md'), decisionsPage(pages))
}

interface Places {
  readonly pages: ReadonlySet<string>
  readonly folder: string
}

function withSiteLinks(text: string, page: string, places: Places): string {
  let changed = text
  for (const { target, path: link, anchor } of localLinks(text)) {
    if (link === '') continue
    const site = siteLink(path.posix.join(path.posix.dirname(page), link), places)
    const address = `${site}${anchor === null ? '' : `#${anchor}`}`
    changed = changed.replaceAll(`](${target})`, `](${address})`)
  }
  return changed
}

function siteLink(file: string, { pages, folder }: Places): string {
  const name = file.replace(/\/$/, '')
  if (pages.has(name)) return `/${placeOf(name, pages)}`
  if (name === ADR_FOLDER) return '/adr/'
  const isPicture = /\.(png|webp)$/.test(name)
  const place = isPicture ? name.replace(/^docs\//, '') : `repository/${name}`
  const source = path.join(ROOT, name)
  const target = path.join(folder, 'public', place)
  if (statSync(source).isDirectory()) return folderListing(name, { pages, folder })
  mkdirSync(path.dirname(target), { recursive: true })
  cpSync(source, target)
  return isPicture ? `/${place}` : `pathname:///${place}`
}

/** A folder becomes a page that lists its files. */
function folderListing(name: string, places: Places): string {
  const files = readdirSync(path.join(ROOT, name), { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  )
  const names = files.map((each) => path.posix.join(path.relative(ROOT, each.parentPath), each.name)).sort()
  const rows = names.map((file) => `- [${file}](${siteLink(file, places)})`)
  const target = path.join(places.folder, 'repository', `${name}.md`)
  mkdirSync(path.dirname(target), { recursive: true })
  writeFileSync(target, `# ${name}\n\n${rows.join('\n')}\n`)
  return `/repository/${name}.md`
}

function titleOf(page: string): string {
  return /^# +(.+)$/m.exec(readFileSync(path.join(ROOT, page), 'utf8'))?.[1] ?? page
}

/** The sidebar, as VitePress takes it. */
export function sidebar(): readonly object[] {
  const pages = new Set(sitePages())
  const item = (file: string): object => ({ text: titleOf(file), link: `/${placeOf(file, pages)}` })
  return CHAPTERS.map(({ title, pages: listed }) => ({ text: title, items: listed.map((page) => item(fileOf(page))) }))
}

function homePage(pages: ReadonlySet<string>): string {
  const lists = CHAPTERS.map(({ title, pages: listed }) => {
    const rows = listed.map(fileOf).map((file) => `- [${titleOf(file)}](/${placeOf(file, pages)})`)
    return `## ${title}\n${rows.join('\n')}`
  })
  const question =
    'From which website visit did this install come? Whence answers that for products that are installed on a command line, without fingerprints.'
  return `# Whence\n\n${question}\n\n${lists.join('\n\n')}\n\n[Decisions](/adr/) explain why things are as they are.\n`
}

function decisionsPage(pages: ReadonlySet<string>): string {
  const rows = [...pages].filter((page) => page.startsWith(ADR_FOLDER))
  return `# Decisions\n\n${rows.map((page) => `- [${titleOf(page)}](/${placeOf(page, pages)})`).join('\n')}\n`
}
