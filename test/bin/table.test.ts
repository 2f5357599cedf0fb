/** Tables for people: columns line up whatever they contain, and nothing in them controls the terminal. */

import { expect } from 'chai'
import { createTable, durationText, preciseTimeText, timeText } from '../../bin/terminal/table.ts'
import { printable } from '../../common/printable.ts'

interface Row {
  readonly name: string
  readonly text: string
}
const COLUMNS = [
  { head: 'NAME', cell: (row: Row) => row.name },
  { head: 'TEXT', cell: (row: Row) => row.text },
]

describe('tables of the tools', () => {
  it('line up under one header, also across pages', () => {
    const table = createTable(COLUMNS, null)
    expect(table.lines([{ name: 'a', text: 'one' }])).to.deep.equal(['NAME  TEXT', 'a     one'])
    expect(table.lines([{ name: 'longer-name', text: 'two' }])).to.deep.equal(['longer-name  two'])
    expect(table.lines([{ name: 'b', text: 'three' }])).to.deep.equal(['b            three'])
    expect(table.lines([])).to.deep.equal([])
  })

  it('line up with characters that take two columns or none', () => {
    const lines = createTable(COLUMNS, null).lines([
      { name: '日本', text: 'x' },
      { name: 'e\u0301te', text: 'y' },
    ])
    expect(lines).to.deep.equal(['NAME  TEXT', '日本  x', 'e\u0301te   y'])
  })

  it('cut the last column to the terminal, and only there', () => {
    const row = { name: 'a', text: 'x'.repeat(300) }
    expect(createTable(COLUMNS, 50).lines([row])[1]).to.equal(`a     ${'x'.repeat(43)}…`)
    expect(createTable(COLUMNS, 10).lines([row])[1]).to.equal(`a     ${'x'.repeat(19)}…`)
    expect(createTable(COLUMNS, null).lines([row])[1]).to.equal(`a     ${'x'.repeat(300)}`)
    expect(createTable(COLUMNS, 50).lines([{ name: 'y'.repeat(80), text: '' }])[1]).to.equal(`${'y'.repeat(59)}…`)
  })

  it('never split a character', () => {
    const lines = createTable(COLUMNS, 26).lines([{ name: 'a', text: '😀'.repeat(30) }])
    expect(lines[1]).to.equal(`a     ${'😀'.repeat(9)}…`)
    expect(lines[1]?.isWellFormed()).to.equal(true)
  })

  it('show control characters and changes of direction as one symbol', () => {
    const hostile = '\u001b[2J\u0007\u009b31m\u202egnp.exe\u2066\u200b\r\n\t'
    expect(printable(hostile)).to.equal('�[2J��31m�gnp.exe�����')
    const lines = createTable(COLUMNS, null).lines([{ name: hostile, text: hostile }])
    expect(lines.join('')).to.not.match(/\p{Cc}|\p{Bidi_Control}/u)
  })

  it('show times in UTC and spans as one figure', () => {
    const atMs = Date.UTC(2026, 10, 21, 9, 5, 7, 42)
    expect(timeText(atMs)).to.equal('2026-11-21 09:05:07')
    expect(preciseTimeText(atMs)).to.equal('2026-11-21 09:05:07.042')
    expect(timeText(null)).to.equal('-')
    const spans = [0, 999, 1_000, 119_000, 180_000, 7_300_000, 200_000_000, -5].map(durationText)
    expect(spans).to.deep.equal(['0 ms', '999 ms', '1 s', '119 s', '3 min', '2 h', '2 days', '0 ms'])
  })
})
