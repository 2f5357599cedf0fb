/** A file of ad spend: what it may say, and for each kind of mistake the line, the column and what is wrong. */

import { expect } from 'chai'

import { SpendReader, type SpendProblem } from '../../../domain/spend/spend-file.ts'
import { spendForm, type SpendForm } from '../../../domain/spend/spend-form.ts'
import { spendDays, type SpendRow } from '../../../domain/spend/spend-row.ts'

const NOW_MS = Date.parse('2026-11-28T12:00:00Z')
const DAYS = spendDays(NOW_MS, 395)
const HEADER = 'day,source,campaign,amount,currency'

function formOf(columns = '', fixed: SpendForm['fixed'] = {}): SpendForm {
  const read = spendForm(columns, fixed)
  if (!read.ok) throw new Error(read.message)
  return read.form
}

interface ReadFile {
  readonly rows: readonly SpendRow[]
  readonly problems: readonly SpendProblem[]
}

function readFile(text: string | Uint8Array, form = formOf()): ReadFile {
  const reader = new SpendReader(form, DAYS)
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const rows = [...reader.read(bytes), ...reader.end()]
  return { rows, problems: reader.problems }
}

/** The problems of a file with this one row. */
const problemsOf = (row: string): readonly SpendProblem[] => readFile(`${HEADER}\n${row}\n`).problems

describe('a file of ad spend', () => {
  it('has days, sources, campaigns, amounts in the smallest unit, and currencies', () => {
    const { rows, problems } = readFile(
      `${HEADER}\r\n2026-11-01,google,launch,12.5,EUR\r\n2026-11-02,newsletter,,1000,JPY\r\n2026-11-02,x,"a, b",0.125,KWD\r\n`,
    )
    expect(problems).to.deep.equal([])
    expect(rows).to.deep.equal([
      {
        line: 2,
        dayMs: Date.parse('2026-11-01'),
        source: 'google',
        campaign: 'launch',
        currency: 'EUR',
        amount: 1_250,
      },
      { line: 3, dayMs: Date.parse('2026-11-02'), source: 'newsletter', campaign: '', currency: 'JPY', amount: 1_000 },
      { line: 4, dayMs: Date.parse('2026-11-02'), source: 'x', campaign: 'a, b', currency: 'KWD', amount: 125 },
    ])
  })

  it('may begin with a byte-order mark, arrive in pieces of a byte, and have columns that nobody asked for', () => {
    const text = '\uFEFFClicks,Date,utm,Cost,Cur\n7,2026-11-01,größe,1.00,EUR\n'
    const form = formOf('day=Date,campaign=utm,amount=Cost,currency=Cur', { source: 'google' })
    const reader = new SpendReader(form, DAYS)
    const rows = [...new TextEncoder().encode(text)].flatMap((byte) => [...reader.read(Uint8Array.of(byte))])
    rows.push(...reader.end())
    expect(reader.problems).to.deep.equal([])
    expect(rows).to.deep.equal([
      { line: 2, dayMs: Date.parse('2026-11-01'), source: 'google', campaign: 'größe', currency: 'EUR', amount: 100 },
    ])
  })

  it('keeps each row of a campaign that has several on a day', () => {
    const { rows } = readFile(`${HEADER}\n2026-11-01,a,b,1,EUR\n2026-11-01,a,b,1,EUR\n`)
    expect(rows.map(({ line, amount }) => [line, amount])).to.deep.equal([
      [2, 100],
      [3, 100],
    ])
  })

  const wrong: readonly (readonly [row: string, column: string, message: string])[] = [
    ['01/11/2026,a,b,1,EUR', 'day', 'must be a day such as 2026-11-30'],
    ['2026-02-30,a,b,1,EUR', 'day', 'must be a day such as 2026-11-30'],
    ['2026-11-30,a,b,1,EUR', 'day', 'is in the future'],
    ['2025-10-28,a,b,1,EUR', 'day', 'is older than the website keeps'],
    ['2026-11-01,,b,1,EUR', 'source', 'is empty'],
    [`2026-11-01,${'a'.repeat(151)},b,1,EUR`, 'source', 'must have at most 150 characters'],
    ['2026-11-01, a,b,1,EUR', 'source', 'begins or ends with a space'],
    [`2026-11-01,a,${'b'.repeat(151)},1,EUR`, 'campaign', 'must have at most 150 characters'],
    ['2026-11-01,a,"b\nb",1,EUR', 'campaign', 'has a control character or a line break'],
    ['2026-11-01,a,b,1,euro', 'currency', 'must be a code of ISO 4217, such as EUR'],
    ['2026-11-01,a,b,1,eur', 'currency', 'must be a code of ISO 4217, such as EUR'],
    ['2026-11-01,a,b,,EUR', 'amount', 'is empty'],
    ['2026-11-01,a,b,-1,EUR', 'amount', 'must not be negative'],
    ['2026-11-01,a,b,1.005,EUR', 'amount', 'must have at most 2 decimal places in this currency'],
    ['2026-11-01,a,b,1.0,JPY', 'amount', 'must have at most 0 decimal places in this currency'],
    ['2026-11-01,a,b,10000000000.01,EUR', 'amount', 'is too large'],
  ]
  for (const [row, column, message] of wrong) {
    it(`says for ${JSON.stringify(row.slice(0, 40))} that ${column} ${message}`, () => {
      expect(problemsOf(row)).to.deep.equal([{ line: 2, column, message }])
    })
  }

  for (const amount of ['"1,000.00"', '"1,5"', '1e3', '+1', '€1', '1.', '.5', "1'000", '0x10', 'NaN', ' 1', '1 000']) {
    it(`takes ${amount} for no amount`, () => {
      const [problem, ...more] = problemsOf(`2026-11-01,a,b,${amount},EUR`)
      expect({ ...problem, more }).to.deep.equal({
        line: 2,
        column: 'amount',
        message:
          'must be digits with a point before decimals, such as 1234.50: no sign, exponent or separator of thousands',
        more: [],
      })
    })
  }

  it('takes the largest amount, without losing a cent', () => {
    const { rows } = readFile(`${HEADER}\n2026-11-01,a,b,9999999999.99,EUR\n`)
    expect(rows.map(({ amount }) => amount)).to.deep.equal([999_999_999_999])
  })

  const whole: readonly (readonly [what: string, text: string, problems: readonly SpendProblem[]])[] = [
    ['is empty', '', [{ line: 1, column: '', message: 'The file is empty.' }]],
    ['has only a header', HEADER, [{ line: 1, column: '', message: 'There is no row below the header.' }]],
    [
      'lacks columns',
      'day,source,campaign,cost\n',
      [
        { line: 1, column: 'amount', message: 'is not a column of the first line' },
        { line: 1, column: 'currency', message: 'is not a column of the first line' },
      ],
    ],
    ['has a column twice', `${HEADER},day\n`, [{ line: 1, column: 'day', message: 'comes twice in the first line' }]],
    [
      'has semicolons',
      `${HEADER.replaceAll(',', ';')}\n2026-11-01;a;b;1;EUR\n`,
      [{ line: 1, column: '', message: 'Columns must be separated by commas, not by semicolons or tabs.' }],
    ],
    [
      'has a line with a field less',
      `${HEADER}\n2026-11-01,a,b,1\n`,
      [{ line: 2, column: '', message: 'The line has 4 fields, and the first line has 5.' }],
    ],
    [
      'has a quote that is not closed',
      `${HEADER}\n2026-11-01,"a,b,1,EUR\n`,
      [{ line: 2, column: 'source', message: 'begins with a quote that nothing closes' }],
    ],
  ]
  for (const [what, text, problems] of whole) {
    it(`has a problem if it ${what}`, () => expect(readFile(text).problems).to.deep.equal(problems))
  }

  it('has a problem if it is not UTF-8, as a spreadsheet may save it', () => {
    const utf16 = new Uint8Array(Buffer.from(`\uFEFF${HEADER}`, 'utf16le'))
    const latin = new Uint8Array(Buffer.from(`${HEADER}\n2026-11-01,a,größe,1,EUR\n`, 'latin1'))
    const cut = new TextEncoder().encode(`${HEADER}\n2026-11-01,a,é`).subarray(0, -1)
    const message = 'The file is not UTF-8; a spreadsheet saves it as "CSV UTF-8".'
    for (const bytes of [utf16, latin, cut]) {
      expect(readFile(bytes).problems.map((problem) => problem.message)).to.deep.equal([message])
    }
  })

  it('names the first twenty problems, in the order of the file, and reads no further', () => {
    const reader = new SpendReader(formOf(), DAYS)
    const text = `${HEADER}\n${'2026-11-01,a,b,x,EUR\n'.repeat(30)}`
    expect([...reader.read(new TextEncoder().encode(text))]).to.deep.equal([])
    expect(reader.isGivenUp).to.equal(true)
    expect([...reader.end()]).to.deep.equal([])
    expect(reader.problems.map(({ line }) => line)).to.deep.equal(Array.from({ length: 20 }, (_, index) => index + 2))
  })
})

describe('the columns of a file of ad spend', () => {
  it('have the names of the documentation unless others are given, also some with commas and equal signs', () => {
    expect(formOf('"day=Day, local",amount=Cost=EUR').headers).to.deep.equal({
      day: 'Day, local',
      source: 'source',
      campaign: 'campaign',
      amount: 'Cost=EUR',
      currency: 'currency',
    })
  })

  const wrong: readonly (readonly [columns: string, fixed: SpendForm['fixed'], answer: object])[] = [
    [
      'date=Date',
      {},
      { wrong: 'columns', message: 'must name day, source, campaign, amount, currency, such as day=Date' },
    ],
    ['day', {}, { wrong: 'columns', message: 'must give day the header of a column' }],
    ['day=a,day=b', {}, { wrong: 'columns', message: 'must name day once' }],
    ['', { currency: 'euro' }, { wrong: 'currency', message: 'must be a code of ISO 4217, such as EUR' }],
    ['', { source: '' }, { wrong: 'source', message: 'is empty' }],
  ]
  for (const [columns, fixed, answer] of wrong) {
    it(`are refused as ${JSON.stringify({ columns, ...fixed })}`, () => {
      expect(spendForm(columns, fixed)).to.deep.equal({ ok: false, ...answer })
    })
  }
})
