/** CSV as RFC 4180 has it, from pieces of any size, and what is none. */

import { expect } from 'chai'
import fc from 'fast-check'

import { CsvReader, type CsvRecord } from '../../../domain/spend/csv-reader.ts'

function readAll(...pieces: readonly string[]): { records: readonly CsvRecord[]; fault: CsvReader['fault'] } {
  const reader = new CsvReader()
  const records = pieces.flatMap((piece) => [...reader.read(piece)])
  records.push(...reader.end())
  return { records, fault: reader.fault }
}

const fieldsOf = (text: string): readonly (readonly string[])[] => readAll(text).records.map(({ fields }) => fields)

describe('a CSV file', () => {
  it('is read by commas and lines, whichever line break it has and whether the last line has one', () => {
    const rows = [
      ['a', 'b'],
      ['1', ''],
      ['', '2'],
    ]
    for (const text of ['a,b\r\n1,\r\n,2\r\n', 'a,b\n1,\n,2', 'a,b\r1,\r,2\r'])
      expect(fieldsOf(text)).to.deep.equal(rows)
  })

  it('may have commas, quotes and line breaks within quotes', () => {
    expect(fieldsOf('"a,b","say ""hi""","two\r\nlines",""\n')).to.deep.equal([['a,b', 'say "hi"', 'two\r\nlines', '']])
  })

  it('has no record for an empty line, but one for an empty field in quotes', () => {
    expect(fieldsOf('a\n\n\r\n""\n')).to.deep.equal([['a'], ['']])
  })

  it('counts the lines at which records begin, also after line breaks in quotes and empty lines', () => {
    const { records } = readAll('a\r\n"b\r\nb"\r\n\r\nc\rd')
    expect(records.map(({ line }) => line)).to.deep.equal([1, 2, 5, 6])
  })

  const faults: readonly (readonly [text: string, line: number, field: number, message: string])[] = [
    ['a,b\n1,"2', 2, 2, 'begins with a quote that nothing closes'],
    ['a\n"1"2', 2, 1, 'goes on after its closing quote'],
    ['a\n1"2"', 2, 1, 'has a quote but does not begin with one'],
    [`${','.repeat(200)}`, 1, 201, 'is one of more than 200'],
  ]
  for (const [text, line, field, message] of faults) {
    it(`is none if a field ${message}`, () => {
      expect(readAll(text).fault).to.deep.equal({ line, field, message })
    })
  }

  it('reads back whatever fields were written, however the text is cut', () => {
    const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é') })
    const row = fc.array(field, { minLength: 1, maxLength: 4 })
    const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
    fc.assert(
      fc.property(fc.array(row), fc.constantFrom('\n', '\r\n', '\r'), fc.nat(), (rows, lineBreak, cut) => {
        const text = rows.map((fields) => fields.map(quoted).join(',') + lineBreak).join('')
        const at = cut % (text.length + 1)
        const { records, fault } = readAll(text.slice(0, at), text.slice(at))
        expect(fault).to.equal(null)
        expect(records.map(({ fields }) => fields)).to.deep.equal(rows)
      }),
    )
  })
})
