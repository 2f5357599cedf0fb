/** The Markdown elements of generated pages. */
import { DAY_MS } from '../../domain/durations.ts'

/** A whole page: title, source, and its parts. */
export function page(title: string, source: string, parts: readonly string[]): string {
  const origin = `<!-- Made from ${source} by \`make docs\`; do not change it here. -->`
  return `${[`# ${title}`, origin, ...parts].join('\n\n')}\n`
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export function code(text: string): string {
  return `\`${text}\``
}

/** `1,000,000` */
export function number(value: number): string {
  return value.toLocaleString('en-US')
}

/** A limit's value with its unit, which is the last word of its name. */
export function unitWords(name: string, value: number): string {
  if (name.endsWith('Ms')) return duration(value)
  if (name.endsWith('Bytes')) return bytes(value)
  if (name.endsWith('Chars')) return count(value, 'character')
  if (name.endsWith('Days')) return count(value, 'day')
  if (name.endsWith('Hours')) return count(value, 'hour')
  return name.endsWith('S') && !name.endsWith('PerS') ? duration(value * 1_000) : number(value)
}

function duration(ms: number): string {
  const units = [
    [DAY_MS, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
    [1_000, 'second'],
  ] as const
  const [size, word] = units.find(([unit]) => ms >= unit && ms % unit === 0) ?? [1, 'millisecond']
  return count(ms / size, word)
}

function bytes(value: number): string {
  if (value % (1_024 * 1_024) === 0) return `${number(value / 1_024 / 1_024)} MB`
  return value % 1_024 === 0 ? `${number(value / 1_024)} KB` : count(value, 'byte')
}

function count(value: number, word: string): string {
  return `${number(value)} ${word}${value === 1 ? '' : 's'}`
}
