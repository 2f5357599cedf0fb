/** Links of the documentation: each leads to an existing file and heading. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

import { expect } from 'chai'

import { anchorsOf, localLinks } from '../../tools/site/markdown-links.ts'
import { sitePages } from '../../tools/site/source.ts'
import { ROOT } from './source-files.ts'

const PAGES = globSync(['*.md', 'docs/**/*.md', 'charts/**/*.md', 'sdk/**/*.md', 'api/skills/**/*.md'], { cwd: ROOT })

/** Links of a page with this text that lead nowhere. */
function broken(page: string, text: string): readonly string[] {
  return localLinks(text).flatMap(({ target, path, anchor }) => {
    const file = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path))
    if (path !== '' && !existsSync(join(ROOT, file))) return [`${page} -> ${target}`]
    if (anchor === null || !file.endsWith('.md')) return []
    const anchors = anchorsOf(path === '' ? text : readFileSync(join(ROOT, file), 'utf8'))
    return anchors.has(anchor) ? [] : [`${page} -> ${target}`]
  })
}

describe('links of the documentation', () => {
  it('are found broken if file or heading is missing', () => {
    const text =
      '# A `b`\n\n## It is\n\n## It is\n[1](gone.md) [2](#a-b) [3](#it-is-1) [4](#it-is-2) `[5](gone.md)` [6](vm.md#a-persons-data)'
    expect(broken('docs/x.md', text)).to.deep.equal(['docs/x.md -> gone.md', 'docs/x.md -> #it-is-2'])
    expect(broken('docs/x.md', '```\n[1](gone.md)\n```\n[2](vm.md#gone)')).to.deep.equal(['docs/x.md -> vm.md#gone'])
  })

  it('all lead somewhere', () => {
    expect(PAGES.length).to.be.greaterThan(50)
    expect(PAGES.flatMap((page) => broken(page, readFileSync(join(ROOT, page), 'utf8')))).to.deep.equal([])
  })

  it('reach every page of docs/ from the site', () => {
    const docs = globSync('docs/**/*.md', { cwd: ROOT })
    expect(docs.filter((page) => !sitePages().includes(page))).to.deep.equal([])
  })

  it('show every picture of the pages', () => {
    const shown = new Set(
      globSync('docs/**/*.md', { cwd: ROOT }).flatMap((page) =>
        localLinks(readFileSync(join(ROOT, page), 'utf8')).map(({ path }) => join(dirname(page), path)),
      ),
    )
    expect(globSync('docs/pictures/*', { cwd: ROOT }).filter((picture) => !shown.has(picture))).to.deep.equal([])
  })
})
