/** Lists of the API server are read object by object, however they are cut into chunks on their way. */

import { expect } from 'chai'
import fc from 'fast-check'

import type { KubeObject } from '../../runtime/kube/objects.ts'
import { readList } from '../../runtime/kube/list-items.ts'

async function* chunksOf(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  let from = 0
  for (let number = 0; from < bytes.length; number += 1) {
    const end = from + (sizes[number % sizes.length] ?? 1)
    yield bytes.subarray(from, end)
    from = end
  }
}

async function read(text: string, sizes: readonly number[]) {
  const items: KubeObject[] = []
  const head = await readList(chunksOf(text, sizes), (item) => items.push(item))
  return { ...head, items }
}

describe('a list of the API server', () => {
  const object = fc.record({ metadata: fc.record({ name: fc.string({ unit: 'binary' }) }), spec: fc.jsonValue() })
  const metadata = fc.record({ resourceVersion: fc.string(), continue: fc.string() }, { requiredKeys: [] })
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })

  it('returns the objects and what surrounds them, in either order of members, whatever the chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(object), metadata, sizes, fc.boolean(), async (items, about, cuts, isHeadFirst) => {
        const list = isHeadFirst ? { kind: 'L[{"', metadata: about, items } : { items, kind: '\\"]}', metadata: about }
        const text = JSON.stringify(list)
        expect(await read(text, cuts)).to.deep.equal(JSON.parse(text))
      }),
    )
  })

  it('is refused if it breaks off', async () => {
    const text = JSON.stringify({ items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }], metadata: {} })
    for (let length = 0; length < text.length; length += 1) {
      const refused = await read(text.slice(0, length), [7]).then(
        () => null,
        (error: unknown) => (error as Error).name,
      )
      expect(refused, text.slice(0, length)).to.equal('BrokenStream')
    }
  })
})
