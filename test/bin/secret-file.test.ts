/** Files of secrets that others gave us: one that cannot be used ends the program at its start, and not each use long after. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { readSecret, readSecrets } from '../../bin/wiring/people/secret-file.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { whencectl } from './support/run-whencectl.ts'

describe('the file of a secret', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-secret-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const written = async (text: string): Promise<string> => {
    const file = join(folder, 'secret')
    await writeFile(file, text)
    return file
  }

  it('holds one secret, or several, one a line', async () => {
    expect(readSecret(await written(' one\n'), 'it')).to.equal('one')
    expect(readSecrets(await written('one\r\n\n two \n'), 'it')).to.deep.equal(['one', 'two'])
  })

  it('is refused if it is empty or cannot be read, by its name', async () => {
    for (const read of [readSecret, readSecrets]) {
      expect(() => read(join(folder, 'none'), 'the file')).to.throw(/^the file cannot be read$/)
      for (const text of ['', '\n', ' \r\n\t', '\ufeff\n']) {
        const file = await written(text)
        expect(() => read(file, 'the file'), JSON.stringify(text)).to.throw(/^the file is empty$/)
      }
      const file = await written('one\u200btwo')
      expect(() => read(file, 'the file')).to.throw(/^the file has an invisible character in it$/)
    }
    const two = await written('one\ntwo')
    expect(() => readSecret(two, 'the file')).to.throw(/^the file has more than one line$/)
  })

  it("ends the start, also if it is the identity provider's", async () => {
    const manifests = join(folder, 'manifests')
    await mkdir(manifests)
    const listen = async (): Promise<string> => `127.0.0.1:${await freePort()}`
    const { status, stderr } = await whencectl(['embedded', '--manifests', manifests, '--data', join(folder, 'data')], {
      WHENCE_LISTEN: await listen(),
      WHENCE_METRICS_LISTEN: await listen(),
      WHENCE_OIDC_ISSUER: 'https://identity.invalid',
      WHENCE_OIDC_CLIENT_ID: 'whence',
      WHENCE_OIDC_CLIENT_SECRET_FILE: await written('\n'),
    })
    expect(status).to.equal(1)
    expect(stderr).to.include("the file of the identity provider's secret is empty")
  })
})
