/** What counts while files come and go: decided without a clock of its own. */

import { expect } from 'chai'

import type { GoneSince } from '../../runtime/catalog/folder-watch.ts'
import { settleFiles } from '../../runtime/catalog/folder-watch.ts'

const file = (name: string, text: string) => ({ name, text })
const A = file('a.yaml', 'kind: A')
const B = file('b.yaml', 'kind: B')
const none: GoneSince = new Map()

describe('settle', () => {
  it('takes written, added and changed files at once', () => {
    const changed = file('a.yaml', 'kind: A2')
    const settled = settleFiles({ files: [A], goneSince: none }, [changed, B], 0)
    expect(settled.files).to.deep.equal([changed, B])
    expect(settled.recheckAtMs).to.equal(null)
  })

  it('lets a file that is gone count for a second, and then no longer', () => {
    const first = settleFiles({ files: [A, B], goneSince: none }, [B], 5_000)
    expect(first.files).to.deep.equal([A, B])
    expect(first.recheckAtMs).to.equal(6_000)
    const early = settleFiles(first, [B], 5_999)
    expect(early.files).to.deep.equal([A, B])
    expect(early.recheckAtMs).to.equal(6_000)
    const late = settleFiles(early, [B], 6_000)
    expect(late.files).to.deep.equal([B])
    expect(late.recheckAtMs).to.equal(null)
  })

  it('does the same for a file that is empty', () => {
    const first = settleFiles({ files: [A], goneSince: none }, [file('a.yaml', ' \n')], 0)
    expect(first.files).to.deep.equal([A])
    const late = settleFiles(first, [file('a.yaml', ' \n')], 1_000)
    expect(late.files).to.deep.equal([file('a.yaml', ' \n')])
  })

  it('forgets that a file was gone when it comes back', () => {
    const gone = settleFiles({ files: [A], goneSince: none }, [], 0)
    const back = settleFiles(gone, [A], 500)
    expect(back).to.deep.equal({ files: [A], goneSince: new Map(), recheckAtMs: null })
    expect(settleFiles(back, [], 1_400).recheckAtMs).to.equal(2_400)
  })

  it('takes a renamed file for what it is', () => {
    const renamed = file('z.yaml', A.text)
    const settled = settleFiles({ files: [A, B], goneSince: none }, [B, renamed], 0)
    expect(settled.files).to.deep.equal([B, renamed])
  })

  it('keeps files in the order of their names', () => {
    const settled = settleFiles({ files: [A], goneSince: none }, [B], 0)
    expect(settled.files.map(({ name }) => name)).to.deep.equal(['a.yaml', 'b.yaml'])
  })
})
