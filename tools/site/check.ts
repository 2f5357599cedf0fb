/** Follows every link of a built site: pages, files, pictures and anchors. */

import { globSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'

/** `page -> link`, for each link that leads nowhere. */
export function brokenLinks(folder: string): readonly string[] {
  const pages = globSync('**/*.html', { cwd: folder })
  const read = (page: string): string => readFileSync(path.join(folder, page), 'utf8')
  const anchors = new Map(pages.map((page) => [page, idsIn(read(page))]))
  return pages.flatMap((page) =>
    linksIn(read(page)).flatMap((link) => (leads(link, page, { folder, anchors }) ? [] : [`${page} -> ${link}`])),
  )
}

function idsIn(html: string): ReadonlySet<string> {
  return new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id))
}

function linksIn(html: string): readonly string[] {
  const links = [...html.matchAll(/<(?:a|img|link|script)\b[^>]*?\s(?:href|src)="([^"]+)"/g)]
  return [...new Set(links.map(([, link = '']) => link.replaceAll('&amp;', '&')))]
}

interface Site {
  readonly folder: string
  readonly anchors: ReadonlyMap<string, ReadonlySet<string>>
}

function leads(link: string, page: string, { folder, anchors }: Site): boolean {
  const { origin, pathname, hash } = new URL(link, `https://site.example/${page}`)
  if (origin !== 'https://site.example') return true
  const file = decodeURIComponent(pathname.slice(1))
  const target = file === '' || file.endsWith('/') ? `${file}index.html` : file
  if (statSync(path.join(folder, target), { throwIfNoEntry: false })?.isFile() !== true) return false
  return hash === '' || anchors.get(target)?.has(decodeURIComponent(hash.slice(1))) !== false
}
