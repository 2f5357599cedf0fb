/** The documentation as a static site; `make docs-site` writes its source first. */

import { defineConfig } from 'vitepress'

import { anchorOf } from './markdown-links.ts'
import { sidebar } from './source.ts'

export default defineConfig({
  title: 'Whence',
  description: 'From which website visit did this install come?',
  srcDir: '../../dist/site-source',
  outDir: '../../dist/site',
  cacheDir: '../../node_modules/.cache/site',
  // Works from any folder of any web server, without rules for addresses.
  cleanUrls: false,
  // Any other broken link ends the build.
  ignoreDeadLinks: 'localhostLinks',
  markdown: { anchor: { slugify: anchorOf }, languageAlias: { caddy: 'nginx' } },
  themeConfig: { search: { provider: 'local' }, sidebar: [...sidebar()], outline: [2, 3] },
})
