/** What goes into the website: the script, and the mark on the install command, in the words of each kind of site. */

import {
  hasScript,
  type CommandPlace,
  type InstallTool,
  type ScriptedPlace,
  type SetUp,
  type SetUpNames,
} from './choices.ts'
import type { SetUpSnippet } from './snippet.ts'

/** Sites written in Markdown, whose code fences take no attributes. */
const FENCED = ['VitePress', 'Docusaurus', 'Mintlify'] as const
type FencedPlace = (typeof FENCED)[number]

/** The theme's copy button within a fence that is the install command. */
const COPY_BUTTONS: Readonly<Record<FencedPlace, string>> = {
  VitePress: '.install button.copy',
  Docusaurus: '.install button[aria-label^="Copy"]',
  Mintlify: '.install [data-testid="copy-code-button"]',
}

function isFenced(place: CommandPlace): place is FencedPlace {
  return FENCED.some((each) => each === place)
}

/** A fence gets a token only for a script of the vendor's own; a package's command has to be marked itself. */
function isFence({ place, tool }: SetUp): boolean {
  return isFenced(place) && tool !== 'Npm'
}

/** Name and value; an empty value stands for an attribute that needs none. */
type Attributes = readonly (readonly [name: string, value: string])[]

function attributesOf(setUp: SetUp, names: SetUpNames): Attributes {
  const { place, matching } = setUp
  const attributes: (readonly [string, string])[] = [
    ['src', `${names.baseUrl}/browser.js`],
    ['data-project', names.website],
  ]
  if (matching === 'TokensOnly') attributes.push(['data-markers', 'off'])
  // The others load a document for each page.
  if (place !== 'Html' && place !== 'TagManager') attributes.push(['data-spa', ''])
  if (isFenced(place) && isFence(setUp)) {
    attributes.push(['data-commands', '.install pre code'], ['data-copy-buttons', COPY_BUTTONS[place]])
    const hosts = scriptHosts(names.installCommand)
    if (hosts !== '') attributes.push(['data-script-hosts', hosts])
  }
  return attributes
}

function scriptHosts(command: string): string {
  const found = [...command.matchAll(/\bhttps?:\/\/([a-z0-9.-]+)/gi)].map(([, host = '']) => host.toLowerCase())
  return [...new Set(found)].join(' ')
}

/** Null where nobody may add a script. */
export function scriptSnippet(setUp: SetUp, names: SetUpNames): SetUpSnippet | null {
  if (!hasScript(setUp.place)) return null
  const { where, text } = SCRIPTS[setUp.place]
  return { step: 'script', what: 'the script', where, text: text(attributesOf(setUp, names)) }
}

interface ScriptForm {
  readonly where: string
  readonly text: (attributes: Attributes) => string
}

const SCRIPTS: Readonly<Record<ScriptedPlace, ScriptForm>> = {
  Html: {
    where: 'In the <head> of every page',
    text: (attributes) => `<script async ${asHtml(attributes)}></script>`,
  },
  NextJs: {
    where: 'In app/layout.jsx or app/layout.tsx, as the first child of <html>',
    text: (attributes) => `<head>\n  <script async ${asHtml(attributes)} />\n</head>`,
  },
  Astro: {
    where: 'In the <head> of your layout, such as src/layouts/Layout.astro',
    text: (attributes) => `<script is:inline async ${asHtml(attributes)}></script>`,
  },
  VitePress: {
    where: 'In .vitepress/config.mts, as a member of the configuration',
    text: (attributes) => `head: [\n  ['script', ${asObject([['async', "''"], ...asMembers(attributes)], '  ')}],\n],`,
  },
  Docusaurus: {
    where: 'In docusaurus.config.js or docusaurus.config.ts, as a member of the configuration',
    text: (attributes) => `scripts: [\n  ${asObject([['async', 'true'], ...asMembers(attributes)], '  ')},\n],`,
  },
  Mintlify: {
    where: 'In whence.js, a new file beside docs.json: Mintlify adds it to every page',
    text: (attributes) => elementScript(attributes),
  },
  TagManager: {
    where: 'As a tag of the type Custom HTML, on All Pages',
    text: (attributes) => `<script>\n${withIndent(elementScript(attributes), '  ')}\n</script>`,
  },
}

function asHtml(attributes: Attributes): string {
  return attributes.map(([name, value]) => `${name}="${asHtmlText(value)}"`).join(' ')
}

/** Tag managers leave nothing of a script element but its address, and a file of Mintlify is no element: both make one. */
function elementScript(attributes: Attributes): string {
  const lines = attributes.map(([name, value]) =>
    name === 'src' ? `script.src = ${literal(value)}` : `script.setAttribute(${literal(name)}, ${literal(value)})`,
  )
  return [
    ';(function () {',
    "  var script = document.createElement('script')",
    ...lines.map((line) => `  ${line}`),
    '  document.head.appendChild(script)',
    '})()',
  ].join('\n')
}

/** Names that are no identifier stand in quotes, as a formatter writes them. */
function asMembers(attributes: Attributes): Attributes {
  return attributes.map(([name, value]) => [/^\w+$/.test(name) ? name : literal(name), literal(value)])
}

function asObject(members: Attributes, indent: string): string {
  return `{\n${members.map(([name, value]) => `${indent}  ${name}: ${value},\n`).join('')}${indent}}`
}

/** Null where nothing has to be marked, or nothing can be. */
export function commandSnippet(setUp: SetUp, names: SetUpNames): SetUpSnippet | null {
  const { place, tool } = setUp
  if (!hasScript(place)) return placeSnippet(place, tool, names)
  const command = names.installCommand
  const about = { step: 'command', what: 'the command' } as const
  if (isFence(setUp)) {
    const where = 'In the page, around the fence of the command'
    return { ...about, where, text: fence(place === 'VitePress' ? 'class' : 'className', command) }
  }
  switch (place) {
    case 'NextJs':
      return {
        ...about,
        where: 'In app/install-command.jsx or .tsx; show it as <InstallCommand />',
        text: component(command),
      }
    case 'Docusaurus':
    case 'Mintlify':
      return { ...about, where: 'In the page, in place of the fence of the command', text: mdx(command) }
    case 'Astro':
      return {
        ...about,
        where: 'In the page, in place of the command',
        text: markup(`{${literal(command)}}`, ' is:inline'),
      }
    case 'VitePress':
      // Vue would take two braces of the command for its own.
      return { ...about, where: 'In the page, in place of the fence of the command', text: vueMarkup(command) }
    default:
      return { ...about, where: 'In the page, in place of the command', text: markup(asHtmlText(command), '') }
  }
}

function fence(attribute: string, command: string): string {
  return `<div ${attribute}="install">\n\n\`\`\`sh\n${command}\n\`\`\`\n\n</div>`
}

/**
 * No IDs: a heading "Install" of the page may have any. The button belongs to the command in its block, and works even if a blocker keeps the
 * script away.
 */
function markup(command: string, onScript: string): string {
  return [
    '<div>',
    `  <pre data-whence-command>${command}</pre>`,
    '  <button type="button" data-whence-copy>Copy</button>',
    '</div>',
    `<script${onScript}>`,
    "  document.querySelectorAll('[data-whence-copy]').forEach((button) => {",
    '    button.onclick = () => navigator.clipboard.writeText(button.previousElementSibling.textContent)',
    '  })',
    '</script>',
  ].join('\n')
}

/** Vue takes no script element in a page, and what a template calls must be its own. */
function vueMarkup(command: string): string {
  return [
    '<script setup>',
    `const command = ${literal(command)}`,
    'const copy = () => navigator.clipboard.writeText(command)',
    '</script>',
    '',
    '<div>',
    '  <pre data-whence-command>{{ command }}</pre>',
    '  <button type="button" data-whence-copy @click="copy">Copy</button>',
    '</div>',
  ].join('\n')
}

function component(command: string): string {
  return [
    "'use client'",
    '',
    `const COMMAND = ${literal(command)}`,
    '',
    'export function InstallCommand() {',
    '  return (',
    '    <div>',
    '      <pre data-whence-command="">{COMMAND}</pre>',
    '      <button type="button" data-whence-copy="" onClick={() => navigator.clipboard.writeText(COMMAND)}>',
    '        Copy',
    '      </button>',
    '    </div>',
    '  )',
    '}',
  ].join('\n')
}

function mdx(command: string): string {
  return [
    '<div>',
    `  <pre data-whence-command="">{${literal(command)}}</pre>`,
    `  <button type="button" data-whence-copy="" onClick={() => navigator.clipboard.writeText(${literal(command)})}>Copy</button>`,
    '</div>',
  ].join('\n')
}

/** Of a page that takes no script: the command says where it stood. */
function placeSnippet(place: CommandPlace, tool: InstallTool, { installCommand }: SetUpNames): SetUpSnippet | null {
  if (tool !== 'Curl' && tool !== 'Npm') return null
  const word = place === 'GitBook' ? 'gitbook' : 'readme'
  const where =
    place === 'GitBook'
      ? 'In the page, in place of the command'
      : 'In the README; another word, such as npm, for another page'
  return { step: 'command', what: 'the command', where, text: withPlace(installCommand, word) }
}

const PIPED_SHELL = /\|\s*(?:(?:sudo|doas)\s+)?(?=(?:\/\S*\/)?(?:ba|da|z|k|a)?sh\b)/

/**
 * A shell that is fed by a pipe gets the word, else the first program of the command; sudo passes on what `env` sets.
 * @internal
 */
export function withPlace(command: string, word: string): string {
  const assignment = `env WHENCE_PLACE=${word} `
  const pipe = PIPED_SHELL.exec(command) ?? /^(?:sudo\s+)?/.exec(command)
  const at = pipe === null ? 0 : pipe.index + pipe[0].length
  return command.slice(0, at) + assignment + command.slice(at)
}

function asHtmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** In single quotes, as these sites are written. */
function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

function withIndent(text: string, indent: string): string {
  return text.replace(/^/gm, indent)
}
