/** Checks of single files that lint cannot do: how they open, what they leave behind, what numbers they repeat. */

import ts from 'typescript'

import { LIMITS, PLAN_LIMITS, RATE_RULES } from '../../domain/limits.ts'
import { nodesIn } from '../../tools/figures/source.ts'
import type { SourceFile } from './source-files.ts'

/** What the domain must not touch: time, randomness, the process, the network, promises. */
const IMPURE_NAMES = new Set([
  'process', 'fetch', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'console', 'Buffer', 'performance', 'Promise',
  'crypto', 'globalThis', 'require', 'Atomics', 'WebSocket', 'XMLHttpRequest', 'localStorage', 'document', 'window', 'navigator',
]) // prettier-ignore
/** What a file may do with these two: everything else, an alias included, could read the clock or use randomness. */
const PURE_DATE = new Set(['parse', 'UTC'])

/** Whatever in a domain file could give another result for the same arguments, or take time. */
export function impurities(file: SourceFile): readonly string[] {
  const source = parse(file)
  return nodesIn(source).flatMap((node) => {
    const what = impurityOf(node)
    return what === null ? [] : [`${file.path}:${lineOf(source, node)} uses ${what}`]
  })
}

function impurityOf(node: ts.Node): string | null {
  return IMPURITIES.find((isImpure) => isImpure(node)) === undefined ? null : node.getText().slice(0, 40)
}

const IMPURITIES: readonly ((node: ts.Node) => boolean)[] = [
  (node) => ts.isIdentifier(node) && IMPURE_NAMES.has(node.text) && isReference(node),
  (node) => ts.isIdentifier(node) && node.text === 'Date' && isReference(node) && !isPureDate(node.parent),
  (node) => ts.isIdentifier(node) && node.text === 'Math' && isReference(node) && !isPureMath(node.parent),
  (node) => ts.isMetaProperty(node) || ts.isAwaitExpression(node),
  (node) => node.kind === ts.SyntaxKind.AsyncKeyword,
]

/** The number of a date that is given, or a date made from something. */
function isPureDate(user: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(user)) return PURE_DATE.has(user.name.text)
  if (ts.isNewExpression(user)) return (user.arguments?.length ?? 0) > 0
  return (
    ts.isTypeNode(user) || (ts.isBinaryExpression(user) && user.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword)
  )
}

function isPureMath(user: ts.Node): boolean {
  return ts.isPropertyAccessExpression(user) && user.name.text !== 'random'
}

/** A name that refers to a value of that name, not to a member, a property or a type's field. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) || ts.isBindingElement(parent)) return false
  return !ts.isQualifiedName(parent) && !ts.isParameter(parent) && !ts.isMethodSignature(parent)
}

const WRITING_CALLS = new Set(['set', 'add', 'delete', 'clear', 'push', 'pop', 'shift', 'unshift', 'splice', 'sort'])

/** What a module keeps between calls: a `let`, a cache, or a value that the file itself writes to. */
export function moduleState(file: SourceFile): readonly string[] {
  const source = parse(file)
  const declared = source.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) => {
    const isConstant = (declarationList.flags & ts.NodeFlags.Const) !== 0
    return declarationList.declarations.map(({ name, initializer }) => ({
      name: name.getText(),
      initializer,
      isConstant,
    }))
  })
  const written = writtenNames(source)
  return declared.flatMap(({ name, initializer, isConstant }) => {
    const isMemory = initializer !== undefined && /^(new Weak(Map|Set)|oncePerObject)\b/.test(initializer.getText())
    return !isConstant || isMemory || written.has(name) ? [`${file.path} keeps ${name}`] : []
  })
}

/** Names of which a member is assigned or removed, or a method is called that changes them. */
function writtenNames(source: ts.SourceFile): ReadonlySet<string> {
  const names = nodesIn(source).flatMap((node) => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression
      return WRITING_CALLS.has(name.text) ? [expression.getText()] : []
    }
    const target =
      ts.isBinaryExpression(node) &&
      /=$/.test(node.operatorToken.getText()) &&
      !/^[=!<>]=/.test(node.operatorToken.getText())
        ? node.left
        : ts.isDeleteExpression(node)
          ? node.expression
          : null
    const isMember = target !== null && (ts.isPropertyAccessExpression(target) || ts.isElementAccessExpression(target))
    return isMember ? [target.expression.getText()] : []
  })
  return new Set(names)
}

/** Null if a file opens with a sentence that says what it decides or does; otherwise what is wrong. */
export function openingProblem(file: SourceFile): string | null {
  const text =
    file.path.endsWith('.sh') || file.text.startsWith('#!') ? shellOpening(file.text) : blockOpening(file.text)
  if (text === null) return `${file.path} does not open with a comment`
  if (!/^[\w`'"]/.test(text) || !/[.:?]/.test(text)) return `${file.path} does not open with a sentence`
  return text.length < 20 ? `${file.path} says too little in its first comment` : null
}

function blockOpening(text: string): string | null {
  const match = /^\/\*\*?([\s\S]*?)\*\//.exec(text)
  if (match === null) return null
  return (match[1] ?? '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*?\s?/, ''))
    .join(' ')
    .trim()
}

function shellOpening(text: string): string | null {
  const lines = text.split('\n').slice(text.startsWith('#!') ? 1 : 0)
  const first = lines.find((line) => line.replace(/^#\s*/, '').trim() !== '')
  return first?.startsWith('#') === true ? first.replace(/^#\s*/, '').trim() : null
}

/** Markers without an issue, code that has been commented out, tests and checks that have been switched off. */
export function leftovers(file: SourceFile): readonly string[] {
  const source = parse(file)
  const inComments = commentsOf(source).flatMap((comment) => {
    const line = source.getLineAndCharacterOfPosition(comment.pos).line + 1
    const found = COMMENT_CHECKS.filter(({ isWrong }) => isWrong(comment))
    return found.map(({ what }) => `${file.path}:${line} ${what}`)
  })
  const inCode = nodesIn(source).flatMap((node) => {
    return isSwitchedOff(node) || ts.isDebuggerStatement(node)
      ? [`${file.path}:${lineOf(source, node)} has ${node.getText().slice(0, 20)}`]
      : []
  })
  return [...inComments, ...inCode]
}

const COMMENT_CHECKS: readonly { readonly what: string; readonly isWrong: (comment: Comment) => boolean }[] = [
  {
    what: 'has a marker without the number of an issue',
    isWrong: ({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text) && !/\b(TODO|FIXME|XXX|HACK)\b[^\n]*#\d+/.test(text),
  },
  { what: 'has code that is commented out', isWrong: ({ text, isLine }) => isLine && looksLikeCode(text) },
  { what: 'silences the compiler', isWrong: ({ text }) => /@ts-(ignore|nocheck)|@ts-expect-error(?!\s+\S)/.test(text) },
  {
    what: 'silences lint without a reason',
    isWrong: ({ text }) => /eslint-disable/.test(text) && !/ -- \S/.test(text),
  },
]

const TESTERS = new Set(['describe', 'it', 'context', 'specify', 'suite', 'test'])
const SWITCHES = new Set(['only', 'skip'])
const OFF = /^(x|f)(it|describe|context|specify)$/

/** `it.skip`, `it['skip']`, `const { skip } = it` and `xit`, called or kept under another name. */
function isSwitchedOff(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return isTester(node.expression) && SWITCHES.has(node.name.text)
  if (ts.isElementAccessExpression(node)) {
    const { argumentExpression: key } = node
    return isTester(node.expression) && ts.isStringLiteralLike(key) && SWITCHES.has(key.text)
  }
  if (ts.isBindingElement(node)) return takesSwitch(node)
  return ts.isIdentifier(node) && OFF.test(node.text) && isReference(node)
}

function takesSwitch(node: ts.BindingElement): boolean {
  const { initializer } = node.parent.parent as ts.VariableDeclaration
  const name = node.propertyName ?? node.name
  return initializer !== undefined && isTester(initializer) && ts.isIdentifier(name) && SWITCHES.has(name.text)
}

function isTester(node: ts.Expression): boolean {
  return ts.isIdentifier(node) && TESTERS.has(node.text)
}

/** Names that assert, or wait for a condition that the test's own time bounds. */
const ASSERTING = /^(expect|assert|until|holds|waitFor|answering|change)/

/** Tests whose body neither asserts nor calls, directly or by a function of the file, what does. */
export function testsWithoutAssertion(file: SourceFile): readonly string[] {
  const source = parse(file)
  const nodes = nodesIn(source)
  const asserting = new Set<string>()
  const asserts = (node: ts.Node): boolean =>
    nodesIn(node).some((each) => ts.isIdentifier(each) && (ASSERTING.test(each.text) || asserting.has(each.text)))
  // A helper may call a helper: as often as names are still found.
  for (let before = -1; before < asserting.size;) {
    before = asserting.size
    for (const node of nodes) {
      const name = (node as ts.FunctionDeclaration).name
      const isNamed = ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node) || ts.isMethodDeclaration(node)
      if (isNamed && name !== undefined && ts.isIdentifier(name) && asserts(node)) asserting.add(name.text)
    }
  }
  return nodes.flatMap((node) => {
    const isTest =
      ts.isCallExpression(node) && ts.isIdentifier(node.expression) && /^(it|specify|test)$/.test(node.expression.text)
    const body = isTest ? node.arguments[1] : undefined
    return body === undefined || asserts(body) ? [] : [`${file.path}:${lineOf(source, node)}`]
  })
}
const CODE_ENDINGS = /([;{}]|\)\s*=>|=>\s*\{|\]\s*,|\)\s*,)\s*$/
const CODE_STARTS =
  /^(const|let|var|return|await|import|export|function|throw|if\s*\(|for\s*\(|while\s*\(|else\b|case\s.*:$|\w+(\.\w+)*\(.*\)$|\w+(\.\w+)+\s*=\s)/

/** One line of a comment that a compiler would take: prose almost never ends or begins like that. */
function looksLikeCode(text: string): boolean {
  const line = text.replace(/^\/\/+\s?/, '').trim()
  if (line === '' || /[.:?!]$/.test(line)) return false
  const isParsed =
    (ts.createSourceFile('x.ts', line, ts.ScriptTarget.Latest) as unknown as { parseDiagnostics: readonly unknown[] })
      .parseDiagnostics.length === 0
  return (CODE_ENDINGS.test(line) || CODE_STARTS.test(line)) && (isParsed || /[{(]$/.test(line))
}

interface Comment {
  readonly pos: number
  readonly text: string
  readonly isLine: boolean
}

function commentsOf(source: ts.SourceFile): readonly Comment[] {
  const text = source.text
  const comments = new Map<number, Comment>()
  const take = (ranges: readonly ts.CommentRange[] | undefined) => {
    for (const { pos, end, kind } of ranges ?? []) {
      comments.set(pos, { pos, text: text.slice(pos, end), isLine: kind === ts.SyntaxKind.SingleLineCommentTrivia })
    }
  }
  const visit = (node: ts.Node): void => {
    take(ts.getLeadingCommentRanges(text, node.getFullStart()))
    take(ts.getTrailingCommentRanges(text, node.getEnd()))
    node.getChildren(source).forEach(visit)
  }
  visit(source)
  return [...comments.values()]
}

/** Numbers of the contract that are unlike any other: any use of one of them means the limit. */
export const UNMISTAKABLE_NUMBERS: ReadonlySet<number> = new Set(
  [
    ...numbersOf(LIMITS),
    ...Object.values(PLAN_LIMITS).flatMap(numbersOf),
    ...Object.values(RATE_RULES).map(({ limit }) => limit),
  ].filter((number) => number > 100 && !isOrdinary(number)),
)

/** Sizes that mean many things elsewhere, but in the layers that speak the contract most likely the limit. */
const CONTRACT_FOLDERS = /^(api|sdk|hook|domain)\//
const CONTRACT_SIZES: ReadonlySet<number> = new Set([
  LIMITS.bodyBytes,
  LIMITS.outboundBodyBytes,
  LIMITS.sessionAttributesChars,
  LIMITS.hookScanFiles,
  LIMITS.handoffCommandChars,
])

function numbersOf(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersOf) : []
}

/** Round numbers, powers of two and whole minutes turn up for reasons of their own. */
function isOrdinary(number: number): boolean {
  return (
    /^[1-9]0+$/.test(String(number)) ||
    Number.isInteger(Math.log2(number)) ||
    number % 3_600 === 0 ||
    number % 60_000 === 0
  )
}

/** Places in which a file writes such a number out, as one literal or as a product of literals. */
export function contractLiterals(file: SourceFile): readonly string[] {
  const source = parse(file)
  const found: string[] = []
  const isContractFolder = CONTRACT_FOLDERS.test(file.path)
  const visit = (node: ts.Node): void => {
    const value = literalValue(node)
    if (value === null) {
      ts.forEachChild(node, visit)
    } else if (UNMISTAKABLE_NUMBERS.has(value) || (isContractFolder && CONTRACT_SIZES.has(value))) {
      found.push(`${file.path} repeats ${value} (line ${lineOf(source, node)})`)
    }
  }
  visit(source)
  return found
}

function literalValue(node: ts.Node): number | null {
  if (ts.isNumericLiteral(node)) return Number(node.text)
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.AsteriskToken) return null
  const left = literalValue(node.left)
  const right = literalValue(node.right)
  return left === null || right === null ? null : left * right
}

function parse(file: SourceFile): ts.SourceFile {
  return ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true)
}

function lineOf(source: ts.SourceFile, node: ts.Node): number {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
}
