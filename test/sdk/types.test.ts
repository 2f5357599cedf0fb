import { expect } from 'chai'
import path from 'node:path'
import ts from 'typescript'

const ROOT = path.join(import.meta.dirname, '../..')

/** What the type checker says of a page's module that uses the SDK; empty if it is right. */
function check(source: string): string[] {
  const name = path.join(ROOT, 'sdk/page-of-a-test.ts')
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    types: [],
  }
  const base = ts.createCompilerHost(options)
  const text = `import './whence.d.ts'\n${source}`
  const host: ts.CompilerHost = {
    ...base,
    fileExists: (file) => file === name || base.fileExists(file),
    readFile: (file) => (file === name ? text : base.readFile(file)),
    getSourceFile: (file, version) =>
      file === name ? ts.createSourceFile(file, text, version) : base.getSourceFile(file, version),
  }
  const program = ts.createProgram([name], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

describe('types of the SDK', function () {
  this.timeout(60_000)

  it('know window.whence as soon as the script is there', () => {
    expect(
      check(`window.whence?.grant()
        const token: Promise<string | undefined> | undefined = window.whence?.handoff().then((handoff) => handoff?.token)
        const text: string = window.whence?.fill('x') ?? 'x'
        export { token, text }`),
    ).to.deep.equal([])
  })

  it('know the queue before it', () => {
    expect(
      check(`import type { Whence } from './whence.d.ts'
        ;(window.whence ??= [] as unknown as Whence).push(async (whence) => { await whence.start() })`),
    ).to.deep.equal([])
  })

  it('know the events', () => {
    expect(
      check(`addEventListener('whence:copy', ({ detail }) => { const isFilled: boolean = detail.filled; return isFilled })
        document.addEventListener('whence:copy', ({ detail }) => detail.filled)
        document.querySelector('button')?.addEventListener('whence:copy', ({ detail }) => detail.filled)`),
    ).to.deep.equal([])
  })

  it('refuse what is not there', () => {
    expect(check(`window.whence?.grantt()`)[0]).to.include('grantt')
  })
})
