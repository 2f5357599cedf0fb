/** Starts the pages: styles, the policy for markup, patience with what others do to their nodes, and the router. */

import './styles.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

import { createQueries } from './data/queries.ts'
import { tolerateForeignNodes } from './shell/foreign-nodes.ts'
import { allowStylesOnly } from './shell/markup-policy.ts'
import { createPagesRouter } from './router.tsx'
import { THEME } from './shell/theme.ts'

allowStylesOnly()
tolerateForeignNodes()
const queries = createQueries()
const router = createPagesRouter(queries)
// Scripts can read a nonce only as a property; styles that are created at run time need it.
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
// The styles by which a dialog keeps the page behind it from scrolling look for the nonce under this name.
Object.assign(globalThis, { __webpack_nonce__: nonce })
const root = document.getElementById('root')
if (root === null) throw new Error('the page has no place for the app')
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={THEME} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
