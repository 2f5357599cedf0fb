/** Cells of CSV that spreadsheets must not run. */

import { expect } from 'chai'

import { csvLine } from '../../common/csv.ts'

describe('a line of CSV', () => {
  it('quotes what needs it, and nothing else', () => {
    expect(csvLine(['plain', 7, null, 'a,b', 'say "x"', 'two\r\nlines', 'שלום 🧭'])).to.equal(
      'plain,7,,"a,b","say ""x""","two\r\nlines",שלום 🧭\r\n',
    )
  })

  it('never begins a cell as a formula does, also after blanks and quotes', () => {
    const formulas = [
      '=HYPERLINK("http://x.example","y")',
      '+1',
      '-1+cmd|x',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      '\r',
      ' =1',
      '"=1',
      "'=1",
      '\n@x',
      '＝1',
    ]
    for (const formula of formulas) expect(csvLine([formula]), formula).to.match(/^"'/)
    for (const harmless of ['a=b', '1-2', 'a@b.dev', 'https://a.dev/?x=1'])
      expect(csvLine([harmless])).to.equal(`${harmless}\r\n`)
  })

  it('never begins one where a spreadsheet splits by semicolons or tabs, or ends a line within quotes', () => {
    for (const [text, kept] of [
      ["x;=cmd|' /C calc'!A0;", "x;'=cmd|' /C calc'!A0;"],
      ['x; \u00A0+1;-1', "x;' \u00A0+1;'-1"],
      ['x;""=1', `x;'""=1`],
      ['x\t@SUM(1)', "x\t'@SUM(1)"],
      ['a"\r\n=1+1', 'a"\r\n\'=1+1'],
      ['x;;\t＝1', "x;;\t'＝1"],
    ] as const)
      expect(csvLine([text]), text).to.equal(`"${kept.replaceAll('"', '""')}"\r\n`)
    for (const harmless of ['a;b', 'a; b=c', 'x;1-2', 'https://a.dev/@52.1;v=2'])
      expect(csvLine([harmless])).to.equal(`${harmless}\r\n`)
    expect(csvLine(['https://a.dev/@52.1,-3.2'])).to.equal('"https://a.dev/@52.1,-3.2"\r\n')
  })

  it('keeps 32 KB as they are', () => {
    const long = 'x'.repeat(32_768)
    expect(csvLine([long])).to.equal(`${long}\r\n`)
  })
})
