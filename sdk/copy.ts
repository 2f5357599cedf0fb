import type { Opened } from './interface.ts'
import type { Page } from './page.ts'
export function attend(_page: Page, _open: (project?: string) => Opened): void {}
