/** Real projects of the kinds of sites that the set-up knows, with its texts where it says that they go. */

import type { ScriptedPlace } from '../../../domain/onboarding/choices.ts'
import type { RealProject } from './real-site.ts'

/** A page with the command of an installer, and one with that of a package. */
export const SHOWN_TOOLS = ['Curl', 'Npm'] as const
export type ShownTool = (typeof SHOWN_TOOLS)[number]

export interface SetUpProject {
  readonly place: ScriptedPlace
  /** `command` gives the text for a page. */
  readonly project: (script: string, command: (tool: ShownTool) => string) => RealProject
  readonly serve: readonly string[]
  readonly pathOf: (tool: ShownTool) => string
  /** Of its own fence, or ours. */
  readonly button: (tool: ShownTool) => string
}

const FENCE_OR_OURS = (fence: string) => (tool: ShownTool) => (tool === 'Curl' ? fence : '[data-whence-copy]')
const OURS = () => '[data-whence-copy]'

export const SET_UP_PROJECTS: readonly SetUpProject[] = [
  {
    place: 'NextJs',
    project: (script, command) => ({
      packages: ['next@16', 'react@19', 'react-dom@19'],
      files: {
        'app/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>',
        'app/layout.jsx': `export default function Layout({ children }) {\n  return (\n    <html lang="en">\n${script}\n<body>{children}</body></html>\n)}`,
        'app/page.jsx': 'export default function Home() { return <h1>Home</h1> }',
        ...Object.fromEntries(
          SHOWN_TOOLS.flatMap((tool) => [
            [`app/${tool}/install-command.jsx`, command(tool)],
            [
              `app/${tool}/page.jsx`,
              `import { InstallCommand } from './install-command'\nexport default function Page() { return <InstallCommand /> }`,
            ],
          ]),
        ),
      },
      build: ['next', 'build'],
    }),
    serve: ['next', 'start', '-p', 'PORT'],
    pathOf: (tool) => `/${tool}`,
    button: OURS,
  },
  {
    place: 'Astro',
    project: (script, command) => ({
      packages: ['astro@5'],
      files: {
        'src/layouts/Layout.astro': `<html lang="en"><head><link rel="icon" href="data:,">${script}</head><body><slot /></body></html>`,
        'src/pages/index.astro': `---\nimport Layout from '../layouts/Layout.astro'\n---\n<Layout><h1>Home</h1></Layout>`,
        ...Object.fromEntries(
          SHOWN_TOOLS.map((tool) => [
            `src/pages/${tool}.astro`,
            `---\nimport Layout from '../layouts/Layout.astro'\n---\n<Layout>${command(tool)}</Layout>`,
          ]),
        ),
      },
      build: ['astro', 'build'],
    }),
    serve: ['astro', 'preview', '--port', 'PORT'],
    pathOf: (tool) => `/${tool}/`,
    button: OURS,
  },
  {
    place: 'VitePress',
    project: (script, command) => ({
      packages: ['vitepress@1', 'vue@3'],
      files: {
        '.vitepress/config.mjs': `export default {\n${script}\n}`,
        'index.md': '# Home',
        ...Object.fromEntries(SHOWN_TOOLS.map((tool) => [`${tool}.md`, `# Install\n\n${command(tool)}\n`])),
      },
      build: ['vitepress', 'build'],
    }),
    serve: ['vitepress', 'preview', '--port', 'PORT'],
    pathOf: (tool) => `/${tool}.html`,
    button: FENCE_OR_OURS('.install button.copy'),
  },
  {
    place: 'Docusaurus',
    project: (script, command) => ({
      packages: ['@docusaurus/core@3', '@docusaurus/preset-classic@3', 'react@19', 'react-dom@19'],
      files: {
        // Its bundler takes the package for one of CommonJS.
        'package.json': '{"name":"site","private":true}',
        'docusaurus.config.js': `module.exports = { title: 'Docs', url: 'http://localhost', baseUrl: '/',
          ${script}
          presets: [['classic', { docs: { routeBasePath: '/', sidebarPath: undefined }, blog: false }]] }`,
        'docs/index.md': '---\nslug: /\n---\n# Home',
        ...Object.fromEntries(SHOWN_TOOLS.map((tool) => [`docs/${tool}.md`, `# Install\n\n${command(tool)}\n`])),
      },
      build: ['docusaurus', 'build'],
    }),
    serve: ['docusaurus', 'serve', '--port', 'PORT', '--no-open'],
    pathOf: (tool) => `/${tool}`,
    button: FENCE_OR_OURS('.install button[aria-label^="Copy"]'),
  },
]
