/** The quickstart's manifests, adapted to an example website on another port. */

import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'

import { portOf } from '../../runtime/connections.ts'

const QUICKSTART = new URL('../../examples/quickstart/', import.meta.url)

/** The port of the quickstart's website. */
export const QUICKSTART_SITE_PORT = 8081

/** Copies the files into this folder, with the example website at this port. */
export async function copyQuickstart(folder: string, sitePort: number): Promise<void> {
  await cp(QUICKSTART, folder, { recursive: true })
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replaceAll(`:${QUICKSTART_SITE_PORT}`, `:${sitePort}`))
  }
}

/** This port if it is free on the loopback, otherwise any free one; 0 requests any. */
export async function portLike(wanted: number): Promise<number> {
  const server = createServer()
  const listening = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
  if (!(await listening(wanted))) await listening(0)
  const port = portOf(server)
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}
