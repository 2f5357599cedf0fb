/** A folder of LMDB says in which form its data is. */

import { expect } from 'chai'
import { open as openRoot } from 'lmdb'

import { DataOfAnotherForm } from '../../ports/shared/lmdb/environment.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder } from '../contract/lmdb-harness.ts'

describe('a folder of LMDB', () => {
  let folder: string
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => deleteFolder(folder))

  /** As another program writes into it. */
  const put = async (key: string, value: string): Promise<void> => {
    const root = openRoot({ path: folder, noSubdir: false, encoding: 'binary', overlappingSync: false })
    await root.put(key, Buffer.from(value))
    await root.close()
  }
  const refusal = (): Promise<unknown> => openTestEnvironment(folder, Date.now).catch((error: unknown) => error)

  it('keeps its form, and is opened again', async () => {
    for (let time = 0; time < 2; time += 1) {
      const environment = await openTestEnvironment(folder, Date.now)
      const table = environment.openTable('hot')
      expect(table.get('a')).to.equal(time === 0 ? undefined : 'b')
      table.put('a', 'b')
      await environment.close()
    }
  })

  for (const [what, key, value] of [
    ['of no form', 'hot', 'data'],
    ['of a later form', 'form', '2'],
  ] as const)
    it(`with data ${what} is refused in a sentence that says what to do, and stays as it is`, async () => {
      await put(key, value)
      const error = await refusal()
      expect(error).to.be.instanceOf(DataOfAnotherForm)
      expect(String(error)).to.contain(
        `${folder} holds data in another form: use an empty folder, or the program that made it`,
      )
      expect(await refusal(), 'the folder is free again').to.be.instanceOf(DataOfAnotherForm)
    })
})
