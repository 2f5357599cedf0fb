/** Writes the generated pages of docs/: `make docs`. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { docsPages } from './pages.ts'

const ROOT = join(import.meta.dirname, '../..')

for (const { path, text } of docsPages()) {
  writeFileSync(join(ROOT, path), text)
  console.log(path)
}
