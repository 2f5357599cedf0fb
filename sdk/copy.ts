import type { Page } from './page.ts'
export function attend(_page: Page): void {}
