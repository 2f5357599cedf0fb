/** Pages whose nodes others change, in a real browser: nothing throws, and people see what is new. */

import { fileURLToPath } from 'node:url'

import { expect } from 'chai'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'

import { openChromium, type ChromiumInstance } from '../sdk/support/browsers.ts'
import { otherWorld, REPLACEMENTS, TRANSLATED, translation } from './support/other-world.ts'

/** Components as the pages have them, each drawn in a first and in a second state. */
const SOURCE = `
  import { createElement as h, Fragment } from 'react'
  import { createRoot } from 'react-dom/client'
  import { flushSync } from 'react-dom'
  import { tolerateForeignNodes } from './shell/foreign-nodes.ts'

  tolerateForeignNodes()
  const item = (key) => h('li', { key }, 'Item ', key)
  const words = (key) => h(Fragment, { key }, 'Words ' + key, h('b', null, '.'))
  const cases = {
    'a count': [(n) => h('p', null, n, ' visits'), 1, 2],
    'a count among words': [(n) => h('p', null, 'There are ', n, ' visits, ', h('b', null, n), ' new'), 1, 2],
    'a text alone': [(n) => h('p', null, 'Seen ' + n), 1, 2],
    'a label that is toggled': [(is) => h('button', null, is ? 'Copied' : 'Copy link'), false, true],
    'a text that goes': [(is) => h('p', null, 'Always', is && ' and sometimes'), true, false],
    'a text that comes before another': [(is) => h('p', null, is && 'Sometimes and ', 'always'), false, true],
    'an element that comes before a text': [(is) => h('p', null, is && h('b', null, 'New '), 'always'), false, true],
    'a text that becomes an element': [(is) => h('p', null, 'It is ', is ? h('b', null, 'so') : 'not so', '.'), false, true],
    'an element that becomes a text': [(is) => h('p', null, 'It is ', is ? h('b', null, 'so') : 'not so', '.'), true, false],
    'texts that change places': [(keys) => h('p', null, keys.map(words), 'end'), ['a', 'b', 'c'], ['c', 'a', 'b']],
    'a list that shrinks': [(keys) => h('ul', null, keys.map(item)), ['a', 'b', 'c', 'd'], ['b', 'd']],
    'a list that grows in front': [(keys) => h('ul', null, keys.map(item)), ['b', 'c'], ['a', 'b', 'c', 'd']],
    'a list of texts': [(keys) => h('p', null, keys), ['one ', 'two ', 'three '], ['four ', 'two ']],
    'a text between elements': [(n) => h('p', null, n > 0 && h('b', null, 'New '), n < 2 && 'always ', h('i', null, 'end')), 0, 1, 2],
    'all of it': [(is) => is ? h('p', null, 'One ', 1) : h('ul', null, item('a')), true, false],
  }
  const roots = {}
  globalThis.caseNames = Object.keys(cases)
  globalThis.draw = (name, state, place) => {
    const [component, ...states] = cases[name]
    roots[place] ??= createRoot(document.getElementById(place), {
      onUncaughtError: (error) => globalThis.failures.push(name + ': ' + error.message),
    })
    flushSync(() => roots[place].render(component(states[state])))
    return document.getElementById(place).textContent
  }
  globalThis.clear = () => {
    globalThis.failures = []
    for (const place of Object.keys(roots)) {
      roots[place].unmount()
      delete roots[place]
    }
    document.body.innerHTML = '<div id="shown"></div><div id="fresh"></div>'
  }
`

describe('a page whose nodes others change', function () {
  this.timeout(120_000)
  let chromium: ChromiumInstance
  let page: Page
  let inOtherWorld: (script: string) => Promise<void>
  let names: readonly string[]
  before(async () => {
    const { outputFiles } = await build({
      stdin: { contents: SOURCE, resolveDir: fileURLToPath(new URL('../../pages', import.meta.url)), loader: 'ts' },
      bundle: true,
      write: false,
      format: 'iife',
      target: 'es2022',
      define: { 'process.env.NODE_ENV': '"production"' },
    })
    chromium = await openChromium()
    page = await chromium.context.newPage()
    await page.setContent('<!doctype html><body></body>')
    await page.addScriptTag({ content: outputFiles[0]!.text })
    inOtherWorld = await otherWorld(page)
    names = await page.evaluate<string[]>('caseNames')
  })
  after(() => chromium?.close())

  const draw = (name: string, state: 0 | 1 | 2, place: 'shown' | 'fresh'): Promise<string> =>
    page.evaluate<string>(`draw(${JSON.stringify(name)}, ${state}, '${place}')`)
  const shown = async (): Promise<string> =>
    (await page.evaluate<string>("document.getElementById('shown').textContent")).replaceAll(TRANSLATED, '')
  const failures = (): Promise<readonly string[]> => page.evaluate<string[]>('failures')

  for (const [how, replacement] of Object.entries(REPLACEMENTS))
    it(`shows what is new, in its place, after each text was ${how}`, async () => {
      for (const name of names) {
        await page.evaluate('clear()')
        await draw(name, 0, 'shown')
        for (const state of [1, 0, 1] as const) {
          await inOtherWorld(translation('#shown', replacement))
          await draw(name, state, 'shown')
          const wanted = await draw(name, state, 'fresh')
          expect(await failures()).to.deep.equal([])
          expect(await shown(), name).to.equal(wanted)
        }
      }
    })

  it('goes on after an extension has removed, wrapped, moved or added nodes, and shows each text that changes', async () => {
    const every = (nodes: string, act: string): string =>
      `for (const node of [...document.getElementById('shown').querySelectorAll('${nodes}')]) { ${act} }`
    const strange = {
      'texts removed': translation('#shown', 'text.remove()'),
      'elements removed': every('*', 'node.remove()'),
      'everything removed': "document.getElementById('shown').replaceChildren()",
      'elements wrapped': every(
        '*',
        "const div = document.createElement('div'); node.replaceWith(div); div.append(node)",
      ),
      'elements moved': every('*', 'document.body.append(node)'),
      'elements added': every(
        '*',
        "node.before(document.createElement('hr')); node.append(document.createElement('hr'))",
      ),
      'markup written again': every('*', 'node.innerHTML += "<hr>"'),
    }
    for (const [what, script] of Object.entries(strange))
      for (const name of names) {
        await page.evaluate('clear()')
        await draw(name, 0, 'shown')
        await inOtherWorld(script)
        for (const state of [1, 0, 1] as const) await draw(name, state, 'shown')
        expect(await failures(), what).to.deep.equal([])
        const wanted = await draw(name, 1, 'fresh')
        if (what === 'elements wrapped' || what === 'elements added')
          expect(await shown(), `${what}: ${name}`).to.equal(wanted)
      }
  })

  it('shows a text again that was removed, if it changes, and adds in its place what comes before it', async () => {
    const remove = translation('#shown', 'text.remove()')
    await page.evaluate('clear()')
    await draw('a count', 0, 'shown')
    await inOtherWorld(remove)
    await draw('a count', 1, 'shown')
    expect(await shown()).to.equal('2')
    await page.evaluate('clear()')
    await draw('a text between elements', 0, 'shown')
    await inOtherWorld("document.querySelector('#shown p').firstChild.remove()")
    await draw('a text between elements', 1, 'shown')
    expect(await shown()).to.equal('New end')
  })

  it('takes no node of its own for one of others, nor the other way round', async () => {
    const name = JSON.stringify('a text between elements')
    // In one task, so that both changes are seen at once.
    await page.evaluate(`clear(); draw(${name}, 0, 'shown'); draw(${name}, 1, 'shown');
      document.querySelector('#shown p').childNodes[1].remove()`)
    await draw('a text between elements', 2, 'shown')
    expect(await shown()).to.equal('New end')
    await inOtherWorld("globalThis.own = document.querySelector('#shown p').appendChild(new Text('of an extension'))")
    await inOtherWorld('own.remove()')
    await inOtherWorld("own.data = 'changed'")
    expect(await shown()).to.equal('New end')
  })

  it('goes on if React draws in the same task in which others change its nodes', async () => {
    const name = JSON.stringify('an element that comes before a text')
    const replaced = translation('#shown', REPLACEMENTS.replaced)
    await page.evaluate(`clear(); draw(${name}, 0, 'shown'); ${replaced}; draw(${name}, 1, 'shown')`)
    expect(await failures()).to.deep.equal([])
    expect(await shown()).to.equal('New always')
  })
})
