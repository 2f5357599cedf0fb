/** The steps of the checklist in words, each with a snippet and where to paste it. The API says which steps are done. */

import { installerLine } from '../../domain/collection/installer-line.ts'
import type { ShownInstallFilters } from '../data/installs.ts'
import type { ShownVisitFilters } from '../data/visits.ts'

export interface SnippetPlace {
  /** Address of the service, which also serves these pages. */
  readonly service: string
  /** ID of the website that the snippets are for. */
  readonly website: string
  /** With which people install the product, as the reader says. */
  readonly installCommand: string
}

export interface Step {
  /** As the API calls it. */
  readonly id: string
  readonly title: string
  /** What to do, or if there is nothing to do, what to look for. */
  readonly how: string
  /** Whether the reader is asked for the install command, which the snippet then shows. */
  readonly asksForCommand?: true
  readonly snippet?: { readonly what: string; readonly text: (place: SnippetPlace) => string }
  /** What `count` counts: singular and plural, to follow the number. */
  readonly counted: readonly [one: string, many: string]
  /** The list that holds what it counts, and its further filters. */
  readonly proof:
    | { readonly list: 'visits'; readonly more: ShownVisitFilters }
    | { readonly list: 'installs'; readonly more: ShownInstallFilters }
    | { readonly list: 'deliveries' | 'resources' }
}

export const STEPS: readonly Step[] = [
  {
    id: 'website_accepted',
    title: 'A website is registered',
    how: 'Its origin decides from where visits are taken. With kubectl or Git it is this object; change the address.',
    snippet: { what: 'the website', text: websiteYaml },
    counted: ['website', 'websites'],
    proof: { list: 'resources' },
  },
  {
    id: 'visit_seen',
    title: 'The script is on your website',
    how: 'Put this line into the head of your pages, then open one of them.',
    snippet: {
      what: 'the script tag',
      text: ({ service, website }) => `<script async src="${service}/browser.js" data-project="${website}"></script>`,
    },
    counted: ['visit', 'visits'],
    proof: { list: 'visits', more: {} },
  },
  {
    id: 'marker_activated',
    title: 'Browsers keep a marker',
    how: 'Nothing to paste: the script leaves it by itself. Private windows and Safari keep none, so look with another browser.',
    counted: ['visit with a marker', 'visits with a marker'],
    proof: { list: 'visits', more: { step: 'activated' } },
  },
  {
    id: 'command_copied',
    title: 'Visitors copy the install command',
    how: 'Mark your install command and its button. The page goes on showing the plain command; what is copied carries the token of the visit. Then press the button.',
    asksForCommand: true,
    snippet: { what: 'the markup', text: copyMarkup },
    counted: ['visit with a copied command', 'visits with a copied command'],
    proof: { list: 'visits', more: { step: 'copied' } },
  },
  {
    id: 'hook_reached',
    title: 'The installer reports',
    how: 'Make this the last line of the script that your install command runs: it cannot end your installer, nor hold it for more than seconds. Then install once, on the machine whose browser opened the page.',
    snippet: {
      what: 'the line',
      text: ({ service, website }) => installerLine({ baseUrl: service, website, path: null }),
    },
    counted: ['reported event', 'reported events'],
    proof: { list: 'installs', more: {} },
  },
  {
    id: 'install_matched',
    title: 'An install is matched to its visit',
    how: 'Nothing to paste: it follows from the steps before. If it stays open, the line of the install in Logs says why.',
    counted: ['matched install', 'matched installs'],
    proof: { list: 'installs', more: { kind: 'install', resolution: 'matched' } },
  },
  {
    id: 'provider_accepted',
    title: 'A provider takes what is delivered',
    how: 'Add a destination; Validate is the mode to begin with. The plan Free has none: whoever runs this service can set a larger one in the Organization.',
    snippet: { what: 'the destination', text: destinationYaml },
    counted: ['delivery', 'deliveries'],
    proof: { list: 'deliveries' },
  },
  {
    id: 'destination_live',
    title: 'A destination is live',
    how: 'Once deliveries are accepted, set its mode from Validate to Live. From then on they count at the provider.',
    snippet: { what: 'the mode', text: () => 'mode: Live' },
    counted: ['live destination', 'live destinations'],
    proof: { list: 'resources' },
  },
]

/** The button works even if a blocker keeps the script away. */
function copyMarkup({ installCommand }: SnippetPlace): string {
  return [
    `<pre id="install" data-whence-command>${asHtml(installCommand)}</pre>`,
    '<button type="button" data-whence-copy="#install">Copy</button>',
    '<script>',
    "  document.querySelector('[data-whence-copy]').onclick = () =>",
    "    navigator.clipboard.writeText(document.querySelector('#install').textContent)",
    '</script>',
  ].join('\n')
}

function asHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function websiteYaml(): string {
  return [
    'apiVersion: whence.dev/v1alpha1',
    'kind: Website',
    'metadata: { name: my-website }',
    'spec:',
    '  organizationRef: { name: my-organization }',
    '  primaryOrigin: https://www.example.com',
  ].join('\n')
}

function destinationYaml({ website }: SnippetPlace): string {
  return [
    'apiVersion: v1',
    'kind: Secret',
    'metadata: { name: my-ga4 }',
    'stringData: { api-secret: your-api-secret }',
    '---',
    'apiVersion: whence.dev/v1alpha1',
    'kind: Destination',
    'metadata: { name: my-ga4 }',
    'spec:',
    `  websiteRef: { name: ${website} }`,
    '  provider: ga4',
    '  mode: Validate',
    '  ga4:',
    '    measurementId: G-XXXXXXXXXX',
    '    apiSecretRef: { name: my-ga4, key: api-secret }',
  ].join('\n')
}
