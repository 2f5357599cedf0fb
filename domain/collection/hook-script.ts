/**
 * Renders the shell hook: its body for a brand, and the script served for a website: a block of settings followed by
 * that body.
 */

import { isBrand, isPlainBase, isPlainOrigin } from '../host.ts'

/** The settings in a served script. All were checked when the catalog was compiled, and are checked again here. */
export interface HookScriptValues {
  /** Website ID: 1 to 128 letters, digits, `_` and `-`. */
  readonly website: string
  /** Install path ID of the same alphabet, or null for a script without one. */
  readonly path: string | null
  /** Normalised origins of the website (`https://acme.dev`), the primary one first. */
  readonly origins: readonly string[]
  readonly scan: HookScanMode
  /** Public base address of the service, with or without a path. */
  readonly baseUrl: string
  /** Lower case words joined by `-`, at most 31 characters. */
  readonly brand: string
}

/** `Website.spec.hook.scan`. */
type HookScanMode = 'Notice' | 'Silent' | 'Disabled'

/**
 * Lines before the body in a served script; `tail -n +10` therefore prints the body.
 * @internal
 */
export const HOOK_BLOCK_LINES = 9

/** The brand that the source is written for. */
const FIRST_BRAND = 'whence'

/** What refuses hooks of every brand: a company can switch all of them off with one file. They keep their names. */
const EVERY_BRANDS_REFUSAL = /(WHENCE_DISABLED|\/etc\/whence\/disabled)/
/** Where the hook looks at one of them; the brand's own name is looked at in the same way. */
const REFUSAL_CHECK = /^ +if .*(?:WHENCE_DISABLED|\/etc\/whence\/disabled)/

/**
 * Renders the body for a brand. The source is written for the brand `whence`. Names of shell variables and functions
 * get the brand with `_` instead of `-`, capitals stay capitals, and every other word `whence` becomes the brand
 * itself. What refuses hooks of every brand holds for this one too, beside its own names.
 *
 * @throws RangeError if the brand is not made of lower case words joined by `-`.
 */
export function renderHookBody(source: string, brand: string): string {
  if (brand === FIRST_BRAND) return source
  const lines = source.split('\n').flatMap((line) => {
    const kept = line.split(EVERY_BRANDS_REFUSAL).map((part) => (isOptOut(part) ? part : inBrand(part, brand)))
    return REFUSAL_CHECK.test(line) ? [kept.join(''), inBrand(line, brand)] : [kept.join('')]
  })
  return lines.join('\n')
}

function isOptOut(text: string): boolean {
  return EVERY_BRANDS_REFUSAL.test(text)
}

function inBrand(text: string, brand: string): string {
  const identifier = brandIdentifier(brand)
  // In one pass: a brand may contain the word itself.
  return text.replace(
    /(?<![A-Za-z0-9])(WHENCE|whence)(?![A-Za-z0-9])(?=(_?))/g,
    (_, word: string, underscore: string) => {
      if (word === 'WHENCE') return identifier.toUpperCase()
      return underscore === '' ? brand : identifier
    },
  )
}

/**
 * Renders the script that `GET /v1/projects/{website}/report.sh` serves: nine lines with the settings, then the body
 * byte for byte. The braces turn a truncated block into a syntax error; without them a truncated name would run as a
 * command.
 *
 * @throws RangeError if a value is outside its alphabet. No alphabet contains a quote, a backslash or a line break, so
 * no value can escape its quotes.
 */
export function renderHookScript(body: string, values: HookScriptValues): string {
  const identifier = brandIdentifier(values.brand)
  const assign = (name: string, value: string): string => `${identifier}_${name}='${value}'`
  const block = [
    '#!/bin/sh',
    `# Settings of one website. What follows them is ${baseOf(values)}/report.sh, byte for byte.`,
    '{',
    assign('website', checked('website', values.website, isWord)),
    assign('path', values.path === null ? '' : checked('path', values.path, isWord)),
    assign('origins', values.origins.map((origin) => checked('origins', origin, isPlainOrigin)).join(' ')),
    assign('scan', checked('scan', values.scan, isScan)),
    assign('base_url', baseOf(values)),
    '}',
  ]
  return `${block.join('\n')}\n${body}`
}

// `$` without the flag m matches only at the very end in JavaScript, so no value can end in a line break.
const WORD = /^[A-Za-z0-9_-]{1,128}$/
const SCAN = /^(?:Notice|Silent|Disabled)$/
const isWord = (text: string): boolean => WORD.test(text)
const isScan = (text: string): boolean => SCAN.test(text)

function baseOf(values: HookScriptValues): string {
  return checked('baseUrl', values.baseUrl, isPlainBase).replace(/\/$/, '')
}

function brandIdentifier(brand: string): string {
  return checked('brand', brand, isBrand).replaceAll('-', '_')
}

/** The message names the setting, never the value, which may end up in a log. */
function checked(name: string, value: string, isInAlphabet: (text: string) => boolean): string {
  if (!isInAlphabet(value)) throw new RangeError(`hook script: ${name} is outside its alphabet`)
  return value
}
