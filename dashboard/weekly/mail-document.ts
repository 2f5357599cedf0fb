/**
 * The document of the weekly mail. Mail programs know tables and styles on elements; those that know more get the colours of a dark screen from the one style
 * sheet, which the others drop.
 */

import { escapedText } from '../pages/plain-page.ts'
import type { WeekNumber, WeekWords } from './mail-words.ts'

/** What the document and the text are made of. */
export interface WeeklyDocument {
  /** Of the organisation. */
  readonly name: string
  readonly brand: string
  readonly words: WeekWords
  readonly overviewUrl: string
  readonly endUrl: string
}

const FONT = 'font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif'
const TEXT = `${FONT};color:#1d2320`
const QUIET = `${FONT};color:#5c635f`
const LINE = 'border-top:1px solid #e4e1d9'

const DARK = `
@media (prefers-color-scheme: dark) {
  .back { background: #141816 !important }
  .card { background: #1b201e !important; border-color: #2d3431 !important }
  .text { color: #e9ece9 !important }
  .quiet { color: #a9b1ac !important }
  .line { border-color: #2d3431 !important }
  .link { color: #6fd0ad !important }
}`

export function mailDocument({ name, brand, words, overviewUrl, endUrl }: WeeklyDocument): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapedText(`${name}: ${words.period}`)}</title>
<style>${DARK}
</style>
</head>
<body class="back" style="margin:0;padding:0;background:#fbfaf7">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" class="back" style="background:#fbfaf7"><tr><td align="center" style="padding:16px 8px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" class="card" style="max-width:560px;background:#ffffff;border:1px solid #e4e1d9;border-radius:12px"><tr><td style="padding:20px">
<h1 class="text" style="${TEXT};margin:0;font-size:20px;line-height:1.3;word-break:break-word"><bdi>${escapedText(name)}</bdi></h1>
<p class="quiet" style="${QUIET};margin:4px 0 16px;font-size:14px;line-height:1.4">${escapedText(words.period)}${words.compared === '' ? '' : `<br>${escapedText(words.compared)}`}</p>
<table width="100%" cellpadding="0" cellspacing="0" style="border-collapse:collapse">
${words.numbers.map(numberRow).join('\n')}
</table>
${changesOf(words)}${words.notes.map((note) => `<p class="quiet" style="${QUIET};margin:12px 0 0;font-size:13px;line-height:1.45">${escapedText(note)}</p>`).join('\n')}
<table role="presentation" cellpadding="0" cellspacing="0" style="margin-top:20px"><tr><td style="border-radius:8px;background:#13745a"><a href="${escapedText(overviewUrl)}" style="${FONT};display:inline-block;padding:10px 18px;font-size:15px;font-weight:600;color:#ffffff;text-decoration:none">Open the Overview</a></td></tr></table>
</td></tr></table>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px"><tr><td style="padding:12px 20px">
<p class="quiet" style="${QUIET};margin:0;font-size:12px;line-height:1.5">You get this mail from ${escapedText(brand)} every Monday, because it is turned on for you in <bdi>${escapedText(name)}</bdi>. <a class="link" href="${escapedText(endUrl)}" style="${FONT};color:#13745a">End this mail</a></p>
</td></tr></table>
</td></tr></table>
</body>
</html>
`
}

/** The number and what it is compared with stand below each other, so that a narrow screen needs no other layout. */
function numberRow({ title, now, beside, before, change }: WeekNumber): string {
  const compared = [change, before === '' ? '' : `${before} before`].filter((text) => text !== '')
  return `<tr>
<th scope="row" align="left" valign="top" class="text line" style="${TEXT};${LINE};padding:10px 8px 10px 0;font-size:15px;font-weight:600;line-height:1.35">${escapedText(title)}${smallLine(beside === '' ? [] : [beside])}</th>
<td align="right" valign="top" class="text line" style="${TEXT};${LINE};padding:10px 0;font-size:20px;font-weight:600;line-height:1.2">${escapedText(now)}${smallLine(compared, 'white-space:nowrap;')}</td>
</tr>`
}

function smallLine(texts: readonly string[], own = ''): string {
  if (texts.length === 0) return ''
  return `<div class="quiet" style="${QUIET};${own}margin-top:2px;font-size:13px;font-weight:400;line-height:1.4">${escapedText(texts.join(' · '))}</div>`
}

function changesOf({ changes }: WeekWords): string {
  if (changes.length === 0) return ''
  const items = changes.map(
    ({ title, value, text }) =>
      `<li class="text" style="${TEXT};margin:0 0 8px;font-size:14px;line-height:1.4;word-break:break-word">${escapedText(title)} <b><bdi>${escapedText(value)}</bdi></b><br><span class="quiet" style="${QUIET}">${escapedText(text)}</span></li>`,
  )
  return `<h2 class="text" style="${TEXT};margin:20px 0 8px;font-size:16px;line-height:1.3">What changed most</h2>
<ul style="margin:0;padding:0 0 0 20px">
${items.join('\n')}
</ul>
`
}
