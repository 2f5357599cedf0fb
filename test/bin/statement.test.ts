/** `whencectl statement`: what is sent to the engine, for a console. */

import { expect } from 'chai'

import { statementText } from '../../bin/tools/statement.ts'
import { QUERIES } from '../../ports/facts/queries.ts'

const KEYS = { organizations: ["a'b"], websites: ['w'], visit_ids: ['1'] }

describe('a statement by its name', () => {
  it('is printed with its name, its values and its text', () => {
    const lines = statementText('visitsByIds', KEYS).split('\n')
    expect(lines[0]).to.equal('-- whence:visitsByIds (look-up)')
    // A literal in a literal, as a console reads it.
    expect(lines[1]).to.equal(String.raw`SET param_organizations = '[\'a\\\'b\']'; -- Array(String)`)
    expect(lines.slice(4).join('\n').trimEnd()).to.equal(`${QUERIES.visitsByIds.sql(KEYS)};`)
  })

  it('names parameters that are not given', () => {
    expect(statementText('visitsByIds', {})).to.include("-- SET param_visit_ids = '...'; -- Array(String)\n")
  })

  it('is refused if there is none, or if its text follows from parameters that are not given', () => {
    expect(() => statementText('nope', {})).to.throw('no statement is called nope')
    expect(() => statementText('visitLines', {})).to.throw('follows from parameters that --params does not give')
  })
})
