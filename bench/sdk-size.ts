/** Prints the size of the SDK, raw, with gzip and with brotli: `node bench/sdk-size.ts`. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildSdk } from '../sdk/build.ts'

/** Target size of what every visitor loads, with brotli at quality 11. */
const CORE_BROTLI_BYTES = 3 * 1024

const LOADED_BY = {
  'browser.js': 'every visitor',
  'browser/recorder': 'every visitor who may be counted',
  'browser/reader': 'websites with its advertising provider',
  'browser/keeper': 'every visitor, after the visit',
  'browser/extras': 'pages with commands or adapters',
}

const folder = await mkdtemp(path.join(os.tmpdir(), 'whence-sdk-size-'))
try {
  const { files } = await buildSdk(folder)
  console.log('| File | Loaded by | Raw | gzip | brotli |')
  console.log('| --- | --- | ---: | ---: | ---: |')
  for (const { name, bytes, brotliBytes } of files) {
    const gzipBytes = gzipSync(await readFile(path.join(folder, name)), { level: 9 }).byteLength
    const who = Object.entries(LOADED_BY).find(([part]) => name.startsWith(part))?.[1] ?? 'pages with data-debug'
    console.log(`| ${name} | ${who} | ${bytes} | ${gzipBytes} | ${brotliBytes} |`)
  }
  const bytesOf = (part: string) =>
    Math.max(...files.filter(({ name }) => name.startsWith(part)).map(({ brotliBytes }) => brotliBytes))
  const core = bytesOf('browser.js')
  console.log(`\nThe core takes ${((core / CORE_BROTLI_BYTES) * 100).toFixed(0)} % of its 3 KB.`)
  const beforeVisit = core + bytesOf('browser/recorder') + bytesOf('browser/reader')
  console.log(`GA4 and the largest advertising provider load ${beforeVisit} bytes of brotli before a visit.`)
} finally {
  await rm(folder, { recursive: true, force: true })
}
