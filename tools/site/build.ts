/** `make docs-site`: the documentation as a static, searchable site in dist/site, with every link followed. */

import path from 'node:path'
import { build } from 'vitepress'

import { brokenLinks } from './check.ts'
import { writeSource } from './source.ts'

const DIST = path.join(import.meta.dirname, '../../dist')

writeSource(path.join(DIST, 'site-source'))
await build(import.meta.dirname)
const broken = brokenLinks(path.join(DIST, 'site'))
for (const each of broken) console.error(each)
if (broken.length > 0) process.exitCode = 1
else console.log('dist/site: every link leads somewhere')
